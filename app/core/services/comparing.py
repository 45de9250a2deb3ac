"""What a service changes: the routes of recent posts with and without its scores, or with another version of it.

Nothing is stored and no event is sent. Both sides are routed by the thresholds in force.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify import COMMUNITY_MODEL, Classifier, Context, Result
from app.core.classify.facts import FACTS, Facts
from app.core.classify.language import language_of
from app.core.models import Action, PostFacts, Request, Score
from app.core.models.notes import judged_by_itself
from app.core.permissions import Actor, Permission, require
from app.core.thresholds import outcomes
from app.core.thresholds.outcomes import Outcome
from app.core.thresholds.routing import CategoryRule, Place, Route, Scored, decide, place_of, raise_to

DAYS = 30
MOST_POSTS = 2_000
"""Newest posts that a comparison of stored scores reads."""
TRIED_POSTS = 40
"""Newest posts that a trial of a version sends to the service: each one is a call that may cost money."""
TRIAL_SECONDS = 10.0
TRIAL_THREADS = 4
SHOWN_SAMPLES = 10
_BATCH = 250


@dataclass(frozen=True)
class StoredScore:
    """One stored score of a post. ``is_routed``: it is one of those by which the post was routed."""

    classifier: str
    version: str
    category: str
    scored: Scored
    is_observed: bool
    is_routed: bool = False


@dataclass(frozen=True)
class StoredPost:
    """A scored post, with its scores, its facts and, if it had an action, how that ended."""

    request_id: uuid.UUID
    content: str
    scores: Sequence[StoredScore]
    outcome: Outcome | None = None
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """A post whose route differs. ``outcome`` is that of its action, None without one."""

    post: StoredPost
    before: Route | None
    after: Route | None


@dataclass
class Comparison:
    """How many posts were compared, and which routes differ, from "before" to "after".

    ``routed_before`` and ``routed_after`` count the posts over some threshold.

    ``failed``: posts that the service did not score in a trial. ``complete`` False: there were more posts, or there
    was no time for all. ``right`` and ``wrong`` count the differing posts by how people decided about them: right
    where the later route agrees with them. ``dropped`` counts those that the later route lets through, by what people
    decided. ``samples`` are the first ``shown`` of the differing posts.
    """

    shown: int = SHOWN_SAMPLES
    posts: int = 0
    routed_before: int = 0
    routed_after: int = 0
    moved: Counter[tuple[Place, Place]] = field(default_factory=Counter)
    samples: list[Difference] = field(default_factory=list)
    failed: int = 0
    complete: bool = True
    right: int = 0
    wrong: int = 0
    dropped: Counter[Outcome | None] = field(default_factory=Counter)

    @property
    def differing(self) -> int:
        return sum(self.moved.values())

    def add(self, post: StoredPost, before: Route | None, after: Route | None) -> None:
        self.posts += 1
        self.routed_before += before is not None
        self.routed_after += after is not None
        if place_of(before) == place_of(after):
            return
        self.moved[place_of(before), place_of(after)] += 1
        if after is None:
            self.dropped[post.outcome] += 1
        if post.outcome in outcomes.RIGHT | outcomes.WRONG:
            acts_more = _strictness(after) > _strictness(before)
            self.right += acts_more == (post.outcome in outcomes.RIGHT)
            self.wrong += acts_more != (post.outcome in outcomes.RIGHT)
        if len(self.samples) < self.shown:
            self.samples.append(Difference(post, before, after))


def recent_posts(
    session: Session, actor: Actor, community_id: uuid.UUID, most: int = MOST_POSTS
) -> list[StoredPost]:
    """The newest posts of the last 30 days that were scored and still have their content, with their scores."""
    require(actor, Permission.REVISE_POLICY, community_id)
    is_scored = Request.scored_at.is_not(None)
    return list(stored_posts(session, community_id, is_scored, ~Request.is_test, most=most))


def stored_posts(
    session: Session, community_id: uuid.UUID, *which: sa.ColumnElement[bool], most: int
) -> Iterator[StoredPost]:
    """The newest posts of the last 30 days that still have their content, read in batches, newest first.

    ``which``: further conditions on the request.
    """
    last: Any = None
    read = 0
    while read < most:
        place = sa.tuple_(Request.requested_at, Request.id)
        rows = session.execute(
            sa.select(Request.requested_at, Request.id, Request.content, outcomes.code_of_request(Request.id))
            .where(
                Request.community_id == community_id,
                Request.requested_at >= clock.now() - timedelta(days=DAYS),
                Request.withdrawn_at.is_(None),
                Request.content_removed_at.is_(None),
                judged_by_itself(),
                *which,
                place < last if last is not None else sa.true(),
            )
            .order_by(Request.requested_at.desc(), Request.id.desc())
            .limit(min(_BATCH, most - read))
        ).all()
        if not rows:
            return
        ids = [row.id for row in rows]
        scores, facts = _scores(session, ids), _facts(session, ids)
        for row in rows:
            outcome = outcomes.from_code(row[3])
            yield StoredPost(row.id, row.content, scores.get(row.id, ()), outcome, facts.get(row.id, {}))
        read += len(rows)
        last = rows[-1].requested_at, rows[-1].id


def _facts(session: Session, request_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Facts]:
    """The facts that were stored with posts, by request."""
    rows = session.scalars(sa.select(PostFacts).where(PostFacts.request_id.in_(request_ids)))
    return {
        row.request_id: {name: value for name in FACTS if (value := getattr(row, name)) is not None}
        for row in rows
    }


def with_and_without(
    posts: Sequence[StoredPost], rules: Sequence[CategoryRule], classifier: str, number: int
) -> Comparison:
    """Compare the routes without this service with those that its stored scores give, of one settings' version."""
    compared = Comparison(complete=len(posts) < MOST_POSTS)
    for post in posts:
        own = [score for score in post.scores if _is_own(score, classifier, number)]
        if own:
            others = _highest(_others(post, classifier))
            compared.add(post, decide(others, rules), decide(_highest(own, others), rules))
    return compared


def try_version(
    posts: Sequence[StoredPost],
    rules: Sequence[CategoryRule],
    classifier: Classifier,
    community_id: uuid.UUID,
    seconds: float = TRIAL_SECONDS,
) -> Comparison:
    """Ask a version about posts, and compare with what is stored. Call it outside of any transaction.

    Stops asking after about ``seconds`` seconds.
    """
    end = time.monotonic() + seconds

    def context_of(post: StoredPost) -> Context:
        return Context(community_id=community_id, language=language_of(post.content), facts=post.facts)

    def asked(post: StoredPost) -> Result | None:
        return classifier.score([post.content], context_of(post))[0] if time.monotonic() < end else None

    compared = Comparison()
    with ThreadPoolExecutor(TRIAL_THREADS, thread_name_prefix="trial") as pool:
        for post, result in zip(posts, pool.map(asked, posts), strict=True):
            if result is None:
                compared.complete = False
            elif result.error is not None:
                compared.failed += 1
            else:
                tier1 = classifier.tier1_categories if result.calibrated else frozenset()
                before = [score for score in post.scores if score.classifier == classifier.name]
                others = _highest(_others(post, classifier.name))
                after = dict(others)
                for name, value in result.scores.items():
                    raise_to(after, name, Scored(round(value, 4), name in tier1))
                compared.add(post, decide(_highest(before, others), rules), decide(after, rules))
    return compared


def _strictness(route: Route | None) -> int:
    return 0 if route is None else 3 - route.tier.number


def _is_own(score: StoredScore, classifier: str, number: int) -> bool:
    return score.classifier == classifier and score.version.partition("+")[0] == str(number)


def _others(post: StoredPost, classifier: str) -> list[StoredScore]:
    """What the other classifiers scored. The community's own model is left out: it blended the scores compared here."""
    left_out = {classifier, COMMUNITY_MODEL}
    return [score for score in post.scores if score.classifier not in left_out and not score.is_observed]


def _highest(scores: Sequence[StoredScore], base: Mapping[str, Scored] | None = None) -> dict[str, Scored]:
    highest = dict(base or {})
    for score in scores:
        raise_to(highest, score.category, score.scored)
    return highest


def _scores(session: Session, request_ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, Sequence[StoredScore]]:
    found: dict[uuid.UUID, list[StoredScore]] = {}
    for row in session.scalars(sa.select(Score).where(Score.request_id.in_(request_ids))):
        score = StoredScore(
            row.classifier,
            row.classifier_version,
            row.category,
            Scored(row.score, row.tier1_capable),
            row.is_observed,
            row.is_highest or row.is_acting,
        )
        found.setdefault(row.request_id, []).append(score)
    return found


def actions_of(session: Session, request_ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, uuid.UUID]:
    """The latest action of each of these requests, to link to it."""
    rows = session.execute(
        sa.select(Action.request_id, Action.id)
        .where(Action.request_id.in_(request_ids), outcomes.opened_by_service())
        .order_by(Action.created_at)
    )
    return {request_id: action_id for request_id, action_id in rows}
