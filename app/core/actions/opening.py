"""Opens the actions that routes lead to, of one request or of several of a community at once.

An action under review gets its place in the order "Most urgent" once, when it opens. The place is a moment: the target
time, brought forward by a head start for harm. The earliest comes first, so an item rises in the queue as it grows
older, and an index serves the order (docs/moderate/moderator.md). It also repeats the channel and the language of its
post, so that filters of the queue read one index.
"""

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.actions import author_texts, decisions, moves
from app.core.history import facts
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Action, Decision, Note, Request
from app.core.permissions import SYSTEM
from app.core.states import Move
from app.core.thresholds.routing import Route
from app.core.vocabulary import ActionState, ActionTier, Verb


@dataclass(frozen=True)
class Opening:
    """An action to open on a request. See ``open_for``.

    ``cause`` is recorded in history; None: the score and the threshold that it exceeds. ``reports``: what the
    post's reports count in its urgency.
    """

    request: Request
    route: Route
    evidence: dict[str, Any]
    note: Note
    cause: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    reports: float = 0.0
    wave_id: uuid.UUID | None = None


@dataclass(frozen=True)
class Opened:
    """An action that is stored, and the decision that came with it, but not yet what follows from them."""

    action: Action
    opening: Opening
    cause: str
    move: Move
    decision: Decision | None


def open_for(
    session: Session,
    request: Request,
    route: Route,
    evidence: dict[str, Any],
    note: Note,
    *,
    cause: str | None = None,
    reports: float = 0.0,
) -> Action:
    """Open the action of a route: proposed at once, or under review (Tier 2, and every ``flag``).

    Tier 1 decides the request, which the caller has found undecided under the community's lock.
    """
    (opened,) = add(session, [Opening(request, route, evidence, note, cause, reports=reports)])
    announce(session, opened)
    return opened.action


def add(session: Session, openings: Sequence[Opening]) -> list[Opened]:
    """Store the actions of several requests of one community and the decisions of Tier 1, a statement a table.

    ``open_for`` for several. What follows from each is left to ``announce``; ``changes`` of an opening are then written
    to its request, if Tier 1 decides it.
    """
    made = [_action_of(opening) for opening in openings]
    author_texts.add(session, [action for action in made if action.action_state is ActionState.PROPOSED])
    begun = moves.add(session, SYSTEM, made)
    new = {
        action.id: decisions.New(action, opening.route.verb.value, 1, opening.route.score)
        for action, opening in zip(made, openings, strict=True)
        if opening.route.tier is ActionTier.IMMEDIATE
    }
    decided = dict(zip(new, decisions.add(session, list(new.values())), strict=True))
    return [
        Opened(action, opening, opening.cause or _cause_of(opening.route), move, decided.get(action.id))
        for action, opening, move in zip(made, openings, begun, strict=True)
    ]


def announce(session: Session, opened: Opened) -> None:
    """Write history and events of an action that ``add`` stored; complete the request if it is decided."""
    moves.record_created(session, SYSTEM, opened.move, opened.action, reason=Reason(cause=opened.cause))
    if opened.decision is not None:
        opening = opened.opening
        decisions.announce(session, opening.request, opened.decision, opened.cause, **opening.changes)


def _cause_of(route: Route) -> str:
    return f"{route.category} {route.score:.4f} > {route.threshold:g}"


def is_reviewed(route: Route) -> bool:
    """Whether people decide before anything happens."""
    return route.tier is ActionTier.CONSENSUS or route.verb is Verb.FLAG


def _action_of(opening: Opening) -> Action:
    request, route = opening.request, opening.route
    reviewed = is_reviewed(route)
    urgent = urgency(
        clock.now(), route.target, route.severity, route.score, request.extra, reports=opening.reports
    )
    return Action(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        action_type=route.verb.action_type,
        action_tier=route.tier,
        action_state=ActionState.UNDER_REVIEW if reviewed else ActionState.PROPOSED,
        review_group=route.review_group,
        category=route.category,
        score=route.score,
        evidence=opening.evidence,
        decided_verb=route.verb.value,
        note_id=opening.note.id,
        proposed_at=None if reviewed else clock.now(),
        platform_author_id=request.platform_author_id,
        platform_channel_id=request.platform_channel_id,
        language=opening.changes.get("language", request.language),
        due_at=urgent.due_at,
        urgent_at=urgent.urgent_at,
        wave_id=opening.wave_id,
    )


_SEVERITY_HOURS, _SEVERITY_MOST = 0.1, 24.0
_REPORT_HOURS, _REPORTS_MOST = 2.0, 12.0
_VIEW_HOURS, _VIEWS_MOST = 1.0, 6.0
_SCORE_HOURS = 2.0
"""Head starts in hours: for each point of severity, each doubling of the reports, each tenfold of the views, and for
the score 1.0; with the most that each can give."""


@dataclass(frozen=True)
class Urgency:
    """``due_at``: when people should have decided. ``urgent_at``: the place in the queue, the earliest first."""

    due_at: datetime
    urgent_at: datetime


def urgency(
    opened_at: datetime,
    target_minutes: int,
    severity: int,
    score: float,
    metadata: Mapping[str, Any] | None,
    *,
    reports: float = 0.0,
) -> Urgency:
    """Return how urgent a review is. ``metadata`` is the request's; its ``reports`` and ``views`` count.

    ``reports``: what the reports that people made here count (``reports.weighing``).
    """
    due_at = opened_at + timedelta(minutes=target_minutes)
    hours = (
        min(severity * _SEVERITY_HOURS, _SEVERITY_MOST)
        + _report_hours(metadata, reports)
        + min(_VIEW_HOURS * math.log10(1 + figure(metadata, "views")), _VIEWS_MOST)
        + _SCORE_HOURS * score
    )
    return Urgency(due_at, due_at - timedelta(hours=hours))


def _report_hours(metadata: Mapping[str, Any] | None, reports: float) -> float:
    number = figure(metadata, "reports") + reports
    return min(_REPORT_HOURS * math.log2(1 + number), _REPORTS_MOST)


def hasten(
    session: Session, action: Action, metadata: Mapping[str, Any] | None, before: float, now: float
) -> None:
    """Bring a review forward, or put it back, because its reports count ``now`` what they did not ``before``."""
    hours = _report_hours(metadata, now) - _report_hours(metadata, before)
    if not hours or action.urgent_at is None:
        return
    bulk.change(
        session,
        sa.update(Action)
        .where(Action.id == action.id)
        .values(urgent_at=action.urgent_at - timedelta(hours=hours), updated_at=Action.updated_at),
    )
    session.refresh(action, ["urgent_at"])


def figure(metadata: Mapping[str, Any] | None, name: str) -> int:
    """Return a number that an integration gave, such as ``reports``; of a list its length; 0 for anything else."""
    value = (metadata or {}).get(name)
    if isinstance(value, list):
        return len(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return 0
    return int(min(value, 10**12))


def set_language(session: Session, request_id: uuid.UUID, language: str) -> None:
    """Note the language of a post with its actions and their history, if it was found after they were opened."""
    ids = session.scalars(
        sa.update(Action)
        .where(Action.request_id == request_id, Action.language.is_(None))
        .values(language=language, updated_at=Action.updated_at)
        .returning(Action.id)
        .execution_options(synchronize_session=False)
    ).all()
    if ids:
        facts.write_language(session, ids, language)
