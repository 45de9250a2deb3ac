"""What scores a community's posts of its own: rules, connected services, and its learned model with its samples."""

import uuid
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.models.content import Request
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ActionType, HelpfulnessLevel, ServiceMode, Verb


class ConnectedService(Stamped, Base):
    """A service that a community's operators added. Its settings are in ``ServiceVersion``.

    ``version`` is the number of the settings in use; a newer one waits until it is put in force. ``key`` is sealed for
    the row's id. ``consents`` maps each host that may be sent posts to when an operator agreed, and to the operator's
    account. ``model_seen`` is the model that the service named last, ``model_before`` the one before that.
    ``etag`` increases with every change, so that a form on a stale page is refused.
    """

    __tablename__ = "connected_services"
    __table_args__ = (
        sa.Index(
            "uq_connected_services_community_id_name",
            "community_id",
            "name",
            unique=True,
            sqlite_where=sa.text("removed_at IS NULL"),
            postgresql_where=sa.text("removed_at IS NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    name: Mapped[str] = mapped_column(sa.String(40))
    kind: Mapped[str] = mapped_column(sa.String(40))
    mode: Mapped[ServiceMode] = mapped_column(word(ServiceMode), default=ServiceMode.OBSERVE)
    version: Mapped[int] = mapped_column(default=1)
    key: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    consents: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    model_seen: Mapped[str] = mapped_column(sa.String(100), default="")
    model_before: Mapped[str] = mapped_column(sa.String(100), default="")
    model_changed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    etag: Mapped[int] = mapped_column(default=1)
    removed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ServiceVersion(Base):
    """One version of a service's settings (``core.services.settings.ServiceSettings`` as JSON); never changed.

    ``made_by_id`` is an account; its name is looked up when shown, so that erasing an account erases it here too.
    """

    __tablename__ = "connected_service_versions"
    __table_args__ = (sa.UniqueConstraint("service_id", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    service_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("connected_services.id"))
    version: Mapped[int] = mapped_column()
    settings: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    reason: Mapped[str] = mapped_column(sa.Text)
    made_by_id: Mapped[uuid.UUID | None] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class ServiceDay(Base):
    """What a service did on one day (UTC): calls made, of them failed, answers from the cache, and the cost.

    ``milliseconds`` counts the calls by their time: one number for each of ``core.services.calls.BOUNDS``, and one
    for slower ones.
    """

    __tablename__ = "connected_service_days"

    service_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("connected_services.id"), primary_key=True)
    day: Mapped[date] = mapped_column(sa.Date, primary_key=True)
    requests: Mapped[int] = mapped_column(default=0)
    errors: Mapped[int] = mapped_column(default=0)
    cached: Mapped[int] = mapped_column(default=0)
    cost: Mapped[float] = mapped_column(sa.Float, default=0.0)
    milliseconds: Mapped[list[int]] = mapped_column(sa.JSON, default=list)
    last_error: Mapped[str] = mapped_column(sa.String(255), default="")


class RulePackVersion(Base):
    """One version of a community's rules; never changed after it is written.

    ``starter_off`` lists the rules of the shipped pack that are switched off here; ``pack`` is the community's own
    pack as `classify.rules.parse_pack` reads it, with empty ``rules`` when it has none.
    """

    __tablename__ = "rule_packs"
    __table_args__ = (sa.UniqueConstraint("community_id", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    version: Mapped[int] = mapped_column()
    starter_off: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    pack: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    reason: Mapped[str] = mapped_column(sa.Text)
    made_by: Mapped[str] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class RulePackDraft(Base):
    """Unpublished changes. ``etag`` increases with every change, so that a form on a stale page is refused."""

    __tablename__ = "rule_pack_drafts"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    starter_off: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    pack: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    etag: Mapped[int] = mapped_column("edition", default=1)
    changed_by: Mapped[str] = mapped_column(sa.String(255))
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class SlowRule(Base):
    """A rule that used most of the time when the scan of a text ran out of time.

    ``version`` is the classifier's version then, ``texts`` how often it happened, ``milliseconds`` the longest run.
    """

    __tablename__ = "slow_rules"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    rule: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    version: Mapped[str] = mapped_column(sa.String(100))
    texts: Mapped[int] = mapped_column(default=0)
    milliseconds: Mapped[int] = mapped_column(default=0)
    last_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


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
    def post(self) -> Request:
        return self.request

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
