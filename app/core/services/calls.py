"""Counts a service's calls day by day, enforces its daily budget, and notices when its model changed.

The callers hold no transaction while they ask the service: `Ledger` is how ``calling`` reaches these verbs.
"""

import uuid
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.models import ConnectedService, ServiceDay
from app.core.permissions import SYSTEM

BOUNDS = (10, 20, 50, 100, 200, 350, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 20_000)
"""Upper ends, in milliseconds, of the ranges in which calls are counted by their time."""


@dataclass(frozen=True)
class Call:
    """The result of one call, or of an answer from the cache. ``error`` empty: it succeeded."""

    milliseconds: int = 0
    error: str = ""
    model: str = ""
    cached: bool = False


class Ledger(Protocol):
    """Keeps the account of calls. Each method is a transaction of its own."""

    def reserve(self, service_id: uuid.UUID, most: int | None, price: float) -> bool:
        """Count a call before it is made. False, without counting: ``most`` calls were made today."""
        ...

    def finish(self, service_id: uuid.UUID, call: Call) -> None:
        """Record how a call went."""
        ...


@dataclass(frozen=True)
class Period:
    """What a service did in some days. ``p50`` and ``p95`` are upper bounds in milliseconds, None without calls."""

    requests: int = 0
    errors: int = 0
    cached: int = 0
    cost: float = 0.0
    p50: int | None = None
    p95: int | None = None
    last_error: str = ""


def reserve(session: Session, service_id: uuid.UUID, most: int | None, price: float) -> bool:
    """Count a call in today's row; ``price`` is for 1,000 calls. False: the day's budget is used up."""
    service = session.get(ConnectedService, service_id)
    if service is None:
        return False
    day = _today(session, service)
    if most is not None and day.requests >= most:
        return False
    day.requests += 1
    day.cost += price / 1000
    session.flush()
    return True


def finish(session: Session, service_id: uuid.UUID, call: Call) -> None:
    """Add a call's result to today's row, and record in history when the service's model changed."""
    service = session.get(ConnectedService, service_id)
    if service is None:
        return
    day = _today(session, service)
    if call.cached:
        day.cached += 1
        return
    if call.error:
        day.errors += 1
        day.last_error = call.error[:255]
    counts = list(day.milliseconds) or [0] * (len(BOUNDS) + 1)
    counts[bisect_left(BOUNDS, call.milliseconds)] += 1
    day.milliseconds = counts
    if call.model and call.model != service.model_seen:
        _note_model(session, service, call.model[:100])
    session.flush()


def period(session: Session, service_ids: Sequence[uuid.UUID], days: int) -> dict[uuid.UUID, Period]:
    """What these services did in the last ``days`` days, today included; one query."""
    since = clock.now().date() - timedelta(days=days - 1)
    rows: dict[uuid.UUID, list[ServiceDay]] = {service_id: [] for service_id in service_ids}
    for row in session.scalars(
        sa.select(ServiceDay)
        .where(ServiceDay.service_id.in_(service_ids), ServiceDay.day >= since)
        .order_by(ServiceDay.day)
    ):
        rows[row.service_id].append(row)
    return {service_id: _summed(found) for service_id, found in rows.items()}


def _summed(rows: Sequence[ServiceDay]) -> Period:
    counts = [
        sum(column) for column in zip(*(row.milliseconds for row in rows if row.milliseconds), strict=True)
    ]
    return Period(
        requests=sum(row.requests for row in rows),
        errors=sum(row.errors for row in rows),
        cached=sum(row.cached for row in rows),
        cost=sum(row.cost for row in rows),
        p50=_quantile(counts, 0.5),
        p95=_quantile(counts, 0.95),
        last_error=next((row.last_error for row in reversed(rows) if row.last_error), ""),
    )


def _quantile(counts: Sequence[int], share: float) -> int | None:
    """The upper end of the range in which this share of the calls ended, the largest bound for slower ones."""
    total, reached = sum(counts), 0
    if not total:
        return None
    for place, count in enumerate(counts):
        reached += count
        if reached >= share * total:
            return BOUNDS[min(place, len(BOUNDS) - 1)]
    return BOUNDS[-1]


def _today(session: Session, service: ConnectedService) -> ServiceDay:
    serialise(session, service.community_id)
    today: date = clock.now().date()
    day = session.get(ServiceDay, (service.id, today), populate_existing=True)
    if day is None:
        day = ServiceDay(service_id=service.id, day=today, requests=0, errors=0, cached=0, cost=0.0)
        day.milliseconds, day.last_error = [], ""
        session.add(day)
    return day


def _note_model(session: Session, service: ConnectedService, model: str) -> None:
    session.refresh(service)
    before = service.model_seen
    if before == model:
        return
    service.model_seen = model
    # Behind some addresses two models answer in turn: that is told once a day, not with every post.
    recently = service.model_changed_at is not None and service.model_changed_at > clock.now() - timedelta(
        days=1
    )
    if not before or (recently and model == service.model_before):
        service.model_before = before
        return
    service.model_before, service.model_changed_at = before, clock.now()
    history.record(
        session,
        SYSTEM,
        service.community_id,
        "service.model_changed",
        "service",
        service.id,
        before={"model": before},
        after={"name": service.name, "model": model},
        why=Why(cause="the service names another model in its answers"),
    )
