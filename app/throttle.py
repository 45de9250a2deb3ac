"""Rate limits, shared by all processes and used by API and dashboard (docs/integrate/api.md).

The ``limits`` library does the arithmetic. Its memory storage counts per process, so by default we count in a
separate small SQLite file; ``redis://`` shares the counts between machines.
"""

import hashlib
import hmac
import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy.exc as sa_exc
from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage, Storage, storage_from_string
from limits.strategies import FixedWindowRateLimiter

from app.core import security_events
from app.core.errors import TooMany
from app.core.limits import NEW_DEVICE_MAILS, SIGN_IN_FAILURES, WRONG_CODES
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.write_lock import WriteLock
from app.settings import Settings

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")
LimitName = Literal[
    "key",
    "ratings",
    "ai_notes",
    "scores",
    "link_codes",
    "webhook_tests",
    "sign_in",
    "sign_in_account",
    "communities",
    "sign_in_address",
    "sign_in_failures",
    "wrong_codes",
    "new_device_mails",
    "sign_up",
    "mail",
    "invitations",
    "test_posts",
]


class FileStorage(Storage):
    """Counters in one SQLite file, exact across processes. A lost counter after a crash is harmless.

    Writers wait for each other as those of the database do (``WriteLock``). Left to itself, SQLite lets a busy machine
    overtake a waiting writer until that gives up.
    """

    STORAGE_SCHEME = ["bridgenote-file"]  # noqa: RUF012 - the library reads this class attribute
    _PRUNE_EVERY = 1_000

    def __init__(self, uri: str | None = None, *, path: Path, **_options: Any) -> None:
        super().__init__(uri, wrap_exceptions=False)
        self._path = str(path)
        self._write_lock = WriteLock(self._path)
        self._local = threading.local()
        self._hits = 0

    @property
    def base_exceptions(self) -> tuple[type[Exception], ...]:
        return sqlite3.Error, OSError, sa_exc.TimeoutError

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, timeout=10, isolation_level=None)
            try:
                connection.execute("PRAGMA synchronous=OFF")
                with self._write_lock.held():
                    connection.execute("PRAGMA journal_mode=WAL")
                    # Here and not at start-up, so that `doctor` can report a folder that is full or not writable.
                    connection.execute(
                        "CREATE TABLE IF NOT EXISTS counters "
                        "(key TEXT PRIMARY KEY, count INTEGER, expires REAL) WITHOUT ROWID"
                    )
            except BaseException:
                connection.close()
                raise
            self._local.connection = connection
        return connection

    def _write(self, statement: str, parameters: Mapping[str, Any]) -> tuple[list[Any], int]:
        """Execute a statement when it is this writer's turn. Return its rows and how many it changed."""
        connection = self._connection()
        with self._write_lock.held():
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall(), cursor.rowcount

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        return self.add(key, expiry, amount)[0]

    def add(self, key: str, expiry: int, amount: int = 1) -> tuple[int, float]:
        """Add ``amount`` and return the count and when its window ends (Unix seconds), in one statement."""
        now = time.time()
        self._hits += 1
        if self._hits % self._PRUNE_EVERY == 0:
            self._write("DELETE FROM counters WHERE expires <= :now", {"now": now})
        rows, _ = self._write(
            "INSERT INTO counters VALUES (:key, :amount, :expires) ON CONFLICT (key) DO UPDATE SET "
            "count = CASE WHEN expires <= :now THEN :amount ELSE count + :amount END, "
            "expires = CASE WHEN expires <= :now THEN :expires ELSE expires END RETURNING count, expires",
            {"key": key, "amount": amount, "now": now, "expires": now + expiry},
        )
        count, expires = rows[0]
        return int(count), float(expires)

    def get(self, key: str) -> int:
        return int(self._row(key)[0])

    def get_expiry(self, key: str) -> float:
        return float(self._row(key)[1])

    def _row(self, key: str) -> tuple[int, float]:
        now = time.time()
        row = (
            self._connection()
            .execute("SELECT count, expires FROM counters WHERE key = ? AND expires > ?", (key, now))
            .fetchone()
        )
        return row or (0, now)

    def check(self) -> bool:
        try:
            return self._connection().execute("SELECT 1").fetchone() is not None
        except self.base_exceptions:
            return False

    def reset(self) -> int:
        return self._write("DELETE FROM counters", {})[1]

    def clear(self, key: str) -> None:
        self._write("DELETE FROM counters WHERE key = :key", {"key": key})


@dataclass(frozen=True)
class Standing:
    """State of a caller's tightest limit. ``reset`` is in seconds from now (at least 1), ``window`` in seconds."""

    limit: int
    remaining: int
    reset: int
    window: int


class OverLimit(TooMany):
    """The caller exceeded the limit ``name``; ``standing`` is the state of that limit."""

    def __init__(self, name: LimitName, standing: Standing) -> None:
        super().__init__(_("Rate limit exceeded"), standing.reset)
        self.name = name
        self.standing = standing


class Throttle:
    """Counts hits against named limits. With ``enabled`` false nothing is limited."""

    ALONE_SECONDS = 5.0
    """How long a storage that failed is not asked again."""

    def __init__(
        self, storage: Storage, limits: Mapping[LimitName, str], *, enabled: bool = True, key: bytes = b""
    ) -> None:
        self._storage = storage
        self._spare = MemoryStorage()
        self._is_alone, self._alone_until = False, -math.inf
        self._limiter = FixedWindowRateLimiter(storage)
        self._limits = {name: parse_many(text) for name, text in limits.items()}
        self.enabled, self._key = enabled, key

    @classmethod
    def from_settings(cls, settings: Settings) -> "Throttle":
        storage: Storage
        if settings.rate_limit_storage:
            storage = storage_from_string(settings.rate_limit_storage)  # type: ignore[assignment]
        else:
            storage = FileStorage(path=settings.data_dir / "limits.db")
        return cls(
            storage,
            {
                "key": settings.rate_limit_key,
                "ratings": settings.rate_limit_ratings,
                "ai_notes": settings.rate_limit_ai_notes,
                "scores": settings.rate_limit_scores,
                "link_codes": settings.rate_limit_link_codes,
                "webhook_tests": settings.rate_limit_webhook_tests,
                "sign_in": settings.rate_limit_sign_in,
                "communities": settings.rate_limit_communities,
                "sign_in_account": settings.rate_limit_sign_in_account,
                "sign_in_address": settings.rate_limit_sign_in_address,
                "sign_in_failures": f"{SIGN_IN_FAILURES} per day",
                "wrong_codes": f"{WRONG_CODES} per day",
                "new_device_mails": f"{NEW_DEVICE_MAILS} per day",
                "sign_up": settings.rate_limit_sign_up,
                "mail": settings.rate_limit_mail,
                "invitations": settings.rate_limit_invitations,
                "test_posts": settings.rate_limit_test_posts,
            },
            enabled=settings.rate_limit_enabled,
            key=settings.secret_key.get_secret_value().encode(),
        )

    def reachable(self) -> bool:
        """Whether the storage of the counters answers."""
        return self._storage.check()

    def hit(self, name: LimitName, *who: str, times: int = 1) -> Standing | None:
        """Count ``times`` calls by ``who`` and return the standing after them, or None when limits are off.

        Raises:
            OverLimit: one of the limits of that name is exceeded.
        """
        if not self.enabled:
            return None
        standings = []
        who = (self._hidden(who),)
        for item in self._limits[name]:
            count, ends = self._count(item, name, *who, times=times)
            reset = max(1, math.ceil(ends - time.time()))
            standing = Standing(item.amount, max(0, item.amount - count), reset, item.get_expiry())
            if count > item.amount:
                if count - times <= item.amount:  # once in a window: a flood must not flood the log too
                    security_events.log(SecurityEvent.THROTTLED, limit=name, retry_after=reset)
                raise OverLimit(name, standing)
            standings.append(standing)
        return min(standings, key=lambda standing: standing.remaining)

    def reaches(self, name: LimitName, *who: str) -> bool:
        """Count one call by ``who`` without refusing any, and return whether it is the one that uses the limit up."""
        who = (self._hidden(who),)
        counts = [self._count(item, name, *who)[0] for item in self._limits[name]] if self.enabled else []
        return any(count == item.amount for count, item in zip(counts, self._limits[name], strict=False))

    def check(self, name: LimitName, *who: str) -> None:
        """Refuse ``who`` if no calls are left, without counting one. For limits that count only failures.

        Raises:
            OverLimit: one of the limits of that name is used up.
        """
        if not self.enabled:
            return
        who = (self._hidden(who),)
        for item in self._limits[name]:
            standing = self._standing(item, name, *who)
            if standing.remaining == 0:
                raise OverLimit(name, standing)

    def _hidden(self, who: tuple[str, ...]) -> str:
        """A keyed hash, so that no address of a person is stored with the counters."""
        return hmac.new(self._key, "\n".join(who).encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _count(self, item: RateLimitItem, *who: str, times: int = 1) -> tuple[int, float]:
        """Count hits in a fixed window; return the count and the window's end. ``FileStorage`` does both at once."""
        key, expiry = item.key_for(*who), item.get_expiry()
        return self._from_storage(
            lambda: self._shared_count(key, expiry, times),
            lambda: (self._spare.incr(key, expiry, times), self._spare.get_expiry(key)),
        )

    def _shared_count(self, key: str, expiry: int, times: int) -> tuple[int, float]:
        if isinstance(self._storage, FileStorage):
            return self._storage.add(key, expiry, times)
        return self._storage.incr(key, expiry, times), self._storage.get_expiry(key)

    def _standing(self, item: RateLimitItem, name: str, *who: str) -> Standing:
        stats = self._from_storage(
            lambda: self._limiter.get_window_stats(item, name, *who),
            lambda: FixedWindowRateLimiter(self._spare).get_window_stats(item, name, *who),
        )
        reset = max(1, math.ceil(stats.reset_time - time.time()))
        return Standing(item.amount, max(0, stats.remaining), reset, item.get_expiry())

    def _from_storage(self, shared: Callable[[], Answer], alone: Callable[[], Answer]) -> Answer:
        """Ask the storage, or this process's memory for a while after the storage failed.

        With a full disk, requests still work and limits still apply. Not each of them waits for a storage that hangs.
        """
        if time.monotonic() < self._alone_until:
            return alone()
        try:
            answer = shared()
        except self._storage.base_exceptions as error:
            if not self._is_alone:
                log.warning("Rate limits are counted by each process alone: %s", error)
            self._is_alone, self._alone_until = True, time.monotonic() + self.ALONE_SECONDS
            return alone()
        if self._is_alone:
            log.warning("Rate limits are shared by all processes again.")
            self._is_alone = False
        return answer
