"""Posts of the past, submitted only to see what would have been done about them (docs/run/commands.md).

They are scored and stored at the times at which they were posted, so previews and statistics show them there. Nothing
follows: no action, no event, no sample for raters, no attachment fetched. To the rest of the service they are posts
that were let through.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions.moves import make_move, together
from app.core.db import serialise
from app.core.errors import Invalid
from app.core.history.reason import Reason
from app.core.models import PostScores, Request
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.requests import score_rows, submitting
from app.core.requests.scorings import Scoring, combined
from app.core.requests.submitting import Submission
from app.core.texts import lazy_gettext
from app.core.thresholds import post_scores, threshold_sets
from app.core.thresholds.routing import decide, observed
from app.core.vocabulary import ActionTier, RequestStatus

DAYS = 366
"""How old a post may be. Statistics count every quarter of an hour since the first one."""
CAUSE = lazy_gettext("only observed")


@dataclass(frozen=True)
class Past:
    """A post of the past with what the classifiers say about it."""

    submission: Submission
    scorings: Sequence[Scoring]
    language: str | None = None


def posted_at(submission: Submission) -> datetime:
    """When a post was written. Raises Invalid if it does not say so, or says a moment that cannot be observed."""
    at, now = submission.platform_timestamp, clock.now()
    if at is None:
        raise Invalid.field("platform_timestamp", "is needed: a post is observed at the time it was posted")
    if not now - timedelta(days=DAYS) <= at <= now:
        raise Invalid.field("platform_timestamp", f"must be within the last {DAYS} days", clock.iso(at))
    return at


def known(session: Session, community_id: uuid.UUID, request_ids: Collection[str]) -> set[str]:
    """Those of these ids of posts that were submitted before."""
    return set(session.scalars(sa.select(Request.request_id).where(*_are_of(community_id, request_ids))))


def store(session: Session, actor: Actor, community_id: uuid.UUID, posts: Sequence[Past]) -> int:
    """Store posts with their scores, and return how many of them are new. Of one that is known nothing changes.

    Raises:
        Invalid: as ``submitting.check`` and ``posted_at``.
    """
    require(actor, Permission.SUBMIT, community_id, "community server")
    serialise(session, community_id)
    rules = threshold_sets.category_rules(threshold_sets.current(session, community_id))
    rows: list[score_rows.Row] = []
    new = 0
    with together(session):
        for past in posts:
            submitting.check(past.submission)
            at = posted_at(past.submission)
            submission = replace(past.submission, attachments=())
            request = submitting.insert_unless_known(session, community_id, submission, at)
            if request is None:
                continue
            new += 1
            if request.duplicate_of is None:  # a post counts once
                best = combined(past.scorings)
                rows += score_rows.of_request(request, past.scorings, best, observed(best, rules), at)
                score_rows.store_posts(session, [(request, best)], at)
            make_move(
                session,
                SYSTEM,
                request,
                RequestStatus.COMPLETED,
                reason=Reason(cause=CAUSE),
                scored_at=at,
                completed_at=at,
                language=past.language,
            )
        score_rows.store(session, rows)
    return new


@dataclass(frozen=True)
class Foreseen:
    """What thresholds would do about posts: how many are scored, and how many each category and tier would take."""

    scored: int
    routes: Counter[tuple[str, ActionTier]]


def foresee(session: Session, community_id: uuid.UUID, request_ids: Collection[str]) -> Foreseen:
    """What the thresholds in force would do about posts by their stored scores, as if no category only observed."""
    thresholds = threshold_sets.current(session, community_id)
    rules = [replace(rule, observe_only=False) for rule in threshold_sets.category_rules(thresholds)]
    posts = _are_of(community_id, request_ids)
    scored = session.scalar(
        sa.select(sa.func.count()).select_from(Request).where(*posts, Request.scored_at.is_not(None))
    )
    rows = session.scalars(
        sa.select(PostScores).join(Request, Request.id == PostScores.request_id).where(*posts)
    )
    routes = [decide(post_scores.unpacked(row), rules) for row in rows]
    return Foreseen(
        scored or 0, Counter((route.category, route.tier) for route in routes if route is not None)
    )


def _are_of(community_id: uuid.UUID, request_ids: Collection[str]) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        Request.community_id == community_id,
        Request.request_id.in_(request_ids),
        Request.withdrawn_at.is_(None),
    )
