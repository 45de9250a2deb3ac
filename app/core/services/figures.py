"""How each classifier of a community does: how long it takes, and how often people upheld what it led to."""

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, quantiles
from app.core.models import Action, InsightOutcome, Rollup, Score
from app.core.models.insights import OutcomeKind
from app.core.periods import moment_of, slot_of
from app.core.permissions import Actor, Permission, require
from app.core.thresholds import outcomes
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
    """The record of each classifier by its name, over the last 90 days; a few queries."""
    require(actor, Permission.REVISE_POLICY, community_id)
    decided, upheld = _decided(session, community_id, clock.now() - timedelta(days=DAYS))
    times = _times(session, community_id)
    return {
        name: Record(
            decided.get(name, 0),
            upheld.get(name, 0),
            quantiles.nearest(sorted(times.get(name, ())), 0.5),
            quantiles.nearest(sorted(times.get(name, ())), 0.95),
        )
        for name in decided.keys() | times.keys()
    }


def _decided(session: Session, community_id: uuid.UUID, since: datetime) -> tuple[Counter[str], Counter[str]]:
    """How many actions people decided, and how many of them they upheld, by classifier.

    The counts of whole slots are kept ready (``insights.rollups``); the rest is counted from the actions.
    """
    end = session.scalar(sa.select(Rollup.end).where(Rollup.community_id == community_id))
    # The first slot that begins at this moment or later.
    first = slot_of(since) + (moment_of(slot_of(since)) < since)
    decided: Counter[str] = Counter()
    upheld: Counter[str] = Counter()
    if end is None or end <= first:
        parts: list[Any] = [decided_by_slot(session, community_id, sa.literal(0), since, None)]
    else:
        counted = sa.select(
            sa.literal(0),
            InsightOutcome.name,
            sa.func.sum(InsightOutcome.total),
            sa.func.sum(InsightOutcome.of_which),
        ).where(
            InsightOutcome.community_id == community_id,
            InsightOutcome.kind == OutcomeKind.RECORD.value,
            InsightOutcome.slot >= first,
            InsightOutcome.slot < end,
        )
        moments = [moment_of(slot) for slot in (first, end)]
        parts = [
            session.execute(counted.group_by(InsightOutcome.name)),
            decided_by_slot(session, community_id, sa.literal(0), since, moments[0]),
            decided_by_slot(session, community_id, sa.literal(0), moments[1], None),
        ]
    for part in parts:
        for _, classifier, total, of_which in part:
            decided[classifier] += int(total)
            upheld[classifier] += int(of_which)
    return decided, upheld


def decided_by_slot(
    session: Session, community_id: uuid.UUID, slot: Any, since: datetime, until: datetime | None
) -> Iterator[tuple[int, str, int, int]]:
    """Slot, classifier, actions opened in this time that people decided by now, and how many of them were upheld."""
    code = outcomes.code()
    # In Tier 1 the highest score that may act led to it.
    led_to_it = sa.case(
        (
            Action.action_tier == ActionTier.IMMEDIATE,
            sa.or_(Score.is_highest, Score.is_acting) & Score.tier1_capable,
        ),
        else_=Score.is_highest,
    )
    statement = (
        sa.select(slot.label("slot"), Score.classifier, code.label("code"), sa.func.count())
        .select_from(Action)
        .join(
            Score,
            sa.and_(Score.request_id == Action.request_id, Score.category == Action.category, led_to_it),
        )
        .where(Action.community_id == community_id, Action.created_at >= since, outcomes.opened_by_service())
        .group_by("slot", Score.classifier, "code")
    )
    if until is not None:
        statement = statement.where(Action.created_at < until)
    for number, classifier, outcome_code, count in session.execute(statement):
        outcome = outcomes.from_code(outcome_code)
        if outcome in outcomes.RIGHT | outcomes.WRONG:
            yield number, classifier, count, count if outcome in outcomes.RIGHT else 0


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
