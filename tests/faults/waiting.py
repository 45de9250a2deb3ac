"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable


def eventually(truth: Callable[[], object], what: str, seconds: float = 240) -> None:
    """Return once ``truth()`` is true. The limit only ends a test that has failed already."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while not truth():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(pause)
        pause = min(1.1 * pause, 0.1)
