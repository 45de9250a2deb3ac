"""Steps: what is proposed, or done, when an author's points reach a number (docs/moderate/authors.md).

A step is an action about the author, attached to the post of the latest strike. It decides no request, gives no strike
and has no rationale, and members are never asked about it. An author has one open step at most.
"""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import author_texts
from app.core.actions.moves import begin, make_move
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.history import chain as history
from app.core.history.reason import NO_REASON, Reason
from app.core.ids import new_id
from app.core.models import Action, Community, Request, Strike
from app.core.permissions import SYSTEM, Actor
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds.routing import STAFF_TARGET, STRIKES
from app.core.vocabulary import ActionState, ReviewGroup, StrikesAct, StrikeStep, decision_word

ENTRIES = ("action.strike_added", "action.strike_lifted", "action.strike_step_observed")
"""The names of history entries about the strike that an action gave. Those of others begin with "strike."."""


def steps_of(settings: CommunitySettings) -> dict[StrikeStep, int]:
    """From how many points on each step follows; steps that the community does without are left out."""
    points = {
        StrikeStep.WARN: settings.strikes_warn,
        StrikeStep.SILENCE_1: settings.strikes_silence_1,
        StrikeStep.SILENCE_7: settings.strikes_silence_7,
        StrikeStep.SILENCE_30: settings.strikes_silence_30,
        StrikeStep.SILENCE: settings.strikes_silence,
    }
    return {step: least for step, least in points.items() if least is not None}


def reached(steps: Mapping[StrikeStep, int], before: int, after: int) -> StrikeStep | None:
    """The gravest step whose points lie above ``before`` and not above ``after``; None if there is none."""
    found = [step for step, least in steps.items() if before < least <= after]
    return max(found, key=list(StrikeStep).index, default=None)


def record(
    session: Session,
    actor: Actor,
    strike: Strike,
    what: str,
    after: Mapping[str, Any],
    *,
    reason: Reason = NO_REASON,
) -> None:
    """Write a history entry: about the action that gave the strike, or about a strike that was added by hand."""
    kind, about = ("strike", strike.id) if strike.action_id is None else ("action", strike.action_id)
    what = f"{kind}.{what}" if kind == "strike" else f"{kind}.strike_{what}"
    history.record(session, actor, strike.community_id, what, kind, about, after=after, reason=reason)


def follow_rise(session: Session, strike: Strike, request_id: uuid.UUID, points: int) -> Action | None:
    """Open the step that a new strike leads to; ``points`` count with it. The caller holds the community's lock."""
    settings = community_settings.read(session, strike.community_id)
    step = reached(steps_of(settings), points - strike.points, points)
    if step is None:
        return None
    if settings.strikes_act == StrikesAct.OBSERVE:
        record(session, SYSTEM, strike, "step_observed", {"step": step.value, "points": points})
        return None
    is_paused = session.get_one(Community, strike.community_id).paused_at is not None
    acts = settings.strikes_act == StrikesAct.ACT and not is_paused
    open_step = find_open(session, strike.community_id, strike.platform_author_id)
    if open_step is not None:
        _withdraw(session, open_step, "the author's points now reach another step")
    return _open(session, strike, step, request_id, points, acts=acts)


def follow_fall(session: Session, community_id: uuid.UUID, author: str, points: int) -> None:
    """Withdraw the open step of an author whose remaining points do not reach it any more."""
    open_step = find_open(session, community_id, author)
    if open_step is None or open_step.strike_step is None:
        return
    least = steps_of(community_settings.read(session, community_id)).get(open_step.strike_step)
    if least is None or points < least:
        _withdraw(session, open_step, lazy_gettext("strikes of the author were taken back"))


def find_open(session: Session, community_id: uuid.UUID, author: str) -> Action | None:
    """The author's step that moderators have still to decide, read again from the database."""
    return session.scalars(
        sa.select(Action)
        .where(
            Action.community_id == community_id,
            Action.platform_author_id == author,
            Action.strike_step.is_not(None),
            Action.action_state == ActionState.UNDER_REVIEW,
        )
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def leave_post(session: Session, request_id: uuid.UUID) -> None:
    """Withdraw an open step whose post is withdrawn: its item could not be shown any more."""
    open_step = session.scalars(
        sa.select(Action).where(
            Action.request_id == request_id,
            Action.strike_step.is_not(None),
            Action.action_state == ActionState.UNDER_REVIEW,
        )
    ).first()
    if open_step is not None:
        _withdraw(session, open_step, "the submission was withdrawn")


def _open(
    session: Session, strike: Strike, step: StrikeStep, request_id: uuid.UUID, points: int, *, acts: bool
) -> Action:
    request, now = session.get_one(Request, request_id), clock.now()
    due_at = now + timedelta(minutes=STAFF_TARGET)
    decided: dict[str, Any] = {"action_state": ActionState.UNDER_REVIEW}
    if acts:
        until = now + timedelta(days=step.days) if step.days is not None else None
        decided = {"action_state": ActionState.PROPOSED, "proposed_at": now, "until": until}
    action = Action(
        id=new_id(),
        community_id=strike.community_id,
        request_id=request_id,
        action_type=step.action_type,
        action_tier=None,
        review_group=ReviewGroup.STAFF,
        category=STRIKES,
        decided_verb=decision_word(step.action_type),
        platform_author_id=strike.platform_author_id,
        platform_channel_id=request.platform_channel_id,
        language=request.language,
        strike_step=step,
        due_at=due_at,
        urgent_at=due_at,
        **decided,
    )
    if acts:
        author_texts.add(session, [action])
    with community_settings.in_language(session, strike.community_id):
        cause = ngettext(
            "the author's strikes reached %(num)s point",
            "the author's strikes reached %(num)s points",
            points,
        )
    begin(session, SYSTEM, action, reason=Reason(cause=cause))
    return action


def _withdraw(session: Session, action: Action, cause: str) -> None:
    """Dismiss an open step. A moderator's decision about it that can still be undone then lapses."""
    make_move(
        session,
        SYSTEM,
        action,
        ActionState.DISMISSED,
        reason=Reason(cause=cause),
        dismissed_at=clock.now(),
        claimed_by_id=None,
        claimed_until=None,
    )
