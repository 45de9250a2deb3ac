"""Protects this process from a service that fails or hangs: a circuit breaker, a limit of calls at once, a cache.

``Guarded`` calls it through all of them, with retries and the account of calls.
"""

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from app.core import clock
from app.core.services.calls import Call, Ledger
from app.core.services.kinds import Answer, Failure
from app.core.services.settings import ServiceSettings

FAILURES = 5
"""So many failures in a row open the circuit breaker."""
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
        """Count a failure. ``after``: the service asked to be left alone for so many seconds."""
        with self._lock:
            self._failures += 1
            pause = PAUSE if self._failures >= FAILURES else 0.0
            if after is not None:
                pause = max(pause, min(after, LONGEST_PAUSE))
            if pause:
                self._open_until = self._monotonic() + pause


CacheKey = tuple[uuid.UUID, int, str]
"""Service, version of its settings, and the hash of the normalised content."""


class AnswerCache:
    """Keeps answers for a day, the most recently used ones. Shared by the threads of a process."""

    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[CacheKey, tuple[datetime, Answer]] = OrderedDict()

    def get(self, key: CacheKey) -> Answer | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None or found[0] <= clock.now() - CACHED:
                self._kept.pop(key, None)
                return None
            self._kept.move_to_end(key)
            return found[1]

    def put(self, key: CacheKey, answer: Answer) -> None:
        with self._lock:
            self._kept[key] = clock.now(), answer
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


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
