"""Lets long computations give way to the threads and processes that answer people."""

import os
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from app.core.scoring.blocks import begin

NICE = 10
"""The priority of a computation: while others compute, it gets about a tenth of what one of them gets."""

Result = TypeVar("Result")


def giving_way(work: Callable[[], Result]) -> Result:
    """Call ``work`` in a thread of its own whose priority, and that of the threads it starts, is ``NICE``.

    A priority cannot be raised again, so the caller's thread keeps its own. Elsewhere than on Linux priorities are of
    processes, and it stays as it is.
    """

    def call() -> Result:
        if sys.platform == "linux":
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, max(NICE, os.getpriority(os.PRIO_PROCESS, thread)))
        return work()

    return begin(call)()
