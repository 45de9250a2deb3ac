"""Writes many rows at once on PostgreSQL, for tests and figures that need a large table and not a true story."""

import importlib
from typing import Any

import sqlalchemy as sa

from app.core.db import Base
from app.core.models import Tally, TallyChange, TallySum


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


def tally(connection: sa.Connection) -> None:
    """Count all rows anew: rows written past the triggers are in no tally."""
    for model in (Tally, TallyChange):
        connection.execute(sa.delete(model))
    baseline = importlib.import_module("app.migrations.versions.0060_baseline")
    for table, (_, contributions) in baseline.COUNTED.items():
        ratings = "ratings JOIN notes AS note ON note.id = ratings.note_id WHERE"
        rows = [baseline.counted(one, connection.dialect.name, table, "1", ratings) for one in contributions]
        if table != "ratings":
            # A row of a trigger stands alone; here they are those of the table.
            rows = [row.replace(" WHERE ", f" FROM {table} WHERE ") for row in rows]
        summed = baseline.SUMMED.format(rows=" UNION ALL ".join(rows))
        connection.execute(sa.text(f"INSERT INTO tallies (community_id, kind, day, name, total) {summed}"))
    # Their sums too: a connection that runs no triggers has left them.
    connection.execute(sa.delete(TallySum))
    summed = baseline.SUMS.format(rows=baseline.SUMMED_ROWS.format(sign="+", table="tallies"))
    connection.execute(sa.text(f"INSERT INTO tally_sums (kind, community_id, total, names) {summed}"))
