"""Moderators' tools: reason templates, saved filters, notices, and decisions overturned in bulk."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ActionVerb, AttentionReason, OverturnItemState, OverturnState


class ReasonTemplate(Stamped, Base):
    """A reason that moderators can choose instead of typing one. Retired ones stay, because history names them.

    ``category`` None suits every category. ``verb`` is the decision whose form begins with this reason, None for
    none. ``version`` increases with every change, so that a form on a stale page is refused.
    """

    __tablename__ = "reason_templates"
    __table_args__ = (sa.Index("ix_reason_templates_community_id_title", "community_id", "title"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    title: Mapped[str] = mapped_column(sa.String(100))
    text: Mapped[str] = mapped_column(sa.Text)
    category: Mapped[str | None] = mapped_column(sa.String(40))
    verb: Mapped[ActionVerb | None] = mapped_column(word(ActionVerb))
    active: Mapped[bool] = mapped_column(default=True)
    version: Mapped[int] = mapped_column(default=1)


class SavedFilter(Base):
    """A named set of review queue filters. ``query`` maps URL parameters to one value or a list.

    ``shared``: every moderator of the community sees it. With a ``position`` it is a queue that operators named, for
    ``members`` alone (account ids; empty: for all moderators).
    """

    __tablename__ = "saved_filters"
    __table_args__ = (sa.UniqueConstraint("community_id", "account_id", "name"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    name: Mapped[str] = mapped_column(sa.String(60))
    query: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    shared: Mapped[bool] = mapped_column(default=False)
    position: Mapped[int | None] = mapped_column()
    # Ids without a foreign key: an account that is gone sees no queue, and its id says nothing.
    members: Mapped[list[str]] = mapped_column(sa.JSON, default=list, server_default=sa.text("'[]'"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class AuthorNote(Base):
    """What moderators should know of an author, for all of an author's posts in the community. Never shown to raters.

    Rows are only added: the newest is the note in force (an empty ``text``: none), the others are its history.
    """

    __tablename__ = "author_notes"
    __table_args__ = (
        sa.Index("ix_author_notes_author", "community_id", "platform_author_id", "created_at", "id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    platform_author_id: Mapped[str] = mapped_column(sa.String(255))
    text: Mapped[str] = mapped_column(sa.Text)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    account_name: Mapped[str] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class Attention(Base):
    """A condition that operators have a notice about and that lasts (``upkeep.attention``).

    ``subject_id`` is the webhook that it is about, or the community. ``since``: when it began.
    """

    __tablename__ = "attention"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    reason: Mapped[AttentionReason] = mapped_column(word(AttentionReason), primary_key=True)
    subject_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    since: Mapped[datetime] = mapped_column(UtcDateTime)
    notified_at: Mapped[datetime] = mapped_column("told_at", UtcDateTime)


class Notice(Base):
    """A message to a moderator or operator: a decision overturned or not carried out, a claim taken over, …

    ``decided_id`` is the history entry of their decision (None when it was never carried out), ``entry_id`` the
    entry that this notice is about. Names and reasons are stored only in history, where they can be erased.
    """

    __tablename__ = "notices"
    __table_args__ = (
        sa.UniqueConstraint("account_id", "entry_id"),
        sa.Index("ix_notices_account_id_read_at", "account_id", "read_at"),
        sa.Index("ix_notices_entry_id", "entry_id"),
        sa.Index("ix_notices_decided_id", "decided_id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    action_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("moderation_actions.id"))
    note_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("notes.id"))
    decided_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("history.id"))
    entry_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("history.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    read_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Overturn(Stamped, Base):
    """One request to overturn everything that a category or a rule did since a moment.

    ``rule`` is the id of a matched rule; ``with_reviewed`` includes actions that reviewers agreed to. ``total`` is
    the number of actions at the start; ``done`` and ``failed`` count the processed ones. ``moved_at``: when the
    last batch ended.
    """

    __tablename__ = "overturns"
    __table_args__ = (
        sa.Index("ix_overturns_community_id_created_at", "community_id", "created_at"),
        sa.Index("ix_overturns_state_moved_at", "state", "moved_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    category: Mapped[str | None] = mapped_column(sa.String(40))
    rule: Mapped[str | None] = mapped_column(sa.String(255))
    since: Mapped[datetime] = mapped_column(UtcDateTime)
    with_reviewed: Mapped[bool] = mapped_column(default=False)
    reason: Mapped[str] = mapped_column(sa.Text)
    state: Mapped[OverturnState] = mapped_column(word(OverturnState), default=OverturnState.RUNNING)
    total: Mapped[int] = mapped_column(default=0)
    done: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    moved_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    @property
    def settled(self) -> int:
        """How many of the actions have been processed."""
        return self.done + self.failed


class OverturnItem(Base):
    """One action of a bulk overturn; ``why`` says why it could not be overturned."""

    __tablename__ = "overturn_items"
    __table_args__ = (sa.Index("ix_overturn_items_state", "overturn_id", "state", "action_id"),)

    overturn_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("overturns.id"), primary_key=True)
    action_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("moderation_actions.id"), primary_key=True)
    state: Mapped[OverturnItemState] = mapped_column(
        word(OverturnItemState), default=OverturnItemState.WAITING
    )
    why: Mapped[str] = mapped_column(sa.String(255), default="")
