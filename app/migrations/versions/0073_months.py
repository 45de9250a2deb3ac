"""tables in parts of one month or three on PostgreSQL; what there is becomes the first part as it is"""

import re
import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from app import migrations
from app.core import ids, waits
from app.core.upkeep import months
from app.core.upkeep.months import PARTED

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None

_OWN_NAMES = {
    "scores": "pk_scores",
    "deliveries": "uq_deliveries_event_id_endpoint_id",
    "history": "uq_history_community_id_number",
}
_REFERRING = (
    ("delivery_attempts", "delivery_id", "deliveries"),
    ("deliveries", "event_id", "events"),
    ("history_texts", "entry_id", "history"),
    ("notices", "entry_id", "history"),
    ("notices", "decided_id", "history"),
)
"""The foreign keys that go: a part to which one points is not dropped before every row that points is looked at."""


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for table, column, _ in _REFERRING:
        op.drop_constraint(f"fk_{table}_{column}", table, type_="foreignkey")
    for table in PARTED:
        _part(connection, table)


def downgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for table in PARTED:
        _join(connection, table)
    for table, column, other in _REFERRING:
        op.create_foreign_key(f"fk_{table}_{column}", table, other, [column], ["id"])


def prepare(engine: sa.Engine) -> None:
    """Have PostgreSQL check that all rows of each table lie in its first part, while others write.

    Each step has a transaction of its own, so that no lock on a table outlasts a moment. What was done before a
    process ended is not done again.
    """
    for table in PARTED:
        for step in (_add_limit, _validate_limit):
            with (
                engine.connect() as connection,
                connection.begin(),
                waits.watched(connection, "Migrating the database"),
            ):
                connection.execute(migrations.LOCK)
                step(connection, table)


def _add_limit(connection: sa.Connection, table: str) -> None:
    if not sa.inspect(connection).has_table(table) or _limit(connection, table) is not None:
        return
    key, width = PARTED[table].key, PARTED[table].months
    newest = connection.exec_driver_sql(
        f"SELECT {key} FROM {table} ORDER BY {key} DESC LIMIT 1"  # noqa: S608 - names of ours
    ).scalar()
    # A clock may have been wrong once; and what is written until the tables are in parts fits too.
    since = max(months.now_of_ids(), ids.made_at(newest) if newest else months.now_of_ids())
    limit = ids.first_id(months.period(since, width, 2))
    connection.exec_driver_sql(
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_first CHECK ({key} < '{limit}') NOT VALID"
    )


def _validate_limit(connection: sa.Connection, table: str) -> None:
    unchecked = "SELECT 1 FROM pg_constraint WHERE conname = %s AND NOT convalidated"
    if connection.exec_driver_sql(unchecked, (f"{table}_first",)).first():
        with migrations.announced(connection, "a check for parts", table):
            connection.exec_driver_sql(f"ALTER TABLE {table} VALIDATE CONSTRAINT {table}_first")


def _limit(connection: sa.Connection, table: str) -> uuid.UUID | None:
    definition = connection.exec_driver_sql(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", (f"{table}_first",)
    ).scalar()
    found = re.search(r"'([0-9a-f-]{36})'", definition or "")
    return uuid.UUID(found[1]) if found else None


def _part(connection: sa.Connection, table: str) -> None:
    """Make the table the first part of a new one of its name, with the same columns, indexes and foreign keys."""
    _add_limit(connection, table)
    _validate_limit(connection, table)
    limit, first, parted = _limit(connection, table), f"{table}_first", PARTED[table]
    indexes = _rows(connection, _INDEXES, table)
    keys = _rows(connection, _FOREIGN_KEYS, table)
    connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {first}")
    for index, _, _ in indexes:
        connection.exec_driver_sql(f"ALTER INDEX {index} RENAME TO {_of_first(index)}")
    connection.exec_driver_sql(
        f"CREATE TABLE {table} (LIKE {first} INCLUDING ALL EXCLUDING INDEXES EXCLUDING CONSTRAINTS) "
        f"PARTITION BY RANGE ({parted.key})"
    )
    for index, making, constraint in indexes:
        if constraint is None:
            connection.exec_driver_sql(making)
        elif constraint != parted.own:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {index} {constraint}")
    for name, definition in keys:
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
    connection.exec_driver_sql(
        f"ALTER TABLE {table} ATTACH PARTITION {first} FOR VALUES FROM (MINVALUE) TO ('{limit}')"
    )
    connection.exec_driver_sql(f"ALTER TABLE {first} DROP CONSTRAINT {first}")
    own = f" ({parted.own})" if parted.own else ""
    connection.exec_driver_sql(f"CREATE TABLE {table}_default PARTITION OF {table}{own} DEFAULT")
    months.make_ahead(connection, table)


def _join(connection: sa.Connection, table: str) -> None:
    """Make the earliest part the whole table again, and copy the rows of all others into it."""
    first = months.parts(connection, table)[0].name
    parents = _rows(connection, _PARENT_INDEXES, first)
    connection.exec_driver_sql(f"ALTER TABLE {table} DETACH PARTITION {first}")
    connection.exec_driver_sql(f"INSERT INTO {first} SELECT * FROM {table}")  # noqa: S608 - names of ours
    connection.exec_driver_sql(f"DROP TABLE {table}")
    connection.exec_driver_sql(f"ALTER TABLE {first} RENAME TO {table}")
    for index, parent in parents:
        connection.exec_driver_sql(f"ALTER INDEX {index} RENAME TO {parent or _OWN_NAMES[table]}")


_INDEXES = (
    "SELECT quote_ident(relname), pg_get_indexdef(indexrelid), pg_get_constraintdef(pg_constraint.oid) FROM pg_index "
    "JOIN pg_class ON pg_class.oid = indexrelid "
    "LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u') WHERE indrelid = %s::regclass "
    "ORDER BY relname"
)
_FOREIGN_KEYS = (
    "SELECT quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE contype = 'f' AND conrelid = %s::regclass"
)
_PARENT_INDEXES = (
    "SELECT quote_ident(own.relname), quote_ident(parent.relname) FROM pg_index "
    "JOIN pg_class own ON own.oid = indexrelid LEFT JOIN pg_inherits ON inhrelid = indexrelid "
    "LEFT JOIN pg_class parent ON parent.oid = inhparent "
    "WHERE indrelid = %s::regclass"
)


def _rows(connection: sa.Connection, query: str, table: str) -> Sequence[Any]:
    return connection.exec_driver_sql(query, (table,)).all()


def _of_first(index: str) -> str:
    """The name of the first part's index; names have at most 63 characters."""
    return f"first_{index}"[:63]
