"""Undoing overturned actions that are no hide: the integration says whether its platform could
(docs/integrate/api.md).
"""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from app.core.actions import actions
from app.core.db import serialise_and_reload
from app.core.errors import IllegalMove
from app.core.history.reason import NO_REASON, Reason
from app.core.models import Action
from app.core.permissions import Actor, Permission, require
from app.core.texts import lazy_gettext
from app.core.vocabulary import Undo, UndoState

ANSWERED = "action.undo_answered"
"""The name of the history entry about an integration's answer."""
SENTENCES: Mapping[tuple[Undo, UndoState], str] = {
    (Undo.RESTORE, UndoState.PROPOSED): lazy_gettext("The platform has been asked to restore the post"),
    (Undo.RESTORE, UndoState.DONE): lazy_gettext("The platform restored the post"),
    (Undo.RESTORE, UndoState.IMPOSSIBLE): lazy_gettext("The platform cannot restore the post"),
    (Undo.UNSILENCE, UndoState.PROPOSED): lazy_gettext("The platform has been asked to end the silence"),
    (Undo.UNSILENCE, UndoState.DONE): lazy_gettext("The platform ended the silence"),
    (Undo.UNSILENCE, UndoState.IMPOSSIBLE): lazy_gettext("The platform cannot end the silence"),
    (Undo.RETRACT, UndoState.PROPOSED): lazy_gettext("The platform has been asked to revoke the warning"),
    (Undo.RETRACT, UndoState.DONE): lazy_gettext("The platform revoked the warning"),
    (Undo.RETRACT, UndoState.IMPOSSIBLE): lazy_gettext("The platform cannot revoke the warning"),
}


def sentence(action: Action) -> str | None:
    """Say what was asked of the platform, or what it answered; None where nothing is to be undone like this."""
    if action.undo is None or action.undo_state is None:
        return None
    return SENTENCES[action.undo, action.undo_state]


def answer(
    session: Session, actor: Actor, action: Action, state: UndoState, *, reason: Reason = NO_REASON
) -> Action:
    """Record whether the platform has undone an overturned action. A repeated answer changes nothing.

    A platform that could not can still say later that it has.

    Raises:
        IllegalMove: nothing is to be undone, or it has been undone already.
    """
    require(actor, Permission.ACKNOWLEDGE, action.community_id, "moderation action")
    serialise_and_reload(session, action)
    before = action.undo_state
    if before is state:
        return action
    if action.undo is None or before is None or before is UndoState.DONE:
        raise IllegalMove("undo_state", before or "nothing", state)
    action.undo_state, action.version = state, action.version + 1
    session.flush()
    actions.record(
        session,
        actor,
        action,
        ANSWERED,
        before={"undo_state": before.value},
        after={"undo": action.undo.value, "undo_state": state.value},
        reason=reason,
    )
    return action
