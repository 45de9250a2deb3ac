"""Whether a note takes ratings: a moderator's lock closes it, and a second look at its action opens it again.

When a moderator force-publishes a rationale, it is locked. During a second look of its action members must be able
to rate it, or the second look could only end by timeout. The note keeps its status meanwhile.
"""

import sqlalchemy as sa

from app.core.models import Action, Note
from app.core.vocabulary import ActionState


def is_closed(note: Note, action: Action | None) -> bool:
    """Whether nobody can rate the note; ``action`` is the action whose rationale it is, or None."""
    return note.locked and not is_lifted(note, action)


def is_lifted(note: Note, action: Action | None) -> bool:
    """Whether a moderator locked the note but a second look of its action takes ratings."""
    return (
        note.locked
        and note.rationale
        and action is not None
        and action.note_id == note.id
        and action.restores_id is None
        and action.action_state is ActionState.RETRO_REVIEW
    )


def open_clause() -> sa.ColumnElement[bool]:
    """The opposite of ``is_closed`` in SQL: a condition on ``Note`` and the ``Action`` whose rationale it is."""
    return sa.or_(Note.locked.is_(False), Action.action_state == ActionState.RETRO_REVIEW)
