"""Protects this process from a service that fails or hangs: a circuit breaker, a limit of calls at once, a cache."""

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from app.core import clock
from app.core.services.kinds import Answer, Failure

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
