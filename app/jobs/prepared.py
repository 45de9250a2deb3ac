"""The job engine's inserts on a connection of ours, compiled once instead of at every enqueueing.

DBOS does so for its own connections on PostgreSQL; for a caller's, and on SQLite, it builds, keys and renders
them anew each time, which takes twice as long as running them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session


@dataclass(frozen=True)
class _Statement:
    """The text as the driver takes it; how its values are written; those that it brings itself; their order, if any."""

    sql: str
    writers: Mapping[str, Callable[[Any], Any]]
    constants: Mapping[str, Any]
    order: tuple[str, ...] | None

    def run(self, connection: sa.Connection, values: Mapping[str, Any]) -> sa.CursorResult[Any]:
        written = {
            name: self.writers[name](value) if name in self.writers else value
            for name, value in {**self.constants, **values}.items()
        }
        if self.order is None:
            return connection.exec_driver_sql(self.sql, written)
        return connection.exec_driver_sql(self.sql, tuple(written[name] for name in self.order))


def prepare_inserts(system: Any, placeholder: str) -> None:
    """Let this DBOS system database keep what it compiled for connections that are not its own.

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
        connection = conn.connection() if isinstance(conn, Session) else conn
        if connection.dialect is system.engine.dialect or not insert_columns:
            return own(conn, name, values, build, insert_columns=insert_columns)
        key = (connection.dialect.name, name, *values)
        if key not in kept:
            kept[key] = _compile(build(), connection.dialect, {placeholder: system.schema}, values)
        return kept[key].run(connection, values)

    system._execute_prepared = execute


def _compile(
    statement: Any, dialect: sa.Dialect, schemas: Mapping[str, str | None], values: Mapping[str, Any]
) -> _Statement:
    compiled = statement.compile(
        dialect=dialect,
        column_keys=list(values),
        schema_translate_map=schemas,
        render_schema_translate=True,
    )
    writers = {
        name: writer
        for name, bind in compiled.binds.items()
        if (writer := bind.type.dialect_impl(dialect).bind_processor(dialect)) is not None
    }
    constants = {name: bind.value for name, bind in compiled.binds.items() if name not in values}
    order = tuple(compiled.positiontup) if compiled.positional else None
    return _Statement(str(compiled), writers, constants, order)
