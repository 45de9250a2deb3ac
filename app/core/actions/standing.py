"""What stands on the platform now: derived from the actions that it has reported as carried out, never stored."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from app.core.vocabulary import ActionType, Standing, UndoState


class Reported(Protocol):
    """A row with these columns of an action."""

    id: uuid.UUID
    action_type: ActionType
    applied_at: datetime | None
    undo_state: UndoState | None
    ended_at: datetime | None


_OF_POST = {
    ActionType.HIDE: Standing.HIDDEN,
    ActionType.UNHIDE: Standing.UP,
    ActionType.DELETE: Standing.DELETED,
}
_OF_AUTHOR = {ActionType.WARN: Standing.WARNED, ActionType.SILENCE: Standing.SILENCED}


def standing_of(actions: Iterable[Reported]) -> Standing:
    """What stands after all actions on one post. What the platform has not acknowledged does not count.

    The last action on the post itself decides; while the post is up, the last one on its author. So a hidden post stays
    hidden when its author is warned too, and an overturned ``hide`` does until its ``unhide`` is acknowledged, an
    overturned ``delete``, ``warn`` or ``silence`` until the platform says that it is undone. A silence that ended is
    over.
    """
    of_post = of_author = Standing.UP
    applied = [
        (action.applied_at, action.id, action.action_type)
        for action in actions
        if action.applied_at and action.undo_state is not UndoState.DONE and action.ended_at is None
    ]
    for _, _, action_type in sorted(applied):
        of_post = _OF_POST.get(action_type, of_post)
        of_author = _OF_AUTHOR.get(action_type, of_author)
    return of_author if of_post is Standing.UP else of_post
