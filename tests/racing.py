"""Calls that begin at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Answer = TypeVar("Answer")


def at_once(*works: Callable[[], Answer]) -> list[Answer]:
    """Call all of these at the same moment, each in a thread, and return their answers in this order."""
    barrier = threading.Barrier(len(works))

    def begin(work: Callable[[], Answer]) -> Answer:
        barrier.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(begin, works))
