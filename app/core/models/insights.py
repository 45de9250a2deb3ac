"""What the statistics keep ready: counts of each quarter of an hour, without personal data (docs/performance.md)."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base
from app.core.types import UtcDateTime


class Rollup(Base):
    """How far a community's slots are complete: those before ``end``, with all changes up to ``changes_until``."""

    __tablename__ = "insight_rollups"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    end: Mapped[int] = mapped_column(sa.BigInteger)
    changes_until: Mapped[datetime] = mapped_column(UtcDateTime)


class InsightSlot(Base):
    """The counts of one quarter of an hour, numbered from 1970 in UTC; a slot in which nothing happened has no row.

    Quarters, because days begin at another moment in every time zone, and always at a full quarter. ``waits`` are the
    seconds from submission to decision of the slot's reviews, separated by commas.
    """

    __tablename__ = "insight_slots"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    slot: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    submitted: Mapped[int] = mapped_column(default=0)
    acted: Mapped[int] = mapped_column(default=0)
    reviewed: Mapped[int] = mapped_column(default=0)
    ignored: Mapped[int] = mapped_column(default=0)
    opened: Mapped[int] = mapped_column(default=0)
    closed: Mapped[int] = mapped_column(default=0)
    ratings: Mapped[int] = mapped_column(default=0)
    sided: Mapped[int] = mapped_column(default=0)
    borne_out: Mapped[int] = mapped_column(default=0)
    reviews: Mapped[int] = mapped_column(default=0)
    split: Mapped[int] = mapped_column(default=0)
    waits: Mapped[str | None] = mapped_column(sa.Text)


class InsightOutcome(Base):
    """Actions proposed in one slot, by category or by classifier (``kind``), and how many were overturned since."""

    __tablename__ = "insight_outcomes"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    slot: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(10), primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(100), primary_key=True)
    acted: Mapped[int] = mapped_column()
    overturned: Mapped[int] = mapped_column()
