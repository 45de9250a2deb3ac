"""Fact-checks: items, vectors, imports and feeds that bring them, and notes that were drafted."""

import uuid
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import (
    AfterReading,
    ClaimRating,
    Classification,
    FeedOutcome,
    ImportFormat,
    ImportState,
    RowOutcome,
)


class FactCheckItem(Stamped, Base):
    """One published fact-check. ``item_id`` is the dataset's own id, unchanged.

    ``rating`` is None when we do not know the publisher's term; ``rating_given`` keeps that term. ``community_id``
    None: shared by every community; otherwise only that community uses it. (No foreign key: communities are never
    deleted.) ``title`` is that of the publisher's article. ``number`` is the item's in the full-text index
    (``search_fact_checks``); it gets a new one, above all others, whenever its text changes. ``search_language`` is
    ``language`` or what was detected.
    """

    __tablename__ = "fact_check_items"
    __table_args__ = (
        sa.UniqueConstraint("dataset_name", "item_id"),
        sa.Index("ix_fact_check_items_number", "number", "community_id"),
        sa.Index(
            "ix_fact_check_items_serving",
            "community_id",
            sqlite_where=sa.text("retired_at IS NULL"),
            postgresql_where=sa.text("retired_at IS NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID | None] = mapped_column()
    dataset_name: Mapped[str] = mapped_column(sa.String(100))
    item_id: Mapped[str] = mapped_column(sa.String(36))
    claim: Mapped[str] = mapped_column(sa.Text)
    rating: Mapped[ClaimRating | None] = mapped_column(word(ClaimRating))
    rating_given: Mapped[str] = mapped_column(sa.String(255))
    url: Mapped[str] = mapped_column(sa.String(2048))
    publisher: Mapped[str] = mapped_column(sa.String(255))
    reviewed_on: Mapped[date | None] = mapped_column(sa.Date)
    feed_id: Mapped[uuid.UUID | None] = mapped_column(index=True)
    retired_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    title: Mapped[str | None] = mapped_column(sa.String(500))
    language: Mapped[str | None] = mapped_column(sa.String(16))
    number: Mapped[int | None] = mapped_column()
    search_language: Mapped[str | None] = mapped_column(sa.String(8))


class AiDraft(Base):
    """How an AI note was written: the writer, its prompt, its answer, and why it fell back to the builtin writer.

    ``reply`` is the provider's raw answer, cut to the byte limit of the adapter; None for the builtin writer.
    ``language`` is that of the note; ``language_gap`` says why it is not that of the post.
    """

    __tablename__ = "ai_drafts"

    note_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("notes.id"), primary_key=True)
    item_id: Mapped[uuid.UUID | None] = mapped_column(
        sa.ForeignKey("fact_check_items.id", ondelete="SET NULL"), index=True
    )
    provider: Mapped[str] = mapped_column(sa.String(100))
    model: Mapped[str] = mapped_column(sa.String(100))
    prompt_version: Mapped[str] = mapped_column(sa.String(40))
    prompt_sha256: Mapped[str | None] = mapped_column(sa.String(64))
    reply: Mapped[str | None] = mapped_column(sa.Text)
    fell_back: Mapped[str | None] = mapped_column(sa.String(255))
    language: Mapped[str | None] = mapped_column(sa.String(8))
    language_gap: Mapped[str | None] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class NoteDraft(Base):
    """A draft that a moderator asked for and nobody else sees: it becomes their own note, or they discard it.

    The columns are those of ``AiDraft`` and of the note; the row is deleted when the draft is used or discarded.
    """

    __tablename__ = "note_drafts"
    __table_args__ = (
        sa.UniqueConstraint("request_id", "account_id"),
        sa.Index("ix_note_drafts_account_id", "account_id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"))
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    item_id: Mapped[uuid.UUID | None] = mapped_column()
    summary: Mapped[str] = mapped_column(sa.Text)
    classification: Mapped[Classification] = mapped_column(word(Classification))
    sources: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    provider: Mapped[str] = mapped_column(sa.String(100))
    model: Mapped[str] = mapped_column(sa.String(100))
    prompt_version: Mapped[str] = mapped_column(sa.String(40))
    prompt_sha256: Mapped[str | None] = mapped_column(sa.String(64))
    reply: Mapped[str | None] = mapped_column(sa.Text)
    fell_back: Mapped[str | None] = mapped_column(sa.String(255))
    language: Mapped[str | None] = mapped_column(sa.String(8))
    language_gap: Mapped[str | None] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class VectorSpace(Stamped, Base):
    """The vectors that one model of a connected service gave to the fact-checks of its community.

    ``identity`` names service address, model and what else changes vectors; ``settings_version`` has them.
    ``dimensions`` is 0 before the first vector. Posts are compared with it from ``complete_at`` on. ``covered`` says
    of which state of the datasets every item has its vector. ``leased_until``: no other job works on it until then.
    ``problem`` is why the job could not go on, empty while it can.
    """

    __tablename__ = "vector_spaces"
    __table_args__ = (sa.UniqueConstraint("service_id", "identity"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    service_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("connected_services.id"))
    settings_version: Mapped[int] = mapped_column()
    identity: Mapped[str] = mapped_column(sa.String(64))
    dimensions: Mapped[int] = mapped_column(default=0)
    covered: Mapped[str] = mapped_column(sa.String(60), default="")
    complete_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    leased_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str] = mapped_column(sa.String(255), default="")


class FactCheckVector(Base):
    """The vector of one fact-check in one space: numbers of two bytes (float16), the low byte first.

    ``number`` is the item's in the full-text index when its text was sent: it changes with the text. ``sha256`` is of
    that text, so that equal texts are sent once. ``vector`` is empty if the service refuses the text. ``position``
    grows with every stored vector, so that a process reads only what is new to it.
    """

    __tablename__ = "fact_check_vectors"
    __table_args__ = (
        sa.Index("ix_fact_check_vectors_space_id_position", "space_id", "position"),
        sa.Index("ix_fact_check_vectors_space_id_sha256", "space_id", "sha256"),
        sa.Index("ix_fact_check_vectors_item_id", "item_id"),
    )

    space_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("vector_spaces.id"), primary_key=True)
    item_id: Mapped[uuid.UUID] = mapped_column(
        sa.ForeignKey("fact_check_items.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column()
    sha256: Mapped[str] = mapped_column(sa.String(64))
    vector: Mapped[bytes] = mapped_column(sa.LargeBinary)
    position: Mapped[int] = mapped_column()


class DatasetFeed(Stamped, Base):
    """An address from which a dataset is refreshed. ``hours`` is the time between two fetches.

    ``etag``, ``last_modified`` and ``content_sha256`` describe the content that was imported last. ``retires``: items
    that the feed no longer holds are retired. ``failures`` counts failed fetches in a row. ``columns`` maps members to
    the headers of a CSV file. ``serves_all``: its items are shared by every community.
    """

    __tablename__ = "dataset_feeds"
    __table_args__ = (sa.Index("ix_dataset_feeds_due_at", "due_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    serves_all: Mapped[bool] = mapped_column()
    url: Mapped[str] = mapped_column(sa.String(2048))
    dataset_name: Mapped[str] = mapped_column(sa.String(100))
    publisher: Mapped[str] = mapped_column(sa.String(255))
    columns: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    hours: Mapped[int] = mapped_column()
    retires: Mapped[bool] = mapped_column()
    is_paused: Mapped[bool] = mapped_column(default=False)
    etag: Mapped[str | None] = mapped_column(sa.String(255))
    last_modified: Mapped[str | None] = mapped_column(sa.String(255))
    content_sha256: Mapped[str | None] = mapped_column(sa.String(64))
    failures: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    removed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class DatasetImport(Stamped, Base):
    """One file of fact-checks. Counts are of items; ``read_bytes`` and ``stored`` say how far the job is.

    ``source`` is the file's name or the feed's address. ``problem`` is why nothing more happens, or why nothing was
    retired. ``headers`` and ``samples`` show people a CSV file whose ``columns`` they choose. ``unknown`` counts the
    rating terms that we do not know. ``stored_position`` is the position of the last row that was stored.
    """

    __tablename__ = "dataset_imports"
    __table_args__ = (
        sa.Index("ix_dataset_imports_community_id_created_at", "community_id", "created_at"),
        sa.Index("ix_dataset_imports_state", "state"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    account_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"))
    feed_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("dataset_feeds.id"))
    serves_all: Mapped[bool] = mapped_column()
    source: Mapped[str] = mapped_column(sa.String(2048))
    format: Mapped[ImportFormat] = mapped_column(word(ImportFormat))
    dataset_name: Mapped[str] = mapped_column(sa.String(100))
    publisher: Mapped[str] = mapped_column(sa.String(255))
    columns: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    headers: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    samples: Mapped[list[Any]] = mapped_column(sa.JSON, default=list)
    after_reading: Mapped[AfterReading] = mapped_column(word(AfterReading))
    retires: Mapped[bool] = mapped_column(default=False)
    state: Mapped[ImportState] = mapped_column(word(ImportState))
    problem: Mapped[str] = mapped_column(sa.String(500), default="")
    total_bytes: Mapped[int] = mapped_column()
    read_bytes: Mapped[int] = mapped_column(default=0)
    records: Mapped[int] = mapped_column(default=0)
    added: Mapped[int] = mapped_column(default=0)
    changed: Mapped[int] = mapped_column(default=0)
    unchanged: Mapped[int] = mapped_column(default=0)
    taken: Mapped[int] = mapped_column(default=0)
    refused: Mapped[int] = mapped_column(default=0)
    retiring: Mapped[int] = mapped_column(default=0)
    unknown: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    stored: Mapped[int] = mapped_column(default=0)
    stored_position: Mapped[int] = mapped_column(default=0)
    retired: Mapped[int] = mapped_column(default=0)
    moved_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    @property
    def to_store(self) -> int:
        """How many items are stored or would be."""
        return self.added + self.changed


class DatasetImportPiece(Base):
    """A piece of an imported file; the pieces are deleted once the file has been read."""

    __tablename__ = "dataset_import_pieces"

    import_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("dataset_imports.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[bytes] = mapped_column(sa.LargeBinary)


class DatasetImportRow(Base):
    """One item of an imported file and what importing it does. Nothing matches posts with these rows.

    ``position`` is its number in the file; ``place`` says it for people ("line 7"). ``why`` says why an item
    is refused, or what of it is left out. When the import ends, only such rows stay, for the report.
    """

    __tablename__ = "dataset_import_rows"
    __table_args__ = (sa.Index("ix_dataset_import_rows_key", "import_id", "dataset_name", "item_id"),)

    import_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("dataset_imports.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    outcome: Mapped[RowOutcome] = mapped_column(word(RowOutcome))
    place: Mapped[str] = mapped_column(sa.String(60))
    dataset_name: Mapped[str | None] = mapped_column(sa.String(100))
    item_id: Mapped[str | None] = mapped_column(sa.String(36))
    why: Mapped[str] = mapped_column(sa.String(1000), default="")
    values: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)


class DatasetFeedCheck(Base):
    """One fetch of a feed, kept for its page."""

    __tablename__ = "dataset_feed_checks"
    __table_args__ = (sa.Index("ix_dataset_feed_checks_feed_id_created_at", "feed_id", "created_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    feed_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("dataset_feeds.id"))
    outcome: Mapped[FeedOutcome] = mapped_column(word(FeedOutcome))
    problem: Mapped[str] = mapped_column(sa.String(500), default="")
    bytes: Mapped[int] = mapped_column(default=0)
    milliseconds: Mapped[int] = mapped_column(default=0)
    import_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("dataset_imports.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
