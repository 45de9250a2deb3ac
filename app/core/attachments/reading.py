"""Reads attachments for the API."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Attachment


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
