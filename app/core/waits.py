"""What a process that starts waits for: logged at once, then every ten seconds; ``/readyz`` says the same meanwhile."""

import logging
import threading
import time
from contextlib import AbstractContextManager, suppress
from functools import partial

import sqlalchemy as sa
import sqlalchemy.exc as sa_exc

from app.core import clock
from app.core.alongside import alongside

log = logging.getLogger(__name__)

SAID_EVERY = 10.0
_LOOKED_EVERY = 0.5

_HOLDERS = sa.text(
    "SELECT pid, coalesce(nullif(application_name, ''), backend_type, 'unknown') AS name, state, "
    "coalesce(xact_start, backend_start) AS since "
    "FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids(:pid)) ORDER BY since, pid"
)
_INDEX = sa.text(
    "SELECT CAST(CAST(relid AS regclass) AS text), phase, 100 * blocks_done / nullif(blocks_total, 0) "
    "FROM pg_stat_progress_create_index WHERE pid = :pid"
)


class Wait:
    """One wait, in words that may change while it lasts."""

    def __init__(self) -> None:
        self._said_at: float | None = None
        self._about = ""

    def say(self, about: str, words: str, detail: object = "") -> None:
        """Log these words unless the same wait (``about``) was logged less than ten seconds ago.

        ``detail``: more for the log, such as an address, that ``/readyz`` does not show to everybody.
        """
        global _current
        _current, now = words, time.monotonic()
        if about != self._about or self._said_at is None or now - self._said_at >= SAID_EVERY:
            log.warning("%s%s", words, f": {detail}" if detail else "")
            self._about, self._said_at = about, now

    def end(self) -> None:
        global _current
        _current = ""


_current = ""


def current() -> str:
    """What this process waits for, in a sentence; empty if it waits for nothing."""
    return _current


def watched(connection: sa.Connection, what: str) -> AbstractContextManager[None]:
    """Say what holds up the statements of this connection, or that they take long: from a thread.

    ``what``: what they do, such as "Migrating the database". On PostgreSQL a second connection looks who holds them up.
    """
    is_postgresql = connection.dialect.name == "postgresql"
    pid = connection.scalar(sa.text("SELECT pg_backend_pid()")) if is_postgresql else None
    return alongside("waits", partial(_watch, connection.engine, pid, what))


def _watch(engine: sa.Engine, pid: int | None, what: str, ended: threading.Event) -> None:
    wait, began = Wait(), time.monotonic()
    while not ended.wait(_LOOKED_EVERY):
        about, words, took = "", "", time.monotonic() - began
        if pid is not None:
            with suppress(sa_exc.SQLAlchemyError), engine.connect() as looking:
                about, words = _seen(looking, pid)
        if about or took >= SAID_EVERY:
            wait.say(about, f"{what}: {words or f'at work for {took:.0f} s'}")
    wait.end()


def _seen(connection: sa.Connection, pid: int) -> tuple[str, str]:
    """What holds this process of the database up, or which index it builds: a name for it, and words. Else empty."""
    holders = connection.execute(_HOLDERS, {"pid": pid}).all()
    if holders:
        described = ", ".join(
            f"process {one.pid} ({one.name}, {one.state or 'working'}, since {clock.iso(one.since)})"
            if one.since is not None
            else f"process {one.pid} ({one.name})"
            for one in holders
        )
        return f"{[one.pid for one in holders]}", f"waiting for {described}"
    index = connection.execute(_INDEX, {"pid": pid}).first()
    if index is not None:
        table, phase, percent = index
        done = f", {percent} % read" if percent is not None else ""
        return f"{table}", f"making an index of {table} ({phase}{done})"
    return "", ""
