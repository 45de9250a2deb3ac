"""Writes many rows at once: by COPY on PostgreSQL, which takes a tenth of the time of as many INSERTs."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.db import Base


def insert(session: Session, model: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows that have the same keys each, and a value for every column without a default of the database."""
    table = cast(sa.Table, model.__table__)
    connection = session.connection()
    if connection.dialect.name != "postgresql":
        connection.execute(sa.insert(table), rows)
        return
    columns = [table.columns[name] for name in rows[0]]
    converters: list[Callable[[Any], Any]] = [
        column.type.dialect_impl(connection.dialect).bind_processor(connection.dialect) or _unchanged
        for column in columns
    ]
    names = ", ".join(f'"{column.name}"' for column in columns)
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:
        for row in rows:
            copy.write_row([convert(value) for convert, value in zip(converters, row.values(), strict=True)])


def _unchanged(value: Any) -> Any:
    return value
