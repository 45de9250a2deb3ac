"""Starting and stopping one process of the service: migrations before, jobs and deliveries beside.

The server's worker processes and ``worker`` share all of it; what differs is whether a web application runs too.
"""

import fcntl
import ipaddress
import logging
import os
import shutil
import socket
import tempfile
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
from app.core.db import Database
from app.core.errors import Refused
from app.core.webhooks.sending import AllowList
from app.settings import Settings
from app.wiring import Wiring, wire, writes_to

if TYPE_CHECKING:
    from app.jobs.engine import Engine

log = logging.getLogger(__name__)

COUNTS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable by which the Prometheus client knows where processes put their counts."""

DRAIN_SECONDS = 12.0
"""How long deliveries and jobs may take at the end, half each. What is unfinished then runs again later."""


RESTORE_UNFINISHED = "restore_unfinished"
"""A table that stands from when a backup is loaded until nothing of it would act by itself any more."""


class RestoreUnfinished(Refused):
    """Serving this database would send again what was sent: it was loaded from a backup, and no further."""

    def __init__(self) -> None:
        super().__init__("A restore of this database did not end; run `restore FILE --force` again")


class BadSetting(ValueError):
    """A setting has the right type and a value that means nothing. ``name`` is its field in ``Settings``."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name
        self.why = why


def check(settings: Settings) -> Settings:
    """The settings, once those with a grammar of their own have been read. Raises ``BadSetting``."""
    readers: dict[str, Callable[[str], Any]] = {
        "database_url": sa.make_url,
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
            # Its message repeats the URL, with the password.
            raise BadSetting(name, "is not a database URL") from None
        except ValueError as error:
            raise BadSetting(name, str(error)) from None
    return settings


def _read_networks(text: str) -> None:
    for part in filter(None, map(str.strip, text.split(","))):
        ipaddress.ip_network(part, strict=False)


def migrate(settings: Settings, *, restoring: bool = False) -> str:
    """Bring every table to the version of this code, the job engine's too; the revision reached.

    Safe to repeat, and processes that start together take turns. Raises ``RestoreUnfinished`` over a database that was
    half restored, unless this is the restore.
    """
    from app.jobs.engine import Engine

    database = Database(settings.sqlalchemy_url)
    try:
        if not restoring and sa.inspect(database.engine).has_table(RESTORE_UNFINISHED):
            raise RestoreUnfinished
        migrations.upgrade(database.engine)
        engine = Engine(database.engine, executor_id="migrate")
        engine.prepare()
        engine.stop()
        return revision(database.engine) or ""
    finally:
        database.dispose()


def revision(engine: sa.Engine) -> str | None:
    """The revision that the database is at; None for an empty one."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head() -> str | None:
    """The revision that this code wants."""
    return ScriptDirectory.from_config(migrations.config()).get_current_head()


@contextmanager
def opened(settings: Settings) -> Iterator[Wiring]:
    """The wiring for one command, over a database migrated first when it is behind.

    Nothing runs here, but what a command leaves to be done is enqueued for the processes that do.
    """
    wiring = wire(settings)
    engine: Engine | None = None

    def enqueue(session: Any, job: Any) -> None:
        # Imported when it is needed: the job engine's library takes a second, and most commands leave no jobs.
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


class Process:
    """The jobs and deliveries of one process; with ``runs_jobs`` false it only enqueues them for others.

    Made after a fork, never before: neither threads nor connections survive one.
    """

    def __init__(self, settings: Settings, *, name: str, runs_jobs: bool) -> None:
        from app.jobs.dispatcher import Dispatcher
        from app.jobs.engine import Engine
        from app.jobs.registry import give_up, register_all

        self.wiring = wire(settings)
        self._engine = Engine(
            self.wiring.database.engine,
            executor_id=executor_id(name),
            slots=settings.job_slots,
            on_give_up=partial(give_up, self.wiring),
        )
        register_all(self._engine, self.wiring)
        self.wiring.attach(self._engine)
        self._dispatcher = Dispatcher(
            self.wiring.database,
            self.wiring.sender,
            self.wiring.sealer,
            settings.retry_delays,
            self.wiring.wake,
            executor_id(name),
        )
        self._runs_jobs = runs_jobs

    def start(self) -> None:
        if self._runs_jobs:
            self._engine.start()
            self._dispatcher.start()

    def stop(self, drain: float = DRAIN_SECONDS) -> None:
        """Take no more, finish what is at work within ``drain`` seconds, let go of the database."""
        if self._runs_jobs:
            sending = self._dispatcher.stop(drain / 2)
            if sending:
                log.warning("%d deliveries were still being sent; they are sent again.", sending)
        if not self._engine.stop(drain / 2):
            log.warning("Some jobs were still running; they run again.")
        self.wiring.database.dispose()


def prepare_counts(settings: Settings) -> None:
    """Make room for the counts of the server processes to come. Before anything imports the Prometheus client.

    In memory where the system has such a folder: the files are mapped, and a process that writes into a mapped file on
    a full disk is killed by it. What an earlier server left there is removed.
    """
    memory = Path("/dev/shm")  # noqa: S108 - the folder made in it is ours alone
    parent = memory if os.access(memory, os.W_OK) else settings.data_dir
    prefix = f"bridgenote-{os.getuid()}-{settings.port}-"
    for left in parent.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    os.environ[COUNTS_FOLDER] = tempfile.mkdtemp(prefix=prefix, dir=parent)


def executor_id(name: str) -> str:
    """A name for this process among all that share the database; the same after a restart."""
    return f"{name}@{socket.gethostname()}"


@contextmanager
def slot(folder: Path, name: str) -> Iterator[str]:
    """The lowest of ``name-0``, ``name-1``, … that no living process on this machine has; ours while inside."""
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
