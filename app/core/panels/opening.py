"""Which reviews get a drawn panel, and opening it: all of a community, or those with reason for doubt."""

import hashlib
import secrets
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock
from app.core.actions import moves
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.db import serialise
from app.core.helpfulness.note_scores import Scored
from app.core.history import chain as history
from app.core.ids import new_id
from app.core.models import Action, Community, Note, Panel, Request
from app.core.panels import doubts, draw, panels, rolls
from app.core.scoring import Verdict
from app.core.vocabulary import (
    IN_REVIEW,
    ActionState,
    Classification,
    NoteStatus,
    PanelOutcome,
    ReviewGroup,
    WhoDecides,
)

BATCH = 100
"""The most panels that one transaction opens."""


def communities_without(session: Session) -> Sequence[uuid.UUID]:
    """The communities where panels decide every review, and some review has none."""
    return session.scalars(_without_panel(sa.select(Action.community_id)).distinct()).all()


def open_missing(session: Session, community_id: uuid.UUID) -> int:
    """Open the panels of reviews that have none, in a community where panels decide every review."""
    serialise(session, community_id)
    # Held, so that the session reads it once, and not for each panel.
    community = session.get_one(Community, community_id)
    waiting = _without_panel(sa.select(Action)).where(Action.community_id == community.id)
    # With the facts of their posts that history copies, which it would else read one by one.
    posts = selectinload(Action.request).load_only(Request.platform_author_id, Request.language)
    found = session.scalars(waiting.order_by(Action.id).limit(BATCH).options(posts)).all()
    newest = panels.newest_of(session, [action.id for action in found]) if found else {}
    with history.gathered(session):
        for action in found:
            open_for(session, action, panels.ALWAYS, earlier=newest.get(action.id))
        session.flush()
    return len(found)


def _without_panel(statement: sa.Select[Any]) -> sa.Select[Any]:
    is_second = Action.action_state == ActionState.RETRO_REVIEW
    began = sa.case((is_second, Action.retro_review_at), else_=Action.proposed_at)
    has_one = sa.exists().where(
        Panel.action_id == Action.id,
        Panel.review == Action.action_state,
        sa.or_(began.is_(None), Panel.opened_at >= began),
    )
    return statement.join(Community, Community.id == Action.community_id).where(
        Community.settings["who_decides"].as_string() == WhoDecides.PANEL.value,
        Community.archived_at.is_(None),
        Action.action_state.in_(IN_REVIEW),
        Action.review_group != ReviewGroup.STAFF,
        Action.restores_id.is_(None),
        Action.note_id.is_not(None),
        sa.not_(has_one),
    )


def is_always(session: Session, action: Action, note: Note, settings: CommunitySettings) -> bool:
    """Whether this community's panels decide every review, and this one can have a panel."""
    return (
        settings.who_decides == WhoDecides.PANEL
        and panels.is_reviewed_by_raters(action)
        and action.note_id == note.id
        and not is_too_small(session, action.community_id)
    )


def open_if_doubted(
    session: Session, action: Action, note: Note, scored: Scored, verdict: Verdict, *, earlier: Panel | None
) -> bool:
    """Open a panel if these ratings would decide the review and there is reason for doubt.

    Return whether a panel decides, opened now or before. ``note`` is what they rated: the action's rationale, or a note
    that would end the review. ``earlier`` is the action's newest panel.
    """
    if verdict.status is NoteStatus.NEEDS_MORE_RATINGS or not panels.is_reviewed_by_raters(action):
        return False
    panel = panels.of_review(earlier, action)
    if panel is not None:
        # One that ended could not be filled, so that everybody's ratings decide. An open one decides, also if the
        # community has chosen something else since.
        return panel.ended_at is None
    if scored.fit.settings.who_decides == WhoDecides.EVERYONE or is_too_small(session, action.community_id):
        return False
    if scored.fit.settings.who_decides == WhoDecides.PANEL:
        reason: str | None = panels.ALWAYS
    elif earlier is not None and earlier.outcome is PanelOutcome.DECIDED:
        reason = doubts.BEFORE
    else:
        with community_settings.in_language(session, action.community_id):
            reason = doubts.find(session, note, scored) or doubts.burst_cause(session, action, note)
    return reason is not None and open_panel(session, action, reason, earlier=earlier)


def freed_notes(session: Session, note_id: uuid.UUID) -> Sequence[Note]:
    """The notes that decide a review after its panel could not be drawn, by the rationale of the review.

    First the rationale, then the notes of the same post that say it is not misleading: they could end the review.
    """
    posts = sa.select(Action.request_id).where(Action.note_id == note_id)
    return [
        session.get_one(Note, note_id),
        *session.scalars(
            sa.select(Note)
            .where(
                Note.request_id.in_(posts),
                Note.id != note_id,
                Note.classification == Classification.NOT_MISLEADING,
                Note.status == NoteStatus.CURRENTLY_RATED_HELPFUL,
                Note.deleted_at.is_(None),
            )
            .order_by(Note.id)
        ),
    ]


def open_for(session: Session, action: Action, reason: str, *, earlier: Panel | None) -> Panel | None:
    """Open a panel for the action's review; None for an action without a rationale.

    ``earlier`` is the action's newest panel. If it is still open, it is of a review that ended, and ends first.

    The seats are drawn by a job (``moves.wake_panels``), so that the rating that gave reason for a panel takes no
    longer than others. The caller holds the community's lock, and the review has no panel yet. It flushes the panel.
    """
    if action.note_id is None:
        return None
    if earlier is not None and earlier.ended_at is None:
        panels.end(session, earlier, PanelOutcome.OVERTAKEN, panels.OVERTAKEN)
    # Not before its review, and after the panel before it, although the clock may have been moved back since.
    after = earlier.opened_at + timedelta(microseconds=1) if earlier is not None else None
    opened_at = max(
        moment for moment in (clock.now(), panels.review_began(action), after) if moment is not None
    )
    settings = community_settings.read(session, action.community_id)
    seed = secrets.token_bytes(draw.SEED_BYTES)
    panel = Panel(
        id=new_id(),
        community_id=action.community_id,
        action_id=action.id,
        note_id=action.note_id,
        review=action.action_state,
        reason=reason[:255],
        size=settings.panel_seats,
        hours=settings.panel_hours,
        wanted=settings.panel_seats,
        seed=seed,
        opened_at=opened_at,
        due_at=clock.now(),
    )
    session.add(panel)
    promised = {"seats": panel.size, "seed_sha256": hashlib.sha256(seed).hexdigest()}
    panels.record(session, panel, "action.panel_opened", promised, reason)
    return panel


def is_too_small(session: Session, community_id: uuid.UUID) -> bool:
    """Whether a roll of the last hour shows that too few people can be drawn here."""
    roll = rolls.newest(session, community_id)
    return roll is not None and roll.people < rolls.LEAST


def open_panel(session: Session, action: Action, reason: str, *, earlier: Panel | None) -> bool:
    """Open a panel for the action's review, which is drawn after the commit. Return whether there is one.

    ``earlier`` is the action's newest panel.
    """
    if open_for(session, action, reason, earlier=earlier) is None:
        return False
    session.flush()
    moves.wake_panels(session, action.community_id)
    return True
