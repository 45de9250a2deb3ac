"""Periods: days as people reckon them, told apart in SQL as Python does."""

import random
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from app.core.errors import Invalid
from app.core.periods import DAYS_MOST, Period
from app.core.types import UtcDateTime
from app.core.upkeep import months
from app.wiring import Wiring

PERIODS = (
    ("UTC", date(2026, 2, 20), date(2026, 3, 10)),
    ("Europe/Berlin", date(2026, 3, 20), date(2026, 4, 3)),
    ("America/New_York", date(2025, 10, 1), date(2026, 4, 1)),
    ("Asia/Kolkata", date(2026, 1, 1), date(2026, 1, 1)),
    ("Australia/Lord_Howe", date(2026, 3, 25), date(2026, 10, 20)),
)


def test_sql_and_python_put_each_moment_into_the_same_part(wiring: Wiring) -> None:
    chance = random.Random(3)  # noqa: S311 - the same moments each time
    with wiring.database.reading() as session:
        for name, first, last in PERIODS:
            period = Period(first, last, ZoneInfo(name))
            span = (period.until - period.since).total_seconds()
            moments = [period.since + timedelta(seconds=chance.random() * span) for _ in range(40)]
            moments += [period.since, period.until - timedelta(microseconds=1)]
            columns = [period.part(sa.literal(moment, UtcDateTime)) for moment in moments]
            found = session.execute(sa.select(*columns)).one()
            for moment, part in zip(moments, found, strict=True):
                day = moment.astimezone(period.zone).date()
                # The first part may be shorter, so that the newest one is whole.
                missing = -period.days % period.width
                assert part == ((day - first).days + missing) // period.width, (name, moment)


def test_a_long_period_is_cut_into_weeks_and_a_silly_one_is_refused() -> None:
    day = date(2026, 5, 1)
    assert len(Period(day, day + timedelta(days=30), ZoneInfo("UTC")).starts) == 31
    assert len(Period(day, day + timedelta(days=89), ZoneInfo("UTC")).starts) == 13
    assert Period(day, day, ZoneInfo("Europe/Berlin")).since == datetime(2026, 4, 30, 22, tzinfo=UTC)
    for last in (day - timedelta(days=1), day + timedelta(days=DAYS_MOST)):
        with pytest.raises(Invalid):
            Period(day, last, ZoneInfo("UTC"))


@pytest.mark.parametrize(
    ("moment", "width", "later", "begin"),
    [
        ((2026, 1, 1), 1, 0, (2026, 1, 1)),
        ((2026, 12, 31), 1, 1, (2027, 1, 1)),
        ((2026, 11, 26), 3, 0, (2026, 10, 1)),
        ((2026, 11, 26), 3, 2, (2027, 4, 1)),
        ((2027, 3, 31), 3, 1, (2027, 4, 1)),
    ],
)
def test_a_period_begins_with_its_first_month(
    moment: tuple[int, int, int], width: int, later: int, begin: tuple[int, int, int]
) -> None:
    assert months.period(datetime(*moment, 13, 5, tzinfo=UTC), width, later) == datetime(*begin, tzinfo=UTC)
