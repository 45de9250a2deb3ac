"""Scores as they are stored: one row for a request, a category and a classifier's version.

Services that are only observed are asked after the verdict, so that they never delay or change it.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, outbox
from app.core.db import serialise
from app.core.models import ConnectedService, PostScores, Request, Score
from app.core.requests.scorings import Scoring, scored_by
from app.core.services.settings import VENDOR_PREFIX
from app.core.thresholds import post_scores
from app.core.thresholds.routing import Route, Scored
from app.core.vocabulary import ServiceMode

CATEGORY_MAX = 40


Row = dict[str, Any]
_SCORES = Score.metadata.tables[Score.__tablename__]
_POST_SCORES = PostScores.metadata.tables[PostScores.__tablename__]


def score_row(request: Request, scoring: Scoring, category: str, value: float, scored_at: datetime) -> Row:
    """One score, without what routing made of it."""
    return {
        "community_id": request.community_id,
        "request_id": request.id,
        "category": category,
        "classifier": scoring.classifier,
        "classifier_version": scoring.version,
        "score": round(value, 4),
        "tier1_capable": False,
        "is_highest": False,
        "is_acting": False,
        "observed_tier": None,
        "is_observed": False,
        "created_at": scored_at,
        "matches": [m.stored() for m in scoring.result.matches if m.category == category],
    }


def store(session: Session, rows: Sequence[Row]) -> None:
    """Write scores with one statement. A dozen for a post are too many to make an object of each."""
    # A job that runs twice at once, after its executor counted as dead, writes the same scores twice.
    bulk.insert(session.connection(), _SCORES, rows, skip_known=True)


def store_posts(
    session: Session, posts: Iterable[tuple[Request, Mapping[str, Scored]]], scored_at: datetime
) -> None:
    """Write the row of each post that previews read. ``best``: the scores that routing used; test posts have none."""
    rows = [
        {"request_id": request.id, "community_id": request.community_id, "scored_at": scored_at} | columns
        for request, best in posts
        if not request.is_test and (columns := post_scores.packed(best))
    ]
    bulk.insert(session.connection(), _POST_SCORES, rows, skip_known=True)


def raise_post(session: Session, request: Request, best: Mapping[str, Scored], scored_at: datetime) -> None:
    """Give a post's row the scores of these categories, where later ones may have raised them."""
    row = session.get(PostScores, request.id)
    if row is None:
        store_posts(session, [(request, best)], scored_at)
        return
    for name, value in post_scores.packed(post_scores.unpacked(row) | dict(best)).items():
        setattr(row, name, value)
    session.flush()


def routed_rows(
    request: Request,
    scorings: Sequence[Scoring],
    best: Mapping[str, Scored],
    observed_tiers: Mapping[str, int],
    scored_at: datetime,
    *,
    kept_highest: Collection[str] = (),
    kept_acting: Collection[str] = (),
) -> list[Row]:
    """The scores that count, with what routing made of them: ``best`` are those that it used, by category.

    ``kept_highest`` and ``kept_acting`` are categories whose mark an earlier row of the request keeps.

    Of each kind there is one for a category, and a test post has none.
    """
    counted = set(best) if not request.is_test else set()
    highest = counted.difference(kept_highest)
    acting = {name for name in counted if best[name].lower_acting is not None}.difference(kept_acting)
    rows = []
    for scoring in scorings:
        for category, value in scoring.scores.items():
            row = score_row(request, scoring, category, value, scored_at)
            scored = scored_by(scoring, category, value)
            row["tier1_capable"] = scored.calibrated
            if category in highest and scored.height == best[category].height:
                highest.remove(category)
                row |= {"is_highest": True, "observed_tier": observed_tiers.get(category)}
            elif category in acting and scored.acting == best[category].acting:
                acting.remove(category)
                row["is_acting"] = True
            rows.append(row)
    return rows


def unrouted_rows(request: Request, scoring: Scoring, scored_at: datetime) -> list[Row]:
    """The scores that are stored and lead to nothing, under the service's own names."""
    if scoring.result.error is not None:
        return []
    values: dict[str, float] = {}
    for name, value in scoring.result.unrouted.items():
        stored = f"{VENDOR_PREFIX}{name}"[:CATEGORY_MAX]
        values[stored] = max(value, values.get(stored, 0.0))
    return [score_row(request, scoring, name, value, scored_at) for name, value in values.items()]


def of_request(
    request: Request,
    scorings: Sequence[Scoring],
    best: Mapping[str, Scored],
    observed_routes: Sequence[Route],
    scored_at: datetime,
) -> list[Row]:
    """All scores of a request, with what routing made of them."""
    observed_tiers = {route.category: route.tier.number for route in observed_routes}
    rows = routed_rows(request, scorings, best, observed_tiers, scored_at)
    for scoring in scorings:
        rows += unrouted_rows(request, scoring, scored_at)
    return rows


OBSERVE_JOB = "observe_services"


def has_service(session: Session, community_id: uuid.UUID, mode: ServiceMode) -> bool:
    """Whether the community has a connected service in this mode."""
    services = sa.select(ConnectedService.id).where(
        ConnectedService.community_id == community_id,
        ConnectedService.mode == mode,
        ConnectedService.removed_at.is_(None),
    )
    return session.scalar(services.limit(1)) is not None


def scored_classifiers(session: Session, request_id: uuid.UUID) -> set[str]:
    """The classifiers and services of which the request has scores already."""
    return set(session.scalars(sa.select(Score.classifier).where(Score.request_id == request_id).distinct()))


def enqueue_observing(session: Session, community_id: uuid.UUID, request_id: uuid.UUID) -> None:
    """Have observed services asked about a scored request, if the community has any."""
    if has_service(session, community_id, ServiceMode.OBSERVE):
        outbox.enqueue(
            session,
            OBSERVE_JOB,
            {"request_id": str(request_id)},
            community_id=community_id,
            key=str(request_id),
        )


def request_to_observe(session: Session, request_id: uuid.UUID) -> Request | None:
    """The request, if its content is still there. Tests of an operator cost nothing and count nowhere."""
    request = session.get(Request, request_id)
    if request is None or request.withdrawn_at is not None or request.content_removed_at is not None:
        return None
    return None if request.is_test else request


def scores_of(session: Session, request_id: uuid.UUID) -> Sequence[Score]:
    """Every score of a request above 0, also observed ones: by classifier, the highest first."""
    return session.scalars(
        sa.select(Score)
        .where(Score.request_id == request_id, Score.score > 0)
        .order_by(Score.is_observed, Score.classifier, Score.score.desc(), Score.category)
    ).all()


def record_observed(session: Session, request_id: uuid.UUID, scorings: Sequence[Scoring]) -> None:
    """Store what observed services scored. A classifier whose scores the request has already is passed over."""
    request = request_to_observe(session, request_id)
    if request is None:
        return
    serialise(session, request.community_id)
    known = scored_classifiers(session, request.id)
    now = clock.now()
    for scoring in scorings:
        if scoring.classifier in known:
            continue
        rows = [score_row(request, scoring, name, value, now) for name, value in scoring.scores.items()]
        rows += unrouted_rows(request, scoring, now)
        for row in rows:
            # Kept as they are, so that comparisons know what they would have led to.
            row |= {"is_observed": True, "tier1_capable": row["category"] in scoring.tier1}
        store(session, rows)
