"""Input and output models of requests (docs/integrate/api.md)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model
from typing_extensions import TypeAliasType

from app.api.schemas.attachments import AttachmentCreate, AttachmentShown, FlatAttachmentKind, MediaUrl
from app.api.schemas.documents import (
    IN_COMMUNITY,
    CommunityId,
    Created,
    Time,
    Updated,
    Uuid,
    Version,
    document_of,
    list_of,
    resource_of,
)
from app.api.shapes import (
    NOT_BLANK,
    STORABLE,
    Body,
    ForeignId,
    Id,
    Instant,
    JsonObject,
    Paged,
    Shown,
    Status,
    Yes,
    like,
)
from app.core import limits
from app.core.vocabulary import NoteStatus, RequestStatus, Standing, Verb

DecisionTier = TypeAliasType(
    "DecisionTier",
    Annotated[Literal[1, 2], Field(description="`1`: a score acted at once. `2`: people were asked first.")],
)
DecisionWord = TypeAliasType(
    "DecisionWord",
    Annotated[
        Verb | Literal["silence", "none"],
        WithJsonSchema(
            {
                "type": "string",
                "enum": [*Verb, "silence", "none"],
                "description": "`flag` and `notify` warn the author, `silence` keeps them from posting, `none` "
                "does nothing.",
            }
        ),
    ],
)
OpenAction = TypeAliasType(
    "OpenAction",
    Annotated[
        Literal["immediate_action", "community_review"],
        Field(description="`immediate_action` is Tier 1, `community_review` is Tier 2."),
    ],
)
LowerStatus = TypeAliasType(
    "LowerStatus",
    Annotated[
        Literal["pending", "in_progress", "completed", "failed"],
        Field(description="A request's status in lower case, as `POST /requests` answers it."),
    ],
)

# Requests


class RequestCreate(Body):
    """A submission (docs/integrate/api.md). Ids and content are stored exactly as sent."""

    resource = "requests"
    creates = True

    request_id: ForeignId = Field(
        description="The integration's own id of the post; the key of idempotency within the community."
    )
    requested_by: ForeignId = Field(description="The platform's id of the user who asked for moderation.")
    community_server_id: ForeignId = Field(
        description="Our UUID, or the platform's id of the community. An unknown id opens a community if the key may, "
        "X-Adapter-Platform is there, and X-Adapter-Scope names no other."
    )
    original_message_content: Annotated[
        str, Field(min_length=1, max_length=limits.CONTENT_MAX, json_schema_extra=NOT_BLANK), STORABLE
    ] = Field(description=f"The text to score, at most {limits.CONTENT_MAX:,} characters; not blank.")
    platform_message_id: ForeignId | None = Field(
        None, description="The post's id on its platform, exactly as sent."
    )
    platform_channel_id: ForeignId | None = Field(
        None, description="The platform's id of the channel or thread that the post stands in."
    )
    platform_author_id: ForeignId | None = Field(
        None, description="The platform's id of the user who wrote the post."
    )
    platform_timestamp: Instant | None = Field(None, description="When the post was written.")
    metadata: JsonObject | None = Field(
        None,
        description="What else the platform knows of the post, at most 64 KB of JSON. `title`, `url` and `thread` are "
        "shown to people; `reports` and `views` bring the post forward in the queue.",
    )
    similarity_score: float | None = Field(
        None,
        ge=0,
        le=1,
        description="How close the post is to the fact-check in `dataset_item_id`, from 0 to 1 (the same).",
    )
    dataset_name: Annotated[str, Field(min_length=1, max_length=limits.DATASET_NAME_MAX), STORABLE] | None = (
        Field(None, description="The dataset of the fact-check that the post matches.")
    )
    dataset_item_id: (
        Annotated[str, Field(min_length=1, max_length=limits.DATASET_ITEM_MAX), STORABLE] | None
    ) = Field(None, description="The id of that fact-check in its dataset.")
    attachments: Annotated[list[AttachmentCreate], Field(max_length=limits.ATTACHMENTS_MAX)] | None = Field(
        None,
        description="Pictures, videos, sounds, files and links of the post in its order, "
        f"at most {limits.ATTACHMENTS_MAX}.",
    )
    attachment_url: MediaUrl | None = Field(
        None, description="The https address of one attachment more, after those of `attachments`."
    )
    attachment_type: FlatAttachmentKind | None = Field(
        None, description="The kind of `attachment_url`; `file` if it is not given."
    )
    attachment_metadata: JsonObject | None = Field(
        None,
        description="`filename`, `alt`, `width`, `height` and `size` of `attachment_url`; the rest is ignored.",
    )
    embedded_image_url: MediaUrl | None = Field(
        None, description="The https address of one attachment more, of the kind `image`."
    )


class RequestBatch(Body):
    """Submissions, each a resource as ``POST /requests`` takes it. They are validated one by one."""

    bytes_max = limits.BATCH_MAX_BYTES
    batch_of = RequestCreate

    data: list[Any] = Field(
        max_length=limits.BATCH_MAX,
        description=f"At most {limits.BATCH_MAX} submissions, which are answered in this order.",
    )
    jsonapi: Any = Field(None, description="The member `jsonapi` of JSON:API: accepted and ignored.")
    meta: Any = Field(None, description="The member `meta` of JSON:API: accepted and ignored.")
    links: Any = Field(None, description="The member `links` of JSON:API: accepted and ignored.")


class RequestPatch(Body):
    """``status`` may only go from FAILED to PENDING. ``escalated`` sends the request to staff. Null changes nothing."""

    resource = "requests"
    plain = True
    loose = True

    status: Status | None = Field(
        None, description="Only `PENDING`, and only of a request that failed: it is scored again."
    )
    note_id: Id | None = Field(
        None,
        description="A note on this request, or on none. A note that was linked can be replaced, not taken away.",
    )
    escalated: Yes | None = Field(None, description="True sends the request to the moderators for review.")


class RequestQuery(Paged):
    """Filters of the list. ``status=decided`` with ``since`` is the catch-up poll, oldest decision first."""

    filter_status: Status | None = Field(
        None, alias="filter[status]", description="Only with this status, in upper or lower case."
    )
    filter_community: Id | None = Field(None, alias="filter[community_server_id]", description=IN_COMMUNITY)
    requested_by: ForeignId | None = Field(
        None, alias="filter[requested_by]", description="Only those that this platform user asked for."
    )
    dataset_name: Annotated[str, Field(min_length=1, max_length=limits.DATASET_NAME_MAX), STORABLE] | None = (
        Field(
            None,
            alias="filter[dataset_name]",
            description="Only posts that match a fact-check of this dataset.",
        )
    )
    dataset_item_id: (
        Annotated[str, Field(min_length=1, max_length=limits.DATASET_ITEM_MAX), STORABLE] | None
    ) = Field(
        None,
        alias="filter[dataset_item_id]",
        description="Only posts that match the fact-check with this id in its dataset.",
    )
    duplicate_of: Id | None = Field(
        None, alias="filter[duplicate_of]", description="Only those that repeat this request, by our UUID."
    )
    requested_from: Instant | None = Field(
        None, alias="filter[requested_at__gte]", description="Only those submitted then or later."
    )
    requested_to: Instant | None = Field(
        None, alias="filter[requested_at__lte]", description="Only those submitted then or earlier."
    )
    completed_from: Instant | None = Field(
        None,
        alias="filter[completed_at__gte]",
        description=(
            "Completed then or later, oldest completion first; `meta.next_since` is the value of the next call."
        ),
    )
    status: Literal["decided"] | None = Field(
        None, description="`decided`: the catch-up poll, oldest decision first."
    )
    since: Instant | None = Field(
        None, description="Only decisions made then or later: `meta.next_since` of the answer before."
    )
    community: Id | None = Field(None, alias="community_server_id", description=IN_COMMUNITY)


class RequestAttributes(Shown):
    """Attributes without a value yet are left out, except ``note_id``, which is null.

    ``content`` is always there. It is null once the community's content retention has removed the text.
    """

    request_id: str = like(RequestCreate, "request_id")
    requested_by: str = like(RequestCreate, "requested_by")
    status: RequestStatus | LowerStatus = Field(
        description="How far the request is. Upper case; lower case only in the answer to `POST /requests`."
    )
    note_id: Uuid | None = Field(
        description="The note that is linked to the request, by our UUID; null while there is none."
    )
    community_server_id: CommunityId
    requested_at: Time = Field(description="When the request was submitted.")
    created_at: Created
    updated_at: Updated
    content: str | None = Field(
        description="The submitted content; null once the community's retention time has removed it."
    )
    standing: Standing = Field(
        description=(
            "What stands on the platform now, by what it has acknowledged and reported: `hidden` or `deleted`, or the "
            "post is up and its author was `warned` or `silenced`, or `up`. `decision` never changes; this does."
        )
    )
    platform_message_id: str | None = like(RequestCreate, "platform_message_id", None)
    edit_of: Uuid | None = Field(
        None,
        description="The first request about this message, by our UUID, if this text is another one: less than nine "
        "tenths alike.",
    )
    duplicate_of: Uuid | None = Field(
        None,
        description="An earlier request about this message, by our UUID, whose text is the same: at least nine tenths "
        "alike. The two share one item of review and one decision; each gets its own `moderation.decision`.",
    )
    platform_channel_id: str | None = like(RequestCreate, "platform_channel_id", None)
    platform_author_id: str | None = like(RequestCreate, "platform_author_id", None)
    platform_timestamp: Time | None = like(RequestCreate, "platform_timestamp", None)
    metadata: JsonObject | None = Field(
        None, description="What was submitted as `metadata`; left out once the retention time has removed it."
    )
    similarity_score: float | None = like(RequestCreate, "similarity_score", None)
    dataset_name: str | None = like(RequestCreate, "dataset_name", None)
    dataset_item_id: str | None = like(RequestCreate, "dataset_item_id", None)
    completed_at: Time | None = Field(
        None, description="When the request was completed; absent while its status is another."
    )
    decided_at: Time | None = Field(
        None, description="When the decision was made; later decisions of a community have later times."
    )
    decision: DecisionWord | None = Field(
        None, description="What was decided, such as `hide`; `none`: nothing is done to the post."
    )
    tier: DecisionTier | None = Field(None, description="Whether a score or people decided.")
    moderation_action: OpenAction | None = Field(
        None, description="How it was decided, or how the open action is going to be."
    )
    recommended_action: str | None = Field(
        None, description="The decision as an operation of the platform, such as `hide_post`."
    )
    action_id: Uuid | None = Field(None, description="The moderation action that came of it, by our UUID.")
    note_status: NoteStatus | None = Field(
        None, description="What the ratings of the note in `note_id` came to."
    )
    attachments: list[AttachmentShown] | None = Field(
        None, description="What was submitted along with the post, with the state of each."
    )


_request = resource_of("Request", "requests", RequestAttributes)
RequestDocument = document_of("Request", _request)
RequestList = list_of("Request", _request)


class BatchMeta(BaseModel):
    """That a submission of a batch was known."""

    model_config = ConfigDict(extra="forbid")

    duplicate: Literal[True] = Field(description="Its `request_id` was submitted before.")
    content_differs: bool = Field(description="Whether the stored text is another one.")


class ValidationProblem(BaseModel):
    """One thing that is wrong with a submission of a batch; the document describes it for all calls."""

    model_config = ConfigDict(extra="forbid")

    type: str
    loc: list[str | int]
    msg: str
    input: Any


class BatchRefusal(BaseModel):
    """Why one submission of a batch was not stored."""

    model_config = ConfigDict(extra="forbid")

    status: int = Field(description="The status that the submission alone would have been answered with.")
    detail: str | list[ValidationProblem] = Field(
        description="One sentence; of a 422 the problems, whose `loc` begins with `body, data, <index>`."
    )


BatchResource = create_model(
    "RequestBatchResource",
    __base__=_request,
    __doc__="A resource object of JSON:API, of the type `requests`, with `meta` where it was known.",
    meta=(BatchMeta, Field(None, description="Only where it was known.")),
)


class RequestBatchAnswers(BaseModel):
    """What came of each submission, in the order of the call: its resource, or why it was refused."""

    model_config = ConfigDict(extra="forbid")

    jsonapi: Version = Field(description="The version of JSON:API that the document conforms to.")
    data: list[BatchResource | BatchRefusal] = Field(  # type: ignore[valid-type]  # made at run time
        description="The answers, as many as there were submissions."
    )
