"""A dismissal is taken up again: a new action on the same request (Decision 0029).

The dismissed action stays as it is, and so does the request's one decision. The new action has its own rationale note,
so ratings of the first one do not count for it and everybody may rate again.
"""

import uuid
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import actions, exemptions
from app.core.actions.moves import begin, may
from app.core.db import serialise
from app.core.errors import Conflict, Invalid
from app.core.history import notices
from app.core.history.why import Why
from app.core.ids import new_id
from app.core.models import Action, Note, Request
from app.core.notes import notes
from app.core.notes.blindness import is_for_raters
from app.core.permissions import Actor, Permission, require
from app.core.states import ACTION
from app.core.vocabulary import ActionState, ActionTier, ActionVerb, NoteStatus, ReopenTo, ReviewGroup

WITHIN = timedelta(days=limits.REOPEN_DAYS)

ROWS = ACTION.by_verb(ActionVerb.REOPEN)
"""How a reopened action may begin."""


def reopen(session: Session, actor: Actor, action: Action, to: ReopenTo | None, *, why: Why) -> Action:
    """Take up a dismissed action: the new action on the same request, under review or proposed at once.

    Raises:
        Conflict: it is too late, it was reopened before, or there is nothing left to look at; the detail says which.
        Invalid: no reason, or it is not said where the item goes.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    to = _wanted(to)
    limits.text(why.reason, "reason", limits.REASON_MAX)
    serialise(session, action.community_id)
    session.refresh(action)
    request = session.get_one(Request, action.request_id, populate_existing=True)
    why_not = refusal(session, action, request)
    if why_not is not None:
        raise Conflict(why_not, action.id)
    note = notes.write_rationale_again(session, request, session.get_one(Note, action.note_id))
    acts = to is ReopenTo.ACT
    if acts:
        forced = NoteStatus.CURRENTLY_RATED_HELPFUL
        notes.lock_as(session, actor, note, forced, why=why)
    made = Action(
        id=new_id(),
        community_id=action.community_id,
        request_id=action.request_id,
        action_type=action.action_type,
        # People open it, not a score; a Tier 1 proposal that was withdrawn comes back as theirs.
        action_tier=ActionTier.CONSENSUS,
        action_state=ActionState.PROPOSED if acts else ActionState.UNDER_REVIEW,
        review_group=_group(action, to),
        category=action.category,
        decided_category=action.decided_category,
        score=action.score,
        evidence=action.evidence,
        decided_verb=action.decided_verb,
        note_id=note.id,
        reopens_id=action.id,
        proposed_at=clock.now() if acts else None,
    )
    entry = begin(session, actor, made, why=why)
    # The dismissal stands as it was told: neither its state nor its time of change moves.
    session.execute(
        sa.update(Action)
        .where(Action.id == action.id)
        .values(reopened_at=clock.now(), version=Action.version + 1, updated_at=Action.updated_at)
        .execution_options(synchronize_session=False)
    )
    session.refresh(action)
    if entry is not None:
        notices.tell_reopened(session, actor, action, entry)
    return made


def check(session: Session, actor: Actor, action: Action, to: ReopenTo | None) -> None:
    """Refuse what ``reopen`` would refuse, before the decision is held.

    Raises:
        Conflict, Forbidden, NotFound: as ``reopen``.
        Invalid: it is not said where the item goes.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    _wanted(to)
    why_not = refusal(session, action, session.get_one(Request, action.request_id))
    if why_not is not None:
        raise Conflict(why_not, action.id)


def is_offered(actor: Actor, action: Action, request: Request) -> bool:
    """Whether the actor may reopen this action, as far as its row and its request's tell; ``refusal`` asks further."""
    return (
        all(may(actor, move, action.community_id) for move in ROWS) and _of_the_rows(action, request) is None
    )


def refusal(session: Session, action: Action, request: Request) -> str | None:
    """Why nobody can reopen this action, as a sentence; None when a moderator can."""
    known = _of_the_rows(action, request)
    if known is not None:
        return known
    if exemptions.is_exempt(session, request):
        return "People had this content restored, and it is exempt from rescans; it cannot be reopened"
    if session.scalar(_another_live_one(action)) is not None:
        return "Another action on this post is open already"
    return None


def _wanted(to: ReopenTo | None) -> ReopenTo:
    if to is None:
        raise Invalid.field("to", "must say where it goes", type="missing")
    return to


def under_review_again(session: Session, action: Action) -> uuid.UUID | None:
    """The newest action on the same request, when members review it again now."""
    newest = actions.live_for(session, action.request_id)
    if newest is None or newest.id == action.id or not is_for_raters(newest):
        return None
    return newest.id if newest.action_state is ActionState.UNDER_REVIEW else None


def _of_the_rows(action: Action, request: Request) -> str | None:
    if action.action_state is not ActionState.DISMISSED or action.restores_id is not None:
        return "Only a dismissed item can be reopened"
    if action.reopened_at is not None:
        return "This was reopened already"
    if action.note_id is None or action.dismissed_at is None:
        return "This cannot be reopened: it has no rationale to decide on"
    if clock.now() > action.dismissed_at + WITHIN:
        return f"A dismissal can be reopened for {limits.REOPEN_DAYS} days, and these are over"
    if request.withdrawn_at is not None:
        return "The submission was withdrawn; it cannot be reopened"
    if request.content_removed_at is not None:
        return "The text of this post is no longer kept; it cannot be reopened"
    return None


def _another_live_one(action: Action) -> sa.Select[uuid.UUID]:
    live = (
        ActionState.PROPOSED,
        ActionState.UNDER_REVIEW,
        ActionState.APPLIED,
        ActionState.RETRO_REVIEW,
        ActionState.CONFIRMED,
    )
    return (
        sa.select(Action.id)
        .where(
            Action.request_id == action.request_id,
            Action.restores_id.is_(None),
            Action.action_tier.is_not(None),
            Action.action_state.in_(live),
        )
        .limit(1)
    )


def _group(action: Action, to: ReopenTo) -> ReviewGroup | None:
    """Who is asked: as chosen; what is acted on at once keeps the group that it had."""
    if to is ReopenTo.ACT:
        return action.review_group
    return ReviewGroup.STAFF if to is ReopenTo.STAFF else ReviewGroup.COMMUNITY
