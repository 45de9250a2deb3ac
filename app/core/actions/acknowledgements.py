"""Acknowledgements: an integration reports an action it carried out, ours or its own (docs/integrate/api.md)."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.actions import actions, silences, strikes
from app.core.actions.moves import begin, make_move
from app.core.communities import settings as community_settings
from app.core.db import serialise, serialise_and_reload
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Action, Community, Decision, Note, Request
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionTier, ActionType

LOOK_AGAIN_JOB = "open_second_look"
ACTED_BEFORE_IT_HEARD = lazy_gettext("The platform acted before it heard of the dismissal")
_REVERSED_BY = {ActionType.HIDE: ActionType.UNHIDE, ActionType.UNHIDE: ActionType.HIDE}
_STANDING = (ActionState.APPLIED, ActionState.RETRO_REVIEW, ActionState.CONFIRMED)


def acknowledge(
    session: Session,
    actor: Actor,
    action: Action,
    platform_action_id: str | None = None,
    until: datetime | None = None,
) -> Action:
    """Record that the integration carried out the action. A repeated call changes nothing (docs/integrate/api.md).

    ``until``: when the platform ends a silence, if that is not what the service asked for.
    """
    require(actor, Permission.ACKNOWLEDGE, action.community_id, "moderation action")
    if platform_action_id is not None:
        limits.foreign_id(platform_action_id, "platform_action_id")
    silences.check_until(action.action_type, until)
    if action.applied_at is not None:
        return action
    source = action.action_state
    make_move(
        session,
        actor,
        action,
        ActionState.APPLIED,
        applied_at=clock.now(),
        platform_action_id=platform_action_id,
        until=until or action.until,
        **actions.unclaimed(),
    )
    if source is ActionState.UNDER_REVIEW:
        actions.decide(
            session, action, action.decided_verb, 1.0, lazy_gettext("the platform acted during the review")
        )
    if source is not ActionState.DISMISSED:
        strikes.give(session, action)
    else:
        # If the dismissal was reopened and a later action does the same, the post must not be shown in between.
        is_repeated = actions.is_wanted_again(session, action)
        actions.overturn(
            session, SYSTEM, action, reason=Reason(ACTED_BEFORE_IT_HEARD), restore=not is_repeated
        )
    if action.restores_id is not None:
        _exempt(session, session.get_one(Action, action.restores_id))
    elif source is ActionState.PROPOSED and _is_rated_tier_1(session, action):
        # Its first rating came before the platform acted. The acknowledgement returns the state "applied", as
        # integrations expect; a job opens the second look right after it.
        args = {"action_id": str(action.id)}
        outbox.enqueue(session, LOOK_AGAIN_JOB, args, community_id=action.community_id)
    return action


def look_again(session: Session, action_id: uuid.UUID) -> None:
    """Open the second look of an action that was rated before the platform acted. A repeated call changes nothing.

    Nor does one in a community that was archived meanwhile.
    """
    action = session.get_one(Action, action_id)
    serialise_and_reload(session, action)
    community = session.get_one(Community, action.community_id, populate_existing=True)
    if community.archived_at is not None:
        return
    if action.action_state is ActionState.APPLIED and _is_rated_tier_1(session, action):
        actions.open_second_look(
            session, SYSTEM, action, reason=Reason(cause=lazy_gettext("rated before the platform acted"))
        )


def record_taken(
    session: Session,
    actor: Actor,
    request: Request,
    action_type: ActionType,
    reason: str | None,
    until: datetime | None = None,
) -> tuple[Action, bool]:
    """Record an action that the integration took. Return (action, whether it is new). ``until``: of a silence.

    An open proposal of that type is acknowledged instead. A repeated call returns the action that was acknowledged
    before, unless it was overturned or reversed since.
    """
    require(actor, Permission.ACKNOWLEDGE, request.community_id, "request")
    if reason is not None:
        limits.text(reason, "reason", limits.REASON_MAX, least=0)
    silences.check_until(action_type, until)
    serialise(session, request.community_id)
    request = _of_its_item(session, request)
    proposal = session.scalars(
        sa.select(Action)
        .where(
            Action.request_id == request.id,
            Action.action_type == action_type,
            Action.action_state == ActionState.PROPOSED,
        )
        .order_by(Action.created_at)
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()
    if proposal is not None:
        return acknowledge(session, actor, proposal, until=until), False
    taken = _standing(session, request.id, action_type)
    if taken is not None:
        return taken, False
    action = Action(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        action_type=action_type,
        action_tier=None,
        action_state=ActionState.APPLIED,
        decided_verb=action_type.value,
        reason=reason,
        applied_at=clock.now(),
        until=until,
        platform_author_id=request.platform_author_id,
    )
    begin(session, actor, action, reason=Reason(reason or ""))
    strikes.give(session, action)
    return action, True


def _of_its_item(session: Session, request: Request) -> Request:
    """The request that has the item, where this one repeats it, or has its decision from it."""
    deciding = session.scalar(
        sa.select(Action.request_id)
        .join(Decision, Decision.action_id == Action.id)
        .where(Decision.request_id == request.id)
    )
    return session.get_one(Request, deciding or request.duplicate_of or request.id)


def _standing(session: Session, request_id: uuid.UUID, action_type: ActionType) -> Action | None:
    """The service's latest action of this type that was carried out; None if it was overturned or reversed since.

    An action without a tier was the integration's own. Each report of such an action makes a new row
    (docs/integrate/api.md).
    """
    latest = session.scalars(
        sa.select(Action)
        .where(
            Action.request_id == request_id,
            Action.action_type.in_((action_type, _REVERSED_BY.get(action_type, action_type))),
            Action.applied_at.is_not(None),
        )
        .order_by(Action.applied_at.desc(), Action.id.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()
    if latest is None or latest.action_tier is None:
        return None
    return latest if latest.action_type is action_type and latest.action_state in _STANDING else None


def _exempt(session: Session, action: Action) -> None:
    """Exempt the content of an overturned action from scanning: it is visible again."""
    if action.action_state is not ActionState.OVERTURNED:
        return
    request = session.get_one(Request, action.newest_request_id or action.request_id)
    make_move(
        session,
        SYSTEM,
        action,
        ActionState.SCAN_EXEMPT,
        reason=Reason(cause=lazy_gettext("the unhide was acknowledged")),
        scan_exempt_content_hash=request.content_sha256,
    )


def _is_rated_tier_1(session: Session, action: Action) -> bool:
    """Whether this is a Tier 1 action with ratings on its open rationale, and ratings open second looks here."""
    if action.action_tier is not ActionTier.IMMEDIATE or action.note_id is None:
        return False
    if not community_settings.read(session, action.community_id).second_look:
        return False
    note = session.get_one(Note, action.note_id)
    return note.ratings_count > 0 and not note.locked
