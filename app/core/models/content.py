"""Requests, their scores and their attachments."""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import AttachmentKind, AttachmentState, RequestStatus

if TYPE_CHECKING:
    from app.core.models.decisions import Decision
    from app.core.models.notes import Note


class Request(Stamped, Base):
    """A submission of content. ``request_id`` is the integration's string; ``id`` is ours (docs/integrate/api.md).

    ``language``: what `classify.language.detect` found when the post was scored; None before that. ``is_test``: its
    metadata says that it was sent to try out the service, so no statistic counts it (docs/run/first-hour.md).
    ``has_attachments``: lists ask for attachments only where there are some. ``scoring_until``: until then a job of
    another post scores this one along with its own (``requests.waiting``). ``edit_of``: the first request of the same
    message, if this text is another one; ``duplicate_of``: an earlier request of the same message with the same text,
    whose item and decision are this one's too. ``is_followed``: others wait for what becomes of this one
    (``requests.posts``).
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
        sa.Index("ix_requests_requested_at_id", "requested_at", "id", "withdrawn_at", "status"),
        # Of one account of an integration, and of one dataset, in the order of the list.
        sa.Index(
            "ix_requests_requested_by",
            "requested_by",
            "community_id",
            "requested_at",
            "id",
            "withdrawn_at",
            "status",
        ),
        sa.Index(
            "ix_requests_dataset",
            "dataset_name",
            "community_id",
            "requested_at",
            "id",
            "withdrawn_at",
            sqlite_where=sa.text("dataset_name IS NOT NULL"),
            postgresql_where=sa.text("dataset_name IS NOT NULL"),
        ),
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
        # What was completed since a client last asked, by a key of one community and of all.
        sa.Index(
            "ix_requests_community_id_completed_at_id",
            "community_id",
            "completed_at",
            "id",
            "withdrawn_at",
            "status",
        ),
        sa.Index("ix_requests_completed_at_id", "completed_at", "id", "withdrawn_at", "status"),
        sa.Index("ix_requests_request_id", "request_id"),
        sa.Index(
            "ix_requests_content_kept",
            "community_id",
            "requested_at",
            sqlite_where=sa.text("content_removed_at IS NULL"),
            postgresql_where=sa.text("content_removed_at IS NULL"),
        ),
        # The texts of a message, without those that are the same as an earlier one.
        sa.Index("ix_requests_platform_message_id", "platform_message_id", "community_id", "duplicate_of"),
        sa.Index(
            "ix_requests_duplicate_of",
            "duplicate_of",
            sqlite_where=sa.text("duplicate_of IS NOT NULL"),
            postgresql_where=sa.text("duplicate_of IS NOT NULL"),
        ),
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
    edit_of: Mapped[uuid.UUID | None] = mapped_column()
    duplicate_of: Mapped[uuid.UUID | None] = mapped_column()
    is_followed: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    traceparent: Mapped[str | None] = mapped_column(sa.String(55))
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
    completed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
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
    (``thresholds.post_scores``). Test posts have no row, nor has a post without such a score.
    """

    __tablename__ = "post_scores"
    __table_args__ = (sa.Index(None, "community_id", "scored_at"),)

    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"), primary_key=True)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    scored_at: Mapped[datetime] = mapped_column(UtcDateTime)
    categories: Mapped[str] = mapped_column(sa.Text)
    scores: Mapped[bytes] = mapped_column(sa.LargeBinary)


_WAITING = sa.text("state = 'waiting'")


class Attachment(Base):
    """A picture, video, sound, file or link of a post (docs/integrate/attachments.md).

    ``url``, ``kind``, ``alt``, ``filename``, ``width``, ``height`` and ``size`` are what the integration sent.
    ``position`` counts from 1. ``reason`` says why it was refused. ``attempts`` counts the fetches that began;
    ``due_at`` is when the next one should. ``sha256`` and ``preview_sha256`` name the stored files (`MediaFile`);
    ``media_type`` and the ``stored_`` columns describe the first of them, from its content.
    """

    __tablename__ = "attachments"
    __table_args__ = (
        sa.UniqueConstraint("request_id", "position"),
        sa.Index("ix_attachments_sha256", "sha256"),
        sa.Index("ix_attachments_preview_sha256", "preview_sha256"),
        sa.Index("ix_attachments_waiting", "due_at", sqlite_where=_WAITING, postgresql_where=_WAITING),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"))
    position: Mapped[int] = mapped_column()
    url: Mapped[str] = mapped_column(sa.Text)
    kind: Mapped[AttachmentKind] = mapped_column(word(AttachmentKind))
    alt: Mapped[str | None] = mapped_column(sa.Text)
    filename: Mapped[str | None] = mapped_column(sa.String(255))
    width: Mapped[int | None] = mapped_column()
    height: Mapped[int | None] = mapped_column()
    size: Mapped[int | None] = mapped_column(sa.BigInteger)
    state: Mapped[AttachmentState] = mapped_column(word(AttachmentState), default=AttachmentState.WAITING)
    reason: Mapped[str | None] = mapped_column(sa.String(40))
    attempts: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    fetched_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    media_type: Mapped[str | None] = mapped_column(sa.String(100))
    sha256: Mapped[str | None] = mapped_column(sa.String(64))
    preview_sha256: Mapped[str | None] = mapped_column(sa.String(64))
    stored_size: Mapped[int | None] = mapped_column(sa.BigInteger)
    stored_width: Mapped[int | None] = mapped_column()
    stored_height: Mapped[int | None] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class MediaFile(Base):
    """A stored file, named by the SHA-256 of its content; several attachments may share it.

    ``announced_at``: when an attachment last asked for it, before the file was written. ``removing_at``: set before
    the file is deleted, so that nobody starts to use it meanwhile.
    """

    __tablename__ = "media_files"

    sha256: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    size: Mapped[int] = mapped_column(sa.BigInteger)
    announced_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    removing_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
