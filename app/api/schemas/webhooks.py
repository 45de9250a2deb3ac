"""Input and output models of webhooks (docs/integrate/api.md). No response contains a secret."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema, create_model

from app.api.schemas.requests import Time, Uuid, document_of, list_of, resource_of
from app.api.shapes import STORABLE, Body, ForeignId, Id, Paged, Shown, Text
from app.core import limits
from app.core.outbound import URL_LENGTH
from app.core.webhooks import catalogue

# The core checks these values; the limits are repeated here for the OpenAPI document.
Address = Annotated[
    str, STORABLE, WithJsonSchema({"type": "string", "format": "webhook-url", "maxLength": URL_LENGTH})
]
Secret = Annotated[
    str,
    STORABLE,
    WithJsonSchema(
        {"type": "string", "minLength": limits.SECRET_MIN, "maxLength": limits.SECRET_MAX, "pattern": r"\S"}
    ),
]


class _EventNames:
    """The JSON schema of a list of events, with the names of the catalogue."""

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> dict[str, Any]:
        return {"type": "array", "minItems": 1, "items": {"type": "string", "enum": catalogue.names()}}


Events = Annotated[list[Text], _EventNames()]
_EVENTS = (
    "Null for all of them. `moderation_action.proposed` is `moderation_action.created` as the Discourse plugin "
    "knows it; on Discourse null asks for that name."
)
_URL = "https on port 443 or 8443 of a public host."
_SECRET = "Signs the deliveries; never shown again. After `whsec_` it must be base64 of at least 24 bytes."  # noqa: S105 - words about it


class WebhookRegistration(Body):
    """Where to send a community's events. Registering the same community and URL again replaces secret and events."""

    resource = "webhooks"
    plain = True
    creates = True

    url: Address = Field(description=_URL)
    secret: Secret = Field(description=_SECRET)
    platform_community_server_id: ForeignId = Field(
        description="The platform's id of the community, on X-Adapter-Platform where two platforms share it."
    )
    events: Events | None = Field(None, description=_EVENTS)


class WebhookPatch(Body):
    """Members left out stay unchanged. A new secret starts a rotation of 24 hours."""

    resource = "webhooks"
    plain = True
    needs_id = True

    # The defaults are never used: the view reads ``model_fields_set``, and null is refused.
    url: Address = Field(default_factory=str, description=_URL)
    secret: Secret = Field(default_factory=str, description=_SECRET)
    events: Events | None = Field(None, description=_EVENTS)
    is_active: bool = Field(default_factory=bool)
    previous_secret_until: None = Field(
        None,
        description="Null: the secrets that were replaced sign no more, also the one that `secret` replaces.",
    )


class WebhookQuery(Paged):
    """Filters of the list."""

    community: Id | None = Field(None, alias="filter[community_server_id]")


class WebhookAttributes(Shown):
    """``previous_secret_until``: until when deliveries are also signed with the secret replaced last.

    The one that was replaced before it also signs until its own 24 hours end; older ones do not.
    """

    url: str
    events: Events | None
    community_server_id: Uuid
    platform_community_server_id: str
    is_active: bool
    disabled_reason: str | None
    failures: int
    failing_since: Time | None
    last_success_at: Time | None
    previous_secret_until: Time | None
    created_at: Time
    updated_at: Time


_webhook = resource_of("Webhook", "webhooks", WebhookAttributes)
WebhookList = list_of("Webhook", _webhook)
_id: Any = (Uuid, ...)
WebhookDocument = create_model(
    "WebhookDocumentWithId", __base__=document_of("Webhook", _webhook), id=_id, __module__=__name__
)
"""A JSON:API document with the webhook's ``id`` also at the top level, where plain JSON clients look for it."""
