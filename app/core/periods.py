"""A date range in the reader's time zone, bucketed by day or week in SQL."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from app.core.errors import Invalid
from app.core.texts import gettext as _

DAYS_MOST = 731
BY_DAY = 31
"""A period of more days than this is bucketed by week."""
WEEK = 7
_DAY_SECONDS = 86_400
SLOT_SECONDS = 900
"""Statistics are kept by the quarter of an hour (``insights.rollups``)."""


def slot_of(moment: datetime) -> int:
    """The slot that holds this moment."""
    return int(moment.timestamp()) // SLOT_SECONDS


def moment_of(slot: int) -> datetime:
    """The first moment of a slot."""
    return datetime.fromtimestamp(slot * SLOT_SECONDS, UTC)


def day_of(moment: datetime) -> int:
    """The day in UTC that holds this moment, numbered from 1970."""
    return int(moment.timestamp()) // _DAY_SECONDS


def begin_of(day: int) -> datetime:
    """The first moment of such a day."""
    return datetime.fromtimestamp(day * _DAY_SECONDS, UTC)


class unix(FunctionElement[int]):
    """Unix time, in whole seconds, of a datetime column."""

    type = sa.BigInteger()
    inherit_cache = True


@compiles(unix, "sqlite")
def _unix_sqlite(element: Any, compiler: Any, **options: Any) -> str:
    # strftime rounds to milliseconds, which would move the last moment of a day to the next day: cut the fraction
    # first.
    return f"CAST(strftime('%s', substr({compiler.process(element.clauses, **options)}, 1, 19)) AS INTEGER)"


@compiles(unix)
def _unix(element: Any, compiler: Any, **options: Any) -> str:
    return f"CAST(floor(extract(epoch FROM {compiler.process(element.clauses, **options)})) AS BIGINT)"


@dataclass(frozen=True)
class Period:
    """The days from ``first`` to ``last``, both included, in the time zone ``zone``.

    ``by``: days per bucket; 0: chosen by the length of the period.

    Raises:
        Invalid: ``last`` is before ``first``, or there are more than ``DAYS_MOST`` days.
    """

    first: date
    last: date
    zone: ZoneInfo
    by: int = 0

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise Invalid.field("to", _("must not be before From"))
        if self.days > DAYS_MOST:
            raise Invalid.field("to", _("must be at most %(days_most)s days after From", days_most=DAYS_MOST))

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def width(self) -> int:
        """Days per bucket; the first bucket may have fewer, so that the newest one is whole."""
        return self.by or (1 if self.days <= BY_DAY else WEEK)

    @property
    def before(self) -> "Period":
        """The period of as many days that ends the day before this one begins, as one bucket."""
        day = timedelta(days=1)
        return Period(self.first - self.days * day, self.first - day, self.zone, self.days)

    @cached_property
    def starts(self) -> Sequence[date]:
        """The first day of each bucket."""
        later = range(self.width - self._missing, self.days, self.width)
        return [self.first, *(self.first + timedelta(days=offset) for offset in later)]

    @property
    def _missing(self) -> int:
        """How many days the first bucket lacks."""
        return -self.days % self.width

    @property
    def ends(self) -> Sequence[date]:
        """The last day of each bucket."""
        return [*(day - timedelta(days=1) for day in self.starts[1:]), self.last]

    @property
    def since(self) -> datetime:
        return self._midnight(self.first)

    @property
    def until(self) -> datetime:
        """The end of the period, exclusive: midnight after the last day."""
        return self._midnight(self.last + timedelta(days=1))

    @property
    def bounds(self) -> Sequence[tuple[datetime, datetime]]:
        """Where each bucket begins and ends."""
        begins = [self._midnight(day) for day in self.starts]
        return list(pairwise([*begins, self.until]))

    def holds(self, column: Any) -> sa.ColumnElement[bool]:
        """SQL condition: the column's moment lies in the period."""
        return sa.and_(column >= self.since, column < self.until)

    def part(self, column: Any) -> sa.ColumnElement[int]:
        """SQL expression: the number of the bucket that the column's moment falls into, from 0."""
        return self._part(unix(column), lambda until: column < until)

    def part_of_slot(self, slot: Any) -> sa.ColumnElement[int]:
        """The same for a slot, numbered from 1970. Every day begins with one: zones have whole quarters of an hour."""
        second = slot * _plain(SLOT_SECONDS)
        return self._part(second, lambda until: second < _plain(int(until.timestamp())))

    def _part(
        self, second: Any, is_before: Callable[[datetime], sa.ColumnElement[bool]]
    ) -> sa.ColumnElement[int]:
        *changes, (_, last) = self._offsets()
        offset: Any = _plain(last)
        if changes:
            offset = sa.case(
                *((is_before(until), _plain(seconds)) for until, seconds in changes), else_=_plain(last)
            )
        first = (self.first - date(1970, 1, 1)).days - self._missing
        day = (second + offset) // _plain(_DAY_SECONDS)
        part: sa.ColumnElement[int] = (day - _plain(first)) // _plain(self.width)
        return part

    def _offsets(self) -> list[tuple[datetime, int]]:
        """(until, offset) pairs: the zone's offset from UTC in seconds, and the moment until which it applies.

        There is one pair, plus one for each clock change (daylight saving) within the period.
        """
        changes: list[tuple[datetime, int]] = []
        for begin, end in self._days():
            before, after = self._offset(begin), self._offset(end)
            if before != after:
                changes.append((self._change(begin, end, before), before))
        return [*changes, (self.until, self._offset(self.until - timedelta(seconds=1)))]

    def _days(self) -> Iterator[tuple[datetime, datetime]]:
        moments = [self._midnight(self.first + timedelta(days=number)) for number in range(self.days)]
        return zip(moments, [*moments[1:], self.until - timedelta(seconds=1)], strict=True)

    def _change(self, begin: datetime, end: datetime, before: int) -> datetime:
        while end - begin > timedelta(seconds=1):
            middle = begin + (end - begin) / 2
            begin, end = (middle, end) if self._offset(middle) == before else (begin, middle)
        return end.replace(microsecond=0)

    def _offset(self, moment: datetime) -> int:
        distance = moment.astimezone(self.zone).utcoffset() or timedelta()
        return int(distance.total_seconds())

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.zone).astimezone(UTC)


def day_of_column(column: Any) -> sa.ColumnElement[int]:
    """SQL expression: ``day_of`` of a datetime column."""
    day: sa.ColumnElement[int] = unix(column) // _plain(_DAY_SECONDS)
    return day


def slot_of_column(column: Any) -> sa.ColumnElement[int]:
    """SQL expression: ``slot_of`` of a datetime column."""
    slot: sa.ColumnElement[int] = unix(column) // _plain(SLOT_SECONDS)
    return slot


def _plain(number: int) -> Any:
    """A number written into the SQL text instead of a bound parameter.

    PostgreSQL treats two grouped expressions with parameters as different ones.
    """
    return sa.literal_column(str(number), sa.BigInteger)
