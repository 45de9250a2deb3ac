"""How long a pack's rules may read one text, and which of them took the time (Decision 0025)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class TimeIsUp(Exception):
    """The rules took longer than they may; ``rule`` took the most of it, ``seconds`` of processor time."""

    def __init__(self, rule: str, seconds: float) -> None:
        super().__init__(f"rule {rule} took {seconds:.1f} s")
        self.rule = rule
        self.seconds = seconds


class Stopwatch:
    """Counts the processor time of this thread, so that a busy machine makes no rule look slow.

    ``seconds`` None: no limit. An expression that is being searched cannot be stopped: ``check`` stands between
    searches, which ``patterns`` keeps short.
    """

    def __init__(self, seconds: float | None) -> None:
        self.is_limited = seconds is not None
        self._end = time.thread_time() + (seconds or 0.0)
        self._spent: dict[str, float] = {}
        self._rule = ""
        self._since = 0.0

    @contextmanager
    def on(self, rule: str) -> Iterator[None]:
        """What happens meanwhile is this rule's doing."""
        self._rule, self._since = rule, time.thread_time()
        try:
            yield
        finally:
            self._spent[rule] = self._spent.get(rule, 0.0) + time.thread_time() - self._since

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """What happens meanwhile takes none of the text's time."""
        since = time.thread_time()
        try:
            yield
        finally:
            self._end += time.thread_time() - since

    def check(self) -> None:
        """Raises TimeIsUp when the time is up."""
        if not self.is_limited:
            return
        now = time.thread_time()
        if now < self._end:
            return
        spent = self._spent | {self._rule: self._spent.get(self._rule, 0.0) + now - self._since}
        rule = max(spent, key=lambda one: spent[one])
        raise TimeIsUp(rule, spent[rule])
