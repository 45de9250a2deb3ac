"""What may change about a row on screen, read with a few narrow queries: an open tab asks for it every 15 s.

To draw rows needs posts, notes and people. To find out that nothing changed needs only these columns.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Action, Attachment, Hold, Note, Request
from app.core.permissions import Actor, Permission, require
from app.core.review import queue
from app.core.vocabulary import ActionState


@dataclass(frozen=True)
class RowMark:
    """``seen`` are values that differ if the row would look different. The moments show as times that pass:
    ``due_at`` when people should have decided, ``decided_at`` when they did, ``again_at`` when a second look began."""

    seen: tuple[Any, ...]
    due_at: datetime | None
    decided_at: datetime | None
    again_at: datetime | None


def row_marks(
    session: Session, actor: Actor, community_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> Mapping[uuid.UUID, RowMark]:
    """The marks of these items of the community, in any state; at most three queries. Unknown ids are left out."""
    require(actor, Permission.SEE_QUEUE, community_id)
    now = clock.now()
    rows = session.execute(
        sa.select(
            Action.id,
            Action.platform_author_id,
            Action.request_id,
            Request.has_attachments,
            Action.action_state,
            Action.due_at,
            Action.updated_at,
            Action.retro_review_at,
            Action.version,
            Action.claimed_by_id,
            Action.claimed_until,
            Action.assigned_to_id,
            Request.updated_at.label("post_updated_at"),
            Note.ratings_count,
            Note.status_rule,
            Hold.id.label("hold_id"),
        )
        .join(Request, Request.id == Action.request_id)
        .outerjoin(Note, Note.id == Action.note_id)
        .outerjoin(Hold, Hold.action_id == Action.id)
        .where(Action.community_id == community_id, Action.id.in_(ids))
    ).all()
    hidden = queue.hidden_posts(
        session, community_id, {row.platform_author_id for row in rows if row.platform_author_id}
    )
    media = _media(session, [row.request_id for row in rows if row.has_attachments])
    return {
        row.id: RowMark(
            (
                row.version,
                row.claimed_by_id if row.claimed_until is not None and row.claimed_until > now else None,
                row.assigned_to_id,
                row.post_updated_at,
                row.ratings_count,
                row.status_rule,
                row.hold_id,
                hidden.get(row.platform_author_id, 0),
                media.get(row.request_id),
            ),
            row.due_at if row.action_state is ActionState.UNDER_REVIEW else None,
            None if row.action_state in OPEN else row.updated_at,
            row.retro_review_at if row.action_state is ActionState.RETRO_REVIEW else None,
        )
        for row in rows
    }


OPEN = (ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW, ActionState.APPLIED)
"""States whose rows say nothing of when they were decided."""


def _media(
    session: Session, request_ids: Sequence[uuid.UUID]
) -> Mapping[uuid.UUID, tuple[tuple[Any, ...], ...]]:
    if not request_ids:
        return {}
    found: dict[uuid.UUID, tuple[tuple[Any, ...], ...]] = {}
    for request_id, *state in session.execute(
        sa.select(Attachment.request_id, Attachment.position, Attachment.state, Attachment.media_type)
        .where(Attachment.request_id.in_(request_ids))
        .order_by(Attachment.request_id, Attachment.position)
    ):
        found[request_id] = (*found.get(request_id, ()), tuple(state))
    return found
