"""The job engine's inserts on SQLite, compiled once instead of at every enqueueing.

On PostgreSQL DBOS keeps what it compiled by itself; on SQLite it builds, keys and renders two statements again for each
job: 0.45 ms instead of 0.2, or 17 % of all processor time of a submission, and within the turn to write
(docs/decisions/0032-what-the-engine-does.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session


@dataclass(frozen=True)
class _Statement:
    """A compiled statement: its text, how values are converted, its constant values, and the order of all values."""

    sql: str
    writers: Mapping[str, Callable[[Any], Any]]
    constants: Mapping[str, Any]
    order: tuple[str, ...]

    def run(self, connection: sa.Connection, values: Mapping[str, Any]) -> sa.CursorResult[Any]:
        given = {**self.constants, **values}
        written = (
            self.writers[name](given[name]) if name in self.writers else given[name] for name in self.order
        )
        return connection.exec_driver_sql(self.sql, tuple(written))


def prepare_inserts(system: Any, placeholder: str) -> None:
    """Let this DBOS system database, which is SQLite, keep the inserts it compiled.

    ``placeholder`` is what stands for its schema in its statements.

    It replaces one method of it. A version of DBOS without that method would go on as it does.
    """
    own = system._execute_prepared
    kept: dict[tuple[Any, ...], _Statement] = {}

    def execute(
        conn: sa.Connection | Session,
        name: str,
        values: Mapping[str, Any],
        build: Callable[[], Any],
        *,
        insert_columns: bool = True,
    ) -> Any:
        if not insert_columns:
            return own(conn, name, values, build, insert_columns=insert_columns)
        connection = conn.connection() if isinstance(conn, Session) else conn
        key = (name, *values)
        if key not in kept:
            kept[key] = _compile(build(), connection.dialect, placeholder, values)
        return kept[key].run(connection, values)

    system._execute_prepared = execute


def _compile(statement: Any, dialect: sa.Dialect, placeholder: str, values: Mapping[str, Any]) -> _Statement:
    compiled = statement.compile(
        dialect=dialect,
        column_keys=list(values),
        schema_translate_map={placeholder: None},
        render_schema_translate=True,
    )
    writers = {
        name: writer
        for name, bind in compiled.binds.items()
        if (writer := bind.type.dialect_impl(dialect).bind_processor(dialect)) is not None
    }
    constants = {name: bind.value for name, bind in compiled.binds.items() if name not in values}
    return _Statement(str(compiled), writers, constants, tuple(compiled.positiontup))
