"""Asynchronous work in tests, which are not asynchronous."""

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio

Answer = TypeVar("Answer")


def awaited(work: Callable[..., Awaitable[Answer]], *arguments: Any) -> Answer:
    """Return what ``work`` answers. In a thread of its own: in that of a test, the browser's loop may run already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work, *arguments).result()
