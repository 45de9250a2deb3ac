"""How fast the service is and how it decides, for monitoring: read from what the database keeps anyway."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import decisions
from app.core.models import Attempt, Decision, Delivery, Event, Request
from app.core.permissions import Actor
from app.core.vocabulary import ActionTier

WINDOW = timedelta(minutes=15)
"""Latencies are of what ended within it."""
MOST = 2_000
"""Of more than so many, the latest are looked at."""
QUANTILES = (0.5, 0.95)


@dataclass(frozen=True)
class Figures:
    """Latencies in seconds by quantile, 0 where nothing ended within ``WINDOW``.

    ``decisions`` are all that were ever made, by tier and whether something is done. ``attempts``: tries within
    ``WINDOW``, by outcome.
    """

    decisions: Mapping[tuple[str, str], int]
    attempts: Mapping[str, int]
    scoring: Mapping[float, float]
    deciding: Mapping[float, float]
    first_attempt: Mapping[float, float]
    answer: Mapping[float, float]


def read(session: Session, actor: Actor) -> Figures:
    """The figures of the actor's communities: five queries; those for latencies are of bounded length."""
    since = clock.now() - WINDOW

    def mine(column: Any) -> sa.ColumnElement[bool]:
        return sa.true() if actor.communities is None else column.in_(actor.communities)

    recent = (
        sa.select(Attempt.milliseconds, Attempt.at, Attempt.delivery_id)
        .where(Attempt.at >= since)
        .order_by(Attempt.at.desc())
        .limit(MOST)
        .subquery()
    )
    attempts = session.execute(
        sa.select(recent, Delivery.attempts_made, Event.created_at)
        .join(Delivery, Delivery.id == recent.c.delivery_id)
        .join(Event, Event.id == Delivery.event_id)
        .where(mine(Delivery.community_id))
    ).all()
    tried = Attempt.at >= since
    if actor.communities is not None:
        tried &= Attempt.delivery_id.in_(sa.select(Delivery.id).where(mine(Delivery.community_id)))
    scored = (
        sa.select(Request.requested_at, Request.scored_at)
        .where(mine(Request.community_id), Request.scored_at >= since)
        .order_by(Request.scored_at.desc())
        .limit(MOST)
        .subquery()
    )
    decided = (
        sa.select(Request.requested_at, Decision.decided_at)
        .join(Request, Request.id == Decision.request_id)
        .where(mine(Decision.community_id), Decision.decided_at >= since)
        .order_by(Decision.decided_at.desc())
        .limit(MOST)
        .subquery()
    )
    return Figures(
        decisions=_decisions(session, mine(Decision.community_id)),
        attempts=_outcomes(session, tried),
        scoring=_waits(session, sa.select(scored.c.requested_at, scored.c.scored_at)),
        deciding=_waits(session, sa.select(decided.c.requested_at, decided.c.decided_at)),
        first_attempt=_spread(_seconds(one.created_at, one.at) for one in attempts if one.attempts_made <= 1),
        answer=_spread(one.milliseconds / 1000 for one in attempts),
    )


def _decisions(session: Session, which: sa.ColumnElement[bool]) -> dict[tuple[str, str], int]:
    acts = sa.case((Decision.decision == decisions.NO_ACTION, "none"), else_="action").label("kind")
    rows = session.execute(
        sa.select(Decision.tier, acts, sa.func.count()).where(which).group_by("tier", "kind")
    )
    found = {(str(tier), kind): count for tier, kind, count in rows}
    tiers = [str(tier.number) for tier in ActionTier]
    return {(tier, kind): found.get((tier, kind), 0) for tier in tiers for kind in ("action", "none")}


def _outcomes(session: Session, which: sa.ColumnElement[bool]) -> dict[str, int]:
    status = Attempt.status
    outcome = sa.case(
        (status.is_(None), "no answer"), (status.between(200, 299), "delivered"), else_="refused"
    ).label("outcome")
    rows = session.execute(sa.select(outcome, sa.func.count()).where(which).group_by("outcome"))
    found: dict[str, int] = {row[0]: row[1] for row in rows}
    return {word: found.get(word, 0) for word in ("delivered", "refused", "no answer")}


def _waits(session: Session, rows: sa.Select[Any]) -> dict[float, float]:
    return _spread(_seconds(since, until) for since, until in session.execute(rows))


def _seconds(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds())


def _spread(seconds: Iterable[float]) -> dict[float, float]:
    """Nearest rank, in Python: the two databases reckon with moments differently, and there are few rows."""
    values = sorted(seconds)
    if not values:
        return dict.fromkeys(QUANTILES, 0.0)
    return {one: round(values[min(len(values) - 1, int(one * len(values)))], 4) for one in QUANTILES}
