"""Whether a note takes ratings: a moderator's lock closes it, and a second look at its action opens it again.

A post that a moderator force-published has a locked rationale. While its action is looked at again, members must be
able to answer, or the second look could only run out of time (Decision 0029). The note's status stays meanwhile.
"""

import sqlalchemy as sa

from app.core.models import Action, Note
from app.core.vocabulary import ActionState


def is_closed(note: Note, action: Action | None) -> bool:
    """Whether nobody can rate the note; ``action`` is the one whose rationale it is, if it is one."""
    return note.locked and not is_lifted(note, action)


def is_lifted(note: Note, action: Action | None) -> bool:
    """Whether a moderator locked the note and a second look takes ratings of it all the same."""
    return (
        note.locked
        and note.rationale
        and action is not None
        and action.note_id == note.id
        and action.restores_id is None
        and action.action_state is ActionState.RETRO_REVIEW
    )


def open_clause() -> sa.ColumnElement[bool]:
    """The opposite of ``is_closed`` as a condition on ``Note`` and the ``Action`` whose rationale it is."""
    return sa.or_(Note.locked.is_(False), Action.action_state == ActionState.RETRO_REVIEW)
