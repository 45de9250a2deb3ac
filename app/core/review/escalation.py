"""Escalation: a moderator sends an item that members review to the community's staff, and its operators are told."""

from sqlalchemy.orm import Session

from app.core import limits
from app.core.actions import actions
from app.core.db import serialise_and_reload
from app.core.errors import Conflict
from app.core.history import notices
from app.core.history.why import Why
from app.core.models import Action
from app.core.permissions import Actor, Permission, require
from app.core.review import claims
from app.core.vocabulary import ActionState, ReviewGroup


def may_escalate(action: Action) -> bool:
    """Whether the item is under review by members, so that it can go to staff."""
    return action.action_state is ActionState.UNDER_REVIEW and action.review_group is not ReviewGroup.STAFF


def escalate(session: Session, actor: Actor, action: Action, *, why: Why, version: int | None = None) -> None:
    """Send an item to staff and notify the operators. The actor's claim ends, so that an operator can take it.

    ``version`` is the version that the moderator's page showed.

    Raises:
        Invalid: the reason is missing.
        Conflict: the item is not under review by members or changed meanwhile, or somebody is deciding it or has
            claimed it.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    limits.text(why.reason, "reason", limits.REASON_MAX)
    serialise_and_reload(session, action)
    if not may_escalate(action):
        raise Conflict("Staff reviews this already, or it is decided", action.id)
    claims.check_changeable(session, actor, action, version)
    entry = actions.send_to_staff(session, actor, action, why=why)
    claims.release(session, actor, action)
    if entry is not None:
        notices.tell_escalated(session, actor, entry)
