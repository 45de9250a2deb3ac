"""Metrics of speed and decisions, for monitoring; computed from data that the database stores anyway."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import tallies
from app.core.models import Attempt, Decision, Delivery, Event, Request, Webhook
from app.core.models.insights import TallyKind
from app.core.permissions import Actor
from app.core.vocabulary import ActionTier

WINDOW = timedelta(minutes=15)
"""Latencies include only what ended within this time."""
MOST = 1_000
"""The most rows per latency; the latest ones are used."""
QUANTILES = (0.5, 0.95)


@dataclass(frozen=True)
class Figures:
    """Latencies in seconds by quantile, 0 where nothing ended within ``WINDOW``.

    ``decisions`` counts all decisions ever made, by tier and by whether there is an action. ``attempts``: delivery
    attempts within ``WINDOW``, by outcome.
    """

    decisions: Mapping[tuple[str, str], int]
    attempts: Mapping[str, int]
    scoring: Mapping[float, float]
    deciding: Mapping[float, float]
    first_attempt: Mapping[float, float]
    answer: Mapping[float, float]


def read(session: Session, actor: Actor) -> Figures:
    """The metrics of the actor's communities: five queries; those for latencies read a bounded number of rows."""
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
    in_window = Attempt.at >= since
    if actor.communities is not None:
        in_window &= Attempt.webhook_id.in_(sa.select(Webhook.id).where(mine(Webhook.community_id)))
    scored = (
        sa.select(Request.requested_at, Request.scored_at)
        .where(mine(Request.community_id), Request.withdrawn_at.is_(None), Request.scored_at >= since)
        .order_by(Request.scored_at.desc())
        .limit(MOST)
        .subquery()
    )
    decided = (
        sa.select(Request.requested_at, Decision.decided_at)
        .join(Request, Request.id == Decision.request_id)
        .where(mine(Decision.community_id), Request.withdrawn_at.is_(None), Decision.decided_at >= since)
        .order_by(Decision.decided_at.desc())
        .limit(MOST)
        .subquery()
    )
    return Figures(
        decisions=_decisions(session, actor),
        attempts=_outcomes(session, in_window),
        scoring=_waits(session, sa.select(scored.c.requested_at, scored.c.scored_at)),
        deciding=_waits(session, sa.select(decided.c.requested_at, decided.c.decided_at)),
        first_attempt=_spread(_seconds(row.created_at, row.at) for row in attempts if row.attempts_made <= 1),
        answer=_spread(row.milliseconds / 1000 for row in attempts),
    )


def _decisions(session: Session, actor: Actor) -> dict[tuple[str, str], int]:
    counted = tallies.read(session, (TallyKind.DECISION,), actor.communities)[TallyKind.DECISION]
    tiers = [str(tier.number) for tier in ActionTier]
    return {(tier, kind): counted.get(f"{tier} {kind}", 0) for tier in tiers for kind in ("action", "none")}


def _outcomes(session: Session, condition: sa.ColumnElement[bool]) -> dict[str, int]:
    status = Attempt.status
    outcome = sa.case(
        (status.is_(None), "no answer"), (status.between(200, 299), "delivered"), else_="refused"
    ).label("outcome")
    rows = session.execute(sa.select(outcome, sa.func.count()).where(condition).group_by("outcome"))
    counted: dict[str, int] = {row[0]: row[1] for row in rows}
    return {word: counted.get(word, 0) for word in ("delivered", "refused", "no answer")}


def _waits(session: Session, rows: sa.Select[Any]) -> dict[float, float]:
    return _spread(_seconds(since, until) for since, until in session.execute(rows))


def _seconds(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds())


def _spread(seconds: Iterable[float]) -> dict[float, float]:
    """Quantiles by nearest rank, computed in Python.

    The two databases compute with times differently, and there are few rows.
    """
    values = sorted(seconds)
    if not values:
        return dict.fromkeys(QUANTILES, 0.0)
    return {
        quantile: round(values[min(len(values) - 1, int(quantile * len(values)))], 4)
        for quantile in QUANTILES
    }
