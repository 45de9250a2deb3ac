"""The history of one object: of an action with its post, or of a note."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Action, HistoryEntry, HistoryText, Note
from app.core.permissions import Actor, Permission, require


def of_item(session: Session, actor: Actor, action: Action) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """The history of an action, its request, rationale and restorations, including comments; oldest first."""
    require(actor, Permission.SEE_HISTORY, action.community_id, "item")
    # The ids first: PostgreSQL would read the whole community's history for a subquery beside an OR.
    siblings = session.scalars(sa.select(Action.id).where(Action.request_id == action.request_id)).all()
    objects = [action.request_id, *siblings, *([action.note_id] if action.note_id is not None else [])]
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.object_type.in_(("request", "note", "action")),
            # Without the community: SQLite would read its whole history instead of the index by object.
            HistoryEntry.object_id.in_(objects),
        )
        .order_by(HistoryEntry.number)
    )
    return [(entry, text) for entry, text in rows]


def of_note(session: Session, actor: Actor, note: Note) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """The history of one note, oldest first."""
    require(actor, Permission.SEE_HISTORY, note.community_id, "note")
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.object_type == "note",
            HistoryEntry.object_id == note.id,
        )
        .order_by(HistoryEntry.number)
    )
    return [(entry, text) for entry, text in rows]
