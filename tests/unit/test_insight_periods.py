"""Periods of Insights: weeks where days are few, the period before, and the target time."""

from datetime import date
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from app.core.insights import trends
from app.core.insights.period_sums import Counts
from app.core.insights.trend_figures import Target
from app.core.periods import Period
from app.core.thresholds.routing import CategoryRule
from app.core.vocabulary import ReviewGroup, Verb

UTC = ZoneInfo("UTC")
MONTH = Period(date(2026, 3, 1), date(2026, 3, 30), UTC)


def rule(name: str, minutes: int | None, *, enabled: bool = True, severity: int = 0) -> CategoryRule:
    return CategoryRule(
        name=name,
        tier2=0.5,
        tier1=None,
        tier1_action=Verb.HIDE,
        tier2_action=Verb.HIDE,
        review_group=ReviewGroup.COMMUNITY,
        severity=severity,
        enabled=enabled,
        target_minutes=minutes,
    )


@pytest.mark.parametrize(
    ("period", "decided", "width"),
    [
        (MONTH, [5] * 30, 1),
        (MONTH, [4] * 30, 7),
        (MONTH, [0] * 14 + [5] * 16, 1),  # half of the days have enough
        (MONTH, [0] * 16 + [100] * 14, 7),  # a few full days do not make the others say more
        (Period(date(2026, 3, 1), date(2026, 3, 13), UTC), [0] * 13, 1),  # two weeks would be two points
        (Period(date(2026, 3, 1), date(2026, 3, 14), UTC), [0] * 14, 7),
        (Period(date(2026, 1, 1), date(2026, 3, 30), UTC), [99] * 13, 7),  # long: always
    ],
)
def test_days_with_few_decided_reviews_are_put_together_into_weeks(
    period: Period, decided: list[int], width: int
) -> None:
    assert trends.bucketed(period, decided).width == width


def test_the_newest_week_is_whole_and_the_first_one_may_be_shorter() -> None:
    weeks = trends.bucketed(MONTH, [0] * 30)
    assert [str(day) for day in weeks.starts] == [
        "2026-03-01",
        "2026-03-03",
        "2026-03-10",
        "2026-03-17",
        "2026-03-24",
    ]
    assert [str(day) for day in weeks.ends] == [
        "2026-03-02",
        "2026-03-09",
        "2026-03-16",
        "2026-03-23",
        "2026-03-30",
    ]
    days = Counts({"submitted": list(range(30))}, [np.array([day]) for day in range(30)])
    folded = days.folded(len(weeks.starts))
    assert folded.by_name["submitted"] == [1, *(sum(range(begin, begin + 7)) for begin in (2, 9, 16, 23))]
    assert [list(seconds) for seconds in folded.seconds][:2] == [[0, 1], [2, 3, 4, 5, 6, 7, 8]]
    assert days.folded(30) is days


def test_the_period_before_is_as_long_and_ends_where_this_one_begins() -> None:
    before = MONTH.before
    assert (before.first, before.last) == (date(2026, 1, 30), date(2026, 2, 28))
    assert before.until == MONTH.since
    assert len(before.starts) == 1
    # In Berlin the clock changes between the two.
    berlin = Period(date(2026, 3, 28), date(2026, 3, 30), ZoneInfo("Europe/Berlin"))
    assert berlin.before.until == berlin.since


@pytest.mark.parametrize(
    ("actions", "target"),
    [
        ({}, Target(60 * 60, 30 * 60, 24 * 3_600)),  # no action yet: each category counts once
        ({"spam": 1}, Target(24 * 3_600, 24 * 3_600, 24 * 3_600)),
        ({"spam": 9, "threat": 10}, Target(30 * 60, 30 * 60, 24 * 3_600)),
        ({"spam": 10, "threat": 9}, Target(24 * 3_600, 30 * 60, 24 * 3_600)),
        ({"gone": 99, "hate": 1}, Target(60 * 60, 60 * 60, 60 * 60)),
    ],
)
def test_the_target_is_the_middle_one_of_the_actions(actions: dict[str, int], target: Target) -> None:
    rules = [rule("spam", None), rule("threat", 30), rule("hate", None, severity=60)]
    named = {one.name: one for one in [*rules, rule("off", 1, enabled=False)]}
    assert trends.typical_target(named, actions) == target
    assert trends.typical_target({}, actions) is None
