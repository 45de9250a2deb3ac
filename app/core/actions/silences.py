"""Silences with an end: staff set it, and lift it early; a job ends them in time (docs/integrate/lifecycle.md)."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import actions
from app.core.db import serialise_and_reload
from app.core.errors import Conflict, Invalid
from app.core.history.reason import Reason
from app.core.models import Action
from app.core.models.decisions import ENDING
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionType, EventName
from app.core.webhooks import events

UNTIL_CHANGED = "action.until_changed"
ENDED = "action.ended"
"""The names of the history entries."""
AT_ONCE = timedelta(seconds=5)
"""How far in the past an end may be, because the caller's "now" is past when it arrives: it is ended at once."""
IN_FORCE = (ActionState.APPLIED, ActionState.RETRO_REVIEW, ActionState.CONFIRMED)
_CHANGEABLE = (ActionState.PROPOSED, *IN_FORCE)
_DUE_AT_ONCE = 200


def check_until(action_type: ActionType, until: datetime | None) -> None:
    """Raise Invalid for an end in the past, or of anything that is no silence."""
    if until is None:
        return
    if action_type is not ActionType.SILENCE:
        raise Invalid.field("until", _("belongs to a silence only"), clock.iso(until))
    if until < clock.now() - AT_ONCE:
        raise Invalid.field("until", _("must not be in the past"), clock.iso(until))


def for_days(days: int | None) -> datetime | None:
    """When a silence of so many days ends that begins now; None: never."""
    return clock.now() + timedelta(days=days) if days is not None else None


def set_until(
    session: Session, actor: Actor, action: Action, until: datetime | None, *, reason: Reason
) -> Action:
    """Change when a silence ends; None: never. A moment that has come ends it at once. Repeating it changes nothing.

    Raises:
        Invalid: it is no silence, the end is in the past, or the reason is missing.
        Conflict: it is not in force.
    """
    require(actor, Permission.MODERATE, action.community_id, "moderation action")
    serialise_and_reload(session, action)
    if until == action.until and action.action_type is ActionType.SILENCE:
        return action
    if action.action_type is not ActionType.SILENCE:
        raise Invalid.field("until", _("belongs to a silence only"), clock.iso(until) if until else None)
    check_until(action.action_type, until)
    limits.text(reason.reason, "reason", limits.REASON_MAX)
    if action.ended_at is not None:
        raise Conflict(_("The silence has ended"), action.id)
    if action.action_state not in _CHANGEABLE:
        raise Conflict(_("The silence is not in force"), action.id)
    before = action.until
    action.until, action.version = until, action.version + 1
    session.flush()
    actions.record(
        session,
        actor,
        action,
        UNTIL_CHANGED,
        before={"until": _iso(before)},
        after={"until": _iso(until)},
        reason=reason,
    )
    if until is not None and until <= clock.now() and action.action_state in IN_FORCE:
        _end(session, actor, action, Reason(cause=lazy_gettext("lifted early")))
    return action


def lift(session: Session, actor: Actor, action: Action, *, reason: Reason) -> Action:
    """End a silence now."""
    return set_until(session, actor, action, clock.now(), reason=reason)


def can_be_lifted(action: Action) -> bool:
    """Whether this silence is in force, or about to be, so that its end can be changed."""
    return (
        action.action_type is ActionType.SILENCE
        and action.ended_at is None
        and action.action_state in _CHANGEABLE
    )


def due(session: Session) -> Sequence[uuid.UUID]:
    """Ids of silences whose end has come, for the job that ends them."""
    return session.scalars(
        sa.select(Action.id)
        .where(sa.text(ENDING), Action.until <= clock.now(), Action.action_state.in_(IN_FORCE))
        .order_by(Action.until, Action.id)
        .limit(_DUE_AT_ONCE)
    ).all()


def end(session: Session, action_id: uuid.UUID) -> None:
    """End a silence whose time is over. A repeated call changes nothing, nor does one after it was overturned."""
    action = session.get_one(Action, action_id)
    serialise_and_reload(session, action)
    if action.ended_at is not None or action.action_state not in IN_FORCE:
        return
    if action.until is None or action.until > clock.now():
        return
    _end(session, SYSTEM, action, Reason(cause=lazy_gettext("its time is over")))


def _end(session: Session, actor: Actor, action: Action, reason: Reason) -> None:
    action.ended_at, action.version = clock.now(), action.version + 1
    session.flush()
    actions.record(session, actor, action, ENDED, after={"until": _iso(action.until)}, reason=reason)
    events.emit_action(session, EventName.ACTION_ENDED, action)


def _iso(moment: datetime | None) -> str | None:
    return clock.iso(moment) if moment is not None else None
