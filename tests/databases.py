"""One PostgreSQL database for each worker of a test run, emptied and filled again before each test.

A database copied from a template for every test costs 50 to 250 ms, for PostgreSQL writes all its files; emptying the
tables and putting the kept rows back costs about 15. A test that creates or drops tables gets its changes thrown away:
the database is made anew after it.
"""

from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from tests import postgres

_LOCK_TIMEOUT = "3s"
"""How long a reset waits for a transaction that a test left open before its connection is ended."""


@dataclass
class ReusedDatabase:
    """A database of this worker's own, made from two templates: one migrated, one with the cast in it too."""

    server: postgres.Server
    empty_template: str
    cast_template: str
    name: str = field(init=False)
    _connection: psycopg.Connection = field(init=False)
    _resets: dict[bool, sql.Composable] = field(init=False)
    _fingerprint: object = field(init=False)

    def __post_init__(self) -> None:
        self._create()

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    def reset(self, *, with_cast: bool) -> None:
        """Leave every table with the rows of its template and nothing else; sequences start where they did."""
        if self._tables_changed():
            self.drop()
            self._create()
        try:
            self._connection.execute(self._resets[with_cast])
        except psycopg.errors.LockNotAvailable:
            self._connection.execute("ROLLBACK")
            self._connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            self._connection.execute(self._resets[with_cast])

    def drop(self) -> None:
        self._connection.close()
        self.server.drop(self.name)

    def _create(self) -> None:
        self.name = self.server.create(self.cast_template)
        self._connection = self._connect(self.name)
        self._connection.execute("CREATE SCHEMA kept")
        tables = [
            sql.Identifier(schema, table)
            for schema, table in self._connection.execute(
                "SELECT schemaname, tablename FROM pg_tables "
                "WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'kept')"
            )
        ]
        with self._connect(self.empty_template) as template:
            filled_in_template = [table for table in tables if _has_rows(template, table)]
        filled = {True: [t for t in tables if _has_rows(self._connection, t)], False: filled_in_template}
        # Whatever a migration filled is in both.
        for table in filled[True]:
            self._connection.execute(sql.SQL("CREATE TABLE {} AS TABLE {}").format(_kept(table), table))
        self._resets = {
            with_cast: self._reset_statement(tables, filled[with_cast]) for with_cast in (True, False)
        }
        self._fingerprint = self._read_fingerprint()

    def _connect(self, name: str) -> psycopg.Connection:
        url = self.server.url(name).replace("postgresql+psycopg", "postgresql")
        return psycopg.connect(url, autocommit=True, connect_timeout=5)

    def _reset_statement(self, tables: list[sql.Identifier], filled: list[sql.Identifier]) -> sql.Composable:
        """One message for everything: the round trips would cost more than the work."""
        statements: list[sql.Composable] = [
            sql.SQL("BEGIN"),
            # Foreign keys are triggers; in this role they do not fire, so the order of tables does not matter.
            sql.SQL("SET LOCAL session_replication_role = replica"),
            sql.SQL("SET LOCAL lock_timeout = {}").format(_LOCK_TIMEOUT),
            *(sql.SQL("DELETE FROM {}").format(table) for table in tables),
        ]
        for table in filled:
            columns = sql.SQL(", ").join(self._stored_columns(table))
            statements.append(
                sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {}").format(
                    table, columns, columns, _kept(table)
                )
            )
        sequences = self._connection.execute(
            "SELECT schemaname || '.' || sequencename, coalesce(last_value, start_value), "
            "last_value IS NOT NULL FROM pg_sequences"
        )
        statements += [sql.SQL("SELECT setval({}, {}, {})").format(*row) for row in sequences]
        return sql.SQL("; ").join([*statements, sql.SQL("COMMIT")])

    def _stored_columns(self, table: sql.Identifier) -> list[sql.Identifier]:
        """The table's columns but for generated ones, which cannot be inserted."""
        found = self._connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass "
            "AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            [table.as_string(self._connection)],
        )
        return [sql.Identifier(name) for (name,) in found]

    def _tables_changed(self) -> bool:
        return self._read_fingerprint() != self._fingerprint

    def _read_fingerprint(self) -> object:
        """Changes when a table, column or index is made or dropped."""
        return self._connection.execute(
            "SELECT count(*), max(oid), (SELECT count(*) FROM pg_attribute WHERE NOT attisdropped) FROM pg_class"
        ).fetchone()


def _kept(table: sql.Identifier) -> sql.Identifier:
    """Where the rows that a reset puts back are kept."""
    return sql.Identifier("kept", table._obj[-1])


def _has_rows(connection: psycopg.Connection, table: sql.Identifier) -> bool:
    return connection.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(table)).fetchone() is not None
