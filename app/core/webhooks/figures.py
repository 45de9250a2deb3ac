"""Delivery statistics of each webhook for its operators: success rates, latency, backlog (docs/reliability.md)."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, quantiles
from app.core.models import Attempt, Delivery
from app.core.vocabulary import DeliveryState

DAY = timedelta(days=1)
WEEK = timedelta(days=7)

_ARRIVED = sa.and_(Attempt.status >= 200, Attempt.status < 300)
_FAILED = sa.or_(Attempt.status.is_(None), Attempt.status < 200, Attempt.status >= 300)


@dataclass(frozen=True)
class Figures:
    """The statistics of one webhook.

    Rates are shares of the attempts, 0.0–1.0. Latencies, in milliseconds, are of attempts answered within the week.
    Each is None without any attempts. ``failure`` is the last failed attempt of the week.
    """

    attempts_day: int = 0
    attempts_week: int = 0
    rate_day: float | None = None
    rate_week: float | None = None
    median: int | None = None
    p95: int | None = None
    failure: Attempt | None = None
    waiting: int = 0
    dead: int = 0


def for_webhooks(session: Session, endpoint_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Figures]:
    """The statistics of webhooks that the caller may see: four queries however many there are."""
    now = clock.now()
    day, week = now - DAY, now - WEEK
    mine = sa.and_(Delivery.endpoint_id.in_(endpoint_ids), Attempt.at >= week)
    counted = session.execute(
        sa.select(
            Delivery.endpoint_id,
            sa.func.count(),
            sa.func.count().filter(_ARRIVED),
            sa.func.count().filter(Attempt.at >= day),
            sa.func.count().filter(Attempt.at >= day, _ARRIVED),
            sa.func.max(Attempt.at).filter(_FAILED),
        )
        .join(Delivery, Delivery.id == Attempt.delivery_id)
        .where(mine)
        .group_by(Delivery.endpoint_id)
    ).all()
    answered = (
        sa.select(Delivery.endpoint_id.label("part"), Attempt.milliseconds.label("value"))
        .join(Delivery, Delivery.id == Attempt.delivery_id)
        .where(mine, Attempt.status.is_not(None))
    )
    latencies = {row[0]: (row[2], row[3]) for row in session.execute(quantiles.by_part(answered, 0.5, 0.95))}
    failures = _failures(session, {row[0]: row[5] for row in counted if row[5] is not None})
    queued = _queued(session, endpoint_ids)
    by_webhook = {row[0]: row for row in counted}
    figures = {}
    for endpoint_id in endpoint_ids:
        _, in_week, ok_week, in_day, ok_day, _ = by_webhook.get(endpoint_id, (endpoint_id, 0, 0, 0, 0, None))
        median, p95 = latencies.get(endpoint_id, (None, None))
        figures[endpoint_id] = Figures(
            attempts_day=in_day,
            attempts_week=in_week,
            rate_day=ok_day / in_day if in_day else None,
            rate_week=ok_week / in_week if in_week else None,
            median=median,
            p95=p95,
            failure=failures.get(endpoint_id),
            waiting=queued.get((endpoint_id, DeliveryState.DUE), 0),
            dead=queued.get((endpoint_id, DeliveryState.DEAD), 0),
        )
    return figures


def _failures(session: Session, moments: Mapping[uuid.UUID, datetime]) -> dict[uuid.UUID, Attempt]:
    """The failed attempt of each webhook at the given time."""
    if not moments:
        return {}
    rows = session.execute(
        sa.select(Delivery.endpoint_id, Attempt)
        .join(Delivery, Delivery.id == Attempt.delivery_id)
        .where(Attempt.at.in_(set(moments.values())), Delivery.endpoint_id.in_(moments), _FAILED)
        .order_by(Attempt.id)
    )
    return {endpoint_id: attempt for endpoint_id, attempt in rows if moments[endpoint_id] == attempt.at}


def _queued(
    session: Session, endpoint_ids: Collection[uuid.UUID]
) -> dict[tuple[uuid.UUID, DeliveryState], int]:
    rows = session.execute(
        sa.select(Delivery.endpoint_id, Delivery.state, sa.func.count())
        .where(
            Delivery.endpoint_id.in_(endpoint_ids),
            Delivery.state.in_((DeliveryState.DUE, DeliveryState.DEAD)),
        )
        .group_by(Delivery.endpoint_id, Delivery.state)
    )
    return {(endpoint_id, state): count for endpoint_id, state, count in rows}
