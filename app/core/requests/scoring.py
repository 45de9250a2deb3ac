"""Scoring of a request: start, classify, store the scores, route (docs/architecture.md, flow 1)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions, exemptions
from app.core.actions.moves import make_move, together
from app.core.classify import NOTABLE, Classifier, Context, OutOfTime, Permanent, Retryable
from app.core.classify.language import named
from app.core.db import serialise
from app.core.history.why import Why
from app.core.models import Action, Community, Decision, Request, Score
from app.core.notes import notes
from app.core.permissions import SYSTEM
from app.core.policies import policies
from app.core.policies.routing import (
    UNFINISHED,
    CategoryRule,
    Route,
    decide,
    for_review,
    observed,
)
from app.core.requests import score_rows, slow_rules
from app.core.requests.scorings import Scoring, combined, decided, score_text, scored_by
from app.core.vocabulary import ActionTier, RequestStatus

ARCHIVED = "the community was archived"
PAUSED = "automatic actions were paused"
NOT_FINISHED = "a classifier could not finish"


class Unfinished(Exception):
    """A classifier that a category requires failed, and the category says to try again (decision 0036)."""


def waiting(session: Session, request_id: uuid.UUID) -> Request | None:
    """The request if it waits to be scored and nothing speaks against it; else None, and ``start`` says what to do.

    Only reads. A request that is scored at once needs nothing else before ``record_scores``.
    """
    found = session.execute(
        sa.select(Request, Community.archived_at)
        .join(Community, Community.id == Request.community_id)
        .where(Request.id == request_id)
    ).first()
    if found is None or found[1] is not None:
        return None
    request: Request = found[0]
    if request.status is not RequestStatus.PENDING or request.withdrawn_at is not None:
        return None
    return None if exemptions.is_exempt(session, request) else request


def start(session: Session, request_id: uuid.UUID) -> Request | None:
    """Start scoring that takes its time: the request is in progress from the commit on.

    None when there is nothing to do: already scored, decided, withdrawn or exempt.
    """
    request = session.get(Request, request_id)
    if request is None or request.withdrawn_at is not None:
        return None
    if request.status is RequestStatus.PENDING:
        community = session.get_one(Community, request.community_id, populate_existing=True)
        if community.archived_at is not None:
            make_move(session, SYSTEM, request, RequestStatus.COMPLETED, why=Why(cause=ARCHIVED))
            return None
        if exemptions.is_exempt(session, request):
            make_move(session, SYSTEM, request, RequestStatus.COMPLETED, why=Why(cause="exempt from rescans"))
            return None
        make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS)
        return request
    if request.status is RequestStatus.IN_PROGRESS and not _is_scored(session, request):
        return request  # a worker died between start and scores
    return None


def record_scores(
    session: Session, request_id: uuid.UUID, scorings: Sequence[Scoring], language: str | None = None
) -> Action | None:
    """Store the scores and route the request by the thresholds in force. Return the opened action, or None.

    A request that has not been started yet goes all the way in this transaction.

    Raises:
        Unfinished: a required classifier failed, and scoring should be tried again. Nothing is stored.
    """
    community_id = session.execute(_COMMUNITY_OF, {"request": request_id}).scalar_one()
    serialise(session, community_id)
    # Read in this transaction, after the lock: a pause applies from its commit on, also to requests being scored.
    request, community, is_decided = session.execute(
        _UNDER_LOCK, {"request": request_id}, execution_options={"populate_existing": True}
    ).one()
    if not _may_be_recorded(session, request):
        return None
    version, rules_in_force = policies.rules_in_force(session, community_id)
    if community.archived_at is None:
        _check_finished(scorings, rules_in_force)
    observed_routes = observed(combined(scorings), rules_in_force)
    now = clock.now()
    score_rows.store(session, _rows(request, scorings, observed_routes, now))
    timeouts = [
        (scoring.version, scoring.result.error)
        for scoring in scorings
        if isinstance(scoring.result.error, OutOfTime)
    ]
    slow_rules.record(session, community_id, timeouts)
    scored = {"scored_at": now, "language": language}
    route = decided(scorings, rules_in_force) if community.archived_at is None and not is_decided else None
    with together(session):
        if route is None:
            cause = _nothing_found(scorings) if community.archived_at is None else ARCHIVED
            make_move(session, SYSTEM, request, RequestStatus.COMPLETED, why=Why(cause=cause), **scored)
            return None
        paused_at = community.paused_at if route.tier is ActionTier.IMMEDIATE else None
        if paused_at is not None:
            route = for_review(route, rules_in_force)
        unnamed = route.category == UNFINISHED
        looks_like, meaning = (
            ("something to look at", "Automatic scoring could not finish reading it")
            if unnamed
            else (route.category, policies.describe(route.category))
        )
        note = notes.write_rationale(session, request, looks_like, meaning, route.verb)
        evidence = _evidence(request, route, scorings, version, observed_routes)
        if paused_at is not None:
            evidence["details"]["held_back"] = {"why": PAUSED, "since": clock.iso(paused_at)}
        changes = {**scored, "note_id": note.id}
        if route.tier is not ActionTier.IMMEDIATE:
            _goes_on(session, request, changes)
        cause = NOT_FINISHED if unnamed else None
        return actions.open_for(session, request, route, evidence, note, cause=cause, changes=changes)


_COMMUNITY_OF = sa.select(Request.community_id).where(Request.id == sa.bindparam("request"))
_UNDER_LOCK = (
    sa.select(Request, Community, sa.exists().where(Decision.request_id == Request.id))
    .join(Community, Community.id == Request.community_id)
    .where(Request.id == sa.bindparam("request"))
)


def _may_be_recorded(session: Session, request: Request) -> bool:
    if request.withdrawn_at is not None:
        return False
    if request.status is RequestStatus.PENDING:
        return True
    return request.status is RequestStatus.IN_PROGRESS and not _is_scored(session, request)


def _goes_on(session: Session, request: Request, changes: Mapping[str, Any]) -> None:
    """Leave the request in progress, for people decide about it, with ``changes`` to other columns."""
    if request.status is RequestStatus.PENDING:
        make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS, **changes)
        return
    for name, value in changes.items():
        setattr(request, name, value)
    session.flush()


def _rows(
    request: Request, scorings: Sequence[Scoring], observed_routes: Sequence[Route], scored_at: datetime
) -> list[score_rows.Row]:
    best = combined(scorings)
    observed_tiers = {route.category: route.tier.number for route in observed_routes}
    unassigned = set(best)
    rows = []
    for scoring in scorings:
        for category, value in scoring.scores.items():
            is_highest = category in unassigned and best[category] == scored_by(scoring, category, value)
            if is_highest:
                unassigned.remove(category)
            # Previews count the highest scores, and must not count a test post.
            is_highest = is_highest and not request.is_test
            row = score_rows.score_row(request, scoring, category, value, scored_at)
            row |= {"tier1_capable": category in scoring.tier1, "is_highest": is_highest}
            row["observed_tier"] = observed_tiers.get(category) if is_highest else None
            rows.append(row)
        rows += score_rows.unrouted_rows(request, scoring, scored_at)
    return rows


def _check_finished(scorings: Sequence[Scoring], rules: Sequence[CategoryRule]) -> None:
    """Raise Unfinished if nothing was found, but a service that a category must not go without failed."""
    failed = {
        scoring.classifier: _error(scoring.result.error)
        for scoring in scorings
        if not scoring.local and scoring.result.error is not None
    }
    missing = sorted(
        name
        for rule in rules
        if rule.enabled and not rule.observe_only and rule.on_error == "retry"
        for name in rule.requires & failed.keys()
    )
    if missing and decide(combined(scorings), rules) is None:
        raise Unfinished(f"{missing[0]}: {failed[missing[0]]}")


def _nothing_found(scorings: Sequence[Scoring]) -> str:
    """Why a request ends without an action; names the services that did not answer."""
    silent = [scoring.classifier for scoring in scorings if scoring.result.error is not None]
    return "nothing above a threshold" + (f"; no answer from {', '.join(silent)}" if silent else "")


def fail(session: Session, request_id: uuid.UUID, why: str) -> None:
    """Record that scoring failed permanently."""
    request = session.get(Request, request_id)
    if request is None or request.status not in {RequestStatus.PENDING, RequestStatus.IN_PROGRESS}:
        return
    if _is_scored(session, request):
        return
    make_move(session, SYSTEM, request, RequestStatus.FAILED, why=Why(cause=why), failure=why[:2000])


def classify(
    classifiers: Sequence[Classifier], request: Request, language: str | None = None
) -> list[Scoring]:
    """Run every classifier on a request's content. Call it outside of any transaction."""
    context = Context(community_id=request.community_id, language=named(language))
    return score_text(classifiers, request.content, context)


def _is_scored(session: Session, request: Request) -> bool:
    """Whether the request has been scored, even if no classifier finished and no score was stored."""
    if request.scored_at is not None:
        return True
    return session.scalar(sa.select(Score.id).where(Score.request_id == request.id).limit(1)) is not None


def _evidence(
    request: Request,
    route: Route,
    scorings: Sequence[Scoring],
    policy_version: int,
    observed_routes: Sequence[Route] = (),
) -> dict[str, Any]:
    scores = {name: scored.score for name, scored in sorted(combined(scorings).items())}
    return {
        "score": route.score,
        "category": route.category,
        "labels": [name for name, value in scores.items() if value > NOTABLE],
        "scores": scores,
        "details": {
            "tier": route.tier.number,
            "threshold": route.threshold,
            "classifiers": [
                {
                    "name": scoring.classifier,
                    "version": scoring.version,
                    "model": scoring.result.model,
                    "ms": scoring.milliseconds,
                    **({"error": _error(scoring.result.error)} if scoring.result.error is not None else {}),
                }
                for scoring in scorings
            ],
            "matches": [
                asdict(match)
                for scoring in scorings
                for match in scoring.result.matches
                if match.category == route.category
            ],
            "config_version": policy_version,
            "content_sha256": request.content_sha256,
        }
        | ({"observed": [_observed_evidence(route) for route in observed_routes]} if observed_routes else {}),
    }


def _error(error: Retryable | Permanent | OutOfTime) -> str:
    if isinstance(error, OutOfTime):
        return f"out of time: rule {error.rule}"
    return error.reason


def _observed_evidence(route: Route) -> dict[str, Any]:
    """The evidence entry for what an observe-only category would have done."""
    return {
        "category": route.category,
        "tier": route.tier.number,
        "score": route.score,
        "threshold": route.threshold,
        "action": route.verb.value,
    }
