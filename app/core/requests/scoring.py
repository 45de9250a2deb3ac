"""Scoring of a request: start, classify, store the scores, route (docs/architecture.md, flow 1)."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions, exemptions, post_facts
from app.core.actions.moves import make_move, together
from app.core.classify import Classifier, Context, OutOfTime
from app.core.classify.language import named
from app.core.db import serialise
from app.core.history.why import Why
from app.core.learning import sampling
from app.core.models import Action, Community, Decision, Note, Request, Score
from app.core.notes import notes
from app.core.people import profiles
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
)
from app.core.requests import score_rows, slow_rules
from app.core.requests.evidence import error_text, evidence_of, fact_check_of
from app.core.requests.scorings import Scoring, combined, decided, score_text
from app.core.requests.waiting import Waiting
from app.core.vocabulary import ActionTier, RequestStatus

ARCHIVED = "the community was archived"
PAUSED = "automatic actions were paused"
NOT_FINISHED = "a classifier could not finish"


class Overtaken(Exception):
    """The request or its community changed while its scores were being stored."""


class Unfinished(Exception):
    """A classifier that a category requires failed, and the category says to try again (decision 0036)."""


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
    session: Session,
    request_id: uuid.UUID,
    scorings: Sequence[Scoring],
    language: str | None = None,
    *,
    is_locked_first: bool = False,
) -> Action | None:
    """Store the scores and route the request by the thresholds in force. Return the opened action, or None.

    A request that has not been started yet goes all the way in this transaction. The community is locked late, after
    the rows that need no lock; ``is_locked_first`` locks it before anything is read.

    Raises:
        Unfinished: a required classifier failed, and scoring should be tried again. Nothing is stored.
        Overtaken: the request or its community changed before the lock. Roll back, and call it with
            ``is_locked_first``.
    """
    if is_locked_first:
        serialise(session, session.execute(_COMMUNITY_OF, {"request": request_id}).scalar_one())
    request, community, author_id, has_samples, *seen = session.execute(
        _STATE, {"request": request_id}, execution_options={"populate_existing": True}
    ).one()
    if not _may_be_recorded(session, request):
        return None
    is_decided, policy_id = seen[-2:]
    version, rules_in_force = policies.rules_of(session, policy_id)
    if community.archived_at is None:
        _check_finished(scorings, rules_in_force)
    best = combined(scorings)
    observed_routes = observed(best, rules_in_force)
    now = clock.now()
    score_rows.store(session, _rows(request, scorings, best, observed_routes, now))
    route = decided(scorings, rules_in_force) if community.archived_at is None and not is_decided else None
    paused_at = community.paused_at if route is not None and route.tier is ActionTier.IMMEDIATE else None
    if route is not None and paused_at is not None:
        route = for_review(route, rules_in_force)
    note = None if route is None else _write_note(session, request, route, author_id)
    if serialise(session, community.id) and not is_locked_first:
        # A pause applies from its commit on, also to requests that are being scored; so does every other change.
        now_seen = session.connection().execute(_SEEN_OF, {"request": request_id}).one()
        if list(now_seen) != seen:
            raise Overtaken
    slow_rules.record(session, community.id, _timeouts(scorings))
    changes: dict[str, Any] = {"scored_at": now, "language": language} | _reference(request, scorings)
    if language is not None and request.status is not RequestStatus.PENDING:
        # Members may have asked for a review before the post was scored.
        post_facts.set_language(session, request_id, language)
    with together(session):
        if route is None or note is None:
            nothing = _nothing_found(scorings) if community.archived_at is None else ARCHIVED
            make_move(session, SYSTEM, request, RequestStatus.COMPLETED, why=Why(cause=nothing), **changes)
            if has_samples and route is None and community.archived_at is None and not is_decided:
                sampling.choose(session, request, best, rules_in_force)
            return None
        evidence = evidence_of(request, route, scorings, version, observed_routes)
        if paused_at is not None:
            evidence["details"]["held_back"] = {"why": PAUSED, "since": clock.iso(paused_at)}
        changes["note_id"] = note.id
        if route.tier is not ActionTier.IMMEDIATE:
            _goes_on(session, request, changes)
        cause = NOT_FINISHED if route.category == UNFINISHED else None
        return actions.open_for(session, request, route, evidence, note, cause=cause, changes=changes)


def _write_note(session: Session, request: Request, route: Route, author_id: uuid.UUID | None) -> Note:
    looks_like, meaning = (
        ("something to look at", "Automatic scoring could not finish reading it")
        if route.category == UNFINISHED
        else (route.category, policies.describe(route.category))
    )
    return notes.write_rationale(session, request, looks_like, meaning, route.verb, author_id)


def _timeouts(scorings: Sequence[Scoring]) -> list[tuple[str, OutOfTime]]:
    return [
        (scoring.version, scoring.result.error)
        for scoring in scorings
        if isinstance(scoring.result.error, OutOfTime)
    ]


_COMMUNITY_OF = sa.select(Request.community_id).where(Request.id == sa.bindparam("request"))
_SEEN = (
    Request.status,
    Request.scored_at,
    Request.withdrawn_at,
    Community.paused_at,
    Community.archived_at,
    sa.exists().where(Decision.request_id == Request.id).correlate(Request),
    policies.in_force(Community.id),
)
"""What a request's way depends on."""
_STATE, _SEEN_OF = (
    sa.select(*columns)
    .join_from(Request, Community, Community.id == Request.community_id)
    .where(Request.id == sa.bindparam("request"))
    for columns in ((Request, Community, profiles.SERVICE_PROFILE, sampling.ASKS, *_SEEN), _SEEN)
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
    request: Request,
    scorings: Sequence[Scoring],
    best: Mapping[str, Scored],
    observed_routes: Sequence[Route],
    scored_at: datetime,
) -> list[score_rows.Row]:
    observed_tiers = {route.category: route.tier.number for route in observed_routes}
    rows = score_rows.routed_rows(request, scorings, best, observed_tiers, scored_at)
    for scoring in scorings:
        rows += score_rows.unrouted_rows(request, scoring, scored_at)
    return rows


def _check_finished(scorings: Sequence[Scoring], rules: Sequence[CategoryRule]) -> None:
    """Raise Unfinished if nothing was found, but a service that a category must not go without failed."""
    failed = {
        scoring.classifier: error_text(scoring.result.error)
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


def _reference(request: Request, scorings: Sequence[Scoring]) -> dict[str, Any]:
    """The fact-check that the request matches, unless its integration said something about one."""
    given = (request.similarity_score, request.dataset_name, request.dataset_item_id)
    found = fact_check_of(scorings)
    if found is None or given != (None, None, None):
        return {}
    return {
        "dataset_name": found.dataset_name,
        "dataset_item_id": found.item_id,
        "similarity_score": found.similarity,
    }


def fail(session: Session, request_id: uuid.UUID, why: str) -> None:
    """Record that scoring failed permanently."""
    request = session.get(Request, request_id)
    if request is None or request.status not in {RequestStatus.PENDING, RequestStatus.IN_PROGRESS}:
        return
    if _is_scored(session, request):
        return
    make_move(session, SYSTEM, request, RequestStatus.FAILED, why=Why(cause=why), failure=why[:2000])


def classify(
    classifiers: Sequence[Classifier], request: Request | Waiting, language: str | None = None
) -> list[Scoring]:
    """Run every classifier on a request's content. Call it outside of any transaction."""
    context = Context(community_id=request.community_id, language=named(language))
    return score_text(classifiers, request.content, context)


def _is_scored(session: Session, request: Request) -> bool:
    """Whether the request has been scored, even if no classifier finished and no score was stored."""
    if request.scored_at is not None:
        return True
    return session.scalar(sa.select(Score.id).where(Score.request_id == request.id).limit(1)) is not None
