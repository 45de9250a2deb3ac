"""Scoring of a request: start, classify, store the scores, route (docs/develop/architecture.md, flow 1)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import decisions, exemptions, moves, opening
from app.core.actions.moves import make_move, together
from app.core.actions.opening import Opened, Opening
from app.core.classify import Classifier, Context
from app.core.classify.language import named
from app.core.communities import settings as community_settings
from app.core.db import serialise, serialise_and_reload
from app.core.history.reason import Reason
from app.core.learning import sampling
from app.core.models import Action, Community, Decision, Note, Request, Score
from app.core.notes import notes
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.requests import following, kept_facts, posts, score_rows, scorings, waves
from app.core.requests.evidence import error_text, evidence_of, nothing_found, reference
from app.core.requests.post_facts import ReadFacts
from app.core.requests.scorings import Scoring, combined, decided, score_text, timeouts
from app.core.requests.waiting import Waiting
from app.core.review import waves as review_waves
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import (
    UNFINISHED,
    CategoryRule,
    Route,
    Scored,
    decide,
    for_review,
    observed,
)
from app.core.vocabulary import ActionState, ActionTier, RequestStatus
from app.core.webhooks import events

ARCHIVED = lazy_gettext("the community was archived")
PAUSED = lazy_gettext("automatic actions were paused")
NOT_FINISHED = lazy_gettext("a classifier could not finish")


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
            decisions.complete(session, request, ARCHIVED, None)
            return None
        if exemptions.is_exempt(session, request):
            decisions.complete(session, request, "exempt from rescans", None)
            return None
        make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS)
        return request
    if request.status is RequestStatus.IN_PROGRESS and not _is_scored(session, request):
        return request  # a worker died between start and scores
    return None


@dataclass(frozen=True)
class Classified:
    """A post with what the classifiers say about it. ``facts``: those that rules could ask; None for a test."""

    request_id: uuid.UUID
    scorings: Sequence[Scoring]
    language: str | None = None
    facts: ReadFacts | None = None


def record_scores(
    session: Session,
    request_id: uuid.UUID,
    scorings: Sequence[Scoring],
    language: str | None = None,
    facts: ReadFacts | None = None,
) -> Action | None:
    """``record_several`` for one request. Return the opened action, or None."""
    posts = [Classified(request_id, scorings, language, facts)]
    return record_several(session, posts).get(request_id)


def record_several(session: Session, posts: Sequence[Classified]) -> dict[uuid.UUID, Action]:
    """Store the scores of requests of one community and route each by the thresholds in force.

    Return the opened actions by request. A request that has not been started yet is started and routed here.
    However many requests there are, most tables take one statement (decision 0004).

    Raises:
        Unfinished: a required classifier failed, and scoring should be tried again. Nothing is stored.
    """
    which = {"requests": [post.request_id for post in posts]}
    of_first = sa.select(Request.community_id).where(Request.id == posts[0].request_id)
    # A pause applies from its commit on, also to requests that are being scored; so does every other change.
    serialise(session, session.scalars(of_first).one())
    found = {
        row[0].id: row
        for row in session.execute(_STATE, which, execution_options={"populate_existing": True})
    }
    rows = [(post, found[post.request_id]) for post in posts if post.request_id in found]
    rows = [(post, row) for post, row in rows if _may_be_recorded(session, row[0])]
    if not rows:
        return {}
    _, community, author_id, has_samples, named, threshold_set_id, *_ = rows[0][1]
    version, rules = threshold_sets.rules_of(session, threshold_set_id)
    now = clock.now()
    routings = [
        _routed(post, row[0], community, rules, is_decided=row.is_decided, is_reviewed=row.is_reviewed)
        for post, row in rows
    ]
    of_several = {row[0].id for _, row in rows if row.has_others}
    if of_several:
        placed = _place(session, [one for one in routings if one.request.id in of_several], now)
        routings = [routing for routing in routings if routing.request.id not in placed]
    score_rows.store(session, [line for routing in routings for line in routing.rows(now)])
    score_rows.store_posts(session, [(routing.request, routing.best) for routing in routings], now)
    kept_facts.store(session, [one.post.facts for one in routings if one.post.facts is not None])
    _write_notes(session, routings, author_id)
    scorings.record_slow_rules(
        session, community.id, [late for post, _ in rows for late in timeouts(post.scorings)]
    )
    shows_waves = community_settings.for_community(community, community_settings.defaults(session)).waves
    reviewed = [routing.reviewed for routing in routings if shows_waves and routing.reviewed is not None]
    joined = waves.assign(session, reviewed)
    for routing in routings:
        wave = joined.get(routing.request.id)
        routing.wave_id = None if wave is None else wave.wave.id
    with together(session, named=named):
        openings = [routing.opening(version, now) for routing in routings if routing.route is not None]
        opened = {one.action.request_id: one for one in opening.add(session, openings)}
        for routing in routings:
            _apply_route(session, routing, opened.get(routing.request.id), now)
            if (
                has_samples
                and routing.route is None
                and community.archived_at is None
                and not routing.is_decided
                and not routing.is_reviewed
            ):
                sampling.choose(session, routing.request, routing.best, rules)
    for request_id, wave in joined.items():
        if wave.is_decided and request_id in opened:
            review_waves.decide_later(session, wave.wave, opened[request_id].action)
    reviewed_before = {routing.request.id for routing in routings if routing.is_reviewed}
    for request_id in (of_several | reviewed_before) & opened.keys():
        following.end_others(session, session.get_one(Request, request_id))
    return {request_id: one.action for request_id, one in opened.items()}


@dataclass
class _RoutedRequest:
    """A request in ``record_several`` with its scores and the route that follows.

    ``is_reviewed``: people were asked about it before it was scored. Their review goes on unless a score decides.
    """

    post: Classified
    request: Request
    community: Community
    best: Mapping[str, Scored]
    observed: Sequence[Route]
    is_decided: bool
    is_reviewed: bool
    route: Route | None
    held_back_since: datetime | None
    note: Note | None = None
    wave_id: uuid.UUID | None = None

    @property
    def reviewed(self) -> tuple[ReadFacts, str] | None:
        """The facts and the category of a post whose review opens; None without a review, and for a test."""
        route, facts = self.route, self.post.facts
        if route is None or facts is None or route.category == UNFINISHED:
            return None
        return (facts, route.category) if opening.is_reviewed(route) else None

    def rows(self, now: datetime) -> list[score_rows.Row]:
        return score_rows.of_request(self.request, self.post.scorings, self.best, self.observed, now)

    def changes(self, now: datetime) -> dict[str, Any]:
        """The columns of the request that change, whatever its route."""
        scorings = self.post.scorings
        changes = {"scored_at": now, "language": self.post.language} | reference(self.request, scorings)
        return changes if self.note is None else changes | {"note_id": self.note.id}

    def opening(self, version: int, now: datetime) -> Opening:
        if self.route is None or self.note is None:
            raise RuntimeError("nothing is opened for this request")
        evidence = evidence_of(self.request, self.route, self.post.scorings, version, self.observed)
        if self.held_back_since is not None:
            evidence["details"]["held_back"] = {"why": PAUSED, "since": clock.iso(self.held_back_since)}
        cause = NOT_FINISHED if self.route.category == UNFINISHED else None
        return Opening(
            self.request, self.route, evidence, self.note, cause, self.changes(now), wave_id=self.wave_id
        )


def _routed(
    post: Classified,
    request: Request,
    community: Community,
    rules: Sequence[CategoryRule],
    *,
    is_decided: bool,
    is_reviewed: bool,
) -> _RoutedRequest:
    is_open = community.archived_at is None
    if is_open:
        _check_finished(post.scorings, rules)
    best = combined(post.scorings)
    route = decided(post.scorings, rules) if is_open and not is_decided else None
    paused_at = community.paused_at if route is not None and route.tier is ActionTier.IMMEDIATE else None
    if route is not None and paused_at is not None:
        route = for_review(route, rules)
    if is_reviewed and route is not None and opening.is_reviewed(route):
        route = None
    seen = observed(best, rules)
    return _RoutedRequest(post, request, community, best, seen, is_decided, is_reviewed, route, paused_at)


def _write_notes(session: Session, routings: Sequence[_RoutedRequest], author_id: uuid.UUID | None) -> None:
    """Write why the service proposes to act. ``author_id`` is its own profile, if there is one already."""
    for routing in routings:
        if routing.route is None:
            continue
        author_id = author_id or profiles.of_service(session).id
        category = routing.route.category
        meaning = (
            lazy_gettext("Automatic scoring could not finish reading it")
            if category == UNFINISHED
            else threshold_sets.describe(category)
        )
        routing.note = notes.rationale(
            session, routing.request, category, meaning, routing.route.verb, author_id
        )
    moves.add(session, SYSTEM, [routing.note for routing in routings if routing.note is not None])


def _place(session: Session, routings: Sequence[_RoutedRequest], now: datetime) -> set[uuid.UUID]:
    """Let those requests wait or end that get no item of their own, and return their ids.

    What was scored beside another text of the same post counts nowhere: the post is counted once.
    """
    placed = set()
    for routing in routings:
        if routing.is_decided or routing.is_reviewed or routing.community.archived_at is not None:
            continue
        where = following.place(session, routing.request, routing.route)
        if where is None:
            continue
        if where.review is not None:
            rows = score_rows.of_request(routing.request, routing.post.scorings, {}, (), now)
            score_rows.store(session, rows)
        following.settle(session, routing.request, where, **routing.changes(now))
        placed.add(routing.request.id)
    return placed


def _apply_route(session: Session, routing: _RoutedRequest, opened: Opened | None, now: datetime) -> None:
    """Move a request along its route, and notify about its action."""
    request, changes = routing.request, routing.changes(now)
    if routing.post.language is not None and request.status is not RequestStatus.PENDING:
        # Members may have asked for a review before the post was scored.
        opening.set_language(session, request.id, routing.post.language)
    if opened is None and routing.is_reviewed:
        _keep_in_progress(session, request, changes)
        return
    if opened is None:
        is_open = routing.community.archived_at is None
        with community_settings.in_language(session, request.community_id):
            cause = nothing_found(routing.post.scorings) if is_open else ARCHIVED
        earlier = decisions.for_request(session, request.id) if routing.is_decided else None
        decisions.complete(session, request, cause, earlier, **changes)
        return
    if opened.decision is None:
        _keep_in_progress(session, request, changes)
    opening.announce(session, opened)


_STATE = (
    sa.select(
        Request,
        Community,
        profiles.SERVICE_PROFILE,
        sampling.ASKS,
        events.NAMES_EVENTS,
        threshold_sets.in_force(Community.id),
        posts.HAS_OTHERS.label("has_others"),
        sa.exists()
        .where(
            Action.request_id == Request.id,
            Action.action_tier.is_not(None),  # a step is about the author
            Action.action_state == ActionState.UNDER_REVIEW,
        )
        .correlate(Request)
        .label("is_reviewed"),
        sa.exists().where(Decision.request_id == Request.id).correlate(Request).label("is_decided"),
    )
    .join_from(Request, Community, Community.id == Request.community_id)
    .where(Request.id.in_(sa.bindparam("requests", expanding=True)))
)
"""What the route of a request depends on."""


def _may_be_recorded(session: Session, request: Request) -> bool:
    if request.withdrawn_at is not None:
        return False
    if request.status is RequestStatus.PENDING:
        return True
    return request.status is RequestStatus.IN_PROGRESS and not _is_scored(session, request)


def _keep_in_progress(session: Session, request: Request, changes: Mapping[str, Any]) -> None:
    """Leave the request in progress, for people decide about it, with ``changes`` to other columns."""
    if request.status is RequestStatus.PENDING:
        make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS, **changes)
        return
    for name, value in changes.items():
        setattr(request, name, value)
    session.flush()
    moves.wake_followers(session, request)


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


def fail(session: Session, request_id: uuid.UUID, why: str) -> None:
    """Record that scoring failed permanently."""
    request = session.get(Request, request_id)
    if request is not None:
        serialise_and_reload(session, request)
    if request is None or request.status not in {RequestStatus.PENDING, RequestStatus.IN_PROGRESS}:
        return
    if _is_scored(session, request):
        return
    make_move(session, SYSTEM, request, RequestStatus.FAILED, reason=Reason(cause=why), failure=why[:2000])


def classify(
    classifiers: Sequence[Classifier],
    request: Request | Waiting,
    language: str | None = None,
    facts: ReadFacts | None = None,
) -> list[Scoring]:
    """Run every classifier on a request's content. Call it outside of any transaction."""
    known = {} if facts is None else facts.facts
    context = Context(community_id=request.community_id, language=named(language), facts=known)
    return score_text(classifiers, request.content, context)


def _is_scored(session: Session, request: Request) -> bool:
    """Whether the request has been scored, even if no classifier finished and no score was stored."""
    if request.scored_at is not None:
        return True
    return session.scalar(sa.select(Score.id).where(Score.request_id == request.id).limit(1)) is not None
