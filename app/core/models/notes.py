"""Notes and their ratings, and the stored results of scoring them: the fits of a community, raters' parameters, sums.

Parameters and sums belong to one fit, the ``version``. A new fit writes its own rows and takes effect with one
UPDATE of ``ScoringState``. They are derived from the ratings and can be deleted at any time, so they have no
foreign keys: those would cost more than the rows themselves when 100,000 are written.
"""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.models.content import Request
from app.core.models.people import Profile
from app.core.types import UtcDateTime, word
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteKind, NoteStatus

OPEN_NOTE = "NOT rationale AND deleted_at IS NULL AND NOT locked AND status_locked_at IS NULL"
"""Which notes by people or models can still change their status. An index repeats it."""


_LISTED = ("deleted_at", "rationale", "request_id")


class Note(Stamped, Base):
    """A community note, or the service's rationale for an action (``rationale`` true).

    ``author_ref`` is the author's id as it was sent; ``intercept`` the bridging score, about -1 to 1; ``factor``
    the note's position between the viewpoints; ``helpfulness_score`` the score's public form, 0 to 100.

    ``rating_changes`` increases with every change of a rating, so that code that computed from ratings can tell
    whether they have changed since. ``locked``: a moderator fixed the status; ``status_locked_at``: when age made
    the status final. ``helpful_pending_since``: since when the note has been rated helpful without interruption; it
    is published once that has lasted long enough.
    """

    __tablename__ = "notes"
    __table_args__ = (
        sa.Index(
            "uq_notes_author_id_request_id",
            "author_id",
            "request_id",
            unique=True,
            sqlite_where=sa.text("deleted_at IS NULL AND NOT ai_generated AND request_id IS NOT NULL"),
            postgresql_where=sa.text("deleted_at IS NULL AND NOT ai_generated AND request_id IS NOT NULL"),
        ),
        # The last columns let deep pages skip rows, and totals be counted, in the indexes alone.
        sa.Index("ix_notes_community_id_created_at_id", "community_id", "created_at", "id", *_LISTED),
        sa.Index("ix_notes_created_at_id", "created_at", "id", *_LISTED),
        sa.Index("ix_notes_status", "community_id", "status", "created_at", "id", "version", *_LISTED),
        # What changed since a client last asked, by a key of one community and of all.
        sa.Index("ix_notes_community_id_updated_at_id", "community_id", "updated_at", "id"),
        sa.Index("ix_notes_updated_at_id", "updated_at", "id"),
        sa.Index("ix_notes_request_id", "request_id"),
        sa.Index(
            "ix_notes_platform_message_id",
            "platform_message_id",
            "community_id",
            sqlite_where=sa.text("platform_message_id IS NOT NULL"),
            postgresql_where=sa.text("platform_message_id IS NOT NULL"),
        ),
        # What raters are asked about; rationales are most of the notes, and decided ones are locked in time.
        sa.Index(
            "ix_notes_open",
            "community_id",
            "created_at",
            "id",
            sqlite_where=sa.text(OPEN_NOTE),
            postgresql_where=sa.text(OPEN_NOTE),
        ),
        sa.Index(
            "ix_notes_helpful_pending_since",
            "helpful_pending_since",
            sqlite_where=sa.text("helpful_pending_since IS NOT NULL"),
            postgresql_where=sa.text("helpful_pending_since IS NOT NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("requests.id"))
    author_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    author_ref: Mapped[str] = mapped_column(sa.String(255))
    summary: Mapped[str] = mapped_column(sa.Text)
    classification: Mapped[Classification] = mapped_column(word(Classification))
    status: Mapped[NoteStatus] = mapped_column(word(NoteStatus), default=NoteStatus.NEEDS_MORE_RATINGS)
    helpfulness_score: Mapped[int] = mapped_column(default=0)
    intercept: Mapped[float | None] = mapped_column(sa.Float)
    factor: Mapped[float | None] = mapped_column(sa.Float)
    status_rule: Mapped[str | None] = mapped_column(sa.String(100))
    version: Mapped[int] = mapped_column(default=1)
    ratings_count: Mapped[int] = mapped_column(default=0)
    rating_changes: Mapped[int] = mapped_column(default=0, server_default="0")
    status_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    status_locked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    helpful_pending_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    rationale: Mapped[bool] = mapped_column(default=False)
    ai_generated: Mapped[bool] = mapped_column(default=False)
    ai_provider: Mapped[str | None] = mapped_column(sa.String(100))
    ai_model: Mapped[str | None] = mapped_column(sa.String(100))
    reasons: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    sources: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    channel_id: Mapped[str | None] = mapped_column(sa.String(255))
    platform_message_id: Mapped[str | None] = mapped_column(sa.String(255))
    platform_channel_id: Mapped[str | None] = mapped_column(sa.String(255))
    locked: Mapped[bool] = mapped_column(default=False)
    force_published: Mapped[bool] = mapped_column(default=False)
    force_published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    dismissed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    author: Mapped[Profile] = relationship(lazy="raise")
    request: Mapped[Request | None] = relationship(
        lazy="raise", foreign_keys=[request_id], viewonly=True, overlaps="note"
    )

    @property
    def kind(self) -> NoteKind:
        return NoteKind.RATIONALE if self.rationale else NoteKind.NOTE


def about_withdrawn() -> sa.ColumnElement[bool]:
    """SQL condition: notes on posts that were withdrawn. The service's rationales quote nothing."""
    return sa.and_(
        Note.rationale.is_(False),
        sa.exists().where(Request.id == Note.request_id, Request.withdrawn_at.is_not(None)),
    )


def judged_by_itself() -> sa.ColumnElement[bool]:
    """SQL condition: requests that count for their post: no duplicates, nor edits judged in the review of another."""
    elsewhere = sa.exists().where(Note.id == Request.note_id, Note.rationale, Note.request_id != Request.id)
    return sa.and_(
        Request.duplicate_of.is_(None),
        sa.or_(Request.edit_of.is_(None), sa.not_(elsewhere.correlate(Request))),
    )


class Rating(Stamped, Base):
    """One rater's rating of one note.

    It counts while ``note_version`` equals the note's version and ``exclusion_reason`` is None. ``blind_level`` is
    the rater's last level from before they could see the outcome; "My impact" uses it. None: they rated only
    afterwards.
    """

    __tablename__ = "ratings"
    __table_args__ = (
        sa.UniqueConstraint("note_id", "rater_id"),
        sa.Index("ix_ratings_rater_id_created_at", "rater_id", "created_at"),
        sa.Index("ix_ratings_community_id_created_at", "community_id", "created_at", "rater_id"),
        sa.Index("ix_ratings_community_id_updated_at", "community_id", "updated_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    note_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("notes.id"))
    rater_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"))
    rater_ref: Mapped[str] = mapped_column(sa.String(255))
    helpfulness_level: Mapped[HelpfulnessLevel] = mapped_column(word(HelpfulnessLevel))
    blind_level: Mapped[HelpfulnessLevel | None] = mapped_column(word(HelpfulnessLevel))
    note_version: Mapped[int] = mapped_column(default=1)
    exclusion_reason: Mapped[str | None] = mapped_column("excluded", sa.String(20))
    reasons: Mapped[list[str]] = mapped_column(sa.JSON, default=list)

    rater: Mapped[Profile] = relationship(lazy="raise")


class Skip(Base):
    """A rater skipped this review; it is not offered to them again."""

    __tablename__ = "skips"

    profile_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    action_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("moderation_actions.id"), primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class NoteSkip(Base):
    """A rater skipped this note; it is not offered to them again."""

    __tablename__ = "note_skips"

    profile_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    note_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("notes.id"), primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class ScoringModel(Base):
    """One fit of one community: ``parameters`` is ``scoring.Model`` as JSON. Never changed after it is written."""

    __tablename__ = "scoring_models"
    __table_args__ = (sa.UniqueConstraint("community_id", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    version: Mapped[int] = mapped_column()
    regime: Mapped[str] = mapped_column(sa.String(10))
    parameters: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    ratings: Mapped[int] = mapped_column()
    notes: Mapped[int] = mapped_column()
    raters: Mapped[int] = mapped_column()
    milliseconds: Mapped[int] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class ScoringState(Base):
    """Which fit is in force in a community, and when the next one is due.

    ``model_version`` 0: no fit yet, the cold regime. ``last_version`` is the highest number given to any fit,
    finished or not: no number is reused. ``ratings_since`` counts the ratings that the last finished fit did not
    include. A running fit holds the lease: ``lease_owner`` until ``lease_until``. ``camps`` is what previous fits
    learned about camps (``scoring.Camps`` as JSON), None before the first; the next fit starts from it.
    """

    __tablename__ = "scoring_states"
    __table_args__ = (sa.Index("ix_scoring_states_refit_due_at", "refit_due_at"),)

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    model_version: Mapped[int] = mapped_column(default=0)
    last_version: Mapped[int] = mapped_column(default=0)
    ratings_since: Mapped[int] = mapped_column(default=0)
    ratings_fitted: Mapped[int] = mapped_column(default=0)
    fitted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    fit_milliseconds: Mapped[int] = mapped_column(default=0)
    refit_due_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lease_owner: Mapped[uuid.UUID | None] = mapped_column()
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    camps: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))


class RaterParameters(Base):
    """One rater's parameters in one fit (``scoring.Rater``); ``helpfulness`` 0.0 to 1.0, None while unknown.

    ``acting_intercept`` and ``acting_factor`` come from the model that judges notes with an action, if the fit has
    a separate one; None for a rater whom that model does not know.
    """

    __tablename__ = "rater_parameters"

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    profile_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    intercept: Mapped[float] = mapped_column(sa.Float)
    factor: Mapped[float] = mapped_column(sa.Float)
    helpfulness: Mapped[float | None] = mapped_column(sa.Float)
    kept: Mapped[bool] = mapped_column()
    volume: Mapped[bool] = mapped_column()
    correlated: Mapped[bool] = mapped_column()
    acting_intercept: Mapped[float | None] = mapped_column(sa.Float)
    acting_factor: Mapped[float | None] = mapped_column(sa.Float)


class NoteSums(Base):
    """The sums over one note's ratings under one fit (``scoring.Sums`` as a list).

    They are valid while ``note_version`` and ``rating_changes`` equal the note's. Otherwise someone rated during
    the computation, or the text changed, and the sums are computed again from the ratings.
    """

    __tablename__ = "note_sums"

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    note_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    note_version: Mapped[int] = mapped_column()
    rating_changes: Mapped[int] = mapped_column()
    sums: Mapped[list[float]] = mapped_column(sa.JSON)
