"""Writing many rows with one statement, without the ORM's bookkeeping."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

Row = Mapping[str, Any]


def insert(
    connection: sa.Connection,
    table: sa.Table,
    rows: Sequence[Row],
    *,
    skip_known: bool = False,
) -> None:
    """Insert rows that all have the same columns; the others get their defaults.

    ``skip_known`` leaves out rows that break a rule of uniqueness.
    """
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table)
    if skip_known:
        statement = statement.on_conflict_do_nothing()
    connection.execute(statement, rows)


def change(session: Session, statement: sa.Update | sa.Delete) -> int:
    """Run an UPDATE or DELETE and return how many rows it changed. Objects in the session stay as they are."""
    result = session.execute(statement.execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result has one
