"""Scoring of a request: start, classify, store the scores, route (docs/architecture.md, flow 1)."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions, decisions, exemptions
from app.core.actions.moves import make_move
from app.core.classify import NOTABLE, Classifier, Context, OutOfTime, Permanent, Retryable
from app.core.classify.language import named
from app.core.db import serialise
from app.core.history.why import Why
from app.core.learning import sampling
from app.core.models import Action, Community, Request, Score
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
from app.core.requests import slow_rules
from app.core.requests.score_rows import routed_rows, unrouted_rows
from app.core.requests.scorings import Scoring, combined, decided, score_text, scored_by
from app.core.vocabulary import ActionTier, RequestStatus

ARCHIVED = "the community was archived"
PAUSED = "automatic actions were paused"
NOT_FINISHED = "a classifier could not finish"


class Unfinished(Exception):
    """A classifier that a category requires failed, and the category says to try again (decision 0036)."""


def start(session: Session, request_id: uuid.UUID) -> Request | None:
    """Start scoring. None when there is nothing to do: already scored, decided, withdrawn or exempt."""
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

    Raises:
        Unfinished: a required classifier failed, and scoring should be tried again. Nothing is stored.
    """
    request = session.get_one(Request, request_id)
    serialise(session, request.community_id)
    session.refresh(request)
    if request.status is not RequestStatus.IN_PROGRESS or _is_scored(session, request):
        return None
    thresholds = policies.current(session, request.community_id)
    rules_in_force = policies.category_rules(thresholds)
    # Read in this transaction, after the lock: a pause applies from its commit on, also to requests being scored.
    community = session.get_one(Community, request.community_id, populate_existing=True)
    if community.archived_at is None:
        _check_finished(scorings, rules_in_force)
    best = combined(scorings)
    observed_routes = observed(best, rules_in_force)
    observed_tiers = {route.category: route.tier.number for route in observed_routes}
    request.scored_at = clock.now()
    request.language = language
    session.add_all(routed_rows(request, scorings, best, observed_tiers, request.scored_at))
    for scoring in scorings:
        session.add_all(unrouted_rows(request, scoring, request.scored_at))
    session.flush()
    route = decided(scorings, rules_in_force) if community.archived_at is None else None
    timeouts = [
        (scoring.version, scoring.result.error)
        for scoring in scorings
        if isinstance(scoring.result.error, OutOfTime)
    ]
    slow_rules.record(session, request.community_id, timeouts)
    if route is None or decisions.for_request(session, request.id) is not None:
        cause = _nothing_found(scorings) if community.archived_at is None else ARCHIVED
        make_move(session, SYSTEM, request, RequestStatus.COMPLETED, why=Why(cause=cause))
        if route is None and community.archived_at is None:
            sampling.choose(session, request, best, rules_in_force)
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
    evidence = _evidence(request, route, scorings, thresholds.version, observed_routes)
    if paused_at is not None:
        evidence["details"]["held_back"] = {"why": PAUSED, "since": clock.iso(paused_at)}
    return actions.open_for(session, request, route, evidence, note, cause=NOT_FINISHED if unnamed else None)


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
    decided_by = _decided_by(route, scorings)
    return {
        "score": route.score,
        "category": route.category,
        "labels": [name for name, value in scores.items() if value > NOTABLE],
        "scores": scores,
        "details": {
            "tier": route.tier.number,
            "threshold": route.threshold,
            **({"decided_by": decided_by} if decided_by else {}),
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


def _decided_by(route: Route, scorings: Sequence[Scoring]) -> dict[str, str] | None:
    """The classifier whose score led to the route, with its version. In Tier 1 another one may have scored higher."""
    needs_tier1 = route.tier is ActionTier.IMMEDIATE
    for scoring in reversed(
        scorings
    ):  # The community's own model is last, and replaces the scores of others.
        value = scoring.scores.get(route.category)
        if value is None or (needs_tier1 and route.category not in scoring.tier1):
            continue
        if scored_by(scoring, route.category, value).score == route.score:
            return {"name": scoring.classifier, "version": scoring.version}
    return None


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
