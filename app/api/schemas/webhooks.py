"""Input and output models of webhooks (docs/integrate/api.md). No response contains a secret."""

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, create_model
from typing_extensions import TypeAliasType

from app.api.schemas.documents import (
    IN_COMMUNITY,
    CommunityId,
    Created,
    Time,
    Updated,
    Uuid,
    document_of,
    list_of,
    resource_of,
)
from app.api.shapes import STORABLE, Body, ForeignId, Id, Instant, Paged, Shown, Text, one_of
from app.core import limits
from app.core.outbound import URL_LENGTH
from app.core.vocabulary import DeliveryState
from app.core.vocabulary import EventName as Event
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
    """The JSON schema of an event's name, with the names of the catalogue."""

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> dict[str, Any]:
        words = "An event that webhooks can receive; the member `webhooks` has the body of each."
        return {"type": "string", "enum": catalogue.names(), "description": words}


EventName = TypeAliasType("EventName", Annotated[Text, _EventNames()])
Events = Annotated[list[EventName], Field(json_schema_extra={"minItems": 1})]
_EVENTS = (
    "The events that the webhook wants; null for all of them. `moderation_action.proposed` is "
    "`moderation_action.created` as the Discourse plugin knows it; on Discourse null asks for that name."
)
_URL = (
    "Where the events are sent: https on port 443 or 8443 of a public host, "
    f"at most {URL_LENGTH:,} characters."
)
_SECRET = (
    f"Signs the deliveries; {limits.SECRET_MIN} to {limits.SECRET_MAX} characters, never shown again. After `whsec_` "
    "it must be base64 of at least 24 bytes. **Before you replace one**, make the receiver accept a delivery if any "
    "one signature in `webhook-signature` holds. Give it the new secret within 24 hours after."
)
ROTATION = (
    "Receivers must accept a delivery if any one signature in webhook-signature holds: it lists those of the new "
    "secret and of the one that it replaced. Give them the new secret before previous_secret_until. Until then 401 and "
    "403 are tried again like 5xx; deliveries that fail nevertheless can be replayed."
)
"""What ``meta`` of a webhook says while a replaced secret signs."""


class WebhookRegistration(Body):
    """Where to send a community's events. Registering the same community and URL again replaces secret and events.

    A new secret starts a rotation of 24 hours, in which the replaced one signs too.
    """

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
    is_active: bool = Field(
        default_factory=bool,
        description="False stops the deliveries; true resumes them, with no failures counted.",
    )
    previous_secret_until: None = Field(
        None,
        description="Null: the secrets that were replaced sign no more, also the one that `secret` replaces.",
    )


class WebhookQuery(Paged):
    """Filters of the list."""

    community: Id | None = Field(None, alias="filter[community_server_id]", description=IN_COMMUNITY)


class WebhookAttributes(Shown):
    """Where a community's events are sent, and how deliveries go."""

    url: str = Field(description=_URL)
    events: Events | None = Field(description=_EVENTS)
    community_server_id: CommunityId
    platform_community_server_id: str = Field(
        description="The community's id on its platform, exactly as sent."
    )
    is_active: bool = Field(description="Whether events are sent.")
    disabled_reason: str | None = Field(description="Why nothing is sent, in words; null while it is active.")
    failures: int = Field(ge=0, description="How many attempts in a row have failed.")
    failing_since: Time | None = Field(description="When the first of them failed; null if none has.")
    last_success_at: Time | None = Field(description="When a delivery last arrived; null if none ever has.")
    previous_secret_until: Time | None = Field(
        description="Until when deliveries are also signed with the secret replaced last; null if with none. The one "
        "that was replaced before it also signs until its own 24 hours end; older ones do not."
    )
    created_at: Created
    updated_at: Updated


_webhook = resource_of("Webhook", "webhooks", WebhookAttributes)
WebhookList = list_of("Webhook", _webhook)
_id: Any = (Uuid, Field(description="Our UUID of the webhook, the same as `data.id`."))
WebhookDocument = create_model(
    "WebhookDocumentWithId",
    __base__=document_of("Webhook", _webhook),
    __doc__="A document of JSON:API with the webhook's ``id`` also at the top, where plain JSON clients look for it.",
    __module__=__name__,
    id=_id,
)


# Deliveries

_STATE = (
    "`due`: is sent at `due_at`. `delivered`: answered with 2xx. `dead`: all attempts failed, or the answer was final. "
    "`parked`: restored from a backup, and perhaps sent since. `cancelled`: its webhook was removed."
)


class DeliveryQuery(Paged):
    """Filters of a webhook's deliveries."""

    state: Annotated[DeliveryState, one_of(DeliveryState)] | None = Field(
        None, alias="filter[state]", description=_STATE
    )
    event: Annotated[Event, one_of(Event), WithJsonSchema({"type": "string", "enum": [*Event]})] | None = (
        Field(None, alias="filter[event]", description="Only deliveries of the event with this name.")
    )
    created_from: Instant | None = Field(
        None, alias="filter[created_at__gte]", description="Put into the queue at this time or later."
    )


class DeliveryAttributes(Shown):
    """One event for one webhook."""

    event_id: Uuid = Field(description="The same in every attempt and replay; deduplicate on it.")
    event: EventName = Field(description="Which event it delivers, by its name in the body.")
    state: DeliveryState = Field(description=_STATE)
    attempts: int = Field(ge=0, description="Attempts since it was last put into the queue.")
    due_at: Time | None = Field(
        description="When it is sent next; null unless it is `due`, and while its webhook is disabled."
    )
    delivered_at: Time | None = Field(description="When the receiver answered with 2xx; null before.")
    last_attempt_at: Time | None = Field(
        description="When the last attempt began; null before the first, and 30 days after the last."
    )
    last_status: int | None = Field(
        description="HTTP status of the answer to the last attempt; null if there was no answer."
    )
    last_error: str | None = Field(
        description="Why the last attempt had no answer, such as `timeout after 5 s`; null if it had one."
    )
    created_at: Time = Field(description="When the event happened and was put into the queue.")
    updated_at: Time = Field(description="When the delivery last changed.")


_delivery = resource_of("WebhookDelivery", "webhook-deliveries", DeliveryAttributes)
DeliveryList = list_of("WebhookDelivery", _delivery)

# Replays

Replayable = Literal["dead", "parked", "delivered"]


class WebhookReplay(Body):
    """Which of a webhook's deliveries to send again, with the same event ids. Without members: all that failed."""

    resource = "webhook-replays"
    plain = True
    creates = True

    since: Instant | None = Field(
        None, description="Put into the queue at this time or later; null: from the first one on."
    )
    until: Instant | None = Field(None, description="Put into the queue before this time; null: until now.")
    states: Annotated[list[Replayable], Field(min_length=1)] = Field(
        ["dead"], description="The states of the deliveries to send again. `delivered` ones arrived before."
    )


class ReplayAttributes(Shown):
    """A range of deliveries that is sent again, 500 at a time."""

    since: Time | None = Field(description="The start of the range; null: from the first delivery on.")
    until: Time = Field(description="The end of the range, at the latest when the replay began.")
    states: list[Replayable] = Field(description="The states that the deliveries had.")
    total: int = Field(ge=1, description="How many deliveries are sent again.")
    sent: int = Field(ge=0, description="How many of them are in the queue again by now.")
    finished_at: Time | None = Field(
        description="When the last of them was put into the queue; null while the rest follows in the background."
    )
    created_at: Time = Field(description="When the replay began.")
    updated_at: Time = Field(description="When `sent` last changed.")


_replay = resource_of("WebhookReplayRun", "webhook-replays", ReplayAttributes)
ReplayDocument = document_of("WebhookReplayRun", _replay)
