"""Attachments of posts, and the files that are stored for them."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import AttachmentKind, AttachmentState

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
