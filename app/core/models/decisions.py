"""Moderation actions, the one decision per request, and decisions held while they can be undone."""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import (
    CARRY_TEXT,
    UNDONE_BY,
    ActionState,
    ActionTier,
    ActionType,
    ActionVerb,
    ReopenTo,
    ReviewGroup,
    StrikeStep,
    Undo,
    UndoState,
)

if TYPE_CHECKING:
    from app.core.models.content import Request
    from app.core.models.notes import Note

_LIVE = (
    "restores_id IS NULL AND action_tier IS NOT NULL AND action_state IN "
    "('proposed', 'under_review', 'applied', 'retro_review', 'confirmed')"
)


SECOND_LOOK = (
    "restores_id IS NULL AND (action_state = 'retro_review' OR "
    "action_state = 'applied' AND action_tier = 'tier_1_immediate')"
)
"""Which actions wait for a second look: an open one, or applied by a score alone. An index repeats it."""
_SECOND_LOOK = sa.text(SECOND_LOOK)
_OPEN = sa.text("action_state IN ('under_review', 'retro_review')")
ASKED = "action_state IN ('under_review', 'retro_review') AND restores_id IS NULL AND review_group <> 'staff'"
"""Which actions raters are asked about. An index repeats it."""
QUEUED = "action_state = 'under_review'"
"""Which actions are in the review queue. Its indexes repeat it."""
HIDDEN = "restores_id IS NULL AND action_type = 'hide' AND action_state IN ('applied', 'retro_review', 'confirmed')"
"""Which actions keep a post hidden now. An index repeats it."""


_UNDO = sa.text("undo_state IS NOT NULL")
ENDING = "until IS NOT NULL AND ended_at IS NULL"
"""Which actions have an end that has not come. An index repeats it."""
STEPS = "strike_step IS NOT NULL"
"""Which actions were proposed because of an author's strikes. An index repeats it."""
_ASSIGNED = sa.text(f"{QUEUED} AND assigned_to_id IS NOT NULL")


class Action(Stamped, Base):
    """A moderation action (docs/integrate/api.md). Only ``moves.make_move`` changes its state.

    ``decided_verb`` is the category's configured verb. ``restores_id`` names the action that an ``unhide`` undoes;
    ``reopens_id`` the dismissed action that this one reopens, whose ``reopened_at`` is set. ``version`` increases
    with every change, so that a form on a stale page is refused. ``decided_category`` is the category that a
    moderator decided on, None while that is ``category``. ``platform_author_id``, ``platform_channel_id`` and
    ``language`` repeat the request's, for lists; older actions that can no longer be
    reviewed lack the last two.
    ``review_opened_at`` is when a proposal came back under review, None where the review opened with the action.
    ``due_at`` and ``urgent_at`` order the review queue (``actions.urgency``). Until ``snoozed_until`` the queue leaves
    it out; ``assigned_to_id`` is the account that is to decide it. ``undo_state``: whether the platform has undone an
    overturned action that is no hide. ``wave_id``: the wave of posts alike that it belongs to.
    ``reason`` of what the service proposed is the text for the post's author
    (``author_text``), of what the integration did on its own why it did so. ``newest_request_id``: the request with the
    text that is reviewed, where the post was edited during the review; None: ``request_id``. ``until``: when a silence
    ends, None: never; ``ended_at``: when the service said that it ended, or staff lifted it. ``strike_step``: the
    action concerns the author because of their strikes, and not the post alone (docs/moderate/authors.md). It decides
    no request.
    """

    __tablename__ = "moderation_actions"
    __table_args__ = (
        sa.Index(
            "uq_moderation_actions_live",
            "request_id",
            "action_tier",
            unique=True,
            sqlite_where=sa.text(_LIVE),
            postgresql_where=sa.text(_LIVE),
        ),
        sa.Index("ix_moderation_actions_state", "community_id", "action_state", "created_at", "id"),
        sa.Index("ix_moderation_actions_created_at_id", "created_at", "id"),
        sa.Index("ix_moderation_actions_community_id_created_at_id", "community_id", "created_at", "id"),
        # What changed since a client last asked, by a key of one community and of all.
        sa.Index("ix_moderation_actions_community_id_updated_at_id", "community_id", "updated_at", "id"),
        sa.Index("ix_moderation_actions_updated_at_id", "updated_at", "id"),
        # Of one tier, in the order of the list; the last columns let them be counted in the index alone.
        sa.Index(
            "ix_moderation_actions_tier",
            "community_id",
            "action_tier",
            "created_at",
            "id",
            "action_state",
            "category",
            "restores_id",
            # Not for those that only the platform took, and so SQLite does not prefer it to the queue's own index.
            sqlite_where=sa.text("action_tier IS NOT NULL"),
            postgresql_where=sa.text("action_tier IS NOT NULL"),
        ),
        # Second looks, and reviews that end by themselves: few beside all that was ever decided.
        sa.Index(
            "ix_moderation_actions_second_looks",
            "community_id",
            "action_state",
            "retro_review_at",
            "created_at",
            "id",
            sqlite_where=_SECOND_LOOK,
            postgresql_where=_SECOND_LOOK,
        ),
        # Their list in its default order: open ones first, as "retro_review" is after "applied". The last columns let
        # it be counted, filtered and sorted in the index alone.
        sa.Index(
            "ix_moderation_actions_look_list",
            "community_id",
            sa.text("action_state DESC"),
            sa.text("coalesce(urgent_at, created_at)"),
            "id",
            "urgent_at",
            "created_at",
            "category",
            "score",
            sqlite_where=_SECOND_LOOK,
            postgresql_where=_SECOND_LOOK,
        ),
        sa.Index(
            "ix_moderation_actions_open",
            "action_state",
            "created_at",
            "retro_review_at",
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
        # What raters are asked about, in the order of time. What they do not read or do not want to see is left out in
        # the index alone.
        sa.Index(
            "ix_moderation_actions_asked",
            "community_id",
            "created_at",
            "id",
            "action_state",
            "note_id",
            "category",
            "language",
            sqlite_where=sa.text(ASKED),
            postgresql_where=sa.text(ASKED),
        ),
        # The queue in its default order, and what of it is overdue.
        sa.Index(
            "ix_moderation_actions_urgent",
            "community_id",
            "urgent_at",
            "id",
            # The filters of the queue: what does not match, sleeping items too, is left out in the index alone.
            "snoozed_until",
            "category",
            "language",
            "platform_channel_id",
            "request_id",
            # SQLite reads the index alone only if these are in it too.
            "action_state",
            "wave_id",
            sqlite_where=sa.text(QUEUED),
            postgresql_where=sa.text(QUEUED),
        ),
        # The queue by score.
        sa.Index(
            "ix_moderation_actions_score",
            "community_id",
            sa.text("coalesce(score, 0.0) DESC"),
            "created_at",
            "id",
            sqlite_where=sa.text(QUEUED),
            postgresql_where=sa.text(QUEUED),
        ),
        sa.Index(
            "ix_moderation_actions_due",
            "community_id",
            "due_at",
            sqlite_where=sa.text(QUEUED),
            postgresql_where=sa.text(QUEUED),
        ),
        # How many posts of an author are hidden, counted for every row of the queue.
        sa.Index(
            "ix_moderation_actions_hidden",
            "community_id",
            "platform_author_id",
            sqlite_where=sa.text(HIDDEN),
            postgresql_where=sa.text(HIDDEN),
        ),
        sa.Index(
            "ix_moderation_actions_queued_author",
            "community_id",
            "platform_author_id",
            sqlite_where=sa.text(QUEUED),
            postgresql_where=sa.text(QUEUED),
        ),
        # What a moderator holds or is to decide, for their home and for letting go of it.
        sa.Index(
            "ix_moderation_actions_claimed",
            "claimed_by_id",
            "claimed_until",
            sqlite_where=sa.text("claimed_by_id IS NOT NULL"),
            postgresql_where=sa.text("claimed_by_id IS NOT NULL"),
        ),
        sa.Index(
            "ix_moderation_actions_assigned",
            "assigned_to_id",
            sqlite_where=_ASSIGNED,
            postgresql_where=_ASSIGNED,
        ),
        # The few that are to be undone, and what came of it, for the API's list.
        sa.Index(
            "ix_moderation_actions_undo",
            "community_id",
            "undo_state",
            "created_at",
            "id",
            sqlite_where=_UNDO,
            postgresql_where=_UNDO,
        ),
        # Silences whose end has not come, for the job that ends them.
        sa.Index(
            "ix_moderation_actions_until",
            "until",
            "id",
            sqlite_where=sa.text(ENDING),
            postgresql_where=sa.text(ENDING),
        ),
        # Whether an author is silenced.
        sa.Index(
            "ix_moderation_actions_silences",
            "community_id",
            "platform_author_id",
            sqlite_where=sa.text("action_type = 'silence'"),
            postgresql_where=sa.text("action_type = 'silence'"),
        ),
        sa.Index(
            "ix_moderation_actions_strike_step",
            "community_id",
            "platform_author_id",
            "created_at",
            sqlite_where=sa.text(STEPS),
            postgresql_where=sa.text(STEPS),
        ),
        sa.Index("ix_moderation_actions_request_id", "request_id"),
        sa.Index(
            "ix_moderation_actions_wave_id",
            "wave_id",
            "id",
            "action_state",
            sqlite_where=sa.text("wave_id IS NOT NULL"),
            postgresql_where=sa.text("wave_id IS NOT NULL"),
        ),
        sa.Index("ix_moderation_actions_note_id", "note_id"),
        sa.Index("ix_moderation_actions_exempt", "community_id", "scan_exempt_content_hash"),
        # A dismissal can be reopened only once; the new action may be reopened in turn.
        sa.Index("uq_moderation_actions_reopens_id", "reopens_id", unique=True),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"))
    # No foreign key: SQLite can add one to an existing table only by copying the whole table.
    newest_request_id: Mapped[uuid.UUID | None] = mapped_column()
    action_type: Mapped[ActionType] = mapped_column(word(ActionType))
    action_tier: Mapped[ActionTier | None] = mapped_column(word(ActionTier))
    action_state: Mapped[ActionState] = mapped_column(word(ActionState))
    review_group: Mapped[ReviewGroup | None] = mapped_column(word(ReviewGroup))
    category: Mapped[str | None] = mapped_column(sa.String(40))
    decided_category: Mapped[str | None] = mapped_column(sa.String(40))
    score: Mapped[float | None] = mapped_column(sa.Float)
    evidence: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON)
    decided_verb: Mapped[str] = mapped_column(sa.String(20))
    note_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("notes.id"))
    restores_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("moderation_actions.id"))
    # No foreign key: SQLite can add one to an existing table only by copying the whole table.
    reopens_id: Mapped[uuid.UUID | None] = mapped_column()
    platform_action_id: Mapped[str | None] = mapped_column(sa.String(255))
    reason: Mapped[str | None] = mapped_column(sa.Text)
    overturned_reason: Mapped[str | None] = mapped_column(sa.Text)
    proposed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    applied_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    retro_review_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    confirmed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    overturned_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    dismissed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lapsed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    reopened_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    review_opened_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    scan_exempt_content_hash: Mapped[str | None] = mapped_column(sa.String(64))
    claimed_by_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"))
    claimed_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    platform_author_id: Mapped[str | None] = mapped_column(sa.String(255))
    platform_channel_id: Mapped[str | None] = mapped_column(sa.String(255))
    language: Mapped[str | None] = mapped_column(sa.String(8))
    due_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    urgent_at: Mapped[datetime | None] = mapped_column(UtcDateTime, default=clock.now)
    snoozed_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # No foreign key: SQLite can add one to an existing table only by copying the whole table.
    assigned_to_id: Mapped[uuid.UUID | None] = mapped_column()
    undo_state: Mapped[UndoState | None] = mapped_column(word(UndoState))
    until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    strike_step: Mapped[StrikeStep | None] = mapped_column(word(StrikeStep))
    # No foreign key: SQLite can add one to an existing table only by copying the whole table.
    wave_id: Mapped[uuid.UUID | None] = mapped_column()
    version: Mapped[int] = mapped_column(default=1)

    request: Mapped["Request"] = relationship(lazy="raise", viewonly=True, foreign_keys=[request_id])
    newest: Mapped["Request | None"] = relationship(
        viewonly=True,
        foreign_keys=[newest_request_id],
        primaryjoin="foreign(Action.newest_request_id) == Request.id",
    )
    note: Mapped["Note | None"] = relationship(lazy="raise", viewonly=True)
    held: Mapped["Hold | None"] = relationship(lazy="raise", viewonly=True)

    @property
    def post(self) -> "Request":
        """The request with the text that is reviewed: the newest, where the post was edited meanwhile."""
        newest = self.newest if self.newest_request_id is not None else None
        return self.request if newest is None else newest

    @property
    def filed_under(self) -> str | None:
        """The category that a moderator decided on, or else that of the score."""
        return self.decided_category or self.category

    @property
    def author_text(self) -> str | None:
        """What the platform tells the post's author; None if nothing, or if the integration acted on its own."""
        is_ours = self.action_tier is not None or self.strike_step is not None
        return self.reason if self.action_type in CARRY_TEXT and is_ours else None

    @property
    def undo(self) -> Undo | None:
        """What undoes it on the platform, once it is overturned; None for a hide, which an ``unhide`` undoes."""
        return UNDONE_BY.get(self.action_type) if self.undo_state is not None else None

    @property
    def undo_progress(self) -> str | None:
        """What is to be undone and whether it is, in one word such as ``restore_proposed``; None if nothing is."""
        return f"{self.undo}_{self.undo_state}" if self.undo is not None else None


class Decision(Base):
    """The decision about a request. The unique ``request_id`` allows only one (docs/integrate/api.md)."""

    __tablename__ = "decisions"
    __table_args__ = (
        sa.UniqueConstraint("community_id", "decided_at"),
        sa.Index("ix_decisions_tier", "community_id", "tier", "decision"),
        # For polling with a key that reaches every community.
        sa.Index("ix_decisions_decided_at", "decided_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"), unique=True)
    action_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("moderation_actions.id"))
    decision: Mapped[str] = mapped_column(sa.String(20))
    tier: Mapped[int] = mapped_column()
    confidence: Mapped[float] = mapped_column(sa.Float)
    decided_at: Mapped[datetime] = mapped_column(UtcDateTime)

    request: Mapped["Request"] = relationship(lazy="raise", back_populates="decision", viewonly=True)
    action: Mapped[Action] = relationship(lazy="raise", viewonly=True)


class Hold(Base):
    """A dashboard decision that is not carried out yet: it can be undone until ``due_at``.

    It concerns an action, or a note without an action. ``category`` is the category it is decided on, ``reopen_to``
    where a reopened dismissal goes. ``act_as``: what the platform is to do instead of what the category is configured
    for; ``author_text``: the message to the post's author; ``until``: when a silence ends, None: never.
    Holds with the same ``together_id`` are undone together.
    """

    __tablename__ = "holds"
    __table_args__ = (
        sa.CheckConstraint("(action_id IS NULL) <> (note_id IS NULL)", name="one_subject"),
        sa.Index("ix_holds_due_at", "due_at"),
        sa.Index("ix_holds_together_id", "together_id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    action_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("moderation_actions.id"), unique=True)
    note_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("notes.id"), unique=True)
    verb: Mapped[ActionVerb] = mapped_column(word(ActionVerb))
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    account_name: Mapped[str] = mapped_column(sa.String(255))
    reason: Mapped[str] = mapped_column(sa.Text)
    comment: Mapped[str | None] = mapped_column(sa.Text)
    category: Mapped[str | None] = mapped_column(sa.String(40))
    reopen_to: Mapped[ReopenTo | None] = mapped_column(word(ReopenTo))
    act_as: Mapped[ActionType | None] = mapped_column(word(ActionType))
    author_text: Mapped[str | None] = mapped_column(sa.Text)
    until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    together_id: Mapped[uuid.UUID | None] = mapped_column()
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class Strike(Base):
    """Points against an author in one community, for an action that was applied or by a moderator's own hand.

    They count until ``expires_at`` or ``lifted_at``. The unique ``action_id`` gives each action one strike at most.
    ``account_id`` and ``account_name``: who added it, None and empty for what an action gave; ``lifted_by_id``: who
    lifted it, None where the action was overturned.
    """

    __tablename__ = "strikes"
    __table_args__ = (
        sa.Index("ix_strikes_author", "community_id", "platform_author_id", "created_at", "id"),
        sa.Index(
            "uq_strikes_action_id",
            "action_id",
            unique=True,
            sqlite_where=sa.text("action_id IS NOT NULL"),
            postgresql_where=sa.text("action_id IS NOT NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    platform_author_id: Mapped[str] = mapped_column(sa.String(255))
    points: Mapped[int] = mapped_column()
    category: Mapped[str | None] = mapped_column(sa.String(40))
    action_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("moderation_actions.id"))
    reason: Mapped[str] = mapped_column(sa.Text, default="")
    account_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    account_name: Mapped[str] = mapped_column(sa.String(255), default="")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    lifted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lift_reason: Mapped[str] = mapped_column(sa.Text, default="")
    lifted_by_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    lifted_by_name: Mapped[str] = mapped_column(sa.String(255), default="")
