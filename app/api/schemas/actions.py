"""Input and output models of moderation actions (docs/integrate/api.md)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from app.api.errors import Located
from app.api.schemas.requests import Time, Uuid, document_of, list_of, resource_of
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

PAGE_MAX = 100
BRACKETED_DEFAULT, BRACKETED_MAX = 50, 1_000
PLAIN_DEFAULT, PLAIN_MAX = 20, 100
OFFSET_MAX = 10**18 - 1


class ActionQuery(Query):
    """Both forms of the filters, combined with AND, and both forms of paging.

    With an unbracketed filter, ``limit`` defaults to 20 and is at most 100; otherwise 50 and 1000.
    """

    filter_community: Id | None = Field(None, alias="filter[community_server_id]")
    filter_state: State | None = Field(None, alias="filter[action_state]")
    filter_tier: Tier | None = Field(None, alias="filter[action_tier]")
    updated_from: Instant | None = Field(None, alias="filter[updated_at__gte]", description=CHANGES)
    filter_undo: UndoProgress | None = Field(
        None,
        alias="filter[undo_state]",
        description="`proposed`: overturned actions that the platform has still to undo.",
    )
    community: Id | None = Field(
        None,
        alias="community_server_id",
        description="Default: X-Adapter-Scope, then the key's only community.",
    )
    state: State | None = Field(None, alias="action_state")
    tier: Tier | None = Field(None, alias="action_tier")
    limit: Annotated[int, Field(ge=1, le=BRACKETED_MAX), DIGITS] | None = Field(
        None,
        description=(
            f"Rows of a page: {BRACKETED_DEFAULT} if not given; "
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
        None, alias="page[size]", description="Rows of a page; not beside limit."
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
    """A move, or the answer about an undo; one of ``action_state`` and ``undo_state`` is required.

    ``platform_action_id`` belongs to ``applied``; an appeal is ``retro_review`` with its ``reason``.
    """

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["action_state"]}, {"required": ["undo_state"]}]}
    )

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
        None, description="The platform's own id of what it did; only with `applied`."
    )
    reason: Reason | None = Field(None, description="Why, in words; needed for an appeal.")
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

    action_type: Annotated[ActionType, one_of(ActionType)]
    request_id: ForeignId = Field(description="Our UUID, or the integration's own string.")
    community_server_id: ForeignId = Field(description="Our UUID, or the platform's id of the community.")
    reason: Reason | None = None


class Evidence(Shown):
    """Why: ``details`` has classifiers with versions, which of them decided, matches, threshold and configuration."""

    score: float
    category: str
    labels: list[str]
    scores: dict[str, float]
    details: JsonObject


class ActionAttributes(Shown):
    """Every member is always present, null while unknown. ``request_id`` is the integration's own string."""

    request_id: str
    community_server_id: Uuid
    action_type: ActionType
    action_tier: ActionTier | None
    action_state: ActionState
    review_group: ReviewGroup | None
    classifier_evidence: Evidence | None
    note_id: Uuid | None
    question: str | None = Field(
        description=(
            "What people are asked while the action is under review, such as `Should this post be hidden?`; else null. "
            "They answer by rating the note of `note_id`: HELPFUL means yes, act; NOT_HELPFUL means no, keep."
        )
    )
    platform_action_id: str | None
    applied_at: Time | None
    confirmed_at: Time | None
    overturned_at: Time | None
    overturned_reason: str | None
    reason: str | None
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
    scan_exempt_content_hash: str | None
    created_at: Time
    updated_at: Time


_action = resource_of("ModerationAction", "moderation-actions", ActionAttributes)
ActionDocument = document_of("ModerationAction", _action)
ActionList = list_of("ModerationAction", _action)
