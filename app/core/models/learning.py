"""The community's own model: its settings, categories and versions, and the posts that it asks raters about."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base
from app.core.ids import new_id
from app.core.models.content import Request
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ActionType, HelpfulnessLevel, Verb


class Learning(Base):
    """What a community has set about learning, and who is training for it at the moment.

    ``asks_first``: an operator puts each new version in force. ``history_number``: the last history entry that was
    looked at for decisions. ``erasures`` counts the removals of content or persons: a version that was trained before
    such a removal and stored after it would contain what was removed. ``due_at``: train from then on, whatever the
    number of new labels. A running training holds the lease: ``lease_owner`` until ``lease_until``.

    ``sample_share`` is the share of the posts below every threshold that raters are asked about, 0.0 to 0.05; 0: none.
    ``sample_key`` decides which posts these are (``learning.sampling``).
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
    sample_share: Mapped[float] = mapped_column(sa.Float, default=0.0, server_default="0")
    sample_key: Mapped[str | None] = mapped_column(sa.String(32))


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


class SampledPost(Base):
    """A post below every threshold that raters are asked about, so that the model learns from it.

    It is no action: nothing happens to the post, whatever they answer. It is open until ``ended_at``, at most until
    ``ends_at``. ``acted`` is the label: whether raters agreed that one should act on the post; None: no agreement.
    ``answers`` counts all answers, as a note counts its ratings.
    """

    __tablename__ = "learning_samples"
    __table_args__ = (
        sa.Index("ix_learning_samples_community_id_created_at", "community_id", "created_at"),
        sa.Index(
            "ix_learning_samples_labelled",
            "community_id",
            "category",
            "ended_at",
            sqlite_where=sa.text("acted IS NOT NULL"),
            postgresql_where=sa.text("acted IS NOT NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"), unique=True)
    category: Mapped[str] = mapped_column(sa.String(40))
    decided_verb: Mapped[str] = mapped_column(sa.String(20))
    answers: Mapped[int] = mapped_column(default=0)
    acted: Mapped[bool | None] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    ends_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    request: Mapped[Request] = relationship(lazy="raise", viewonly=True)

    @property
    def action_type(self) -> ActionType:
        """The type of the action that the question is about. No such action exists."""
        return Verb(self.decided_verb).action_type


class SampleAnswer(Base):
    """One rater's answer about a sample, which they can change while it is open; ``level`` None: they skipped it.

    It counts while ``exclusion_reason`` is None, as for ratings (``helpfulness.eligibility``).
    """

    __tablename__ = "learning_answers"

    sample_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("learning_samples.id"), primary_key=True)
    profile_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    level: Mapped[HelpfulnessLevel | None] = mapped_column(word(HelpfulnessLevel))
    exclusion_reason: Mapped[str | None] = mapped_column(sa.String(20))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now, onupdate=clock.now)
