"""Bulk overturns: the request, and the outcome for each action."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import OverturnItemState, OverturnState


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
