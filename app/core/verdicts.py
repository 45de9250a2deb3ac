"""From a note's ratings, or staff's word, to its status, and from a rationale's status to the decision.

SCORING: 2.4. The service's own moves run as ``SYSTEM`` with the cause in history; staff's run as staff.
"""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import actions, notes, profiles
from app.core.db import serialise
from app.core.errors import IllegalMove
from app.core.models import Action, Hold, Note, Profile, Rating, Request
from app.core.moves import make_move
from app.core.permissions import SYSTEM, Actor
from app.core.scoring import GRAVE_MARGIN, HELPFUL_AT, INERTIA, VALUES, NoteScorer, Verdict
from app.core.vocabulary import ActionState, ActionType, Classification, NoteStatus

GRAVE = frozenset({ActionType.DELETE, ActionType.SILENCE})
_HELPFUL = NoteStatus.CURRENTLY_RATED_HELPFUL
_NOT_HELPFUL = NoteStatus.CURRENTLY_RATED_NOT_HELPFUL


def settle(session: Session, note: Note, scorer: NoteScorer, cause: str) -> Verdict | None:
    """Score a note again after its ratings changed, and let its action follow.

    Nothing moves while the note is locked, or while a moderator's decision about its action can still be undone:
    the ratings are kept and count once that decision is undone.
    """
    serialise(session, note.community_id)
    session.refresh(note)
    action = actions.of_note(session, note.id) if note.rationale else None
    ratings = counting(session, note, action)
    note.ratings_count = _count(session, note)
    session.flush()
    if note.locked or is_held(session, note, action):
        return None
    helpful_at = HELPFUL_AT + (GRAVE_MARGIN if action and action.action_type in GRAVE else 0.0)
    verdict = scorer.score(
        [VALUES[rating.helpfulness_level] for rating in ratings], was=note.status, helpful_at=helpful_at
    )
    note.intercept = verdict.intercept if verdict else None
    note.helpfulness_score = verdict.shown if verdict else 0
    note.status_rule = verdict.rule if verdict else None
    session.flush()
    status = verdict.status if verdict else NoteStatus.NEEDS_MORE_RATINGS
    if status is not note.status:
        make_move(session, SYSTEM, note, status, cause=cause)
    if verdict is None:
        return None
    if action is not None:
        _follow(session, action, note, verdict, helpful_at, cause)
    elif note.status is _HELPFUL:
        _dismiss_on_not_misleading(session, note, verdict, cause)
    return verdict


def force_publish(session: Session, actor: Actor, note: Note, *, reason: str = "", comment: str = "") -> None:
    """Publish and lock. Forcing the rationale of an action decides *act* (Contract: section 4)."""
    serialise(session, note.community_id)
    session.refresh(note)
    notes.lock_as(session, actor, note, _HELPFUL, reason=reason, comment=comment)
    action = actions.of_note(session, note.id) if note.rationale else None
    if action is None:
        return
    if action.action_state is ActionState.UNDER_REVIEW:
        actions.decide_act(session, actor, action, confidence=1.0, reason=reason, comment=comment)
    elif action.action_state is ActionState.RETRO_REVIEW:
        actions.confirm(session, actor, action, reason=reason, comment=comment)


def dismiss(session: Session, actor: Actor, note: Note, *, reason: str = "", comment: str = "") -> None:
    """Withdraw and lock. Dismissing the rationale of an action decides *no action*."""
    serialise(session, note.community_id)
    session.refresh(note)
    notes.lock_as(session, actor, note, _NOT_HELPFUL, reason=reason, comment=comment)
    action = actions.of_note(session, note.id) if note.rationale else None
    if action is None:
        return
    if action.action_state in {ActionState.UNDER_REVIEW, ActionState.PROPOSED}:
        actions.decide_none(session, actor, action, confidence=1.0, reason=reason, comment=comment)
    elif action.action_state in {ActionState.APPLIED, ActionState.RETRO_REVIEW}:
        actions.overturn(session, actor, action, reason, comment=comment)


def change_action(
    session: Session,
    actor: Actor,
    action: Action,
    target: ActionState,
    *,
    platform_action_id: str | None = None,
    reason: str = "",
    comment: str = "",
) -> Action:
    """What PATCH and the dashboard ask: move ``action`` to ``target``. Already there: nothing changes."""
    serialise(session, action.community_id)
    session.refresh(action)
    if target is ActionState.APPLIED:
        return actions.acknowledge(session, actor, action, platform_action_id)
    if action.action_state is target:
        return action
    rationale = session.get(Note, action.note_id) if action.note_id and not action.restores_id else None
    source = action.action_state
    if target is ActionState.PROPOSED and source is ActionState.UNDER_REVIEW and rationale is not None:
        force_publish(session, actor, rationale, reason=reason, comment=comment)
    elif target is ActionState.DISMISSED and rationale is not None:
        if source not in {ActionState.UNDER_REVIEW, ActionState.PROPOSED}:
            raise IllegalMove("action_state", source, target)
        dismiss(session, actor, rationale, reason=reason, comment=comment)
    elif target is ActionState.DISMISSED:
        actions.decide_none(session, actor, action, confidence=1.0, reason=reason, comment=comment)
    elif target is ActionState.RETRO_REVIEW:
        actions.open_second_look(session, actor, action, reason=reason)
    elif target is ActionState.OVERTURNED:
        actions.overturn(session, actor, action, reason, comment=comment)
    elif target is ActionState.CONFIRMED:
        actions.confirm(session, actor, action, reason=reason, comment=comment)
    elif target is ActionState.UNDER_REVIEW:
        actions.hold_for_review(session, actor, action, reason=reason)
    else:
        raise IllegalMove("action_state", source, target)
    session.refresh(action)
    return action


def counting(session: Session, note: Note, action: Action | None) -> Sequence[Rating]:
    """The ratings that count, oldest first (SCORING: 4).

    Those of the note's current text; never its author's, nor the submitter's or the content author's; and for an
    action that cannot be taken back only of raters known before the submission.
    """
    statement = (
        sa.select(Rating)
        .join(Profile, Profile.id == Rating.rater_id)
        .where(Rating.note_id == note.id, Rating.note_version == note.version)
        .where(Rating.rater_id != note.author_id)
        .order_by(Rating.created_at, Rating.id)
    )
    request = session.get(Request, note.request_id) if note.request_id else None
    if request is not None:
        interested = [ref for ref in (request.requested_by, request.platform_author_id) if ref]
        # On whatever platform: a call without X-Adapter-Platform names the same person under the default one.
        statement = statement.where(
            sa.or_(Profile.platform == profiles.WEB, Profile.platform_user_id.not_in(interested))
        )
        if action is not None and action.action_type in GRAVE:
            statement = statement.where(Profile.created_at <= request.created_at)
    return session.scalars(statement).all()


def is_held(session: Session, note: Note, action: Action | None) -> bool:
    """Whether a moderator's decision about this note or its action can still be undone."""
    subject = Hold.note_id == note.id
    if action is not None:
        subject = sa.or_(subject, Hold.action_id == action.id)
    return session.scalar(sa.select(Hold.id).where(subject)) is not None


def _count(session: Session, note: Note) -> int:
    statement = sa.select(sa.func.count()).where(
        Rating.note_id == note.id, Rating.note_version == note.version
    )
    return session.scalar(statement) or 0


def _follow(
    session: Session, action: Action, note: Note, verdict: Verdict, helpful_at: float, cause: str
) -> None:
    state = action.action_state
    if state is ActionState.UNDER_REVIEW:
        if note.status is _HELPFUL:
            actions.decide_act(session, SYSTEM, action, confidence=verdict.confidence, cause=cause)
        elif note.status is _NOT_HELPFUL:
            actions.decide_none(session, SYSTEM, action, confidence=verdict.confidence, cause=cause)
    elif state is ActionState.RETRO_REVIEW:
        if note.status is _HELPFUL:
            actions.confirm(session, SYSTEM, action, cause=cause)
        elif note.status is _NOT_HELPFUL:
            actions.overturn(session, SYSTEM, action, "Raters do not agree with it", cause=cause)
    elif state is ActionState.APPLIED and action.proposed_at is not None:
        rated_enough = note.status is _NOT_HELPFUL or (
            verdict.intercept < helpful_at - INERTIA and action.action_tier is not None
        )
        if rated_enough and _was_decided_by_raters(action):
            actions.open_second_look(session, SYSTEM, action, cause=cause)


def _was_decided_by_raters(action: Action) -> bool:
    return action.action_tier is not None and action.action_tier.number == 2


def _dismiss_on_not_misleading(session: Session, note: Note, verdict: Verdict, cause: str) -> None:
    """A person's NOT_MISLEADING note rated helpful ends a misinformation review without action."""
    if note.ai_generated or note.classification is not Classification.NOT_MISLEADING or not note.request_id:
        return
    action = actions.live_for(session, note.request_id)
    if action is None or action.category != "misinformation":
        return
    if action.action_state is not ActionState.UNDER_REVIEW or _held_action(session, action.id):
        return
    actions.decide_none(session, SYSTEM, action, confidence=verdict.confidence, cause=cause)


def _held_action(session: Session, action_id: uuid.UUID) -> bool:
    return session.scalar(sa.select(Hold.id).where(Hold.action_id == action_id)) is not None
