"""Attachments as an integration sends them: checked, stored with the post, and read again for the API."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.errors import Invalid, Problem
from app.core.models import Attachment, Request
from app.core.vocabulary import AttachmentKind, AttachmentState

FETCH_JOB = "fetch_attachment"


@dataclass(frozen=True)
class NewAttachment:
    """An attachment as it was sent. ``size`` is in bytes; sizes are only what the integration says."""

    url: str
    kind: AttachmentKind
    alt: str | None = None
    filename: str | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None


def check(attachments: Sequence[NewAttachment], field: str = "attachments") -> None:
    """Check the attachments of one post.

    Raises:
        Invalid: too many, an address that is not https, or a value over its limit; it names the field.
    """
    most = limits.ATTACHMENTS_WITH_FLAT_MAX
    if len(attachments) > most:
        raise Invalid.field(field, f"must be at most {most}; there are {len(attachments)}")
    for place, attachment in enumerate(attachments):
        try:
            _check(attachment)
        except Invalid as refusal:
            raise Invalid(*(_moved(problem, field, place) for problem in refusal.problems)) from None


def _check(attachment: NewAttachment) -> None:
    limits.attachment_url(attachment.url, "url")
    if attachment.alt is not None:
        limits.text(attachment.alt, "alt", limits.ALT_MAX, least=0)
    if attachment.filename is not None:
        limits.text(attachment.filename, "filename", limits.FILENAME_MAX, least=0)
    for name, most in (("width", limits.SIDE_MAX), ("height", limits.SIDE_MAX), ("size", limits.SIZE_MAX)):
        value: Any = getattr(attachment, name)
        if value is not None and not 0 <= value <= most:
            raise Invalid.field(name, f"must be a whole number from 0 to {most}", value)


def _moved(problem: Problem, field: str, place: int) -> Problem:
    return Problem(problem.type, (field, place, *problem.loc), problem.msg, problem.input)


def add(session: Session, request: Request, attachments: Sequence[NewAttachment]) -> list[Attachment]:
    """Store a new post's attachments, and have each fetched after the commit. A link is never fetched."""
    now = clock.now()
    rows = [
        Attachment(
            community_id=request.community_id,
            request_id=request.id,
            position=position,
            state=AttachmentState.KEPT if is_link else AttachmentState.WAITING,
            due_at=None if is_link else now,
            attempts=0,
            created_at=now,
            **vars(attachment),
        )
        for position, attachment in enumerate(attachments, start=1)
        for is_link in (attachment.kind is AttachmentKind.LINK,)
    ]
    session.add_all(rows)
    session.flush()
    for row in rows:
        if row.state is AttachmentState.WAITING:
            enqueue(session, row.id, row.community_id)
    return rows


def enqueue(
    session: Session, attachment_id: uuid.UUID, community_id: uuid.UUID, *, delay: float = 0.0
) -> None:
    """Have an attachment fetched after the commit, ``delay`` seconds later."""
    # No key: a later attempt needs its own job, and the job does nothing when there is nothing to do.
    args = {"attachment_id": str(attachment_id)}
    outbox.enqueue(session, FETCH_JOB, args, community_id=community_id, delay=delay)


def for_requests(session: Session, rows: Sequence[Any]) -> dict[uuid.UUID, list[Attachment]]:
    """The attachments of these requests (``id``, ``has_attachments``), in their order; no query if none has any."""
    ids = [row.id for row in rows if row.has_attachments]
    found: dict[uuid.UUID, list[Attachment]] = defaultdict(list)
    if ids:
        ordered = (Attachment.request_id, Attachment.position)
        for attachment in session.scalars(
            sa.select(Attachment).where(Attachment.request_id.in_(ids)).order_by(*ordered)
        ):
            found[attachment.request_id].append(attachment)
    return found
