"""The most recently used values of a process, each under a key."""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from app.core import clock

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps the ``most`` values used last, at most for ``lifetime``. Threads may share it."""

    def __init__(self, most: int, lifetime: timedelta | None = None) -> None:
        self._most = most
        self._lifetime = lifetime
        self._lock = threading.Lock()
        self._kept: OrderedDict[K, tuple[datetime, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            if self._lifetime is not None and kept[0] <= clock.now() - self._lifetime:
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return kept[1]

    def put(self, key: K, value: V) -> None:
        with self._lock:
            self._kept[key] = clock.now(), value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
