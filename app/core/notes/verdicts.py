"""Verdicts: ratings or a moderator's decision change a note's status; a rationale's status decides its action.

Changes that follow from ratings are made as ``SYSTEM``, with their cause in history. See ``docs/develop/consensus.md``.
"""

import uuid
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions
from app.core.actions.moves import make_move
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.db import serialise
from app.core.helpfulness import eligibility, note_scores
from app.core.helpfulness.eligibility import GRAVE
from app.core.helpfulness.note_scores import Scored
from app.core.history.reason import NO_REASON, Reason
from app.core.models import Action, Community, Hold, Note, Panel, Profile, Rating
from app.core.notes import blindness, consequences, notes
from app.core.panels import opening, panels
from app.core.permissions import SYSTEM, Actor
from app.core.scoring import GRAVE_MARGIN, Verdict
from app.core.texts import lazy_gettext
from app.core.vocabulary import IN_REVIEW, ActionState, NoteStatus, PanelOutcome

STABILISING = "stabilising"
"""The ``status_rule`` of a note that is rated helpful and not published yet."""
_UNRATED = NoteStatus.NEEDS_MORE_RATINGS
_HELPFUL = NoteStatus.CURRENTLY_RATED_HELPFUL
_NOT_HELPFUL = NoteStatus.CURRENTLY_RATED_NOT_HELPFUL


def settle(session: Session, note: Note, cause: str) -> Verdict | None:
    """Score a note from its current ratings and update its status and its action. Return the verdict, or None.

    Nothing changes while the note is locked, or while a moderator's decision about it or its action can still be
    undone: the ratings are stored and count if that decision is undone.
    """
    serialise(session, note.community_id)
    session.refresh(note)
    return _follow_current(session, note, action_of(session, note), cause)


def recount(session: Session, note: Note, cause: str) -> Verdict | None:
    """Check again for each of a note's ratings whether it counts, then settle the note.

    For code that changes raters or ratings in bulk, such as linking two profiles. It takes one check for each rating
    of the note.
    """
    serialise(session, note.community_id)
    session.refresh(note)
    action = action_of(session, note)
    rated = session.execute(
        sa.select(Rating, Profile)
        .join(Profile, Profile.id == Rating.rater_id)
        .where(Rating.note_id == note.id, Rating.note_version == note.version)
        .execution_options(populate_existing=True)
    ).all()
    for rating, rater in rated:
        exclusion = eligibility.exclusion_reason(session, note, rater, action, at=rating.updated_at)
        if rating.exclusion_reason != exclusion:
            session.execute(
                sa.update(Rating)
                .where(Rating.id == rating.id)
                .values(exclusion_reason=exclusion, updated_at=Rating.updated_at)
            )
    note.ratings_count = len(rated)
    note.rating_changes += 1
    session.flush()
    return _follow_current(session, note, action, cause)


def action_of(session: Session, note: Note) -> Action | None:
    """The action whose rationale the note is; None for other notes."""
    return actions.of_note(session, note.id) if note.rationale else None


def _follow_current(session: Session, note: Note, action: Action | None, cause: str) -> Verdict | None:
    scored = note_scores.current(session, note)
    return follow(session, note, action, newest_panel(session, action), scored, cause)


def follow(
    session: Session,
    note: Note,
    action: Action | None,
    newest: Panel | None,
    scored: Scored,
    cause: str,
    *,
    held: bool | None = None,
) -> Verdict | None:
    """As ``settle``, for callers that have loaded the note's action, its newest panel and the note's scores.

    The caller holds the lock. ``held``: what ``is_held`` says, if the caller knows.
    """
    settings = scored.fit.settings
    is_closed = blindness.is_closed(note, action) or (
        is_held(session, note, action) if held is None else held
    )
    if not is_closed:
        _finalise_by_age(note, action, settings)
    if is_closed or _is_final(note, action):
        session.flush()
        return None
    if action is not None:
        if panels.has_decided(newest, action):
            session.flush()
            return None
        panel = panels.of_review(newest, action)
        if panel is not None and panel.ended_at is None and panels.is_reviewed_by_raters(action):
            return _follow_panel(session, panel, action, note, scored)
        if panel is None and opening.is_always(session, action, note, settings):
            opening.open_panel(session, action, panels.ALWAYS, earlier=newest)
            session.flush()
            return None
    # A status that a moderator set is not a verdict of raters, so it must not influence what their ratings say.
    is_forced = blindness.is_lifted(note, action)
    before = _UNRATED if is_forced else note.status
    raised = GRAVE_MARGIN if action is not None and action.action_type in GRAVE else 0.0
    verdict = scored.verdict(note, raised=raised, was=before)
    status = verdict.status if verdict is not None else _UNRATED
    waits = _delay_publishing(note, status, before, settings)
    if (
        action is not None
        and verdict is not None
        and not waits
        and opening.open_if_doubted(session, action, note, scored, verdict, earlier=newest)
    ):
        session.flush()
        return None
    _store_score(note, verdict)
    if is_forced:
        session.flush()
        if action is not None and verdict is not None and not waits:
            consequences.end_second_look(session, action, note, verdict, cause)
        return verdict
    note.status_rule = STABILISING if waits else verdict.rule if verdict is not None else None
    session.flush()
    if waits:
        status = _UNRATED
    if status is not note.status:
        make_move(session, SYSTEM, note, status, reason=Reason(cause=cause))
    if verdict is None:
        return None
    if action is not None:
        consequences.act_on(session, action, note, verdict, cause)
    elif note.status is _HELPFUL:
        consequences.dismiss_on_not_misleading(session, note, scored, verdict, cause)
    return verdict


def _follow_panel(
    session: Session, panel: Panel, action: Action, note: Note, scored: Scored
) -> Verdict | None:
    """Decide a review by its panel's ratings alone, once they decide.

    Until then nothing about the note changes: a score that moved with the panel's answers would show who sits on it.
    """
    raised = GRAVE_MARGIN if action.action_type in GRAVE else 0.0
    verdict = panels.verdict(session, panel, note, scored, raised=raised)
    if verdict is None:
        session.flush()
        return None
    if panels.needs_second(session, panel, note, scored, verdict):
        panels.end(session, panel, PanelOutcome.OVERTAKEN, panels.CONFIRMS)
        opening.open_panel(session, action, panels.CONFIRMS, earlier=panel)
        return None
    cause = lazy_gettext("a drawn panel decided")
    panels.end(session, panel, PanelOutcome.DECIDED)
    _store_score(note, verdict)
    if blindness.is_lifted(note, action):
        session.flush()
        consequences.end_second_look(session, action, note, verdict, cause, by_panel=True)
        return verdict
    note.helpful_pending_since, note.status_rule = None, verdict.rule
    session.flush()
    if verdict.status is not note.status:
        make_move(session, SYSTEM, note, verdict.status, reason=Reason(cause=cause))
    consequences.act_on(session, action, note, verdict, cause, by_panel=True)
    return verdict


def _store_score(note: Note, verdict: Verdict | None) -> None:
    note.intercept = round(verdict.intercept, 6) if verdict is not None else None
    note.factor = round(verdict.factor, 6) if verdict is not None else None
    note.helpfulness_score = verdict.shown if verdict is not None else 0


def newest_panel(session: Session, action: Action | None) -> Panel | None:
    """The newest panel of a rationale's action, for ``follow``."""
    return panels.newest(session, action.id) if action is not None else None


def waited_enough(session: Session) -> list[uuid.UUID]:
    """Ids of at most 100 notes that have been rated helpful for their community's ``stabilisation_minutes``.

    Those of archived communities wait until that is opened again.
    """
    rows = session.execute(
        sa.select(Note.id, Note.helpful_pending_since, Community)
        .join(Community, Community.id == Note.community_id)
        .outerjoin(Action, sa.and_(Action.note_id == Note.id, Action.restores_id.is_(None)))
        .where(
            Note.helpful_pending_since.is_not(None),
            Note.deleted_at.is_(None),
            Community.archived_at.is_(None),
            blindness.open_clause(),
        )
        .order_by(Note.helpful_pending_since)
    )
    now, defaults = clock.now(), community_settings.defaults(session)
    note_ids = []
    for note_id, since, community in rows:
        minutes = community_settings.for_community(community, defaults).stabilisation_minutes
        if since is not None and now >= since + timedelta(minutes=minutes):
            note_ids.append(note_id)
    return note_ids[:100]


def force_publish(session: Session, actor: Actor, note: Note, *, reason: Reason = NO_REASON) -> None:
    """Publish a note and lock it. For the rationale of an action this decides *act* (docs/integrate/api.md)."""
    serialise(session, note.community_id)
    session.refresh(note)
    notes.lock_as(session, actor, note, _HELPFUL, reason=reason)
    action = action_of(session, note)
    if action is None:
        return
    if action.action_state is ActionState.UNDER_REVIEW:
        actions.decide_act(session, actor, action, confidence=1.0, reason=reason)
    elif action.action_state is ActionState.RETRO_REVIEW:
        actions.confirm(session, actor, action, reason=reason)


def dismiss(session: Session, actor: Actor, note: Note, *, reason: Reason = NO_REASON) -> None:
    """Mark a note not helpful and lock it. For the rationale of an action this decides *no action*."""
    serialise(session, note.community_id)
    session.refresh(note)
    notes.lock_as(session, actor, note, _NOT_HELPFUL, reason=reason)
    action = action_of(session, note)
    if action is None:
        return
    if action.action_state in {ActionState.UNDER_REVIEW, ActionState.PROPOSED}:
        actions.decide_none(session, actor, action, confidence=1.0, reason=reason)
    elif action.action_state in {ActionState.APPLIED, ActionState.RETRO_REVIEW}:
        actions.overturn(session, actor, action, reason=reason)


def is_held(session: Session, note: Note, action: Action | None) -> bool:
    """Whether a moderator's decision about this note or its action can still be undone."""
    held = Hold.note_id == note.id
    if action is not None:
        held |= Hold.action_id == action.id
    with session.no_autoflush:  # a flush here would UPDATE the note twice for each rating
        return session.scalar(sa.select(Hold.id).where(held).limit(1)) is not None


def _finalise_by_age(note: Note, action: Action | None, settings: CommunitySettings) -> None:
    """Make a decided status final once ``lock_days`` have passed since the note was written."""
    if note.status is _UNRATED:
        note.status_locked_at = None
    elif action is not None and action.action_state in IN_REVIEW:
        return
    elif note.status_locked_at is None and clock.now() >= note.created_at + timedelta(
        days=settings.lock_days
    ):
        note.status_locked_at = clock.now()


def _is_final(note: Note, action: Action | None) -> bool:
    """Whether the note's age has made its status final.

    Never while its own action is under review: a second look may open long after the note was written.
    """
    if action is not None and action.action_state in IN_REVIEW:
        return False
    return note.status_locked_at is not None


def _delay_publishing(
    note: Note, status: NoteStatus, before: NoteStatus, settings: CommunitySettings
) -> bool:
    """Start, continue or end the wait before a helpful note is published. Return whether it waits.

    ``before`` is the status that its raters gave it until now.
    """
    if status is not _HELPFUL or before is _HELPFUL or settings.stabilisation_minutes == 0:
        note.helpful_pending_since = None
        return False
    if note.helpful_pending_since is None:
        note.helpful_pending_since = clock.now()
    if clock.now() < note.helpful_pending_since + timedelta(minutes=settings.stabilisation_minutes):
        return True
    note.helpful_pending_since = None
    return False
