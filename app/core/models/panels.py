"""Drawn panels: who could be drawn, the panel of a review, and its seats (docs/moderate/panels.md)."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ActionState, PanelOutcome, SeatState

_OPEN = sa.text("ended_at IS NULL")
_OPEN_SEAT = sa.text("state = 'open'")


class PanelRoll(Base):
    """Everybody in a community who could be drawn at one time; panels that open within an hour share it.

    ``raters`` holds 17 bytes a person, sorted: the profile id, and the side as one byte (``draw.Side``). ``digest`` is
    their SHA-256. A roll is never changed, and is deleted when no panel needs it any more.
    """

    __tablename__ = "panel_rolls"
    __table_args__ = (sa.Index("ix_panel_rolls_community_id_made_at", "community_id", "made_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    people: Mapped[int] = mapped_column()
    digest: Mapped[str] = mapped_column(sa.String(64))
    raters: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class Panel(Base):
    """The panel of one review of an action; open until ``ended_at``.

    ``review``: the state of the action that is reviewed. ``reason``: why a panel decides, a sentence. ``size`` and
    ``hours`` are the community's settings when it opened; ``wanted`` is how many people should have a seat now: one
    ``size``, and more once all have answered without deciding. ``seed`` is secret until the end; history has its
    SHA-256 from the beginning. ``shortlist`` are the first people of the draw, as in a roll; None after the end.
    ``due_at``: when the job looks at it next.

    ``answered``, ``helpful``, ``somewhat_helpful`` and ``not_helpful`` are set when it ends: the answers of the seats.
    """

    __tablename__ = "panels"
    __table_args__ = (
        sa.Index(
            "uq_panels_open",
            "action_id",
            unique=True,
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
        sa.Index("ix_panels_action_id_opened_at", "action_id", "opened_at"),
        sa.Index("ix_panels_note_id", "note_id"),
        sa.Index("ix_panels_due", "community_id", "due_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
        sa.Index("ix_panels_ended_at", "ended_at"),
        sa.Index("ix_panels_roll_id", "roll_id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    action_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("moderation_actions.id"))
    note_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("notes.id"))
    roll_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("panel_rolls.id"))
    review: Mapped[ActionState] = mapped_column(word(ActionState))
    reason: Mapped[str] = mapped_column(sa.String(255))
    size: Mapped[int] = mapped_column()
    hours: Mapped[int] = mapped_column()
    wanted: Mapped[int] = mapped_column()
    seed: Mapped[bytes] = mapped_column(sa.LargeBinary)
    shortlist: Mapped[bytes | None] = mapped_column(sa.LargeBinary, deferred=True)
    opened_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    due_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    outcome: Mapped[PanelOutcome | None] = mapped_column(word(PanelOutcome))
    answered: Mapped[int] = mapped_column(default=0)
    helpful: Mapped[int] = mapped_column(default=0)
    somewhat_helpful: Mapped[int] = mapped_column(default=0)
    not_helpful: Mapped[int] = mapped_column(default=0)


class PanelSeat(Base):
    """A person to whom the draw of a panel came; the primary key gives nobody two seats of one panel.

    ``number`` counts from 1 in the order of the draw. ``passed_over``: for a ``PASSED`` one, why they were not asked
    (``asking.SkipReason``).
    """

    __tablename__ = "panel_seats"
    __table_args__ = (
        sa.UniqueConstraint("panel_id", "number"),
        sa.Index(
            "ix_panel_seats_open",
            "profile_id",
            "panel_id",
            sqlite_where=_OPEN_SEAT,
            postgresql_where=_OPEN_SEAT,
        ),
    )

    panel_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("panels.id"), primary_key=True)
    profile_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    number: Mapped[int] = mapped_column()
    state: Mapped[SeatState] = mapped_column(word(SeatState))
    passed_over: Mapped[str | None] = mapped_column(sa.String(20))
    drawn_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
