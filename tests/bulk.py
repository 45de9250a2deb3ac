"""Writes many rows at once on PostgreSQL, for tests and figures that need a large table and not a true story."""

from typing import Any

import sqlalchemy as sa

from app.core.db import Base
from app.core.models import RaterDay, Rating
from app.core.periods import day_of_column


def defaults(table: sa.Table) -> dict[str, Any]:
    """The value of every column of which a row says nothing."""
    found: dict[str, Any] = table.info.get("bulk_defaults", {})
    if not found:
        for column in table.columns:
            default = column.default
            if default is None:
                found[column.key] = None if column.nullable else _of_server(column)
            elif default.is_scalar:
                found[column.key] = default.arg  # type: ignore[attr-defined]
            elif isinstance(column.type, sa.JSON):
                found[column.key] = default.arg(None)  # type: ignore[attr-defined]  # dict or list
            else:
                found[column.key] = None
        table.info["bulk_defaults"] = found
    return found


def _of_server(column: "sa.Column[Any]") -> Any:
    kind = column.type.python_type
    return {bool: False, int: 0, dict: {}, list: []}.get(kind)


def insert(connection: sa.Connection, model: type[Base], source: str, **expressions: str) -> None:
    """Insert a row for each row of ``source``; ``expressions`` is SQL by column, all others get their default."""
    table: sa.Table = model.__table__  # type: ignore[assignment]
    given = {table.columns[key].name for key in expressions}
    others = {
        column: defaults(table)[column.key]
        for column in table.columns
        if column.name not in given and defaults(table)[column.key] is not None
    }
    names = [*(table.columns[key].name for key in expressions), *(column.name for column in others)]
    values = [*expressions.values(), *(f":{column.name}" for column in others)]
    columns = ", ".join(f'"{name}"' for name in names)
    statement = sa.text(
        f"INSERT INTO {table.name} ({columns}) SELECT {', '.join(values)} FROM {source}"  # noqa: S608 - our own words
    ).bindparams(*(sa.bindparam(column.name, value, type_=column.type) for column, value in others.items()))
    connection.execute(statement)


def rater_days(connection: sa.Connection) -> None:
    """Note the days of all ratings anew: those that no verb wrote are missing."""
    connection.execute(sa.delete(RaterDay))
    days = sa.select(Rating.community_id, day_of_column(Rating.created_at), Rating.rater_id).distinct()
    connection.execute(sa.insert(RaterDay).from_select(["community_id", "day", "rater_id"], days))
