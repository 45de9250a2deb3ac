"""Moderation actions: proposed, acknowledged, overturned, restored (Contract: section 5).

These are the moves of one action. What follows for its rationale note is ``verdicts``' business.
"""

import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload, selectinload

from app.core import clock, community_settings, decisions, history, outbox, rules
from app.core.db import serialise
from app.core.errors import Invalid, NotFound
from app.core.ids import new_id
from app.core.models import Action, Note, Request
from app.core.moves import begin, make_move
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.routing import Route
from app.core.vocabulary import ActionState, ActionTier, ActionType, ReviewGroup, Verb

LOOK_AGAIN_JOB = "open_second_look"


def get(session: Session, actor: Actor, action_id: uuid.UUID) -> Action:
    """The action; unknown and foreign look alike."""
    action = session.get(Action, action_id)
    if action is None or not actor.sees(action.community_id):
        raise NotFound("moderation action")
    require(actor, Permission.READ, action.community_id, "moderation action")
    return action


READ_OPTIONS = (joinedload(Action.request).load_only(Request.request_id),)
"""What reading an action shows beside its own columns: one query whatever the number of rows."""


def read(session: Session, actor: Actor, action_id: uuid.UUID) -> Action:
    """The action as it stands now, with ``READ_OPTIONS``; unknown and foreign look alike."""
    action = session.get(Action, action_id, options=READ_OPTIONS, populate_existing=True)
    if action is None:
        raise NotFound("moderation action")
    require(actor, Permission.READ, action.community_id, "moderation action")
    return action


def of_note(session: Session, note_id: uuid.UUID) -> Action | None:
    """The action whose rationale this note is, as it stands now: others may have moved it since it was loaded."""
    return session.scalars(
        sa.select(Action)
        .where(Action.note_id == note_id, Action.restores_id.is_(None))
        .order_by(Action.created_at.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def matching(
    actor: Actor,
    *,
    community_id: uuid.UUID | None = None,
    state: ActionState | None = None,
    tier: ActionTier | None = None,
) -> sa.Select[Any]:
    """The actor's actions that match, unordered."""
    statement = sa.select(Action)
    if actor.communities is not None:
        statement = statement.where(Action.community_id.in_(actor.communities))
    if community_id is not None:
        statement = statement.where(Action.community_id == community_id)
    if state is not None:
        statement = statement.where(Action.action_state == state)
    if tier is not None:
        statement = statement.where(Action.action_tier == tier)
    return statement


def open_for(
    session: Session, request: Request, route: Route, evidence: dict[str, Any], note: Note
) -> Action:
    """The action that a route asks for: proposed at once, or under review (Tier 2, and every ``flag``)."""
    reviewed = route.tier is ActionTier.CONSENSUS or route.verb is Verb.FLAG
    action = Action(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        action_type=route.verb.action_type,
        action_tier=route.tier,
        action_state=ActionState.UNDER_REVIEW if reviewed else ActionState.PROPOSED,
        review_group=route.review_group,
        category=route.category,
        score=route.score,
        evidence=evidence,
        decided_verb=route.verb.value,
        note_id=note.id,
        proposed_at=None if reviewed else clock.now(),
    )
    cause = f"{route.category} {route.score:.4f} > {route.threshold:g}"
    begin(session, SYSTEM, action, cause=cause)
    if route.tier is ActionTier.IMMEDIATE:
        decisions.record(session, action, route.verb.value, tier=1, confidence=route.score, cause=cause)
    return action


def decide_act(
    session: Session,
    actor: Actor,
    action: Action,
    *,
    confidence: float,
    reason: str = "",
    comment: str = "",
    cause: str = "",
) -> None:
    """A review ends: act."""
    make_move(
        session,
        actor,
        action,
        ActionState.PROPOSED,
        reason=reason,
        comment=comment,
        cause=cause,
        proposed_at=clock.now(),
        **_unclaimed(),
    )
    _decide(session, action, action.decided_verb, confidence, cause)


def decide_none(
    session: Session,
    actor: Actor,
    action: Action,
    *,
    confidence: float,
    reason: str = "",
    comment: str = "",
    cause: str = "",
) -> None:
    """A review ends without action, or a proposal is withdrawn before the platform acts."""
    make_move(
        session,
        actor,
        action,
        ActionState.DISMISSED,
        reason=reason,
        comment=comment,
        cause=cause,
        dismissed_at=clock.now(),
        **_unclaimed(),
    )
    _decide(session, action, decisions.NO_ACTION, confidence, cause)


def acknowledge(
    session: Session, actor: Actor, action: Action, platform_action_id: str | None = None
) -> Action:
    """The integration has carried the action out. Said again, it changes nothing (Contract: section 5)."""
    require(actor, Permission.ACKNOWLEDGE, action.community_id, "moderation action")
    if platform_action_id is not None:
        rules.foreign_id(platform_action_id, "platform_action_id")
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
        **_unclaimed(),
    )
    if source is ActionState.UNDER_REVIEW:
        _decide(session, action, action.decided_verb, 1.0, "the platform acted during the review")
    if source is ActionState.DISMISSED:
        overturn(session, SYSTEM, action, "The platform acted before it heard of the dismissal")
    if action.restores_id is not None:
        _exempt(session, session.get_one(Action, action.restores_id))
    elif source is ActionState.PROPOSED and _is_rated_tier_1(session, action):
        # Its first rating came before there was anything to look at again. The acknowledgement itself answers
        # "applied", as integrations expect; the second look begins right after it.
        outbox.enqueue(session, LOOK_AGAIN_JOB, {"action_id": str(action.id)})
    return action


def look_again(session: Session, action_id: uuid.UUID) -> None:
    """Open the second look of an action that was rated before the platform acted. Repeated, it changes nothing."""
    action = session.get_one(Action, action_id)
    serialise(session, action.community_id)
    session.refresh(action)
    if action.action_state is ActionState.APPLIED and _is_rated_tier_1(session, action):
        open_second_look(session, SYSTEM, action, cause="rated before the platform acted")


def overturn(
    session: Session, actor: Actor, action: Action, reason: str, *, comment: str = "", cause: str = ""
) -> Action | None:
    """Undo an applied action. A hidden post is proposed to be shown again: that ``unhide`` is returned."""
    make_move(
        session,
        actor,
        action,
        ActionState.OVERTURNED,
        reason=reason,
        comment=comment,
        cause=cause,
        overturned_at=clock.now(),
        overturned_reason=reason or None,
        **_unclaimed(),
    )
    if action.action_type is not ActionType.HIDE:
        return None
    unhide = Action(
        id=new_id(),
        community_id=action.community_id,
        request_id=action.request_id,
        action_type=ActionType.UNHIDE,
        action_tier=action.action_tier,
        action_state=ActionState.PROPOSED,
        review_group=action.review_group,
        category=action.category,
        score=action.score,
        evidence=action.evidence,
        decided_verb=ActionType.UNHIDE.value,
        note_id=action.note_id,
        restores_id=action.id,
        reason=reason or None,
        proposed_at=clock.now(),
    )
    begin(session, SYSTEM, unhide, cause=f"overturned {action.id}")
    return unhide


def confirm(
    session: Session,
    actor: Actor,
    action: Action,
    *,
    reason: str = "",
    comment: str = "",
    cause: str = "",
) -> None:
    """A second look upholds the action."""
    make_move(
        session,
        actor,
        action,
        ActionState.CONFIRMED,
        reason=reason,
        comment=comment,
        cause=cause,
        confirmed_at=clock.now(),
        **_unclaimed(),
    )


def open_second_look(
    session: Session, actor: Actor, action: Action, *, reason: str = "", cause: str = ""
) -> None:
    """An applied action is looked at again: an appeal (with its reason), a moderator, or a rating."""
    if actor.kind == "key" and not actor.staff and not reason.strip():
        raise Invalid.field("reason", "is required to appeal", type="missing")
    make_move(
        session,
        actor,
        action,
        ActionState.RETRO_REVIEW,
        reason=reason,
        cause=cause,
        retro_review_at=clock.now(),
    )


def hold_for_review(session: Session, actor: Actor, action: Action, *, reason: str = "") -> None:
    """A proposal goes back to the raters before the platform acts."""
    make_move(session, actor, action, ActionState.UNDER_REVIEW, reason=reason)


def record_taken(
    session: Session, actor: Actor, request: Request, action_type: ActionType, reason: str | None
) -> tuple[Action, bool]:
    """Record an action that the integration took: (action, made). An open proposal of that type is acknowledged.

    Said again, it is the action that was acknowledged before, as long as that one stands.
    """
    require(actor, Permission.ACKNOWLEDGE, request.community_id, "request")
    if reason is not None:
        rules.text(reason, "reason", rules.REASON_MAX, least=0)
    serialise(session, request.community_id)
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
        return acknowledge(session, actor, proposal), False
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
    )
    begin(session, actor, action, reason=reason or "")
    return action, True


_REVERSED_BY = {ActionType.HIDE: ActionType.UNHIDE, ActionType.UNHIDE: ActionType.HIDE}
_STANDING = (ActionState.APPLIED, ActionState.RETRO_REVIEW, ActionState.CONFIRMED)


def _standing(session: Session, request_id: uuid.UUID, action_type: ActionType) -> Action | None:
    """The service's own action of this type that the platform took last, unless it was overturned or reversed since.

    What integrations record of their own accord is recorded each time it is said (Contract: section 5, POST).
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


def send_to_staff(session: Session, actor: Actor, action: Action, *, cause: str = "") -> None:
    """An open review goes to the community's staff; ``cause`` is the service's own reason."""
    if action.review_group is ReviewGroup.STAFF:
        return
    before, action.review_group = action.review_group, ReviewGroup.STAFF
    action.version += 1
    session.flush()
    history.record(
        session,
        actor,
        action.community_id,
        "action.escalated",
        "action",
        action.id,
        before={"review_group": before.value if before else None},
        after={"review_group": ReviewGroup.STAFF.value},
        cause=cause,
    )


def live_for(session: Session, request_id: uuid.UUID) -> Action | None:
    """The newest action of a request that is not a restoration, as it stands now."""
    return session.scalars(
        sa.select(Action)
        .where(Action.request_id == request_id, Action.restores_id.is_(None))
        .order_by(Action.created_at.desc(), Action.id.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def with_content(session: Session, actor: Actor, action_id: uuid.UUID) -> Action:
    """The action with its request, note and hold loaded, for a page."""
    action = session.scalars(
        sa.select(Action)
        .where(Action.id == action_id)
        .options(
            selectinload(Action.request).selectinload(Request.decision),
            selectinload(Action.note),
            selectinload(Action.held),
        )
    ).first()
    if action is None or not actor.sees(action.community_id):
        raise NotFound("item")
    require(actor, Permission.READ, action.community_id, "item")
    return action


def _decide(session: Session, action: Action, decision: str, confidence: float, cause: str) -> None:
    tier = action.action_tier.number if action.action_tier else 2
    decisions.record(session, action, decision, tier=tier, confidence=confidence, cause=cause)


def _exempt(session: Session, action: Action) -> None:
    """The content is visible again: it is not scanned a second time."""
    if action.action_state is not ActionState.OVERTURNED:
        return
    request = session.get_one(Request, action.request_id)
    make_move(
        session,
        SYSTEM,
        action,
        ActionState.SCAN_EXEMPT,
        cause="the unhide was acknowledged",
        scan_exempt_content_hash=request.content_sha256,
    )


def _is_rated_tier_1(session: Session, action: Action) -> bool:
    """Whether this is a Tier 1 action whose rationale was rated already, and ratings open second looks here."""
    if action.action_tier is not ActionTier.IMMEDIATE or action.note_id is None:
        return False
    if not community_settings.read(session, action.community_id).second_look:
        return False
    note = session.get_one(Note, action.note_id)
    return note.ratings_count > 0 and not note.locked


def _unclaimed() -> dict[str, Any]:
    return {"claimed_by_id": None, "claimed_until": None}
