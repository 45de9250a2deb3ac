"""Opens the actions that routes lead to, of one request or of several of a community at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import decisions, moves
from app.core.actions.urgency import urgency
from app.core.history.why import Why
from app.core.ids import new_id
from app.core.models import Action, Decision, Note, Request
from app.core.permissions import SYSTEM
from app.core.policies.routing import Route
from app.core.states import Move
from app.core.vocabulary import ActionState, ActionTier, Verb


@dataclass(frozen=True)
class Opening:
    """An action to open on a request. See ``open_for``."""

    request: Request
    route: Route
    evidence: dict[str, Any]
    note: Note
    cause: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)


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
) -> Action:
    """Open the action of a route: proposed at once, or under review (Tier 2, and every ``flag``).

    ``cause`` is recorded in history; None: the score and the threshold that it exceeds. Tier 1 decides the request,
    which the caller has found undecided under the community's lock.
    """
    (opened,) = add(session, [Opening(request, route, evidence, note, cause)])
    tell(session, opened)
    return opened.action


def add(session: Session, openings: Sequence[Opening]) -> list[Opened]:
    """Store the actions of several requests of one community and the decisions of Tier 1, a statement a table.

    ``open_for`` for several. What follows from each is left to ``tell``; ``changes`` of an opening are then written to
    its request, if Tier 1 decides it.
    """
    made = [_action_of(opening) for opening in openings]
    for action in made:
        if action.action_state is ActionState.PROPOSED:
            decisions.add_support_text(session, action)
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


def tell(session: Session, opened: Opened) -> None:
    """Write history and events of an action that ``add`` stored; complete the request if it is decided."""
    moves.record_created(session, SYSTEM, opened.move, opened.action, why=Why(cause=opened.cause))
    if opened.decision is not None:
        opening = opened.opening
        decisions.tell(session, opening.request, opened.decision, opened.cause, **opening.changes)


def _cause_of(route: Route) -> str:
    return f"{route.category} {route.score:.4f} > {route.threshold:g}"


def _action_of(opening: Opening) -> Action:
    request, route = opening.request, opening.route
    reviewed = route.tier is ActionTier.CONSENSUS or route.verb is Verb.FLAG
    urgent = urgency(clock.now(), route.target, route.severity, route.score, request.extra)
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
    )
