"""``move-to``: copies everything from the SQLite file into an empty PostgreSQL database (docs/run/operations.md).

A backup has the format of its kind of database, so rows are copied here, as SQLite stores them: PostgreSQL reads the
same texts for ids, times and JSON. Jobs and deliveries go along and continue where they were. A restore must suspend
them, because it does not know what came after the backup; here the service is locked out, so nothing can have come.
"""

import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.commands.backup import postgres, sqlite
from app.commands.backup.backups import broken_histories
from app.core.errors import Conflict
from app.core.factcheck import search
from app.jobs import tables
from app.process import logs, runtime
from app.process.runtime import MOVE_UNFINISHED
from app.settings import Settings

_VERSIONS = ("alembic_version", "dbos_migrations")
"""The tables that hold the versions of our tables and of the job engine's: compared, not copied."""
_BATCH = 1_000
"""Rows between two steps of the progress."""

Report = Callable[[str, int, int | None], None]
"""Called with what is being done, how many more rows are copied, and where a new step begins, how many rows it has: 0
if it is not counted in rows."""


@dataclass(frozen=True)
class Moved:
    """``broken``: communities whose history does not verify, in the old file neither."""

    rows: int
    tables: int
    broken: list[str]


def file_of(settings: Settings) -> Path:
    return Path(sa.make_url(settings.sqlalchemy_url).database or "")


def move(settings: Settings, placed: Settings, report: Report = lambda _what, _rows, _total: None) -> Moved:
    """Copy the SQLite database of ``settings`` into the PostgreSQL database of ``placed``, and compare both.

    All rows are written in one transaction, which also removes the mark that the move is unfinished. Until it commits,
    the service refuses to start on the new database, and a further call empties it and begins again.

    Raises:
        Conflict: one of the databases is in use, the new one holds something else, the old one is of another version
            than this code or damaged, or PostgreSQL refuses a row.
    """
    engine = sa.create_engine(placed.sqlalchemy_url, poolclass=sa.NullPool)
    try:
        with sqlite.locked(file_of(settings)) as source:
            version, head = sqlite.revision(source), runtime.head()
            if version != head:
                raise Conflict(
                    f"The old database is at version {version}, this code at {head}: run `migrate` first"
                )
            report("Making the tables", 0, 0)
            with engine.begin() as connection:
                _claim(connection)
            runtime.migrate(placed, filling=True)
            with engine.begin() as connection:
                moved = _copy_all(source, connection, report)
                report("Checking the history", 0, 0)
                broken = _broken(source, connection)
                connection.exec_driver_sql(f"DROP TABLE {MOVE_UNFINISHED}")
            return Moved(sum(moved.values()), len(moved), broken)
    except sqlite3.DatabaseError as error:
        raise Conflict(f"The old database cannot be read: {error}") from error
    finally:
        engine.dispose()


def _claim(target: sa.Connection) -> None:
    """Mark an empty database as being filled. Empty it first if an earlier move began to fill it."""
    postgres.check_unused(target)
    inspector = sa.inspect(target)
    if inspector.has_table(MOVE_UNFINISHED):
        target.exec_driver_sql(postgres.DROP_ALL)
    elif any(
        inspector.get_table_names(schema)
        for schema in inspector.get_schema_names()
        if schema != "information_schema"
    ):
        raise Conflict(
            f"The database {target.engine.url.database} holds tables, and no unfinished move made them: name an "
            "empty one"
        )
    target.exec_driver_sql(f"CREATE TABLE {MOVE_UNFINISHED} (id integer)")


def _copy_all(source: sqlite3.Connection, target: sa.Connection, report: Report) -> dict[str, int]:
    """Copy every row; return how many each table has."""
    _check_tables(source, target)
    counts = {
        name: int(source.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])  # noqa: S608
        for name in _tables(source)
    }
    report("Copying", 0, sum(counts.values()))
    # SQLite's times are in UTC and do not say so.
    target.exec_driver_sql("SET LOCAL TIME ZONE 'UTC'")
    foreign_keys = _drop_foreign_keys(target)
    for name in counts:
        _copy(source, target, name, report)
    report("Checking the rows", 0, 0)
    _add_foreign_keys(target, foreign_keys)
    for name, count in counts.items():
        copied = target.exec_driver_sql(f"SELECT count(*) FROM {_in_postgresql(name)}").scalar()  # noqa: S608
        if copied != count:
            raise Conflict(
                f"The table {name} has {count} rows in the old database and {copied} in the new one"
            )
    with Session(target) as session:
        search.index_all(session)
    # The planner has no statistics of what came in this transaction, and the search of fact-checks reads them too.
    target.exec_driver_sql("ANALYZE")
    return counts


def _check_tables(source: sqlite3.Connection, target: sa.Connection) -> None:
    inspector = sa.inspect(target)
    known = {*inspector.get_table_names(), *inspector.get_table_names(tables.SCHEMA)}
    if unknown := [name for name in _tables(source) if name not in known]:
        raise Conflict(
            f"The old database has tables that are not ours: {', '.join(unknown)}. Move them elsewhere first"
        )
    old = source.execute("SELECT version FROM dbos_migrations").fetchone()[0]
    new = target.exec_driver_sql(f"SELECT version FROM {tables.SCHEMA}.dbos_migrations").scalar()  # noqa: S608
    if old != new:
        raise Conflict(
            f"The old database's job tables are at version {old}, this code at {new}: run `migrate` first"
        )


def _tables(source: sqlite3.Connection) -> list[str]:
    """The tables to copy. Not SQLite's own, nor those of its search: PostgreSQL keeps indexes of the same rows."""
    found = source.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [
        name for (name,) in found if name not in _VERSIONS and not name.startswith(("sqlite_", "search_"))
    ]


def _in_postgresql(table: str) -> str:
    """The table's name in PostgreSQL, where the job engine's tables have a schema of their own."""
    return f'{tables.SCHEMA}."{table}"' if table in tables.FOREIGN_TABLES else f'"{table}"'


def _drop_foreign_keys(target: sa.Connection) -> Sequence[tuple[str, str, str]]:
    """Some tables refer to each other, so no order of the tables would do. All rows are checked at the end."""
    found = target.exec_driver_sql(
        "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 ORDER BY conname"
    )
    keys = [(table, name, definition) for table, name, definition in found]
    for table, name, _ in keys:
        target.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    return keys


def _add_foreign_keys(target: sa.Connection, foreign_keys: Sequence[tuple[str, str, str]]) -> None:
    for table, name, definition in foreign_keys:
        try:
            target.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
        except sa.exc.IntegrityError as error:
            refused: Any = error.orig
            raise Conflict(
                f"A row of {table} refers to one that is missing: {refused.diag.message_detail}"
            ) from None


def _copy(source: sqlite3.Connection, target: sa.Connection, table: str, report: Report) -> None:
    described = source.execute(f'PRAGMA table_info("{table}")').fetchall()
    columns = ", ".join(f'"{row[1]}"' for row in described)
    key = ", ".join(f'"{row[1]}"' for row in sorted(described, key=lambda row: row[5]) if row[5])
    driver: Any = target.connection.driver_connection
    number = 0
    try:
        with (
            driver.cursor() as cursor,
            cursor.copy(f"COPY {_in_postgresql(table)} ({columns}) FROM STDIN") as copy,
        ):
            rows = source.execute(f'SELECT {columns} FROM "{table}" ORDER BY {key}')  # noqa: S608
            for number, row in enumerate(rows, 1):
                copy.write_row(row)
                if number % _BATCH == 0:
                    report(table, _BATCH, None)
    except psycopg.Error as error:
        # PostgreSQL names the line and the column, in its language; its driver refuses the row at hand.
        place = re.search(r", \D*(\d+)(?:, \S+ (\w+))?", error.diag.context or "")
        line, column = (int(place.group(1)), place.group(2)) if place else (number, None)
        query = f'SELECT {key} FROM "{table}" ORDER BY {key} LIMIT 1 OFFSET {line - 1}'  # noqa: S608
        ids = ", ".join(map(str, source.execute(query).fetchone() or ()))
        where = f"{column} of the row" if column else "the row"
        why = logs.one_line(error.diag.message_primary or str(error))
        raise Conflict(f"PostgreSQL refuses {where} of {table} whose {key} is {ids}: {why}") from None
    report(table, number % _BATCH, None)


def _broken(source: sqlite3.Connection, target: sa.Connection) -> list[str]:
    """The communities whose history does not verify. Raises Conflict unless the old database has the same faults."""
    with Session(target) as session:
        found = broken_histories(session)
    if found:
        old = sa.create_engine("sqlite://", creator=lambda: source, poolclass=sa.StaticPool)
        with Session(old) as session:
            if broken_histories(session) != found:
                raise Conflict(f"The history of {', '.join(found)} is not as it is in the old database")
    return list(found)
