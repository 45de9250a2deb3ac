"""Repeats a filled PostgreSQL database by SQL, each time later: quicker than to make as many posts.

The copies are in the time after the originals. Their history is numbered on, but its hashes are the originals'.
"""

from datetime import timedelta

import sqlalchemy as sa

from app.core import models
from app.core.db import Database
from app.core.types import UtcDateTime

_COPIED = (
    models.Request,
    models.Score,
    models.PostScores,
    models.Note,
    models.Action,
    models.Rating,
    models.Decision,
    models.Panel,
    models.PanelSeat,
    models.Event,
    models.Delivery,
    models.Attempt,
    models.HistoryText,
    models.HistoryEntry,
)
_REFERENCES = {
    *("id", "request_id", "note_id", "action_id", "event_id", "delivery_id"),
    *("panel_id", "entry_id", "object_id"),
}
_OF_POSTS = "object_type IN ('request', 'action', 'note', 'rating')"


def repeat(database: Database, copies: int, span: timedelta) -> None:
    """Copy everything about posts, ``copies - 1`` times, each ``span`` later. Indexes are built anew afterwards."""
    with database.engine.connect().execution_options(writing=True) as connection:
        connection.execute(sa.text("SET session_replication_role = replica"))
        connection.execute(
            sa.text(
                "CREATE TEMP TABLE last AS SELECT community_id, max(number) AS number FROM history "
                "GROUP BY community_id"
            )
        )
        for model in _COPIED:
            table: sa.Table = model.__table__  # type: ignore[assignment]
            indexes = connection.execute(
                sa.text(
                    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = :table AND NOT EXISTS "
                    "(SELECT FROM pg_constraint WHERE conname = indexname)"
                ),
                {"table": table.name},
            ).all()
            for name, _ in indexes:
                connection.execute(sa.text(f"DROP INDEX {name}"))
            connection.execute(sa.text(_statement(table, copies, span)))
            for _, definition in indexes:
                # Of a table in parts PostgreSQL names the one without its parts.
                whole = definition.replace(" ON ONLY ", " ON ").replace(":", r"\:")
                connection.execute(sa.text(whole))
        connection.commit()


def _statement(table: sa.Table, copies: int, span: timedelta) -> str:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    values = ", ".join(_shifted(column, span) for column in table.columns)
    source = f"generate_series(CAST(1 AS bigint), {copies - 1}) AS k, {table.name} AS t"
    where = ""
    if table.name == "history":
        source += " JOIN last USING (community_id)"
        where = f" WHERE {_OF_POSTS}"
    if table.name == "history_texts":
        where = f" WHERE entry_id IN (SELECT id FROM history WHERE {_OF_POSTS})"  # noqa: S608 - our own words
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM {source}{where} ORDER BY k"  # noqa: S608 - our own words


def _shifted(column: "sa.Column[object]", span: timedelta) -> str:
    """SQL of the column's value in copy ``k``. An id holds its time in its first 12 digits."""
    name, milliseconds = f't."{column.name}"', int(span.total_seconds() * 1000)
    if isinstance(column.type, UtcDateTime):
        return f"{name} + k * interval '{milliseconds} ms'"
    if isinstance(column.type, sa.Uuid) and column.name in _REFERENCES:
        digits = f"replace({name}\\:\\:text, '-', '')"
        moment = f"('x0000' || left({digits}, 12))\\:\\:bit(64)\\:\\:bigint + k * {milliseconds}"
        return f"(lpad(to_hex({moment}), 12, '0') || substr({digits}, 13))\\:\\:uuid"
    if column.table.name == "history" and column.name == "number":
        return "t.number + k * last.number"
    if column.table.name == "requests" and column.name in ("request_id", "platform_message_id"):
        return f"{name} || '-' || k"
    return name
