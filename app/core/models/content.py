"""Requests, their scores, notes, ratings, skips."""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.models.people import Profile
from app.core.types import UtcDateTime, word
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteStatus, RequestStatus

if TYPE_CHECKING:
    from app.core.models.attachments import Attachment
    from app.core.models.decisions import Decision


class Request(Stamped, Base):
    """A submission of content. ``request_id`` is the integration's string; ``id`` is ours (docs/integrate/api.md).

    ``language``: what `classify.language.detect` found when the post was scored; None before that. ``is_test``: its
    metadata says that it was sent to try out the service, so no statistic counts it (docs/run/first-hour.md).
    ``has_attachments``: lists ask for attachments only where there are some. ``scoring_until``: until then a job of
    another post scores this one along with its own (``requests.waiting``).
    """

    __tablename__ = "requests"
    __table_args__ = (
        # A withdrawn submission frees its request_id (docs/integrate/api.md).
        sa.Index(
            "uq_requests_community_id_request_id",
            "community_id",
            "request_id",
            unique=True,
            sqlite_where=sa.text("withdrawn_at IS NULL"),
            postgresql_where=sa.text("withdrawn_at IS NULL"),
        ),
        sa.Index(
            # The last columns let a deep page skip rows in the index alone.
            "ix_requests_community_id_requested_at_id",
            "community_id",
            "requested_at",
            "id",
            "withdrawn_at",
            "status",
        ),
        sa.Index("ix_requests_requested_at_id", "requested_at", "id"),
        sa.Index(
            "ix_requests_waiting",
            "community_id",
            "id",
            sqlite_where=sa.text("status = 'PENDING'"),
            postgresql_where=sa.text("status = 'PENDING'"),
        ),
        sa.Index("ix_requests_community_id_content_sha256", "community_id", "content_sha256"),
        sa.Index(
            "ix_requests_community_id_platform_author_id",
            "community_id",
            "platform_author_id",
            "requested_at",
        ),
        sa.Index("ix_requests_community_id_scored_at", "community_id", "scored_at"),
        sa.Index("ix_requests_request_id", "request_id"),
        sa.Index(
            "ix_requests_content_kept",
            "community_id",
            "requested_at",
            sqlite_where=sa.text("content_removed_at IS NULL"),
            postgresql_where=sa.text("content_removed_at IS NULL"),
        ),
        sa.Index("ix_requests_platform_message_id", "platform_message_id"),
        # Search for a part of a text or an id (docs/run/operations.md); SQLite has FTS5 for it.
        sa.Index(
            "ix_requests_search",
            "content",
            "platform_author_id",
            "request_id",
            "platform_message_id",
            postgresql_using="gin",
            postgresql_ops=dict.fromkeys(
                ("content", "platform_author_id", "request_id", "platform_message_id"), "gin_trgm_ops"
            ),
        ).ddl_if(dialect="postgresql"),
        sa.Index(
            "ix_requests_community_id_language",
            "community_id",
            "language",
            sqlite_where=sa.text("language IS NOT NULL"),
            postgresql_where=sa.text("language IS NOT NULL"),
        ),
        sa.Index(
            "ix_requests_fact_check",
            "community_id",
            "dataset_name",
            "dataset_item_id",
            "requested_at",
            sqlite_where=sa.text("dataset_item_id IS NOT NULL"),
            postgresql_where=sa.text("dataset_item_id IS NOT NULL"),
        ),
        # Few: what a count of decisions leaves out.
        sa.Index(
            "ix_requests_withdrawn",
            "community_id",
            "id",
            sqlite_where=sa.text("withdrawn_at IS NOT NULL"),
            postgresql_where=sa.text("withdrawn_at IS NOT NULL"),
        ),
        sa.Index(
            "ix_requests_tests",
            "community_id",
            "id",
            sqlite_where=sa.text("is_test = 1"),
            postgresql_where=sa.text("is_test"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[str] = mapped_column(sa.String(255))
    requested_by: Mapped[str] = mapped_column(sa.String(255))
    status: Mapped[RequestStatus] = mapped_column(word(RequestStatus), default=RequestStatus.PENDING)
    content: Mapped[str] = mapped_column(sa.Text)
    content_sha256: Mapped[str] = mapped_column(sa.String(64))
    platform_message_id: Mapped[str | None] = mapped_column(sa.String(255))
    platform_channel_id: Mapped[str | None] = mapped_column(sa.String(255))
    platform_author_id: Mapped[str | None] = mapped_column(sa.String(255))
    platform_timestamp: Mapped[datetime | None] = mapped_column(UtcDateTime)
    extra: Mapped[dict[str, Any] | None] = mapped_column("metadata", sa.JSON(none_as_null=True))
    similarity_score: Mapped[float | None] = mapped_column(sa.Float)
    dataset_name: Mapped[str | None] = mapped_column(sa.String(100))
    dataset_item_id: Mapped[str | None] = mapped_column(sa.String(36))
    note_id: Mapped[uuid.UUID | None] = mapped_column(
        sa.ForeignKey("notes.id", use_alter=True, name="fk_requests_note_id")
    )
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    scored_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    scoring_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    language: Mapped[str | None] = mapped_column(sa.String(8))
    is_test: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    has_attachments: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    failure: Mapped[str | None] = mapped_column(sa.Text)
    withdrawn_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    content_removed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    decision: Mapped["Decision | None"] = relationship(lazy="raise", back_populates="request", viewonly=True)
    note: Mapped["Note | None"] = relationship(lazy="raise", foreign_keys=[note_id], viewonly=True)
    attachments: Mapped[list["Attachment"]] = relationship(
        lazy="raise", viewonly=True, order_by="Attachment.position"
    )


_OBSERVED = sa.text("observed_tier IS NOT NULL")


class Score(Base):
    """The score of one request in one category by one classifier.

    ``is_highest``: routing used this row, the highest of all classifiers, for the category. Test posts never have it.
    ``is_acting``: routing used this row for Tier 1, because the highest one may not act; at most one row a category.
    ``observed_tier``: 1 or 2, the tier that an observe-only category would have led to; None for no tier.
    ``is_observed``: the score of a connected service that is only observed; it led to nothing and never does.
    """

    __tablename__ = "scores"
    __table_args__ = (
        sa.UniqueConstraint("request_id", "category", "classifier", "classifier_version"),
        sa.Index(
            "ix_scores_observed",
            "community_id",
            "created_at",
            "category",
            "observed_tier",
            sqlite_where=_OBSERVED,
            postgresql_where=_OBSERVED,
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"))
    category: Mapped[str] = mapped_column(sa.String(40))
    classifier: Mapped[str] = mapped_column(sa.String(100))
    classifier_version: Mapped[str] = mapped_column(sa.String(100))
    score: Mapped[float] = mapped_column(sa.Float)
    tier1_capable: Mapped[bool] = mapped_column(default=False)
    is_highest: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    is_acting: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    observed_tier: Mapped[int | None] = mapped_column(sa.Integer)
    is_observed: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    matches: Mapped[list[dict[str, Any]]] = mapped_column(sa.JSON, default=list)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class PostScores(Base):
    """The scores that routed one post, in one row: previews of other thresholds read those of 90 days at once.

    ``categories``: those with a score above 0, sorted, joined by spaces. ``scores``: two 16-bit numbers for each
    (``policies.post_scores``). Test posts have no row, nor has a post without such a score.
    """

    __tablename__ = "post_scores"
    __table_args__ = (sa.Index(None, "community_id", "scored_at"),)

    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"), primary_key=True)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    scored_at: Mapped[datetime] = mapped_column(UtcDateTime)
    categories: Mapped[str] = mapped_column(sa.Text)
    scores: Mapped[bytes] = mapped_column(sa.LargeBinary)


OPEN_NOTE = "NOT rationale AND deleted_at IS NULL AND NOT locked AND status_locked_at IS NULL"
"""Which notes by people or models can still change their status. An index repeats it."""


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
        sa.Index("ix_notes_community_id_created_at_id", "community_id", "created_at", "id", "deleted_at"),
        sa.Index("ix_notes_created_at_id", "created_at", "id"),
        sa.Index("ix_notes_request_id", "request_id"),
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


def about_withdrawn() -> sa.ColumnElement[bool]:
    """SQL condition: notes on posts that were withdrawn. The service's rationales quote nothing."""
    return sa.and_(
        Note.rationale.is_(False),
        sa.exists().where(Request.id == Note.request_id, Request.withdrawn_at.is_not(None)),
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
