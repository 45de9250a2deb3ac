"""Stored files of attachments, named by the SHA-256 of their content, so that equal files are stored once.

A file is announced in the database before it is written, and marked before it is deleted. So a file that an
attachment is about to use is never deleted, and one that is being deleted is never used.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.attachments.fetching import FetchFailed, Obtained
from app.core.models import Attachment, MediaFile, Request
from app.core.vocabulary import AttachmentRefusal

GRACE = timedelta(hours=1)
"""How long an announced file may wait for its attachment before it counts as unused."""
BATCH = 200


class StoreFailed(Exception):
    """The store cannot be reached or written. The message is for operators."""


class MissingFile(Exception):
    """The store has no such file."""


class MediaStore(Protocol):
    """Keeps files by name; a name is the SHA-256 of the content. Thread-safe."""

    def put(self, name: str, content: IO[bytes], size: int) -> None:
        """Store a file completely or not at all. To store it again changes nothing. Raises StoreFailed."""
        ...

    def read(self, name: str, start: int, length: int) -> Iterator[bytes]:
        """Return this part of a file in pieces. Raises MissingFile or StoreFailed before the first piece."""
        ...

    def remove(self, name: str) -> None:
        """Delete a file; one that is not there is no failure. Raises StoreFailed."""
        ...

    def names(self) -> Iterator[str]:
        """The names of all files; none if others may store files here too. Raises StoreFailed."""
        ...

    def where(self) -> str:
        """Where the files are, for operators; without secrets."""
        ...


@dataclass(frozen=True)
class Totals:
    """How much is stored."""

    files: int
    size: int
    waiting: int


def announce(session: Session, obtained: Obtained) -> None:
    """Announce the files that are about to be written.

    Raises:
        FetchFailed: a file with this content is being deleted right now; another attempt will do.
    """
    now = clock.now()
    for file in {file.sha256: file for file in obtained.files}.values():
        row = session.get(MediaFile, file.sha256, with_for_update=True, populate_existing=True)
        if row is None:
            session.add(MediaFile(sha256=file.sha256, size=file.size, announced_at=now))
        elif row.removing_at is not None:
            raise FetchFailed(AttachmentRefusal.NOT_STORED, retry=True)
        else:
            row.announced_at = now
    session.flush()


def mark_unused(session: Session) -> Sequence[str]:
    """Mark the next batch of files that no attachment uses, and return their names, with those marked before."""
    now = clock.now()
    used = sa.or_(Attachment.sha256 == MediaFile.sha256, Attachment.preview_sha256 == MediaFile.sha256)
    unused = (
        sa.select(MediaFile)
        .where(
            ~sa.exists().where(used),
            sa.or_(MediaFile.announced_at < now - GRACE, MediaFile.removing_at.is_not(None)),
        )
        .order_by(MediaFile.sha256)
        .limit(BATCH)
        .with_for_update()
    )
    rows = session.scalars(unused).all()
    for row in rows:
        row.removing_at = now
    session.flush()
    return [row.sha256 for row in rows]


def forget(session: Session, names: Sequence[str]) -> None:
    """Delete the rows of files that were deleted."""
    bulk.change(
        session, sa.delete(MediaFile).where(MediaFile.sha256.in_(names), MediaFile.removing_at.is_not(None))
    )


def unknown(session: Session, names: Sequence[str]) -> list[str]:
    """Those of the names that no row knows: files that a restored database has never heard of."""
    known = set(session.scalars(sa.select(MediaFile.sha256).where(MediaFile.sha256.in_(names))))
    return [name for name in names if name not in known]


def totals(session: Session) -> Totals:
    """How many files are stored, their bytes, and how many attachments still wait."""
    files, size = session.execute(
        sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(MediaFile.size), 0))
    ).one()
    waiting = session.scalar(
        sa.select(sa.func.count()).select_from(Attachment).where(sa.text("attachments.state = 'waiting'"))
    )
    return Totals(files, int(size), waiting or 0)


def remove(session: Session, request_ids: Sequence[uuid.UUID]) -> int:
    """Delete every attachment of these posts: addresses, names, alternative texts. Return how many."""
    if not request_ids:
        return 0
    removed = bulk.change(session, sa.delete(Attachment).where(Attachment.request_id.in_(request_ids)))
    bulk.change(
        session,
        sa.update(Request)
        .where(Request.id.in_(request_ids))
        .values(has_attachments=False, updated_at=Request.updated_at),
    )
    return removed
