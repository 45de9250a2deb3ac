"""The states of an attachment while a job fetches it. The job itself is in ``app/jobs/attachments.py``.

A job runs at least once and may be killed anywhere. So attempts are counted before they begin, and files are stored
under the hash of their content: to store one again changes nothing.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import IO, Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.attachments import adding
from app.core.models import Attachment, Request
from app.core.vocabulary import AttachmentKind, AttachmentRefusal, AttachmentState

DELAYS = (10.0, 120.0, 900.0)
"""Seconds before the second, third and fourth attempt; there is no fifth."""
LOST_AFTER = timedelta(minutes=10)
"""An attachment that waits so long beyond its time has lost its job, and gets another."""
_LOST_AT_ONCE = 100


class FetchFailed(Exception):
    """An attachment could not be had. ``retry``: another attempt may succeed."""

    def __init__(self, reason: AttachmentRefusal, *, retry: bool = False) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.retry = retry


@dataclass(frozen=True)
class PreparedFile:
    """A file that can be stored: its content, from the beginning, and what is known of it."""

    sha256: str
    size: int
    media_type: str
    content: IO[bytes]


@dataclass(frozen=True)
class Obtained:
    """A fetched and checked attachment. Pictures have a preview and sizes in pixels. Closes its files at the end."""

    main: PreparedFile
    preview: PreparedFile | None = None
    width: int | None = None
    height: int | None = None

    def __enter__(self) -> "Obtained":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self.files:
            file.content.close()

    @property
    def files(self) -> tuple[PreparedFile, ...]:
        return (self.main,) if self.preview is None else (self.main, self.preview)


class Obtainer(Protocol):
    """Fetches and checks attachments. Thread-safe."""

    def obtain(self, url: str, kind: AttachmentKind) -> Obtained:
        """Fetch an address and check what it gives. Pictures are re-encoded, without metadata.

        Raises:
            FetchFailed: it cannot be reached, or is not what it should be.
        """
        ...


@dataclass(frozen=True)
class Wanted:
    """What a job should fetch."""

    url: str
    kind: AttachmentKind


def begin(session: Session, attachment_id: uuid.UUID) -> Wanted | None:
    """Count an attempt. None when there is nothing to do: fetched already, or its post is gone."""
    attachment = session.get(Attachment, attachment_id, with_for_update=True, populate_existing=True)
    if attachment is None or attachment.state is not AttachmentState.WAITING:
        return None
    request = session.get_one(Request, attachment.request_id)
    if request.withdrawn_at is not None or request.content_removed_at is not None:
        _refuse(attachment, AttachmentRefusal.UNREACHABLE)
        return None
    if attachment.attempts > len(DELAYS):
        # Every attempt ended with its process: most likely the file itself ends it.
        _refuse(attachment, AttachmentRefusal.DAMAGED)
        return None
    attachment.attempts += 1
    attachment.due_at = clock.now() + LOST_AFTER
    session.flush()
    return Wanted(attachment.url, attachment.kind)


def keep(session: Session, attachment_id: uuid.UUID, obtained: Obtained) -> Attachment | None:
    """Record what was stored. None if the attachment was removed meanwhile."""
    attachment = _waiting(session, attachment_id)
    if attachment is None:
        return None
    attachment.state = AttachmentState.KEPT
    attachment.media_type = obtained.main.media_type
    attachment.sha256, attachment.stored_size = obtained.main.sha256, obtained.main.size
    attachment.preview_sha256 = obtained.preview.sha256 if obtained.preview else None
    attachment.stored_width, attachment.stored_height = obtained.width, obtained.height
    attachment.fetched_at, attachment.due_at = clock.now(), None
    session.flush()
    return attachment


def fail(session: Session, attachment_id: uuid.UUID, failure: FetchFailed) -> Attachment | None:
    """Record a failed attempt: another is due later, or the attachment is refused. None if it was removed."""
    attachment = _waiting(session, attachment_id)
    if attachment is None:
        return None
    if failure.retry and attachment.attempts <= len(DELAYS):
        delay = DELAYS[attachment.attempts - 1]
        attachment.due_at = clock.now() + timedelta(seconds=delay)
        adding.enqueue(session, attachment.id, attachment.community_id, delay=delay)
    else:
        _refuse(attachment, failure.reason)
    session.flush()
    return attachment


def postpone(session: Session, attachment_id: uuid.UUID, seconds: float) -> None:
    """Try later, without counting an attempt: this process fetches enough at the moment."""
    attachment = _waiting(session, attachment_id)
    if attachment is not None:
        attachment.due_at = clock.now() + timedelta(seconds=seconds)
        adding.enqueue(session, attachment.id, attachment.community_id, delay=seconds)
        session.flush()


def enqueue_lost(session: Session) -> int:
    """Give attachments that lost their job another one, for example after a restore. Return how many."""
    now = clock.now()
    # The state as text: a parameter would keep the partial index from being used.
    is_waiting = Attachment.state == sa.literal(
        AttachmentState.WAITING, Attachment.state.type, literal_execute=True
    )
    lost = session.scalars(
        sa.select(Attachment)
        .where(is_waiting, Attachment.due_at < now - LOST_AFTER)
        .order_by(Attachment.due_at)
        .limit(_LOST_AT_ONCE)
    ).all()
    for attachment in lost:
        attachment.due_at = now
        adding.enqueue(session, attachment.id, attachment.community_id)
    session.flush()
    return len(lost)


def _waiting(session: Session, attachment_id: uuid.UUID) -> Attachment | None:
    attachment = session.get(Attachment, attachment_id, with_for_update=True, populate_existing=True)
    if attachment is None or attachment.state is not AttachmentState.WAITING:
        return None
    return attachment


def _refuse(attachment: Attachment, reason: AttachmentRefusal) -> None:
    attachment.state, attachment.reason, attachment.due_at = AttachmentState.REFUSED, reason.value, None
