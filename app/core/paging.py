"""Pages of a list: by page number in the dashboard, by cursor in the API (docs/integrate/api.md).

A cursor holds the sort value and the id of the last row of a page. Rows that are inserted, or that leave the
filter, between two calls therefore make ``next`` neither skip nor repeat a row.
"""

import base64
import binascii
import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.core import clock
from app.core.errors import Invalid, Malformed

MOST_COUNTED = 1_000
"""The most rows that lists of the dashboard count; beyond, they say "more than"."""

OVERLAP = timedelta(seconds=60)
"""How far a list of changes overlaps the last one: a row is committed some time after it got its time."""

Row = TypeVar("Row")
Sortable = InstrumentedAttribute[Any] | sa.ColumnElement[Any]


@dataclass(frozen=True)
class Slice:
    """Which part of a list to read. ``size`` is in rows; the cursors ``after`` and ``before`` win over ``number``.

    ``of`` identifies the list, including its filters: a cursor made for another list is refused.
    """

    number: int = 1
    size: int = 20
    after: str | None = None
    before: str | None = None
    offset: int | None = None
    of: str = ""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of rows. ``count`` is the total, ``is_more`` says that the total is larger than what was counted.

    ``previous`` and ``next`` are cursors, None at either end.
    """

    rows: Sequence[Row]
    count: int
    part: Slice
    previous: str | None
    next: str | None
    is_more: bool = False

    @property
    def number(self) -> int:
        if self.part.offset is not None:
            return self.part.offset // self.part.size + 1
        return self.part.number

    @property
    def pages(self) -> int:
        return -(-self.count // self.part.size)

    @property
    def offset(self) -> int:
        if self.part.offset is not None:
            return self.part.offset
        return (self.part.number - 1) * self.part.size


def paginate(
    session: Session,
    statement: sa.Select[Any],
    sort: Sortable,
    key: Sortable,
    part: Slice,
    *,
    descending: bool = True,
    counted: sa.Select[Any] | None = None,
    most: int | None = None,
    narrow: sa.Select[Any] | None = None,
) -> Page[Any]:
    """Return one page of ``statement``, ordered by (sort, key), with two queries however many rows there are.

    The rows are mapped objects, or rows with ``sort`` and ``key`` among their columns. ``narrow`` selects the
    ``key`` of the same rows without joins: they are counted by it, because SQLite would carry out every join, and a
    deep page skips rows in an index, and loads only its own. The total is counted up to ``most``, unless that is None;
    or by ``counted``, an optional cheaper query for it.

    Raises:
        Invalid: a cursor was not made by this service.
        Malformed: the cursor belongs to another list or filter, or both cursors are set.
    """
    if part.after is not None and part.before is not None:
        raise Malformed("page[after] cannot stand beside page[before]")
    if counted is not None:
        most = None
    elif most is not None:
        counted = sa.select(up_to(statement.with_only_columns(key).order_by(None), most))
    elif narrow is not None:
        # By the sort value, so that PostgreSQL counts in an index of that order: in another it looks at its map of
        # visible pages for nearly every row.
        counted = narrow.with_only_columns(sa.func.count(sort))
    else:
        counted = sa.select(sa.func.count()).select_from(statement.order_by(None).subquery())
    count = session.scalar(counted) or 0
    is_more = most is not None and count > most
    backwards = part.before is not None
    cursor = part.before or part.after
    falling = descending != backwards
    order = (sort.desc(), key.desc()) if falling else (sort.asc(), key.asc())
    if cursor is not None:
        moment, identity = _read_cursor(cursor, "page[before]" if backwards else "page[after]", part.of)
        beyond = sa.tuple_(sort, key) < sa.tuple_(moment, identity)
        if not falling:
            beyond = sa.tuple_(sort, key) > sa.tuple_(moment, identity)
        statement = statement.where(beyond)
    else:
        offset = part.offset if part.offset is not None else (part.number - 1) * part.size
        if narrow is not None and offset:
            keys = narrow.order_by(*order).offset(offset).limit(part.size + 1)
            statement = statement.where(key.in_(keys))
        else:
            statement = statement.offset(offset)
    result = session.execute(statement.order_by(*order).limit(part.size + 1))
    fetched: Sequence[Any] = result.all() if len(result.keys()) > 1 else result.scalars().unique().all()
    more, rows = len(fetched) > part.size, list(fetched[: part.size])
    if backwards:
        rows.reverse()
    has_next = bool(rows) if backwards else more
    has_previous = more if backwards else _is_beyond_first(part)
    return Page(
        rows=rows,
        count=count - is_more,
        part=part,
        previous=_cursor(rows[0], sort, key, part.of) if rows and has_previous else None,
        next=_cursor(rows[-1], sort, key, part.of) if rows and has_next else None,
        is_more=is_more,
    )


def up_to(found: sa.Select[Any], most: int) -> sa.ScalarSelect[int]:
    """How many rows ``found`` selects, as part of a query; at most ``most`` + 1, which says that there are more."""
    return sa.select(sa.func.count()).select_from(found.limit(most + 1).subquery()).scalar_subquery()


def next_since(last: datetime | None, since: datetime) -> datetime:
    """The ``since`` of the next list of what changed, so that it misses no row; ``last`` is the time of the last row.

    A transaction that began earlier may commit later, and machines' clocks differ a little, so the next list repeats
    what changed within ``OVERLAP``. It includes its own moment, which several rows may share.
    """
    return since if last is None else max(since, min(last, clock.now() - OVERLAP))


def _is_beyond_first(part: Slice) -> bool:
    return part.after is not None or part.number > 1 or bool(part.offset)


def _cursor(row: Any, sort: Sortable, key: Sortable, of: str) -> str:
    place = [clock.iso(getattr(row, str(sort.key))), str(getattr(row, str(key.key))), _mark(of)]
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _mark(of: str) -> str:
    """The hash of ``of`` that a cursor carries. It only has to tell lists apart; it protects no secret."""
    return hashlib.sha256(of.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _read_cursor(text: str, field: str, of: str) -> tuple[datetime, uuid.UUID]:
    try:
        padded = text + "=" * (-len(text) % 4)
        moment, identity, mark = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        when = datetime.fromisoformat(moment)
        if when.tzinfo is None:
            raise ValueError("a cursor's time has a zone")
        place = when.astimezone(UTC), uuid.UUID(identity)
    except (ValueError, TypeError, AttributeError, OverflowError, binascii.Error, RecursionError) as error:
        raise Invalid.field(field, "is not a cursor that this service made", text[:100]) from error
    if mark != _mark(of):
        raise Malformed(f"{field} is a cursor of another list or filter; follow the links of this one")
    return place
