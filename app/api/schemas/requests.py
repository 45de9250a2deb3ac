"""Input and output models of requests, communities and profiles, and the JSON:API documents around all resources.

``resource_of`` registers the attributes under their type in ``SHOWN``. The tests check every response body against
it, so an undeclared attribute fails a test.
"""

from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model
from typing_extensions import TypeAliasType

from app.api.schemas.attachments import AttachmentCreate, AttachmentShown, FlatAttachmentKind, MediaUrl
from app.api.shapes import (
    NOT_BLANK,
    STORABLE,
    Body,
    ForeignId,
    Id,
    Instant,
    JsonObject,
    Paged,
    Platform,
    Query,
    Shown,
    Status,
    Yes,
)
from app.core import limits
from app.core.thresholds.drafts import FIELDS, CategoryDraft
from app.core.vocabulary import NoteStatus, RequestStatus, Standing, Verb

Time = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A point in time in a response."""
Uuid = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
    WithJsonSchema({"type": "string", "format": "uuid"}),
]
"""One of our ids in a response."""

DecisionTier = TypeAliasType("DecisionTier", Literal[1, 2])
OpenAction = TypeAliasType("OpenAction", Literal["immediate_action", "community_review"])
StatusInLists = TypeAliasType("StatusInLists", Literal["pending", "in_progress", "completed", "failed"])

SHOWN: dict[str, type[Shown]] = {}
"""The model of the attributes by resource type."""


class Version(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal["1.1"]


class Links(BaseModel):
    """URLs; null if there is no such page."""

    model_config = ConfigDict(extra="forbid")

    self: str
    describedby: str


class PageLinks(Links):
    first: str | None
    prev: str | None
    next: str | None
    last: str | None


class PageMeta(BaseModel):
    """The list has ``count`` items on ``pages`` pages of ``limit`` items."""

    model_config = ConfigDict(extra="allow")

    count: int = Field(ge=0)
    page: int = Field(ge=1)
    pages: int = Field(ge=0)
    limit: int = Field(ge=1)
    offset: int = Field(ge=0)


def resource_of(name: str, type: str, attributes: type[Shown]) -> type[BaseModel]:
    """Create the model of a resource object: ``{type, id, attributes}``."""
    SHOWN[type] = attributes
    kind: Any = Literal[type]
    return create_model(
        f"{name}Resource",
        __config__=ConfigDict(extra="forbid"),
        type=(kind, ...),
        id=(Uuid, ...),
        attributes=(attributes, ...),
    )


def document_of(name: str, resource: type[BaseModel]) -> type[BaseModel]:
    """Create the model of a document with one resource."""
    return create_model(
        f"{name}Document",
        __config__=ConfigDict(extra="forbid"),
        jsonapi=(Version, ...),
        data=(resource, ...),
        links=(Links, None),
        meta=(JsonObject, None),
    )


def list_of(name: str, resource: type[BaseModel]) -> type[BaseModel]:
    """Create the model of a document with one page of resources."""
    return create_model(
        f"{name}List",
        __config__=ConfigDict(extra="forbid"),
        jsonapi=(Version, ...),
        data=(list[resource], ...),  # type: ignore[valid-type]  # made at run time
        links=(PageLinks, ...),
        meta=(PageMeta, ...),
    )


# Requests


class RequestCreate(Body):
    """A submission (docs/integrate/api.md). Ids and content are stored exactly as sent."""

    resource = "requests"
    creates = True

    request_id: ForeignId = Field(description="Chosen by the integration; the key of idempotency.")
    requested_by: ForeignId = Field(description="The platform's id of who asked.")
    community_server_id: ForeignId = Field(
        description="Our UUID, or the platform's id of the community. An unknown id opens a community if the key may, "
        "X-Adapter-Platform is there, and X-Adapter-Scope names no other."
    )
    original_message_content: Annotated[
        str, Field(min_length=1, max_length=limits.CONTENT_MAX, json_schema_extra=NOT_BLANK), STORABLE
    ] = Field(description="The content to score; not blank.")
    platform_message_id: ForeignId | None = Field(None, description="The platform's id of the post.")
    platform_channel_id: ForeignId | None = Field(None, description="Where on the platform it stands.")
    platform_author_id: ForeignId | None = Field(None, description="The platform's id of who wrote it.")
    platform_timestamp: Instant | None = Field(None, description="When it was written.")
    metadata: JsonObject | None = Field(None, description="At most 64 KB of JSON.")
    similarity_score: float | None = Field(
        None, ge=0, le=1, description="How close it is to the named item of a dataset."
    )
    dataset_name: Annotated[str, Field(min_length=1, max_length=limits.DATASET_NAME_MAX), STORABLE] | None = (
        None
    )
    dataset_item_id: (
        Annotated[str, Field(min_length=1, max_length=limits.DATASET_ITEM_MAX), STORABLE] | None
    ) = None
    attachments: Annotated[list[AttachmentCreate], Field(max_length=limits.ATTACHMENTS_MAX)] | None = Field(
        None, description="Pictures, videos, sounds, files and links of the post, in its order."
    )
    attachment_url: MediaUrl | None = Field(None, description="Means one attachment, after `attachments`.")
    attachment_type: FlatAttachmentKind | None = Field(
        None, description="Its kind; `file` if it is not given."
    )
    attachment_metadata: JsonObject | None = Field(
        None, description="Its `filename`, `alt`, `width`, `height` and `size`; the rest is ignored."
    )
    embedded_image_url: MediaUrl | None = Field(None, description="Means one attachment of the kind `image`.")


class RequestPatch(Body):
    """``status`` may only go from FAILED to PENDING. ``escalated`` sends the request to staff. Null changes nothing."""

    resource = "requests"
    plain = True
    loose = True

    status: Status | None = None
    note_id: Id | None = Field(
        None,
        description="A note on this request, or on none. A note that was linked can be replaced, not taken away.",
    )
    escalated: Yes | None = None


class RequestQuery(Paged):
    """Filters of the list. ``status=decided`` with ``since`` is the catch-up poll, oldest decision first."""

    filter_status: Status | None = Field(None, alias="filter[status]")
    filter_community: Id | None = Field(None, alias="filter[community_server_id]")
    requested_by: ForeignId | None = Field(None, alias="filter[requested_by]")
    dataset_name: Annotated[str, Field(min_length=1, max_length=limits.DATASET_NAME_MAX), STORABLE] | None = (
        Field(None, alias="filter[dataset_name]", description="The dataset of the fact-check.")
    )
    dataset_item_id: (
        Annotated[str, Field(min_length=1, max_length=limits.DATASET_ITEM_MAX), STORABLE] | None
    ) = Field(None, alias="filter[dataset_item_id]", description="The fact-check's id in its dataset.")
    requested_from: Instant | None = Field(None, alias="filter[requested_at__gte]")
    requested_to: Instant | None = Field(None, alias="filter[requested_at__lte]")
    completed_from: Instant | None = Field(
        None,
        alias="filter[completed_at__gte]",
        description=(
            "Completed then or later, oldest completion first; `meta.next_since` is the value of the next call."
        ),
    )
    status: Literal["decided"] | None = None
    since: Instant | None = None
    community: Id | None = Field(None, alias="community_server_id")


class RequestAttributes(Shown):
    """Attributes without a value yet are left out, except ``note_id``, which is null.

    ``content`` is always there. It is null once the community's content retention has removed the text.
    """

    request_id: str
    requested_by: str
    status: RequestStatus | StatusInLists
    note_id: Uuid | None
    community_server_id: Uuid
    requested_at: Time
    created_at: Time
    updated_at: Time
    content: str | None = Field(
        description="The submitted content; null once the community's retention time has removed it."
    )
    standing: Standing = Field(
        description=(
            "What stands on the platform now, by what it has acknowledged and reported: `hidden` or `deleted`, or the "
            "post is up and its author was `warned` or `silenced`, or `up`. `decision` never changes; this does."
        )
    )
    platform_message_id: str | None = None
    platform_channel_id: str | None = None
    platform_author_id: str | None = None
    platform_timestamp: Time | None = None
    metadata: JsonObject | None = None
    similarity_score: float | None = None
    dataset_name: str | None = None
    dataset_item_id: str | None = None
    completed_at: Time | None = Field(
        None, description="When the request was completed; absent while its status is another."
    )
    decided_at: Time | None = None
    decision: Verb | Literal["none"] | None = None
    tier: DecisionTier | None = None
    moderation_action: OpenAction | None = None
    recommended_action: str | None = None
    action_id: Uuid | None = None
    note_status: NoteStatus | None = None
    attachments: list[AttachmentShown] | None = None


_request = resource_of("Request", "requests", RequestAttributes)
RequestDocument = document_of("Request", _request)
RequestList = list_of("Request", _request)


# Community servers


class CommunityLookup(Query):
    """``platform`` defaults to X-Adapter-Platform, then ``discord``."""

    platform: Platform | None = None
    platform_community_server_id: ForeignId


_TYPES = get_type_hints(CategoryDraft)
_PARTS: dict[str, Any] = {
    declared.api: (
        _TYPES[name],
        Field(description=f"{declared.hint} Null: {declared.empty}." if declared.hint else None),
    )
    for name, declared in FIELDS.items()
    if declared.api is not None
}
CategoryShown: Any = create_model(
    "CategoryShown",
    __base__=Shown,
    __doc__="Current thresholds of one category. Without ``tier1_threshold`` it never acts by itself.",
    __module__=__name__,
    name=(str, ...),
    **_PARTS,
)


class CommunityAttributes(Shown):
    """A community with its current category configuration."""

    platform: str
    platform_community_server_id: str
    slug: str
    name: str
    description: str | None
    is_active: bool
    is_public: bool
    config_version: int
    categories: list[CategoryShown]  # a class that is made above
    created_at: Time
    updated_at: Time


_community = resource_of("CommunityServer", "community-servers", CommunityAttributes)
CommunityDocument = document_of("CommunityServer", _community)


# User profiles


class ProfileLookup(Query):
    """``platform`` defaults to X-Adapter-Platform, then ``discord``.

    ``provider_scope`` is the server that the user id belongs to, on platforms where each server numbers its own users.
    Its default is the platform's id of the community in X-Adapter-Scope, or else of the key's only community.
    """

    platform: Platform | None = None
    platform_user_id: ForeignId
    provider_scope: Annotated[str, Field(max_length=limits.ID_MAX), STORABLE] | None = None


class ProfileLink(Body):
    """The code that the dashboard shows the person. Case, spaces and dashes do not matter."""

    resource = "user-profiles"
    plain = True
    loose = True

    code: Annotated[str, Field(min_length=1, max_length=limits.ID_MAX), STORABLE] = Field(
        description="Shown in the dashboard under Settings; works once, for 10 minutes."
    )


class ProfileAttributes(Shown):
    """A person on a platform. ``is_linked``: whether the profile is linked to an account of the dashboard."""

    platform: str
    platform_user_id: str
    provider_scope: str | None = None
    display_name: str | None
    trust_level: int | None = None
    is_linked: bool
    metadata: JsonObject | None = None
    created_at: Time
    updated_at: Time


_profile = resource_of("UserProfile", "user-profiles", ProfileAttributes)
ProfileDocument = document_of("UserProfile", _profile)
