"""The turns of SQLite's writers, over all threads and processes (decision 0002)."""

import fcntl
import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy.exc as sa_exc

_MOMENT = struct.Struct("d")


class _QueuedThread:
    """A thread that waits in ``flock`` for a file's lock. The kernel's queue is fair but has no timeout.

    Polling could time out, but would rarely get the lock among many writers. A writer that times out leaves this thread
    in the queue for the next writer. If no writer waits when the thread gets the lock, it releases it.
    """

    def __init__(self, descriptor: int) -> None:
        self.came = threading.Event()
        self._descriptor = descriptor
        self._is_wanted, self._is_released = True, False
        self._lock = threading.Lock()
        threading.Thread(target=self._queue, name="write-lock", daemon=True).start()

    def _queue(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        with self._lock:
            if self._is_wanted:
                self.came.set()
            else:
                self._pass_on()

    def is_joined(self) -> bool:
        """Take over this thread's place in the queue. Return False if it got the lock and released it already."""
        with self._lock:
            self._is_wanted = not self._is_released
            return self._is_wanted

    def leave(self) -> None:
        with self._lock:
            self._is_wanted = False
            if self.came.is_set():
                self._pass_on()

    def _pass_on(self) -> None:
        self._is_released = True
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)


class WriteLock:
    """Lets writers of one SQLite file write one after the other, in the order in which they came.

    SQLite makes a waiting writer sleep and retry at growing intervals while others overtake it. Here threads wait for a
    lock of their process, and processes for a lock on a file beside the database; the kernel wakes the next one. This
    lock only sets the order: ``BEGIN IMMEDIATE`` still protects the database.

    The file stores when the current holder got the lock (monotonic time, the same clock in every process). So a waiting
    writer can tell many short transactions, for which it waits, from one that hangs, for which it does not.
    """

    PATIENCE = 4.0
    """Seconds that a writer waits at least, and that one transaction may hold the lock before waiters give up."""
    LONGEST = 30.0
    """Seconds after which a writer gives up, however short the other transactions are."""
    LOOK_EVERY = 0.5

    def __init__(self, path: str) -> None:
        self._path = f"{path}-turns"
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._process = 0
        self._queued: _QueuedThread | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock during the block. Raises SQLAlchemy's ``TimeoutError`` if another writer keeps it too long."""
        began = time.monotonic()
        while not self._lock.acquire(timeout=self.LOOK_EVERY):
            self._check(began)
        try:
            descriptor = self._opened()
            self._take(descriptor, began)
            os.pwrite(descriptor, _MOMENT.pack(time.monotonic()), 0)
            try:
                yield
            finally:
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            self._lock.release()

    def _take(self, descriptor: int, began: float) -> None:
        if self._queued is None or not self._queued.is_joined():
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._queued = None
                return
            except BlockingIOError:
                self._queued = _QueuedThread(descriptor)
        try:
            while not self._queued.came.wait(self.LOOK_EVERY):
                self._check(began)
        except BaseException:
            self._queued.leave()
            raise
        self._queued = None

    def _check(self, began: float) -> None:
        now, stored = time.monotonic(), b""
        if self._descriptor is not None:
            stored = os.pread(self._descriptor, _MOMENT.size, 0)
        held_since: float = _MOMENT.unpack(stored)[0] if len(stored) == _MOMENT.size else began
        waited = now - began
        if waited > self.LONGEST or (waited > self.PATIENCE and now - held_since > self.PATIENCE):
            raise sa_exc.TimeoutError("another writer of the database does not end")

    def _opened(self) -> int:
        # A descriptor inherited through a fork would share the parent's lock instead of waiting for it.
        if self._descriptor is None or self._process != os.getpid():
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._process = os.getpid()
            self._queued = None
        return self._descriptor

    def close(self) -> None:
        # A thread that still waits uses the descriptor, so its number must not be reused for another file.
        if self._descriptor is not None and self._process == os.getpid() and self._queued is None:
            os.close(self._descriptor)
        self._descriptor = self._queued = None

    def __del__(self) -> None:
        self.close()
