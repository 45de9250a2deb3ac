"""Time limits for a pack's rules: how long they may scan one text, and which rule used the most (decision 0025)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class TimeIsUp(Exception):
    """The rules exceeded their time limit; ``rule`` used the most: ``seconds`` of processor time."""

    def __init__(self, rule: str, seconds: float) -> None:
        super().__init__(f"rule {rule} took {seconds:.1f} s")
        self.rule = rule
        self.seconds = seconds


class Stopwatch:
    """Counts the processor time of this thread, so that a busy machine makes no rule look slow.

    ``seconds`` None: no limit. A running regex search cannot be stopped, so ``check`` is called between searches,
    which ``patterns`` keeps short.
    """

    def __init__(self, seconds: float | None) -> None:
        self.is_limited = seconds is not None
        self._end = time.thread_time() + (seconds or 0.0)
        self._spent: dict[str, float] = {}
        self._rule = ""
        self._since = 0.0

    @contextmanager
    def measure(self, rule: str) -> Iterator[None]:
        """Charge the time inside this block to the rule."""
        self._rule, self._since = rule, time.thread_time()
        try:
            yield
        finally:
            self._spent[rule] = self._spent.get(rule, 0.0) + time.thread_time() - self._since

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time inside this block."""
        since = time.thread_time()
        try:
            yield
        finally:
            self._end += time.thread_time() - since

    def check(self) -> None:
        """Raise TimeIsUp when the limit is exceeded."""
        if not self.is_limited:
            return
        now = time.thread_time()
        if now < self._end:
            return
        spent = self._spent | {self._rule: self._spent.get(self._rule, 0.0) + now - self._since}
        rule = max(spent, key=lambda rule_id: spent[rule_id])
        raise TimeIsUp(rule, spent[rule])
