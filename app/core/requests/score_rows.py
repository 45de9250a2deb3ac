"""Scores as they are stored: one row for a request, a category and a classifier's version."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.core import bulk
from app.core.models import PostScores, Request, Score
from app.core.policies import post_scores
from app.core.policies.routing import Route, Scored
from app.core.requests.scorings import Scoring, scored_by
from app.core.services.settings import VENDOR_PREFIX

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
        "matches": [asdict(m) for m in scoring.result.matches if m.category == category],
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
