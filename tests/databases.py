"""One PostgreSQL database for each worker of a test run, reset before each test.

Creating a database from a template takes 50 to 250 ms, because PostgreSQL writes all its files; deleting the rows and
copying the template's rows back takes about 15 ms. After a test that changed tables, the database is created again.
"""

from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from tests import postgres

_LOCK_TIMEOUT = "3s"
"""How long a reset waits for a transaction that a test left open before it ends the connection."""


@dataclass
class ReusedDatabase:
    """This worker's database, created from one of two templates: migrated and empty, or with the cast."""

    server: postgres.Server
    empty_template: str
    cast_template: str
    name: str = field(init=False)
    _connection: psycopg.Connection = field(init=False)
    _empty: sql.Composable = field(init=False)
    _rows: dict[bool, list[tuple[sql.Composable, bytes]]] = field(init=False)
    _sequences: sql.Composable = field(init=False)
    _fingerprint: object = field(init=False)

    def __post_init__(self) -> None:
        self._create()

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    def reset(self, *, with_cast: bool) -> None:
        """Reset every table to the rows of its template, and the sequences to their start."""
        if self._tables_changed():
            self.drop()
            self._create()
        try:
            self._fill(with_cast)
        except psycopg.errors.LockNotAvailable:
            self._connection.execute("ROLLBACK")
            self._connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            self._fill(with_cast)

    def drop(self) -> None:
        self._connection.close()
        self.server.drop(self.name)

    def _fill(self, with_cast: bool) -> None:
        self._connection.execute(self._empty)
        with self._connection.cursor() as cursor:
            for copying, rows in self._rows[with_cast]:
                with cursor.copy(copying) as copy:
                    copy.write(rows)
        self._connection.execute(self._sequences)

    def _create(self) -> None:
        self.name = self.server.create(self.cast_template)
        self._connection = self._connect(self.name)
        tables = [
            sql.Identifier(schema, table)
            for schema, table in self._connection.execute(
                "SELECT schemaname, tablename FROM pg_tables "
                "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            )
        ]
        # All statements in one message, because round trips would cost more than the work.
        self._empty = sql.SQL("; ").join(
            [
                sql.SQL("BEGIN"),
                # In this role foreign keys, which are triggers, do not fire, so the order of tables does not matter.
                sql.SQL("SET LOCAL session_replication_role = replica"),
                sql.SQL("SET LOCAL lock_timeout = {}").format(_LOCK_TIMEOUT),
                *(sql.SQL("DELETE FROM {}").format(table) for table in tables),
            ]
        )
        with self._connect(self.empty_template) as template:
            self._rows = {True: _filled(self._connection, tables), False: _filled(template, tables)}
        sequences = self._connection.execute(
            "SELECT schemaname || '.' || sequencename, coalesce(last_value, start_value), "
            "last_value IS NOT NULL FROM pg_sequences"
        )
        self._sequences = sql.SQL("; ").join(
            [*(sql.SQL("SELECT setval({}, {}, {})").format(*row) for row in sequences), sql.SQL("COMMIT")]
        )
        self._fingerprint = self._read_fingerprint()

    def _connect(self, name: str) -> psycopg.Connection:
        url = self.server.url(name).replace("postgresql+psycopg", "postgresql")
        return psycopg.connect(url, autocommit=True, connect_timeout=5)

    def _tables_changed(self) -> bool:
        return self._read_fingerprint() != self._fingerprint

    def _read_fingerprint(self) -> object:
        """Return a fingerprint that changes when a table, column or index is created or dropped."""
        return self._connection.execute(
            "SELECT count(*), max(oid), (SELECT count(*) FROM pg_attribute WHERE NOT attisdropped) FROM pg_class"
        ).fetchone()


def _filled(
    connection: psycopg.Connection, tables: list[sql.Identifier]
) -> list[tuple[sql.Composable, bytes]]:
    """Return for each table with rows the COPY statement and the rows."""
    found: list[tuple[sql.Composable, bytes]] = []
    for table in tables:
        columns = sql.SQL(", ").join(_stored_columns(connection, table))
        with (
            connection.cursor() as cursor,
            cursor.copy(sql.SQL("COPY {} ({}) TO STDOUT").format(table, columns)) as copy,
        ):
            rows = b"".join(bytes(chunk) for chunk in copy)
        if rows:
            found.append((sql.SQL("COPY {} ({}) FROM STDIN").format(table, columns), rows))
    return found


def _stored_columns(connection: psycopg.Connection, table: sql.Identifier) -> list[sql.Identifier]:
    """Return the table's columns, except generated ones, which cannot be copied."""
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass "
        "AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        [table.as_string(connection)],
    )
    return [sql.Identifier(name) for (name,) in found]
