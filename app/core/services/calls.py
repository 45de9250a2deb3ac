"""How a service is called: retries, a limit of calls at once, a circuit breaker, and the account of each day.

The account enforces the daily budget and notices when the model changed. Callers hold no transaction while they ask a
service, so they reach the account through a `Ledger`.
"""

import threading
import time
import uuid
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import ConnectedService, ServiceDay
from app.core.permissions import SYSTEM
from app.core.recent import Recent
from app.core.services.kinds import Answer, Failure
from app.core.services.settings import ServiceSettings
from app.core.texts import lazy_gettext

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
    # Behind some addresses two models answer in turn: recorded once a day, not with every post.
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
        reason=Reason(cause=lazy_gettext("the service names another model in its answers")),
    )


FAILURES = 5
"""Failures in a row that open the circuit breaker."""
PAUSE = 30.0
"""Seconds for which an open breaker lets nothing through; then one call tries again."""
LONGEST_PAUSE = 600.0
"""Seconds; a service that asks for a longer wait by Retry-After gets this one."""
CACHED = timedelta(hours=24)
CACHE_SIZE = 5_000
"""Answers that a process keeps, of all services together."""


class Gate:
    """Lets at most ``concurrency`` calls of one service run at once, and none while its circuit breaker is open.

    Shared by the threads of a process. ``monotonic`` is a clock in seconds.
    """

    def __init__(self, concurrency: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.concurrency = concurrency
        self._slots = threading.BoundedSemaphore(concurrency)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0
        self._is_trying = False

    @contextmanager
    def passed(self, seconds: float) -> Iterator[None]:
        """Hold one of the slots during the block, after at most ``seconds``.

        Raises:
            Failure: the breaker is open, or all slots stayed taken.
        """
        self._check()
        try:
            if not self._slots.acquire(timeout=seconds):
                raise Failure("too many calls at once")
            try:
                yield
            finally:
                self._slots.release()
        finally:
            with self._lock:
                self._is_trying = False

    def _check(self) -> None:
        with self._lock:
            if self._open_until <= 0:
                return
            left = self._open_until - self._monotonic()
            if left > 0 or self._is_trying:
                raise Failure("paused after failures in a row", after=max(1.0, left))
            self._is_trying = True

    def succeeded(self) -> None:
        with self._lock:
            self._failures, self._open_until = 0, 0.0

    def failed(self, after: float | None = None) -> None:
        """Count a failure. ``after``: seconds for which the service asked not to be called."""
        with self._lock:
            self._failures += 1
            pause = PAUSE if self._failures >= FAILURES else 0.0
            if after is not None:
                pause = max(pause, min(after, LONGEST_PAUSE))
            if pause:
                self._open_until = self._monotonic() + pause


CacheKey = tuple[uuid.UUID, int, str]
"""Service, version of its settings, and the hash of the normalised content."""


class AnswerCache(Recent[CacheKey, Answer]):
    """Keeps answers for a day, the most recently used ones. Shared by the threads of a process."""

    def __init__(self) -> None:
        super().__init__(CACHE_SIZE, CACHED)


ATTEMPTS = 3
FIRST_DELAY = 0.5
"""Seconds before the second attempt; each later delay is twice the one before."""
LONGEST_DELAY = 5.0
"""Seconds. A service that asks for a longer wait is not asked again for this post now."""
BUDGET_SPENT = "the daily budget is used up"

T = TypeVar("T")


@dataclass(frozen=True)
class GuardedCalls:
    """Calls of one service with one version of its settings."""

    service_id: uuid.UUID
    settings: ServiceSettings
    gate: Gate
    ledger: Ledger
    sleep: Callable[[float], None] = field(default=time.sleep)

    def ask(self, call: Callable[[], T], model_of: Callable[[T], str], attempts: int = ATTEMPTS) -> T:
        """Call up to ``attempts`` times; every attempt counts in the budget. ``model_of`` names who answered.

        Raises:
            Failure: no attempt gave a usable answer, or asking again cannot help.
        """
        for attempt in range(1, attempts + 1):
            try:
                return self._try(call, model_of)
            except Failure as failure:
                delay = max(FIRST_DELAY * 2 ** (attempt - 1), failure.after or 0.0)
                if attempt == attempts or not failure.retry or delay > LONGEST_DELAY:
                    raise
            self.sleep(delay)
        raise AssertionError("the last attempt returns or raises")

    def _try(self, call: Callable[[], T], model_of: Callable[[T], str]) -> T:
        with self.gate.passed(self.settings.deadline):
            most = self.settings.most_requests
            if not self.ledger.reserve(self.service_id, most, self.settings.price):
                raise Failure(BUDGET_SPENT, retry=False)
            began = time.monotonic()
            try:
                answer = call()
            except Failure as failure:
                # A refused request says nothing about the service's health, a failing one does.
                if failure.retry:
                    self.gate.failed(failure.after)
                self._finish(began, error=failure.reason)
                raise
            except Exception as error:
                # An adapter of an installed package may raise anything. Its message could quote the post.
                self.gate.failed()
                self._finish(began, error=f"the adapter failed: {type(error).__name__}")
                raise Failure(f"the adapter failed: {type(error).__name__}") from error
            self.gate.succeeded()
            self._finish(began, model=model_of(answer))
            return answer

    def _finish(self, began: float, *, error: str = "", model: str = "") -> None:
        ms = round((time.monotonic() - began) * 1000)
        self.ledger.finish(self.service_id, Call(ms, error, model))
