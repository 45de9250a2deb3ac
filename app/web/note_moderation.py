"""The moderators' side of a note's own page: what ``templates/_note_moderation.html`` shows."""

from typing import Any

from sqlalchemy.orm import Session

from app.core.models import Note
from app.core.permissions import Actor


def panel(session: Session, actor: Actor, note: Note) -> Any:
    """What the panel shows of this note, or None for no panel. Asked only for readers who may moderate."""
    return None
