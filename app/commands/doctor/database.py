"""Checks on the database: reachable, not damaged, migrated, right time, secrets can be decrypted."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa

from app import migrations
from app.commands.doctor.findings import Result, fail, ok, warn
from app.core import clock as service_clock
from app.core.models import HistoryEntry
from app.core.upkeep import months, resealing
from app.process import runtime
from app.wiring import Wiring

LEAST_POSTGRESQL = 13
LEAST_SQLITE = (3, 35)
MOST_SECONDS_APART = 2.0
CHECKED_WHOLE_BYTES = 2 * 1024**3
"""The contents of larger SQLite files are not checked."""
_RESTORE = "restore a backup: `python -m app restore FILE --force`"


def reachable(wiring: Wiring) -> Iterator[Result]:
    engine = wiring.database.engine
    with engine.connect() as connection:
        version = _version(connection)
        is_sqlite = engine.dialect.name == "sqlite"
        if version < (LEAST_SQLITE if is_sqlite else (LEAST_POSTGRESQL,)):
            yield fail(f"{engine.dialect.name} {_dotted(version)} is too old", "upgrade it")
        if is_sqlite:
            yield from _sqlite(connection)
        else:
            yield from _postgresql(connection)
        if advice := runtime.unfinished(connection):
            what, _, then = advice.partition("; ")
            yield fail(what, then)
    at, head = runtime.revision(engine), runtime.head()
    if at != head:
        yield fail(
            f"at version {at or 'none'}, this code wants {head}",
            (migrations.way_to_migrate(at) if at else "")
            or "run `python -m app migrate`, or start the service, which does",
        )
    elif not is_sqlite:
        with engine.connect() as connection:
            for fault in months.faults(connection):
                yield warn(fault, "look in the log why the daily upkeep makes no parts of tables")
    yield ok(f"{engine.dialect.name} {_dotted(version)} at version {at}")


def clock(wiring: Wiring) -> Iterator[Result]:
    """Compare our clock with the database's and with the last entry of the history."""
    now = service_clock.now()
    with wiring.database.reading() as session:
        if wiring.database.engine.dialect.name == "postgresql":
            theirs: datetime = session.execute(sa.text("SELECT clock_timestamp()")).scalar_one()
            apart = abs((service_clock.now() - theirs).total_seconds())
            if apart > MOST_SECONDS_APART:
                yield warn(f"{apart:.0f} s away from the database's", "keep both by NTP")
        last = session.scalar(sa.select(sa.func.max(HistoryEntry.at)))
    if last is not None and last > now + timedelta(seconds=MOST_SECONDS_APART):
        yield warn(f"history's last entry is of {service_clock.iso(last)}, in the future", "keep it by NTP")
    yield ok(service_clock.iso(now))


def replica(wiring: Wiring) -> Iterator[Result]:
    if wiring.database.replica is None:
        return
    state = wiring.database.replica.state()
    if state.why_not:
        yield warn(
            f"{state.why_not}; everything is read from the database itself",
            "look into the replica's log, and at BRIDGENOTE_REPLICA_URL; it is read again once it is well",
            "BridgenoteReplicaNotRead",
        )
    else:
        yield ok(f"{state.lag or 0:.1f} s behind, and read")


def sealed(wiring: Wiring) -> Iterator[Result]:
    with wiring.database.reading() as session:
        unreadable = resealing.unreadable(session, wiring.sealer)
        outdated = resealing.outdated(session, wiring.sealer)
    if unreadable:
        yield fail(
            f"{unreadable} do not open with the encryption key",
            "set BRIDGENOTE_PREVIOUS_ENCRYPTION_KEY to the key that sealed them",
        )
    elif outdated:
        yield warn(f"{outdated} open with the previous key only", "run `rotate-encryption-key`")
    elif wiring.settings.previous_encryption_key.get_secret_value():
        yield warn("nothing needs the previous key any more", "remove BRIDGENOTE_PREVIOUS_ENCRYPTION_KEY")
    yield ok("all open")


def _sqlite(connection: sa.Connection) -> Iterator[Result]:
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
    if mode != "wal":
        yield fail(f"journal mode {mode} instead of wal", "put the file on a local disk, not on a share")
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    size = pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    if size <= CHECKED_WHOLE_BYTES:
        result = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
        if result != "ok":
            yield fail(f"damaged: {result}", _RESTORE)
        elif connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
            yield fail("rows refer to rows that are gone", _RESTORE)


def _postgresql(connection: sa.Connection) -> Iterator[Result]:
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        yield fail(f"encoding {encoding}", "make the database with encoding UTF8")
    used, most = connection.exec_driver_sql(
        "SELECT count(*), current_setting('max_connections')::int FROM pg_stat_activity"
    ).one()
    if used > 0.8 * most:
        yield warn(f"{used} of {most} connections are in use", "raise max_connections, or pool them")


def _version(connection: sa.Connection) -> tuple[int, ...]:
    version = connection.dialect.server_version_info or ()
    return tuple(int(part) for part in version)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
