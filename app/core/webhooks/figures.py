"""Delivery statistics of each webhook for its operators: success rates, latency, backlog (docs/run/reliability.md).

A busy webhook gets thousands of attempts a minute, so its newest ones speak for it: what is read stays the same.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock, quantiles
from app.core.models import Attempt, Delivery, Webhook
from app.core.vocabulary import DeliveryState

DAY = timedelta(days=1)
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Failure:
    """A failed attempt. ``error`` says why there was no answer; ``status`` is None then."""

    at: datetime
    delivery_id: uuid.UUID
    status: int | None
    error: str | None


@dataclass(frozen=True)
class Figures:
    """The statistics of one webhook: of its attempts within a week, but at most of its ``MOST_ATTEMPTS`` newest.

    Rates are shares of the attempts, 0.0–1.0. Latencies, in milliseconds, are of answered attempts. Each is None
    without any attempts. ``failure`` is the last failed one of these attempts. ``waiting`` and ``dead`` are counted
    up to one more than ``MOST_QUEUED``.
    """

    MOST_ATTEMPTS: ClassVar[int] = 500
    MOST_QUEUED: ClassVar[int] = 1_000

    attempts_day: int = 0
    attempts_week: int = 0
    rate_day: float | None = None
    rate_week: float | None = None
    median: int | None = None
    p95: int | None = None
    failure: Failure | None = None
    waiting: int = 0
    dead: int = 0


def for_webhooks(session: Session, endpoint_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Figures]:
    """The statistics of webhooks that the caller may see: two queries however many there are."""
    now = clock.now()
    attempts = _newest_attempts(session, endpoint_ids, now - WEEK)
    queued = _queued(session, endpoint_ids)
    return {
        endpoint_id: _figures(attempts[endpoint_id], now - DAY, *queued[endpoint_id])
        for endpoint_id in endpoint_ids
    }


def _figures(attempts: Sequence[Any], day: datetime, waiting: int, dead: int) -> Figures:
    """The statistics of these attempts, newest first."""
    arrived = [row.status is not None and 200 <= row.status < 300 for row in attempts]
    in_day = sum(row.at >= day for row in attempts)
    answered = sorted(row.milliseconds for row in attempts if row.status is not None)
    failed = next((row for row, ok in zip(attempts, arrived, strict=True) if not ok), None)
    return Figures(
        attempts_day=in_day,
        attempts_week=len(attempts),
        rate_day=sum(arrived[:in_day]) / in_day if in_day else None,
        rate_week=sum(arrived) / len(attempts) if attempts else None,
        median=quantiles.nearest(answered, 0.5),
        p95=quantiles.nearest(answered, 0.95),
        failure=Failure(failed.at, failed.delivery_id, failed.status, failed.error)
        if failed is not None
        else None,
        waiting=waiting,
        dead=dead,
    )


def _newest_attempts(
    session: Session, endpoint_ids: Collection[uuid.UUID], since: datetime
) -> Mapping[uuid.UUID, Sequence[Any]]:
    """The newest attempts of each webhook, newest first."""
    other = aliased(Attempt)
    # The moment of the last one that counts. A window function would number all of the week first.
    oldest = (
        sa.select(other.at)
        .where(other.endpoint_id == Webhook.id, other.at >= since)
        .order_by(other.at.desc())
        .offset(Figures.MOST_ATTEMPTS - 1)
        .limit(1)
        .correlate(Webhook)
        .scalar_subquery()
    )
    rows = session.execute(
        sa.select(
            Webhook.id, Attempt.at, Attempt.delivery_id, Attempt.status, Attempt.milliseconds, Attempt.error
        )
        .join(
            Attempt, sa.and_(Attempt.endpoint_id == Webhook.id, Attempt.at >= sa.func.coalesce(oldest, since))
        )
        .where(Webhook.id.in_(endpoint_ids))
        .order_by(Attempt.at.desc(), Attempt.id.desc())
    )
    found: defaultdict[uuid.UUID, list[Any]] = defaultdict(list)
    for row in rows:
        # Of several at that moment there may be more.
        if len(found[row.id]) < Figures.MOST_ATTEMPTS:
            found[row.id].append(row)
    return found


def _queued(session: Session, endpoint_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, tuple[int, int]]:
    """How many deliveries of each webhook wait, and how many are dead."""

    def counted(state: DeliveryState) -> Any:
        some = (
            sa.select(sa.literal(1))
            .where(Delivery.endpoint_id == Webhook.id, Delivery.state == state)
            .limit(Figures.MOST_QUEUED + 1)
            .correlate(Webhook)
            .subquery()
        )
        return sa.select(sa.func.count()).select_from(some).correlate(Webhook).scalar_subquery()

    rows = session.execute(
        sa.select(Webhook.id, counted(DeliveryState.DUE), counted(DeliveryState.DEAD)).where(
            Webhook.id.in_(endpoint_ids)
        )
    )
    return {endpoint_id: (waiting, dead) for endpoint_id, waiting, dead in rows}
