"""Statistics kept ready: counts of each quarter of an hour, without names of people (docs/develop/performance.md)."""

import uuid
from datetime import datetime
from enum import StrEnum

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

    Quarters, because days begin at another moment in every time zone, and always at a full quarter. ``partly_scored``:
    posts that no classifier could read for at least one of the active categories. ``waits`` are the
    seconds from submission to decision of the slot's reviews, separated by commas.
    """

    __tablename__ = "insight_slots"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    slot: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    submitted: Mapped[int] = mapped_column(default=0)
    acted: Mapped[int] = mapped_column(default=0)
    reviewed: Mapped[int] = mapped_column(default=0)
    ignored: Mapped[int] = mapped_column(default=0)
    partly_scored: Mapped[int] = mapped_column(default=0, server_default=sa.text("0"))
    opened: Mapped[int] = mapped_column(default=0)
    closed: Mapped[int] = mapped_column(default=0)
    ratings: Mapped[int] = mapped_column(default=0)
    sided: Mapped[int] = mapped_column(default=0)
    borne_out: Mapped[int] = mapped_column(default=0)
    reviews: Mapped[int] = mapped_column(default=0)
    split: Mapped[int] = mapped_column(default=0)
    waits: Mapped[str | None] = mapped_column(sa.Text)


class OutcomeKind(StrEnum):
    """What a sum by name is about."""

    CATEGORY = "category"
    CLASSIFIER = "classifier"
    RECORD = "record"


class InsightOutcome(Base):
    """Sums of one slot by name, of one ``kind`` (``OutcomeKind``): how many actions, ``of_which`` how many ended so.

    ``category`` and ``classifier``: actions proposed in the slot, of which were overturned since. ``record``: actions
    opened in the slot that people decided, by the classifier whose score led there, of which were upheld.
    """

    __tablename__ = "insight_outcomes"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    slot: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(10), primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(100), primary_key=True)
    total: Mapped[int] = mapped_column()
    of_which: Mapped[int] = mapped_column()


class GroupKind(StrEnum):
    """Whose actions a row of ``InsightGroup`` sums up."""

    CHANNEL = "channel"
    MODERATOR = "moderator"


class InsightGroup(Base):
    """Sums of one slot by channel or by moderator, in a table of their own: only Insights reads them.

    ``channel``: by the platform's id of it, the actions proposed in the slot, ``of_which`` were overturned since.
    ``moderator``: by the id of the account in hexadecimal digits, the decisions of reviews in the slot, ``of_which``
    were reversed since, and their ``waits`` as ``InsightSlot`` has them. Shown only where a community wants it.
    """

    __tablename__ = "insight_groups"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(10), primary_key=True)
    slot: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(255), primary_key=True)
    total: Mapped[int] = mapped_column()
    of_which: Mapped[int] = mapped_column()
    waits: Mapped[str | None] = mapped_column(sa.Text)


class RaterDay(Base):
    """A person rated in a community on a ``day``, numbered from 1970 in UTC. The verbs that write ratings keep it."""

    __tablename__ = "rater_days"

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    day: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)
    rater_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
