"""Input and output models of moderation actions (docs/integrate/api.md)."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from app.api.errors import Located
from app.api.schemas.documents import (
    IN_COMMUNITY,
    CommunityId,
    CommunityRef,
    Created,
    Time,
    Updated,
    Uuid,
    document_of,
    list_of,
    resource_of,
)
from app.api.schemas.requests import RequestCreate
from app.api.shapes import (
    CHANGES,
    DIGITS,
    PAGE_NUMBER_MAX,
    STORABLE,
    Body,
    Cursor,
    ForeignId,
    Id,
    Instant,
    JsonObject,
    Query,
    Shown,
    like,
    one_of,
)
from app.core import limits
from app.core.paging import Slice
from app.core.requests.score_rows import CATEGORY_MAX
from app.core.vocabulary import ActionState, ActionTier, ActionType, ReviewGroup, Undo, UndoState

State = Annotated[ActionState, one_of(ActionState)]
Tier = Annotated[ActionTier, one_of(ActionTier)]
UndoProgress = Annotated[UndoState, one_of(UndoState)]
Reason = Annotated[str, Field(max_length=limits.REASON_MAX), STORABLE]
CategoryName = Annotated[str, Field(min_length=1, max_length=CATEGORY_MAX), STORABLE]

IN_STATE = "Only actions that are in this state."
OF_TIER = "Only actions that began by this tier."

PAGE_MAX = 100
BRACKETED_DEFAULT, BRACKETED_MAX = 50, 1_000
PLAIN_DEFAULT, PLAIN_MAX = 20, 100
OFFSET_MAX = 10**18 - 1


class ActionQuery(Query):
    """Both forms of the filters, combined with AND, and both forms of paging.

    With an unbracketed filter, ``limit`` defaults to 20 and is at most 100; otherwise 50 and 1000.
    """

    filter_community: Id | None = Field(None, alias="filter[community_server_id]", description=IN_COMMUNITY)
    filter_state: State | None = Field(None, alias="filter[action_state]", description=IN_STATE)
    filter_tier: Tier | None = Field(None, alias="filter[action_tier]", description=OF_TIER)
    updated_from: Instant | None = Field(None, alias="filter[updated_at__gte]", description=CHANGES)
    filter_undo: UndoProgress | None = Field(
        None,
        alias="filter[undo_state]",
        description="`proposed`: overturned actions that the platform has still to undo.",
    )
    community: Id | None = Field(
        None,
        alias="community_server_id",
        description=f"{IN_COMMUNITY} Default: X-Adapter-Scope, then the key's only community.",
    )
    state: State | None = Field(None, alias="action_state", description=IN_STATE)
    tier: Tier | None = Field(None, alias="action_tier", description=OF_TIER)
    limit: Annotated[int, Field(ge=1, le=BRACKETED_MAX), DIGITS] | None = Field(
        None,
        description=(
            f"How many rows a page has at most: {BRACKETED_DEFAULT} if not given; "
            f"beside an unbracketed filter {PLAIN_DEFAULT}, at most {PLAIN_MAX}."
        ),
    )
    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX), DIGITS] | None = Field(
        None, description="Rows to pass over; not beside page[number]."
    )
    number: Annotated[int, Field(ge=1, le=PAGE_NUMBER_MAX), DIGITS] | None = Field(
        None, alias="page[number]", description="Page, from 1; shows the live list."
    )
    size: Annotated[int, Field(ge=1, le=PAGE_MAX), DIGITS] | None = Field(
        None, alias="page[size]", description="How many rows a page has at most; not beside limit."
    )
    after: Cursor | None = Field(None, alias="page[after]", description="Cursor that `links.next` carries.")
    before: Cursor | None = Field(None, alias="page[before]", description="Cursor that `links.prev` carries.")

    @property
    def is_plain(self) -> bool:
        """Whether an unbracketed filter is given."""
        return any(value is not None for value in (self.community, self.state, self.tier))

    def slice(self, community_id: object) -> Slice:
        """Return the page parameters for the list of this community (None: all communities of the key).

        Raises ``Located`` if the two forms of paging contradict each other.
        """
        if self.offset is not None and self.number is not None:
            raise Located.at_path(
                "query", "offset", msg="cannot stand beside page[number]", value=self.offset
            )
        if self.limit is not None and self.size is not None:
            raise Located.at_path("query", "limit", msg="cannot stand beside page[size]", value=self.limit)
        if self.is_plain and self.limit is not None and self.limit > PLAIN_MAX:
            msg = f"Input should be less than or equal to {PLAIN_MAX} beside an unbracketed filter"
            raise Located.at_path("query", "limit", msg=msg, value=self.limit, type="less_than_equal")
        size = self.limit or self.size or (PLAIN_DEFAULT if self.is_plain else BRACKETED_DEFAULT)
        by_offset = self.offset is not None or (self.limit is not None and self.number is None)
        return Slice(
            self.number or 1,
            size,
            after=self.after,
            before=self.before,
            offset=(self.offset or 0) if by_offset else None,
            of=self.list_name(community_id),
        )


class ActionPatch(Body):
    """A move, the answer about an undo, or another end of a silence; one of ``action_state``, ``undo_state`` and
    ``until`` is required.

    ``platform_action_id`` belongs to ``applied``; an appeal is ``retro_review`` with its ``reason``.
    """

    resource = "moderation-actions"
    plain = True
    needs_id = True

    action_state: Annotated[ActionState | SkipJsonSchema[None], one_of(ActionState)] = Field(
        None, description="The state to move to; `applied` acknowledges."
    )
    undo_state: Literal["done", "impossible"] | None = Field(
        None,
        description=(
            "Whether the platform has undone an overturned action whose `undo` is not null; `reason` may say why it "
            "cannot."
        ),
    )
    platform_action_id: ForeignId | None = Field(
        None, description="The platform's own id of what it did; set only with `applied`."
    )
    until: Instant | None = Field(
        None,
        description=(
            "When a `silence` ends; null: never. With `applied`: when the platform ends it. Alone, with a `reason`, "
            "from staff: the new end; a moment that has come lifts the silence at once."
        ),
    )
    reason: Reason | None = Field(
        None,
        description=f"Why, in words, at most {limits.REASON_MAX:,} characters; needed for an appeal.",
    )
    category: CategoryName | None = Field(
        None,
        description=(
            "The community's category that a decision (`proposed`, `dismissed`, `confirmed`, `overturned`) is filed "
            "under; the category of the score if not given."
        ),
    )


class ActionCreate(Body):
    """An action that the integration took on its platform."""

    resource = "moderation-actions"
    plain = True
    creates = True

    action_type: Annotated[ActionType, one_of(ActionType)] = Field(
        description="What the integration did on its platform."
    )
    request_id: ForeignId = Field(description="The request, by our UUID or by the integration's own id.")
    community_server_id: CommunityRef
    reason: Reason | None = Field(
        None, description=f"Why it was done, in words; at most {limits.REASON_MAX:,} characters."
    )
    until: Instant | None = Field(
        None, description="When a `silence` ends on the platform; null: never. Not with other types."
    )


class Evidence(Shown):
    """The scores that an action was opened for."""

    score: float = Field(ge=0, le=1, description="The score that led to the action, from 0 to 1.")
    category: str = Field(
        description="The category of that score, such as `spam`; `escalated` if somebody sent it to the moderators."
    )
    labels: list[str] = Field(description="The categories whose score is notable.")
    scores: dict[str, float] = Field(description="The highest score of each category, from 0 to 1.")
    details: JsonObject = Field(
        description="The classifiers with versions and milliseconds, which of them decided, what they matched, the "
        "threshold and the number of the configuration."
    )


class ActionAttributes(Shown):
    """Every member is always present, null while unknown. ``request_id`` is the integration's own string."""

    request_id: str = like(RequestCreate, "request_id")
    community_server_id: CommunityId
    action_type: ActionType = Field(description="What is to be done on the platform, or was.")
    action_tier: ActionTier | None = Field(
        description="Whether a score acted at once or people were asked; null if neither."
    )
    action_state: ActionState = Field(description="How far the action is, from its proposal to its end.")
    review_group: ReviewGroup | None = Field(description="Who reviews it; null if nobody is asked.")
    classifier_evidence: Evidence | None = Field(
        description="The scores that it was opened for; null if there are none."
    )
    note_id: Uuid | None = Field(
        description="The note that raters rate about it, by our UUID; null if there is none."
    )
    question: str | None = Field(
        description=(
            "What people are asked while the action is under review, such as `Should this post be hidden?`; else null. "
            "They answer by rating the note of `note_id`: HELPFUL means yes, act; NOT_HELPFUL means no, keep."
        )
    )
    platform_action_id: str | None = Field(
        description="The platform's own id of what it did; null until it was sent."
    )
    applied_at: Time | None = Field(
        description="When the integration acknowledged or recorded it; null before."
    )
    confirmed_at: Time | None = Field(description="When a second look confirmed it; null before.")
    overturned_at: Time | None = Field(description="When it was overturned; null before.")
    overturned_reason: str | None = Field(description="Why it was overturned, in words; null if nobody said.")
    reason: str | None = Field(
        description="Why it was taken, in words. Of a `warn` or `silence` that a moderator chose: the text for the "
        "author. Null if nobody said."
    )
    category: str | None = Field(
        description="The category that it is filed under: a moderator's choice, or else that of the score."
    )
    author_text: str | None = Field(
        description=(
            "What to tell the author of the post, with a `warn` or a `silence` that the service proposed. With a "
            "`warn` it is the moderator's text, or else the community's for the category, or else a shipped one."
        )
    )
    undo: Undo | None = Field(
        description=(
            "What to undo on the platform once the action is overturned: `restore` a deleted post, `unsilence` its "
            "author, `retract` a warning. Null for a `hide`: an `unhide` action of its own undoes it."
        )
    )
    undo_state: UndoState | None = Field(
        description=(
            "`proposed` until the integration answers with PATCH that it is `done`, or `impossible` on its platform; "
            "null while there is nothing to undo."
        )
    )
    until: Time | None = Field(
        description="When a `silence` ends; null if it has no end, and with other types."
    )
    ended_at: Time | None = Field(
        description="When the service said that the silence ended, or staff lifted it; null before. The state stays."
    )
    scan_exempt_content_hash: str | None = Field(
        description="SHA-256, 64 hex digits, of the content that is not acted on again; null if none is exempt."
    )
    created_at: Created
    updated_at: Updated


_action = resource_of("ModerationAction", "moderation-actions", ActionAttributes)
ActionDocument = document_of("ModerationAction", _action)
ActionList = list_of("ModerationAction", _action)
