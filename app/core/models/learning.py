"""The community's own model: whether it learns, how far each category is, and the versions it made."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base
from app.core.ids import new_id
from app.core.types import UtcDateTime


class Learning(Base):
    """What a community has set about learning, and who is training for it at the moment.

    ``asks_first``: an operator puts each new version in force. ``history_number``: the last history entry that was
    looked at for decisions. ``erasures`` counts the removals of content or persons: a version that was trained before
    such a removal and stored after it would contain what was removed. ``due_at``: train from then on, whatever the
    number of new labels. A running training holds the lease: ``lease_owner`` until ``lease_until``.
    """

    __tablename__ = "learning"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    is_on: Mapped[bool] = mapped_column(default=True)
    asks_first: Mapped[bool] = mapped_column(default=False)
    history_number: Mapped[int] = mapped_column(default=0)
    erasures: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lease_owner: Mapped[uuid.UUID | None] = mapped_column()
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)


class LearnedCategory(Base):
    """How far the community's model is in one category.

    ``decisions`` are all that count as labels, ``labels`` those left after the caps, ``positives`` those of them on
    which the community acted. ``outcome`` is what the last training led to (``learning.training.Outcome``).
    ``version_in_force`` 0: none. ``waiting_version``: better, and waiting for an operator; 0: none. ``asks_first``:
    an operator went back to an old version here, so only an operator puts a new one in force.
    """

    __tablename__ = "learned_categories"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    category: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    decisions: Mapped[int] = mapped_column(default=0)
    labels: Mapped[int] = mapped_column(default=0)
    positives: Mapped[int] = mapped_column(default=0)
    outcome: Mapped[str] = mapped_column(sa.String(20))
    trained_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    newest_label_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_version: Mapped[int] = mapped_column(default=0)
    version_in_force: Mapped[int] = mapped_column(default=0)
    in_force_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    waiting_version: Mapped[int] = mapped_column(default=0)
    asks_first: Mapped[bool] = mapped_column(default=False)


class LearnedModel(Base):
    """One version of the community's model for one category; only an erasure ever changes it.

    ``weights`` are ``learning.logistic.Linear`` as bytes, and None once content that the version was trained on was
    erased: from then on it cannot be put in force. ``words`` are the words that count most, which are emptied too.
    ``figures`` are what the version was judged by (``learning.training.Figures`` as JSON).
    """

    __tablename__ = "learned_models"
    __table_args__ = (sa.UniqueConstraint("community_id", "category", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    category: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column()
    features: Mapped[int] = mapped_column()
    weights: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    blend_a: Mapped[float] = mapped_column(sa.Float)
    blend_b: Mapped[float] = mapped_column(sa.Float)
    blend_c: Mapped[float] = mapped_column(sa.Float)
    labels: Mapped[int] = mapped_column()
    positives: Mapped[int] = mapped_column()
    outcome: Mapped[str] = mapped_column(sa.String(20))
    figures: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    words: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    milliseconds: Mapped[int] = mapped_column()
    erased_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
