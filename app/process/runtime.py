"""Starts and stops one process of the service: migrations first, then jobs and webhook deliveries.

The processes of ``serve`` and those of ``worker`` both use it. Only the former also run the web application.
"""

import fcntl
import ipaddress
import logging
import math
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from limits import parse_many

from app import migrations
from app.core import clock
from app.core.db import Database, is_unavailable
from app.core.errors import Refused
from app.core.outbound import AllowList
from app.core.waits import Wait
from app.process import tracing
from app.settings import Settings
from app.wiring import Wiring, wire, writes_to

if TYPE_CHECKING:
    from app.jobs.engine import Engine

log = logging.getLogger(__name__)

COUNTS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable that tells the Prometheus client in which folder processes store their counts."""

DRAIN_SECONDS = 12.0
"""Seconds that running deliveries and jobs get at shutdown, half each. Unfinished ones run again later."""


START_SECONDS = 60.0
"""Seconds for which a process that starts waits for a database that starts, too."""


RESTORE_UNFINISHED, MOVE_UNFINISHED = "restore_unfinished", "move_unfinished"
UNFINISHED = {
    RESTORE_UNFINISHED: "A restore of this database did not end; run `restore FILE --force` again",
    MOVE_UNFINISHED: "A move into this database did not end; run `move-to` again, with the settings of the old one",
}
"""By the name of a table that exists while a database is being filled: what to say when that did not end."""


LAST_BACKUP = "last_backup"
"""A file in the data folder whose time is that of the last backup. Not a row: other programs also make backups, and
then touch the file (docs/run/operations.md)."""


class Unfinished(Refused):
    """A restore or a move did not finish. Serving this database could send again what was already sent, or lose it."""


class BadSetting(ValueError):
    """A setting has the right type but an invalid value. ``name`` is its field in ``Settings``."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name
        self.why = why


def check(settings: Settings) -> Settings:
    """Check the settings that have their own syntax, and return all settings. Raises ``BadSetting``."""
    readers: dict[str, Callable[[str], Any]] = {
        "database_url": sa.make_url,
        "replica_url": sa.make_url,
        "trusted_proxies": _read_networks,
        "webhook_allow_hosts": AllowList.parse,
    }
    for name, value in settings:
        if name.startswith("rate_limit_") and name != "rate_limit_storage" and isinstance(value, str):
            readers[name] = parse_many
    for name, read in readers.items():
        value = getattr(settings, name)
        if not value:
            continue
        try:
            read(value)
        except sa.exc.ArgumentError:
            # The message of the error contains the URL with the password.
            raise BadSetting(name, "is not a database URL") from None
        except ValueError as error:
            raise BadSetting(name, str(error)) from None
    if settings.tracing and not tracing.is_installed():
        raise BadSetting("tracing", "needs the extra `otel`: install bridgenote[otel]")
    return settings


def _read_networks(text: str) -> None:
    for part in filter(None, map(str.strip, text.split(","))):
        ipaddress.ip_network(part, strict=False)


def await_database(settings: Settings, seconds: float | None = None) -> None:
    """Return once PostgreSQL accepts connections. It may still be starting, for example after the machine did.

    A wrong password or a missing database counts as starting, too: other programs may be about to create them.
    Raises the last error of SQLAlchemy after ``seconds``, by default ``START_SECONDS``.
    """
    seconds = START_SECONDS if seconds is None else seconds
    database = Database(settings.sqlalchemy_url, **settings.database_options)
    until, wait = time.monotonic() + seconds, Wait()
    try:
        while database.engine.dialect.name != "sqlite":
            try:
                database.engine.connect().close()
                return
            except sa.exc.SQLAlchemyError as error:
                if not is_unavailable(error) or time.monotonic() >= until:
                    raise
                limit = f", at most {seconds:.0f} s" if seconds < math.inf else ""
                wait.say("", f"Waiting for the database{limit}", getattr(error, "orig", None) or error)
            time.sleep(_TRY_SECONDS)
    finally:
        wait.end()
        database.dispose()


_TRY_SECONDS = 0.5


def unfinished(engine: sa.Engine | sa.Connection) -> str | None:
    """Return what to do about a restore or a move into this database that did not end; None if there is none."""
    inspector = sa.inspect(engine)
    return next((advice for table, advice in UNFINISHED.items() if inspector.has_table(table)), None)


def migrate(settings: Settings, *, filling: bool = False) -> str:
    """Migrate all tables to the version of this code, also those of the job engine. Return the new revision.

    Safe to repeat; processes that start together migrate one after the other. Raises ``Unfinished`` if a restore or
    a move into the database did not finish, unless this is a part of it (``filling``).
    """
    from app.jobs.engine import Engine

    database = Database(settings.sqlalchemy_url, **settings.database_options)
    try:
        if not filling and (advice := unfinished(database.engine)):
            raise Unfinished(advice)
        migrations.upgrade(database.engine)
        engine = Engine(database.engine, executor_id="migrate")
        engine.prepare()
        engine.stop()
        return revision(database.engine) or ""
    finally:
        database.dispose()


def revision(engine: sa.Engine) -> str | None:
    """Return the revision of the database, or None if it is empty."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head() -> str | None:
    """Return the newest revision of this code's migrations."""
    return ScriptDirectory.from_config(migrations.config()).get_current_head()


@contextmanager
def opened(settings: Settings) -> Iterator[Wiring]:
    """Provide the wiring for one command. If the database is outdated, migrate it first.

    No jobs run here: jobs that the command creates are enqueued for the processes that run jobs.
    """
    wiring = wire(settings)
    engine: Engine | None = None

    def enqueue(session: Any, job: Any) -> None:
        # Imported only when needed: importing the job engine takes a second, and most commands create no jobs.
        from app.jobs.engine import Engine

        nonlocal engine
        if engine is None:
            engine = Engine(wiring.database.engine, executor_id="command")
        writes_to(engine)(session, job)

    try:
        if revision(wiring.database.engine) != head():
            migrate(settings)
        wiring.database.enqueue = enqueue
        yield wiring
    finally:
        if engine is not None:
            engine.stop()
        wiring.database.dispose()


def record_backup(settings: Settings) -> None:
    """Remember in the data folder that a backup was made now."""
    (settings.data_dir / LAST_BACKUP).touch(mode=0o600)


def backup_age(settings: Settings) -> float | None:
    """Return the seconds since the last backup that was made on this machine, None if none ever was."""
    try:
        made_at = (settings.data_dir / LAST_BACKUP).stat().st_mtime
    except FileNotFoundError:
        return None
    return max(0.0, clock.now().timestamp() - made_at)


class Process:
    """The jobs and deliveries of one process. With ``runs_jobs`` false it only enqueues them for other processes.

    Create it after a fork, never before: threads and connections do not survive a fork.
    """

    def __init__(self, settings: Settings, *, name: str, runs_jobs: bool, version: str = "") -> None:
        from app.jobs.dispatcher import Dispatcher
        from app.jobs.engine import Engine
        from app.jobs.registry import give_up, register_all

        self.wiring = wire(settings)
        self._engine = Engine(
            self.wiring.database.engine,
            executor_id=executor_id(name),
            slots=settings.job_slots,
            keep_hours=settings.keep_jobs_hours,
            on_give_up=partial(give_up, self.wiring),
        )
        self._end_traces = tracing.begin(self.wiring.database.engine, version) if settings.tracing else None
        register_all(self._engine, self.wiring)
        self.wiring.attach(self._engine)
        self._dispatcher = Dispatcher(
            self.wiring.database,
            self.wiring.sender,
            self.wiring.sealer,
            settings.retry_delays,
            self.wiring.wake,
            executor_id(name),
            traces=settings.tracing,
        )
        self._runs_jobs = runs_jobs

    def start(self) -> None:
        if self._runs_jobs:
            self._engine.start()
            self._dispatcher.start()

    def stop(self, drain: float = DRAIN_SECONDS) -> None:
        """Start no more jobs, let running ones finish within ``drain`` seconds, and close the database connections."""
        if self._runs_jobs:
            sending = self._dispatcher.stop(drain / 2)
            if sending:
                log.warning("%d deliveries were still being sent; they are sent again.", sending)
        if not self._engine.stop(drain / 2):
            log.warning("Some jobs were still running; they run again.")
        self.wiring.database.dispose()
        if self._end_traces is not None:
            self._end_traces()


def prepare_counts(settings: Settings) -> None:
    """Create the folder for the counts of the server processes. Call it before the Prometheus client is imported.

    The folder is in memory if the system supports that: the files are memory-mapped, and the kernel kills a process
    that writes to a mapped file on a full disk. Folders of an earlier server are removed.
    """
    memory = Path("/dev/shm")  # noqa: S108 - mkdtemp creates a private folder in it
    parent = memory if os.access(memory, os.W_OK) else settings.data_dir
    prefix = f"bridgenote-{os.getuid()}-{settings.port}-"
    for leftover in parent.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    os.environ[COUNTS_FOLDER] = tempfile.mkdtemp(prefix=prefix, dir=parent)


def executor_id(name: str) -> str:
    """Return a name for this process that is unique in this database and stays the same after a restart."""
    return f"{name}@{socket.gethostname()}"


@contextmanager
def slot(folder: Path, name: str) -> Iterator[str]:
    """Reserve the lowest of ``name-0``, ``name-1``, … that no running process on this machine has, and yield it."""
    number = 0
    while True:
        descriptor = os.open(folder / f"{name}-{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            number += 1
            continue
        try:
            yield f"{name}-{number}"
        finally:
            os.close(descriptor)
        return
