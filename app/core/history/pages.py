"""Pages and exports of history entries, newest first. Entries are numbered per community, so pages go on by number.

What is written meanwhile neither repeats nor hides a row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import HistoryEntry

Row = TypeVar("Row")
COUNTED = 10_000
"""Changes that a page counts; more than that are many."""


@dataclass(frozen=True)
class HistoryPage(Generic[Row]):
    """Some changes, newest first, of ``count`` in all; ``newer`` and ``older`` are numbers to go on from.

    Beyond ``COUNTED`` nobody counts: ``is_more`` says that there are more than ``count``.
    """

    rows: Sequence[Row]
    count: int
    is_more: bool
    newer: int | None
    older: int | None


def page(
    session: Session,
    statement: sa.Select[*tuple[Any, ...]],
    made: Callable[..., Row],
    count: int,
    *,
    size: int,
    older_than: int | None,
    newer_than: int | None,
) -> HistoryPage[Row]:
    """A page of ``statement``, whose rows begin with the entry; ``made`` takes a row's parts.

    ``count`` is how many there are, up to one more than ``COUNTED`` (``counted``).
    """
    if newer_than is not None:
        statement = statement.where(HistoryEntry.number > newer_than).order_by(HistoryEntry.number)
    else:
        if older_than is not None:
            statement = statement.where(HistoryEntry.number < older_than)
        statement = statement.order_by(HistoryEntry.number.desc())
    found = session.execute(statement.limit(size + 1)).all()
    more, rows = len(found) > size, list(found[:size])
    if newer_than is not None:
        rows.reverse()
        has_newer, has_older = more, bool(rows)
    else:
        has_newer, has_older = older_than is not None, more
    return HistoryPage(
        rows=[made(*row) for row in rows],
        count=min(count, COUNTED),
        is_more=count > COUNTED,
        newer=rows[0][0].number if rows and has_newer else None,
        older=rows[-1][0].number if rows and has_older else None,
    )


def counted(session: Session, ids: sa.Select[Any]) -> int:
    """How many there are, up to one more than ``COUNTED``."""
    return session.scalar(sa.select(sa.func.count()).select_from(ids.limit(COUNTED + 1).subquery())) or 0


def export(
    session: Session, statement: sa.Select[*tuple[Any, ...]], made: Callable[..., Row]
) -> Iterator[Row]:
    """Every row of ``statement``, newest first, read in batches. The query is sent at the call."""
    newest = statement.order_by(HistoryEntry.number.desc())
    rows = session.execute(newest.execution_options(yield_per=500))

    def each() -> Iterator[Row]:
        with closing(rows):
            for row in rows:
                yield made(*row)

    return each()
