"""One database of each kind for each worker of a test run, emptied and filled again before each test.

A PostgreSQL database copied from a template for every test costs 50 to 250 ms, for PostgreSQL writes all its files;
deleting the rows and copying the template's back costs about 4. After a test that made or dropped tables the database
is made anew. With the database its engine is kept: a new one compiles every statement again.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psycopg
import sqlalchemy as sa
from psycopg import sql

from app.core.db import Database
from tests import postgres

_LOCK_TIMEOUT = "3s"
"""How long a reset waits for a transaction that a test left open before its connection is ended."""


Rows = list[tuple[sql.Identifier, sql.Composable, bytes]]
"""Each table that has rows, its columns, and those rows as COPY writes them."""


class Reused(Protocol):
    """A database of this worker's own."""

    @property
    def url(self) -> str: ...

    def reset(self, *, with_cast: bool) -> None:
        """Leave every table with the rows of its template and nothing else."""

    def renew(self) -> None:
        """Make it anew: a test did more to it than write rows."""

    def drop(self) -> None: ...


@dataclass
class ReusedPostgres:
    """Made from a template with the cast in it; ``rows`` are those with the cast and those without."""

    server: postgres.Server
    template: str
    rows: dict[bool, Rows]
    name: str = field(init=False)
    _connection: psycopg.Connection = field(init=False)
    _fingerprint: object = field(init=False)

    def __post_init__(self) -> None:
        self._create()

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    def reset(self, *, with_cast: bool) -> None:
        """Leave every table with the rows of its template and nothing else; sequences start where they did."""
        if self._tables_changed():
            self.renew()
        try:
            self._fill(with_cast)
        except psycopg.errors.LockNotAvailable:
            self._connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            self._fill(with_cast)

    def renew(self) -> None:
        self.drop()
        self._create()

    def drop(self) -> None:
        self._connection.close()
        self.server.drop(self.name)

    def _fill(self, with_cast: bool) -> None:
        self._connection.execute("SELECT pg_temp.fill(%s)", [with_cast])

    def _create(self) -> None:
        self.name = self.server.create(self.template)
        self._connection = _connect(self.server, self.name)
        tables = _tables(self._connection)
        # Foreign keys are triggers; in this role they do not fire, so the order of tables does not matter.
        self._connection.execute("SET session_replication_role = replica")
        self._connection.execute(sql.SQL("SET lock_timeout = {}").format(_LOCK_TIMEOUT))
        # A function plans its statements once, and that takes longer than to run them. It and the rows to copy are this
        # connection's own: nobody else sees them.
        body = [
            sql.SQL("IF EXISTS (SELECT FROM {0}) THEN DELETE FROM {0}; END IF;").format(table)
            for table in tables
        ]
        for with_cast, rows in self.rows.items():
            body.append(sql.SQL("IF with_cast = {} THEN").format(with_cast))
            body += [self._copying(f"rows_{with_cast}_{n}", *given) for n, given in enumerate(rows)]
            body.append(sql.SQL("END IF;"))
        sequences = self._connection.execute(
            "SELECT schemaname || '.' || sequencename, coalesce(last_value, start_value), "
            "last_value IS NOT NULL FROM pg_sequences"
        )
        body += [sql.SQL("PERFORM setval({}, {}, {});").format(*row) for row in sequences]
        self._connection.execute(
            sql.SQL(
                "CREATE FUNCTION pg_temp.fill(with_cast boolean) RETURNS void LANGUAGE plpgsql "
                "AS $$ BEGIN {} END $$"
            ).format(sql.SQL(" ").join(body))
        )
        self._fingerprint = self._read_fingerprint()

    def _copying(
        self, kept: str, table: sql.Identifier, columns: sql.Composable, rows: bytes
    ) -> sql.Composable:
        """Keep the rows in a temporary table; the statement that copies them from there."""
        where = {"kept": sql.Identifier("pg_temp", kept), "table": table, "columns": columns}
        self._connection.execute(
            sql.SQL("CREATE TABLE {kept} AS SELECT {columns} FROM {table} WITH NO DATA").format(**where)
        )
        with (
            self._connection.cursor() as cursor,
            cursor.copy(sql.SQL("COPY {kept} FROM STDIN").format(**where)) as copy,
        ):
            copy.write(rows)
        return sql.SQL("INSERT INTO {table} ({columns}) SELECT * FROM {kept};").format(**where)

    def _tables_changed(self) -> bool:
        return self._read_fingerprint() != self._fingerprint

    def _read_fingerprint(self) -> object:
        """Changes when a table, column or index is made or dropped."""
        return self._connection.execute(
            "SELECT count(*), max(oid), "
            "(SELECT count(*) FROM pg_attribute WHERE attrelid >= 16384 AND NOT attisdropped) "  # not the system's
            "FROM pg_class WHERE oid >= 16384"
        ).fetchone()


def rows_of(server: postgres.Server, name: str) -> Rows:
    """Everything that a database holds."""
    found: Rows = []
    with _connect(server, name) as connection:
        for table in _tables(connection):
            columns = sql.SQL(", ").join(_stored_columns(connection, table))
            with (
                connection.cursor() as cursor,
                cursor.copy(sql.SQL("COPY {} ({}) TO STDOUT").format(table, columns)) as copy,
            ):
                rows = b"".join(bytes(chunk) for chunk in copy)
            if rows:
                found.append((table, columns, rows))
    return found


def _connect(server: postgres.Server, name: str) -> psycopg.Connection:
    url = server.url(name).replace("postgresql+psycopg", "postgresql")
    return psycopg.connect(url, autocommit=True, connect_timeout=60)


def _tables(connection: psycopg.Connection) -> list[sql.Identifier]:
    # Of a table in parts the parts alone, which hold the rows.
    found = connection.execute(
        "SELECT relnamespace::regnamespace::text, relname FROM pg_class WHERE relkind = 'r' "
        "AND relpersistence = 'p' AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema')"
    )
    return [sql.Identifier(schema, table) for schema, table in found]


def _stored_columns(connection: psycopg.Connection, table: sql.Identifier) -> list[sql.Identifier]:
    """The table's columns but for generated ones, which cannot be copied."""
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass "
        "AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        [table.as_string(connection)],
    )
    return [sql.Identifier(name) for (name,) in found]


@dataclass
class ReusedSqlite:
    """A file of this worker's own, filled from two others: one migrated, one with the cast in it too."""

    folder: Path
    empty_template: Path
    cast_template: Path
    _number: int = 0
    _connection: sqlite3.Connection = field(init=False)
    _version: object = field(init=False)
    _deletes: list[str] = field(init=False)
    _inserts: dict[bool, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._create()

    @property
    def path(self) -> Path:
        return self.folder / f"reused-{self._number}.db"

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    def reset(self, *, with_cast: bool) -> None:
        """Leave every table with the rows of its template and nothing else."""
        if self._schema_version() != self._version:
            self.renew()
        try:
            self._fill(with_cast)
        except sqlite3.DatabaseError:  # a test left a transaction open, or broke the file
            self.renew()
            self._fill(with_cast)

    def renew(self) -> None:
        """Go on with another file."""
        self.drop()
        self._number += 1
        self._create()

    def drop(self) -> None:
        self._connection.close()
        for suffix in ("", "-wal", "-shm", "-turns"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _fill(self, with_cast: bool) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: self._connection.in_transaction and self._connection.rollback())
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in (*self._deletes, *self._inserts[with_cast]):
                self._connection.execute(statement)
            self._connection.commit()

    def _schema_version(self) -> object:
        with contextlib.suppress(sqlite3.DatabaseError):
            return self._connection.execute("PRAGMA main.schema_version").fetchone()
        return None

    def _create(self) -> None:
        self.path.write_bytes(self.cast_template.read_bytes())
        self._connection = sqlite3.connect(self.path, timeout=3, isolation_level=None, uri=True)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute("PRAGMA foreign_keys=OFF")  # the order of tables does not matter
        for name, template in (("empty", self.empty_template), ("filled", self.cast_template)):
            self._connection.execute(f"ATTACH 'file:{template}?immutable=1' AS {name}")
        tables = [
            name
            for (name,) in self._connection.execute(
                "SELECT name FROM main.sqlite_master "
                "WHERE type = 'table' AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence') "
                # The index of search: triggers keep it, and its own tables must not be written to.
                "AND name NOT LIKE 'search_%'"
            )
        ]
        self._deletes = [f'DELETE FROM main."{table}"' for table in tables]  # noqa: S608
        # Fact-checks have no triggers: what stores them writes their index.
        self._deletes.append("DELETE FROM main.search_fact_checks")
        self._inserts = {
            with_cast: [
                _copying(self._connection, source, table)
                for table in tables
                if self._connection.execute(f'SELECT 1 FROM {source}."{table}" LIMIT 1').fetchone()  # noqa: S608
            ]
            for with_cast, source in ((True, "filled"), (False, "empty"))
        }
        self._version = self._schema_version()


def _copying(connection: sqlite3.Connection, source: str, table: str) -> str:
    """The statement that copies a table's rows; generated columns cannot be copied."""
    found = connection.execute(f'PRAGMA main.table_xinfo("{table}")').fetchall()
    columns = ", ".join(f'"{row[1]}"' for row in found if row[6] == 0)
    return f'INSERT INTO main."{table}" ({columns}) SELECT {columns} FROM {source}."{table}"'  # noqa: S608


def _be_patient(engine: sa.Engine) -> None:
    """Let fifty threads wait a minute for their connections: on a busy machine the service allows too little."""

    def wait_longer(
        _dialect: object, _record: object, _arguments: object, options: dict[str, object]
    ) -> None:
        if "connect_timeout" in options:
            options["connect_timeout"] = 60

    sa.event.listen(engine, "do_connect", wait_longer)
    if isinstance(engine.pool, sa.QueuePool):
        engine.pool._timeout = 60.0


@dataclass
class Engines:
    """The engines over this worker's databases, one for each, kept from test to test."""

    _reused: dict[str, Reused] = field(default_factory=dict)
    _kept: dict[str, Database] = field(default_factory=dict)

    def reset(self, reused: Reused, *, with_cast: bool) -> None:
        """Reset the database; whoever connects to its URL from now on can be lent its engine."""
        before = reused.url
        reused.reset(with_cast=with_cast)
        if reused.url != before:
            self._forget(before)
        self._reused[reused.url] = reused

    @contextlib.contextmanager
    def lend(self, own: Database) -> Iterator[Database]:
        """The kept engine instead of a test's own, when its database is one of those that are used again."""
        url = own.engine.url.render_as_string(hide_password=False)
        if url not in self._reused:
            yield own
            own.dispose()
            return
        own.dispose()
        kept = self._kept.setdefault(url, own)
        if kept is own:
            _be_patient(own.engine)
        kept.on_commit, kept.enqueue = own.on_commit, None
        pool = kept.engine.pool
        yield kept
        if kept.engine.pool is not pool:
            # Disconnected: the test did something to the database itself.
            self._reused[url].renew()
            self._forget(url)
        elif kept.engine.dispatch.before_cursor_execute or kept.engine.pool.checkedout():
            self._forget(url)

    def _forget(self, url: str) -> None:
        self._reused.pop(url, None)
        if url in self._kept:
            self._kept.pop(url).dispose()

    def dispose(self) -> None:
        for database in self._kept.values():
            database.dispose()
