"""Which figure of Insights is said to have changed most."""

from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

from app.core.insights.trend_figures import Activity, Backlog, Delay, Overturned, Totals, Trends, Volume
from app.core.periods import Period
from app.web.insights.insight_headlines import changed_most, headlines

BEFORE = Totals(
    submitted=100,
    delay=Delay(50, 3_600, 7_200),
    waiting=20,
    ratings=200,
    raters=10,
    categories=[Overturned("spam", 50, 5)],
    classifiers=(),
)
SAME = Trends(
    period=Period(date(2026, 3, 1), date(2026, 3, 30), ZoneInfo("UTC")),
    volume=[Volume(submitted=100)],
    delays=[BEFORE.delay],
    delay=BEFORE.delay,
    backlog=[Backlog(waiting=20)],
    activity=[Activity(200, 10)],
    raters=10,
    agreement=(),
    overturned=[0.1],
    categories=BEFORE.categories,
    classifiers=(),
    channels=(),
    moderators=None,
    target=None,
    before=BEFORE,
)


def most(trends: Trends) -> tuple[str, str] | None:
    figure = changed_most(headlines(trends))
    return (figure.key, figure.before) if figure else None


def test_the_figure_that_changed_by_the_largest_factor_is_named_whichever_way() -> None:
    assert most(SAME) is None
    more = replace(SAME, volume=[Volume(submitted=300)], activity=[Activity(400, 10)])
    assert most(more) == ("volume", "Up from 100 in the 30 days before")
    assert most(replace(more, delay=Delay(50, 360, 7_200))) == ("time", "Down from 1 h in the 30 days before")
    assert most(replace(SAME, backlog=[Backlog(waiting=110)])) == ("backlog", "Up from 20 when it began")
    worse = replace(SAME, categories=[Overturned("spam", 50, 30)])
    assert most(worse) == ("categories", "Up from 10.0\u00a0% of 50 in the 30 days before")


def test_what_is_small_or_rests_on_few_cases_is_not_named() -> None:
    assert most(replace(SAME, volume=[Volume(submitted=115)])) is None
    assert most(replace(SAME, delay=Delay(3, 36_000, 72_000))) is None
    few = replace(SAME, categories=[Overturned("spam", 4, 4)])
    assert most(few) is None
    empty = replace(BEFORE, submitted=2, waiting=1, ratings=3)
    assert (
        most(
            replace(
                SAME,
                volume=[Volume(submitted=9)],
                backlog=[Backlog(waiting=5)],
                activity=[Activity(9, 3)],
                before=empty,
            )
        )
        is None
    )
