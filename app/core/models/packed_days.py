"""Finished days, each packed into one row, so that figures of a long period need not read its rows (decision 0064)."""

import uuid
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base


class DayKind(StrEnum):
    """What a packed day holds.

    The ``scores`` that previews of thresholds route; who rated (``raters``); or the sums of the day's slots by name
    (``outcomes``, see ``InsightOutcome``).
    """

    SCORES = "scores"
    RATERS = "raters"
    OUTCOMES = "outcomes"


class PackedDay(Base):
    """What one kind of figure needs of one community's day, numbered from 1970 in UTC: columns of numbers as bytes.

    It may be deleted at any time: a day without it is read from its rows. It is right but for what ``DayChange`` has of
    the day. ``version`` is another one each time it is packed. ``ids`` are the ids of the requests, 16 bytes each, of
    ``scores`` alone: few readers need them.
    """

    __tablename__ = "packed_days"

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(10), primary_key=True)
    day: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)
    version: Mapped[int] = mapped_column()
    data: Mapped[bytes] = mapped_column(sa.LargeBinary)
    ids: Mapped[bytes | None] = mapped_column(sa.LargeBinary)


class DayChange(Base):
    """A change of a row of a day, or of what belongs to it. Triggers write it, with the change.

    Packing the day takes it away. ``request_id``: what changed of ``scores``; None for other kinds. That of
    ``outcomes`` is written by the job that counts the slots.
    """

    __tablename__ = "day_changes"
    __table_args__ = (sa.Index(None, "community_id", "kind", "day", "request_id"),)

    id: Mapped[int] = mapped_column(sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True)
    community_id: Mapped[uuid.UUID] = mapped_column()
    kind: Mapped[str] = mapped_column(sa.String(10))
    day: Mapped[int] = mapped_column(sa.Integer)
    request_id: Mapped[uuid.UUID | None] = mapped_column()


class RaterNumber(Base):
    """A small number for each rater of a community, in place of the id in its packed days; counted from 0.

    It is never given to another rater of the community.
    """

    __tablename__ = "rater_numbers"
    __table_args__ = (sa.UniqueConstraint("community_id", "number"),)

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    rater_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column()
