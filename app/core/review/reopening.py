"""Reopening a dismissal: creates a new action on the same request (docs/moderate/moderator.md).

The dismissed action and the request's one decision do not change. The new action has its own rationale note, so ratings
of the first rationale do not count for it and everybody may rate again.
"""

import uuid
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import actions, author_texts, exemptions
from app.core.actions.moves import begin, may
from app.core.db import serialise_and_reload
from app.core.errors import Conflict, Invalid
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Action, Note, Request
from app.core.notes import notes
from app.core.notes.blindness import is_for_raters
from app.core.permissions import Actor, Permission, require
from app.core.states import ACTION
from app.core.texts import gettext as _
from app.core.vocabulary import ActionState, ActionTier, ActionVerb, NoteStatus, ReopenTo, ReviewGroup

WITHIN = timedelta(days=limits.REOPEN_DAYS)

ROWS = ACTION.by_verb(ActionVerb.REOPEN)
"""The moves with which a reopened action can begin."""


def reopen(session: Session, actor: Actor, action: Action, to: ReopenTo | None, *, reason: Reason) -> Action:
    """Reopen a dismissed action. Return the new action on the same request, under review or proposed at once.

    Raises:
        Conflict: it is too late, it was reopened before, or its content is gone; the detail says which.
        Invalid: the reason or ``to`` is missing.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    to = _required_target(to)
    limits.text(reason.reason, "reason", limits.REASON_MAX)
    serialise_and_reload(session, action)
    request = session.get_one(Request, action.request_id, populate_existing=True)
    why_not = refusal(session, action, request)
    if why_not is not None:
        raise Conflict(why_not, action.id)
    note = notes.write_rationale_again(session, request, session.get_one(Note, action.note_id))
    acts = to is ReopenTo.ACT
    if acts:
        forced = NoteStatus.CURRENTLY_RATED_HELPFUL
        notes.lock_as(session, actor, note, forced, reason=reason)
    reopened = Action(
        id=new_id(),
        community_id=action.community_id,
        request_id=action.request_id,
        action_type=action.action_type,
        # A person opens it, not a score, so a withdrawn Tier 1 proposal becomes Tier 2 too.
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
        platform_author_id=action.platform_author_id,
        platform_channel_id=request.platform_channel_id,
        language=request.language,
        **actions.due_again(action),
    )
    if acts:
        author_texts.add(session, [reopened])
    entry = begin(session, actor, reopened, reason=reason)
    # The dismissal was reported to the integration, so its state and ``updated_at`` stay.
    actions.set_columns(session, action, reopened_at=clock.now(), version=Action.version + 1)
    if entry is not None:
        notices.notify_reopened(session, actor, action, entry)
    return reopened


def check(session: Session, actor: Actor, action: Action, to: ReopenTo | None) -> None:
    """Refuse what ``reopen`` would refuse, before the decision is held.

    Raises:
        Conflict, Forbidden, NotFound: as ``reopen``.
        Invalid: ``to`` is missing.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    _required_target(to)
    why_not = refusal(session, action, session.get_one(Request, action.request_id))
    if why_not is not None:
        raise Conflict(why_not, action.id)


def is_offered(actor: Actor, action: Action, request: Request) -> bool:
    """Whether the actor may reopen this action, by these two rows alone; ``refusal`` also queries other rows."""
    return (
        all(may(actor, move, action.community_id) for move in ROWS)
        and _refusal_by_rows(action, request) is None
    )


def refusal(session: Session, action: Action, request: Request) -> str | None:
    """Why this action cannot be reopened, as a sentence; None if a moderator can."""
    known = _refusal_by_rows(action, request)
    if known is not None:
        return known
    if exemptions.is_exempt(session, request):
        return _("People had this content restored, and it is exempt from rescans; it cannot be reopened")
    if session.scalar(_another_live_one(action)) is not None:
        return _("Another action on this post is open already")
    return None


def _required_target(to: ReopenTo | None) -> ReopenTo:
    if to is None:
        raise Invalid.field("to", _("must say where it goes"), type="missing")
    return to


def under_review_again(session: Session, action: Action) -> uuid.UUID | None:
    """The id of the newest action on the same request if members are reviewing it again now; else None."""
    newest = actions.live_for(session, action.request_id)
    if newest is None or newest.id == action.id or not is_for_raters(newest):
        return None
    return newest.id if newest.action_state is ActionState.UNDER_REVIEW else None


def _refusal_by_rows(action: Action, request: Request) -> str | None:
    if action.action_state is not ActionState.DISMISSED or action.restores_id is not None:
        return _("Only a dismissed post can be reopened")
    if action.reopened_at is not None:
        return _("This was reopened already")
    if action.note_id is None or action.dismissed_at is None:
        return _("This cannot be reopened: it has no rationale to decide on")
    if clock.now() > action.dismissed_at + WITHIN:
        return _("A dismissal can be reopened for %(days)s days, and these are over", days=limits.REOPEN_DAYS)
    if request.withdrawn_at is not None:
        return _("The submission was withdrawn; it cannot be reopened")
    if request.content_removed_at is not None:
        return _("The text of this post is no longer kept; it cannot be reopened")
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
    """The group that reviews: the chosen one; an action proposed at once keeps the group of the dismissed one."""
    if to is ReopenTo.ACT:
        return action.review_group
    return ReviewGroup.STAFF if to is ReopenTo.STAFF else ReviewGroup.COMMUNITY
