"""Inserting many rows with one statement: without the ORM's bookkeeping, in hot paths and for whole fits."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

Row = Mapping[str, Any]


def insert(
    connection: sa.Connection,
    table: sa.Table,
    rows: Sequence[Row],
    *,
    skip_known: bool = False,
    adds_to: str | None = None,
) -> None:
    """Insert rows that all have the same columns; the others get their defaults.

    ``skip_known`` leaves out rows that break a rule of uniqueness. ``adds_to`` is a column: where the primary key is
    there already, the row's value is added to that of the column.
    """
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table)
    if adds_to is not None:
        total = table.c[adds_to] + statement.excluded[adds_to]
        statement = statement.on_conflict_do_update(
            index_elements=list(table.primary_key), set_={adds_to: total}
        )
    elif skip_known:
        statement = statement.on_conflict_do_nothing()
    connection.execute(statement, rows)
