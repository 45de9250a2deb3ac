"""Removes the attachments of posts. Their files go afterwards, once no other post uses them (`files.mark_unused`)."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Attachment, Request


def remove(session: Session, request_ids: Sequence[uuid.UUID]) -> int:
    """Delete every attachment of these posts: addresses, names, alternative texts. Return how many."""
    if not request_ids:
        return 0
    removed = session.execute(
        sa.delete(Attachment)
        .where(Attachment.request_id.in_(request_ids))
        .execution_options(synchronize_session=False)
    )
    session.execute(
        sa.update(Request)
        .where(Request.id.in_(request_ids))
        .values(has_attachments=False, updated_at=Request.updated_at)
        .execution_options(synchronize_session=False)
    )
    return int(removed.rowcount)  # type: ignore[attr-defined]  # a DELETE's result is a CursorResult
