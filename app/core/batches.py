"""How much a transaction of a long job may take on: so much that other writers need not wait long for it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

FIRST = 50
"""Rows of the first batch, before it is known how fast the machine is today."""
LEAST = 10
SECONDS = 0.75
"""What a batch should take. Other writers wait for a few seconds at most, and a slow moment must not use them up."""


class BatchSize:
    """The size of the next batch, from the time that the last one took; never more than ``most``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.rows = min(FIRST, most)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure the batch of the block."""
        began = time.monotonic()
        yield
        self.took(time.monotonic() - began)

    def took(self, seconds: float) -> None:
        """Record how many seconds the batch took. The next one is at most twice as large."""
        fitting = self.rows * min(2.0, SECONDS / max(seconds, 0.001))
        self.rows = max(min(LEAST, self._most), min(self._most, int(fitting)))
