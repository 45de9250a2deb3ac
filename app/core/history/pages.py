"""Pages and exports of history entries, newest first.

Entries are numbered per community and pages continue from a number, so that entries written meanwhile neither
repeat nor hide a row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Action, HistoryEntry, HistoryText, Note
from app.core.permissions import Actor, Permission, require

Row = TypeVar("Row")
COUNTED = 10_000
"""The largest number of changes that a page counts; above it the page only says that there are more."""


@dataclass(frozen=True)
class HistoryPage(Generic[Row]):
    """One page of changes, newest first; ``newer`` and ``older`` are entry numbers where the next pages start.

    ``count`` is the total, at most what the page counts; ``is_more`` says that the total is larger.
    """

    rows: Sequence[Row]
    count: int
    is_more: bool
    newer: int | None
    older: int | None


def page(
    session: Session,
    statement: sa.Select[*tuple[Any, ...]],
    build_row: Callable[..., Row],
    count: int,
    *,
    size: int,
    older_than: int | None,
    newer_than: int | None,
    most: int = COUNTED,
    narrow: sa.Select[Any] | None = None,
) -> HistoryPage[Row]:
    """Return a page of ``statement``, whose rows begin with the history entry; ``build_row`` gets a row's columns.

    ``count`` is the total, up to one more than ``most`` (see ``counted``). ``narrow`` selects the ids of the same
    entries with as few joins as possible: the page is found with it, and only its rows are joined.
    """
    finding = statement if narrow is None else narrow
    order = HistoryEntry.number.desc() if newer_than is None else HistoryEntry.number.asc()
    if newer_than is not None:
        finding = finding.where(HistoryEntry.number > newer_than)
    elif older_than is not None:
        finding = finding.where(HistoryEntry.number < older_than)
    finding = finding.order_by(order).limit(size + 1)
    if narrow is not None:
        ids = session.scalars(finding).all()
        finding = statement.where(HistoryEntry.id.in_(ids)).order_by(order)
    fetched = session.execute(finding).all()
    more, rows = len(fetched) > size, list(fetched[:size])
    if newer_than is not None:
        rows.reverse()
        has_newer, has_older = more, bool(rows)
    else:
        has_newer, has_older = older_than is not None, more
    return HistoryPage(
        rows=[build_row(*row) for row in rows],
        count=min(count, most),
        is_more=count > most,
        newer=rows[0][0].number if rows and has_newer else None,
        older=rows[-1][0].number if rows and has_older else None,
    )


def export(
    session: Session, statement: sa.Select[*tuple[Any, ...]], build_row: Callable[..., Row]
) -> Iterator[Row]:
    """Yield every row of ``statement``, newest first, read in batches. The query is sent at the call."""
    newest = statement.order_by(HistoryEntry.number.desc())
    rows = session.execute(newest.execution_options(yield_per=500))

    def fetch() -> Iterator[Row]:
        with closing(rows):
            for row in rows:
                yield build_row(*row)

    return fetch()


def of_item(session: Session, actor: Actor, action: Action) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """The history of an action, its request, rationale and restorations, including comments; oldest first."""
    require(actor, Permission.SEE_HISTORY, action.community_id, "item")
    # The ids first: PostgreSQL would read the whole community's history for a subquery beside an OR.
    siblings = session.scalars(sa.select(Action.id).where(Action.request_id == action.request_id)).all()
    objects = [action.request_id, *siblings, *([action.note_id] if action.note_id is not None else [])]
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.object_type.in_(("request", "note", "action")),
            # Without the community: SQLite would read its whole history instead of the index by object.
            HistoryEntry.object_id.in_(objects),
        )
        .order_by(HistoryEntry.number)
    )
    return [(entry, text) for entry, text in rows]


def of_note(session: Session, actor: Actor, note: Note) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """The history of one note, oldest first."""
    require(actor, Permission.SEE_HISTORY, note.community_id, "note")
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.object_type == "note",
            HistoryEntry.object_id == note.id,
        )
        .order_by(HistoryEntry.number)
    )
    return [(entry, text) for entry, text in rows]
