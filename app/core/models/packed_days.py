"""Finished days, each packed into one row, so that figures of a long period need not read its rows (decision 0064)."""

import uuid
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base


class DayKind(StrEnum):
    """What a packed day holds: the ``scores`` that previews of thresholds route."""

    SCORES = "scores"


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

    Packing the day takes it away. ``request_id``: what changed.
    """

    __tablename__ = "day_changes"
    __table_args__ = (sa.Index(None, "community_id", "kind", "day", "request_id"),)

    id: Mapped[int] = mapped_column(sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True)
    community_id: Mapped[uuid.UUID] = mapped_column()
    kind: Mapped[str] = mapped_column(sa.String(10))
    day: Mapped[int] = mapped_column(sa.Integer)
    request_id: Mapped[uuid.UUID | None] = mapped_column()
