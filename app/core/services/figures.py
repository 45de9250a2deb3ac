"""How each classifier of a community does: how long it takes, and how often people upheld what it led to."""

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Action, Score
from app.core.permissions import Actor, Permission, require
from app.core.policies import outcomes
from app.core.vocabulary import ActionTier

DAYS = 90
TIMED_ACTIONS = 200
"""Newest actions whose evidence tells how long the classifiers took."""


@dataclass(frozen=True)
class Record:
    """A classifier's record. ``upheld`` of ``decided`` actions that its score led to were confirmed by people.

    ``p50`` and ``p95`` are milliseconds in the evidence of the newest actions, None where it is in none.
    """

    decided: int = 0
    upheld: int = 0
    p50: float | None = None
    p95: float | None = None


def records(session: Session, actor: Actor, community_id: uuid.UUID) -> Mapping[str, Record]:
    """The record of each classifier by its name, over the last 90 days; two queries."""
    require(actor, Permission.REVISE_POLICY, community_id)
    since = clock.now() - timedelta(days=DAYS)
    code = outcomes.code()
    # In Tier 1 the highest score that may act led to it.
    led_to_it = sa.case(
        (
            Action.action_tier == ActionTier.IMMEDIATE,
            sa.or_(Score.is_highest, Score.is_acting) & Score.tier1_capable,
        ),
        else_=Score.is_highest,
    )
    rows = session.execute(
        sa.select(Score.classifier, code, sa.func.count())
        .select_from(Action)
        .join(
            Score,
            sa.and_(Score.request_id == Action.request_id, Score.category == Action.category, led_to_it),
        )
        .where(Action.community_id == community_id, Action.created_at >= since, outcomes.opened_by_service())
        .group_by(Score.classifier, code)
    )
    decided: dict[str, int] = {}
    upheld: dict[str, int] = {}
    for classifier, number, count in rows:
        outcome = outcomes.from_code(number)
        if outcome in outcomes.RIGHT | outcomes.WRONG:
            decided[classifier] = decided.get(classifier, 0) + count
            upheld[classifier] = upheld.get(classifier, 0) + (count if outcome in outcomes.RIGHT else 0)
    times = _times(session, community_id)
    return {
        name: Record(
            decided.get(name, 0),
            upheld.get(name, 0),
            _quantile(times.get(name, ()), 0.5),
            _quantile(times.get(name, ()), 0.95),
        )
        for name in decided.keys() | times.keys()
    }


def _quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value with at least this share of the values at or below it; None without values."""
    return sorted(values)[math.ceil(share * len(values) - 1e-6) - 1] if values else None


def _times(session: Session, community_id: uuid.UUID) -> Mapping[str, list[float]]:
    evidence = session.scalars(
        sa.select(Action.evidence)
        .where(
            Action.community_id == community_id, Action.evidence.is_not(None), outcomes.opened_by_service()
        )
        .order_by(Action.created_at.desc())
        .limit(TIMED_ACTIONS)
    )
    times: dict[str, list[float]] = {}
    for stored in evidence:
        details = (stored or {}).get("details") or {}
        for used in details.get("classifiers", ()):
            if isinstance(used.get("ms"), int | float):
                times.setdefault(used["name"], []).append(float(used["ms"]))
    return times
