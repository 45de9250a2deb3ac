"""Fact-check items, how AI notes were written, and moderators' drafts."""

import uuid
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ClaimRating, Classification


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
