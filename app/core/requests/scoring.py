"""Scoring of a request: start, classify, store the scores, route (docs/architecture.md, flow 1)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions, decisions, exemptions
from app.core.actions.moves import make_move
from app.core.classify import NOTABLE, Classifier, Context, OutOfTime, Permanent, Result, Retryable
from app.core.db import serialise
from app.core.history.why import Why
from app.core.models import Action, Community, Request, Score
from app.core.notes import notes
from app.core.permissions import SYSTEM
from app.core.policies import policies
from app.core.policies.routing import (
    UNFINISHED,
    CategoryRule,
    Route,
    Scored,
    decide,
    for_review,
    observed,
    without_score,
)
from app.core.requests import slow_rules
from app.core.vocabulary import ActionTier, RequestStatus

ARCHIVED = "the community was archived"
PAUSED = "automatic actions were paused"
NOT_FINISHED = "a classifier could not finish"


@dataclass(frozen=True)
class Scoring:
    """One classifier's result for a request; ``tier1`` are the categories that its scores may raise to Tier 1.

    ``categories``: all that it scores. If the result has an error, none of its scores count.
    """

    classifier: str
    version: str
    tier1: frozenset[str]
    result: Result
    milliseconds: int = field(default=0)
    categories: frozenset[str] = frozenset()

    @property
    def scores(self) -> Mapping[str, float]:
        """The scores that count: none if the classifier could not finish, because then they are incomplete."""
        return self.result.scores if self.result.error is None else {}


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


def record_scores(session: Session, request_id: uuid.UUID, scorings: Sequence[Scoring]) -> Action | None:
    """Store the scores and route the request by the thresholds in force. Return the opened action, or None."""
    request = session.get_one(Request, request_id)
    serialise(session, request.community_id)
    session.refresh(request)
    if request.status is not RequestStatus.IN_PROGRESS or _is_scored(session, request):
        return None
    thresholds = policies.current(session, request.community_id)
    rules_in_force = policies.category_rules(thresholds)
    best = combined(scorings)
    observed_routes = observed(best, rules_in_force)
    observed_tiers = {route.category: route.tier.number for route in observed_routes}
    unassigned = set(best)
    request.scored_at = clock.now()
    for scoring in scorings:
        for category, value in scoring.scores.items():
            is_highest = category in unassigned and best[category] == _scored(scoring, category, value)
            if is_highest:
                unassigned.remove(category)
            # Previews count the highest scores, and must not count a test post.
            is_highest = is_highest and not request.is_test
            session.add(
                Score(
                    community_id=request.community_id,
                    request_id=request.id,
                    category=category,
                    classifier=scoring.classifier,
                    classifier_version=scoring.version,
                    score=round(value, 4),
                    tier1_capable=category in scoring.tier1,
                    is_highest=is_highest,
                    observed_tier=observed_tiers.get(category) if is_highest else None,
                    created_at=request.scored_at,
                    matches=[asdict(m) for m in scoring.result.matches if m.category == category],
                )
            )
    session.flush()
    # Read in this transaction, after the lock: a pause applies from its commit on, also to requests being scored.
    community = session.get_one(Community, request.community_id, populate_existing=True)
    route = decided(scorings, rules_in_force) if community.archived_at is None else None
    timeouts = [
        (scoring.version, scoring.result.error)
        for scoring in scorings
        if isinstance(scoring.result.error, OutOfTime)
    ]
    slow_rules.record(session, request.community_id, timeouts)
    if route is None or decisions.for_request(session, request.id) is not None:
        cause = "nothing above a threshold" if community.archived_at is None else ARCHIVED
        make_move(session, SYSTEM, request, RequestStatus.COMPLETED, why=Why(cause=cause))
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


def decided(scorings: Sequence[Scoring], rules: Sequence[CategoryRule]) -> Route | None:
    """The route for these scores.

    If nothing is above a threshold, but a classifier that might have found something could not finish, the post
    goes to staff: it is neither acted on nor let through.
    """
    return decide(combined(scorings), rules) or without_score(unscored(scorings), rules)


def unscored(scorings: Sequence[Scoring]) -> frozenset[str]:
    """The categories that a classifier would have scored if it had finished."""
    return frozenset(
        name for scoring in scorings if scoring.result.error is not None for name in scoring.categories
    )


def combined(scorings: Sequence[Scoring]) -> dict[str, Scored]:
    """Per category the highest score of all classifiers, and whether that classifier may reach Tier 1."""
    best: dict[str, Scored] = {}
    for scoring in scorings:
        for category, value in scoring.scores.items():
            scored = _scored(scoring, category, value)
            if category not in best or (scored.score, scored.calibrated) > (
                best[category].score,
                best[category].calibrated,
            ):
                best[category] = scored
    return best


def _scored(scoring: Scoring, category: str, value: float) -> Scored:
    return Scored(round(value, 4), category in scoring.tier1)


def fail(session: Session, request_id: uuid.UUID, why: str) -> None:
    """Record that scoring failed permanently."""
    request = session.get(Request, request_id)
    if request is None or request.status not in {RequestStatus.PENDING, RequestStatus.IN_PROGRESS}:
        return
    if _is_scored(session, request):
        return
    make_move(session, SYSTEM, request, RequestStatus.FAILED, why=Why(cause=why), failure=why[:2000])


def classify(classifiers: Sequence[Classifier], request: Request) -> list[Scoring]:
    """Run every classifier on a request's content. Call it outside of any transaction."""
    context = Context(community_id=request.community_id, language=None)
    scorings = []
    for classifier in classifiers:
        (result,) = classifier.score([request.content], context)
        scorings.append(
            Scoring(
                classifier.name,
                classifier.version,
                classifier.tier1_categories,
                result,
                round(result.ms),
                classifier.categories,
            )
        )
    return scorings


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
