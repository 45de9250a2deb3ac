"""Imports of fact-checks: files on their way into the datasets, and the feeds that are looked at again and again."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import AfterReading, FeedOutcome, ImportFormat, ImportState, RowOutcome


class DatasetFeed(Stamped, Base):
    """An address from which a dataset is refreshed. ``hours`` is the time between two looks.

    ``etag``, ``last_modified`` and ``content_sha256`` describe the content that was imported last. ``retires``: items
    that the feed no longer holds are retired. ``failures`` counts failed looks in a row. ``columns`` maps members to
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
    """One look at a feed, kept for its page."""

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
