"""A streaming replica of the PostgreSQL database, and whether it may be read now (docs/run/large-databases.md)."""

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
import sqlalchemy.exc as sa_exc

log = logging.getLogger(__name__)

MOST_LAG = 10.0
"""Seconds: a replica that is further behind is not read."""
EXAMINED_EVERY, TRIED_EVERY = 1.0, 5.0
"""Seconds between two examinations of a replica that is read, and of one that is not."""
CONNECTION = {"connect_timeout": 2, "tcp_user_timeout": 5_000}
"""A replica that is away must not hold up what the database itself can answer (libpq; seconds, milliseconds)."""

_PRIMARY = sa.text(
    "SELECT CAST(pg_current_wal_flush_lsn() AS text), clock_timestamp(), version_num, system_identifier "
    "FROM alembic_version, pg_control_system()"
)
_REPLICA = sa.text(
    "SELECT pg_is_in_recovery() AND system_identifier = :system, version_num, "
    "pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn), "
    "CAST(extract(epoch FROM CAST(:now AS timestamptz) - pg_last_xact_replay_timestamp()) AS float) "
    "FROM alembic_version, pg_control_system()"
)


@dataclass(frozen=True)
class State:
    """``lag``: seconds behind, None if unknown. ``why_not``: why it is not read, without any address; else empty."""

    lag: float | None = None
    why_not: str = ""


class Replica:
    """The replica of ``primary``. A process examines it at most once a second, in one thread, when it is asked for."""

    def __init__(self, engine: sa.Engine, primary: sa.Engine) -> None:
        self.engine = engine
        self._primary = primary
        self._lock = threading.Lock()
        self._state = State(why_not="was not examined yet")
        self._until = 0.0

    def state(self) -> State:
        """Return what the last examination found; make one if it is due. Raises if the database is away itself."""
        if time.monotonic() >= self._until and self._lock.acquire(blocking=False):
            try:
                self._store(self._examine())
            finally:
                self._lock.release()
        return self._state

    def set_aside(self) -> None:
        """Read it no more until it is found well again: a statement failed on it."""
        self._store(State(why_not="failed while it was read"))

    def _store(self, state: State) -> None:
        if state.why_not and not self._state.why_not:
            log.warning("The replica %s: everything is read from the database itself", state.why_not)
        elif self._state.why_not and not state.why_not:
            log.warning("The replica is read")
        self._state = state
        self._until = time.monotonic() + (TRIED_EVERY if state.why_not else EXAMINED_EVERY)

    def _examine(self) -> State:
        with self._primary.connect() as connection:
            written, now, revision, system = connection.execute(_PRIMARY).one()
        asked = {"written": written, "now": now, "system": system}
        try:
            with self.engine.connect() as connection:
                is_ours, its_revision, has_all, behind = connection.execute(_REPLICA, asked).one()
        except sa_exc.SQLAlchemyError as error:
            log.debug("the replica cannot be read", exc_info=error)
            return State(why_not="cannot be reached")
        if not is_ours:
            return State(why_not="is no streaming replica of this database")
        # The last commit that it replayed: every process that runs jobs commits a beat every three seconds.
        lag = 0.0 if has_all else behind
        if its_revision != revision:
            return State(lag, f"is at version {its_revision}, the database at {revision}")
        if lag is None:
            return State(lag, "has replayed nothing yet")
        return State(max(0.0, lag), f"lags {lag:.0f} s behind" if lag > MOST_LAG else "")


def options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the replica's engine, from those of the database's."""
    return {**given, "connect_args": {**given.get("connect_args", {}), **CONNECTION}}
