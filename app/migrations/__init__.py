"""Alembic, run from code: there is no ini file to find or forget."""

import importlib
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError

from app.core import waits
from app.core.errors import Conflict

BASELINE = "0060"
"""The first revision of this code: the whole schema of version 0.1.0."""
BRIDGE = "d12ee71a"
"""The commit that leads from every older revision to the baseline."""

LARGE = 100_000
"""A step that reads a table of so many rows says so: writers, and the start of the service, wait for it."""
LOCK = sa.text("SELECT pg_advisory_xact_lock(7241650001)")
"""PostgreSQL: held while a transaction changes tables, so that two processes that start together take turns."""
log = logging.getLogger(__name__)


@contextmanager
def announced(connection: sa.Connection, what: str, table: str) -> Iterator[None]:
    """Log a line before and after a step of a migration that takes its time, because ``table`` is large."""
    is_large = connection.scalar(sa.select(sa.literal(1)).select_from(sa.table(table)).offset(LARGE).limit(1))
    begin = time.monotonic()
    if is_large:
        log.warning("Making %s: it reads the whole table %s, and the service waits for it", what, table)
    yield
    if is_large:
        log.warning("Made %s of %s in %.0f s", what, table, time.monotonic() - begin)


def config(connection: sa.Connection | None = None) -> Config:
    settings = Config()
    settings.set_main_option("script_location", str(Path(__file__).parent))
    settings.attributes["connection"] = connection
    return settings


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Bring the database to ``revision``. Two processes that start together take turns.

    Raises ``Conflict`` if no migration leads there from the database's revision.
    """
    if engine.dialect.name == "postgresql" and revision == "head":
        _prepare(engine)
    with (
        engine.execution_options(writing=True).connect() as connection,
        connection.begin(),
        waits.watched(connection, "Migrating the database"),
    ):
        if connection.dialect.name == "postgresql":
            connection.execute(LOCK)
        at = MigrationContext.configure(connection).get_current_revision()
        if at is not None and (advice := way_to_migrate(at)):
            raise Conflict(f"The database is at version {at}. {advice}")
        command.upgrade(config(connection), revision)


def _prepare(engine: sa.Engine) -> None:
    """Do what the migrations ahead would otherwise do while others wait for their transaction."""
    with engine.connect() as connection:
        at = MigrationContext.configure(connection).get_current_revision()
    if at is not None and BASELINE <= at < "0073" and not way_to_migrate(at):
        importlib.import_module("app.migrations.versions.0073_months").prepare(engine)


def downgrade(engine: sa.Engine, revision: str) -> None:
    """Take the database back to ``revision``, not below the baseline."""
    with engine.execution_options(writing=True).connect() as connection, connection.begin():
        command.downgrade(config(connection), revision)


def is_older(revision: str) -> bool:
    """Whether this is a revision of before the baseline."""
    return len(revision) == len(BASELINE) and revision.isdecimal() and revision < BASELINE


def is_newer(revision: str) -> bool:
    """Whether this revision is of later code than this."""
    return not is_older(revision) and bool(way_to_migrate(revision))


def way_to_migrate(revision: str) -> str:
    """Return a sentence that says how a database of this revision is migrated; empty if this code does it."""
    if is_older(revision):
        return f"Upgrade with version {BRIDGE} first, then with this one."
    try:
        ScriptDirectory.from_config(config()).get_revision(revision)
    except CommandError:
        return "This code does not know it: install the version that made it, or a newer one."
    return ""
