"""Turns: how the threads of a process share its processor, so that no community's backlog takes all of it.

The engine keeps slots free for other communities, but a thread of theirs would still compute beside all threads of the
backlog, and get a tenth of the processor. Here few threads work at once, and the threads that wait get their turns
community by community (docs/decisions/0040).
"""

import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 3
"""One computes, one waits for the database, and one is ready. More only take the interpreter from each other."""


class Turns:
    """Lets ``at_once`` threads work at once. The next turn goes to the community that has waited longest for one."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._lock = threading.Lock()
        self._free = at_once
        self._waiting: OrderedDict[uuid.UUID, deque[threading.Event]] = OrderedDict()

    @contextmanager
    def taken(self, community_id: uuid.UUID) -> Iterator[None]:
        """Work within the block, for this community. Do not wait for anything slow there, such as a service."""
        came = self._queued(community_id)
        if came is not None:
            came.wait()
        try:
            yield
        finally:
            self._pass_on()

    def _queued(self, community_id: uuid.UUID) -> threading.Event | None:
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            came = threading.Event()
            self._waiting.setdefault(community_id, deque()).append(came)
            return came

    def _pass_on(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            community_id, threads = self._waiting.popitem(last=False)
            came = threads.popleft()
            if threads:
                self._waiting[community_id] = threads  # behind all others
            came.set()
