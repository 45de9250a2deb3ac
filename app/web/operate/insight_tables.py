"""What the insights page says, as tables: the page's and the files' alike, each with the plot beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.core.insights.trend_figures import Overturned, Trends
from app.web import charts
from app.web.categories import category_name
from app.web.charts import Chart, Series
from app.web.filters import percent

KEYS = ("volume", "time", "backlog", "raters", "agreement", "categories", "classifiers")


@dataclass(frozen=True)
class Cell:
    """A value as people read it, and as a file holds it; ``share`` (0.0–1.0) is drawn as a bar."""

    text: str
    raw: object
    share: float | None = None


@dataclass(frozen=True)
class Table:
    """One section. ``columns`` are (heading, name in the file); ``chart`` None where the table draws its own bars."""

    key: str
    title: str
    hint: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    chart: Chart | None = None
    desc: str = ""


def tables(trends: Trends) -> list[Table]:
    """Every section, in the order of ``KEYS``."""
    days = [f"{day.day} {day:%b %Y}" for day in trends.period.starts]
    return [
        _volume(trends, days),
        _time(trends, days),
        _backlog(trends, days),
        _raters(trends, days),
        _agreement(trends, days),
        _overturned(
            "categories",
            "Overturned by category",
            "Actions sent to the platform in this period, and how many of them were overturned since.",
            ("Category", "category"),
            trends.categories,
            category_name,
        ),
        _overturned(
            "classifiers",
            "Overturned by classifier",
            "The same, by the classifier that scored highest. Actions without a score are left out.",
            ("Classifier", "classifier"),
            trends.classifiers,
            str,
        ),
    ]


def duration(seconds: float | None) -> str:
    """A length of time in its two greatest units: "45 s", "4 min", "2 h 5 min", "3 d 4 h"; a dash when unknown."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours and days < 10 else f"{days} d"


def _volume(trends: Trends, days: Sequence[str]) -> Table:
    parts = (
        ("Acted on at once", "At once", "acted", 0),
        ("Sent to review", "Review", "reviewed", 1),
        ("Ignored", "Ignored", "ignored", 2),
        ("Not scored", "Unscored", "unscored", 3),
    )
    series = [
        Series(name, [getattr(one, field) for one in trends.volume], look)
        for name, _, field, look in parts
        if field != "unscored" or any(one.unscored for one in trends.volume)
    ]
    return Table(
        "volume",
        "Submitted posts",
        "By what became of them when they were scored.",
        [_begin(trends), ("Posts", "submitted"), *((short, field) for _, short, field, _ in parts)],
        _by_part(
            trends,
            days,
            trends.volume,
            lambda one: [
                _count(one.submitted),
                _count(one.acted),
                _count(one.reviewed),
                _count(one.ignored),
                _count(one.unscored),
            ],
        ),
        charts.stacked(days, series),
        _peak("posts", days, [one.submitted for one in trends.volume]),
    )


def _time(trends: Trends, days: Sequence[str]) -> Table:
    top = charts.duration_top(max((one.p90 or 0 for one in trends.delays), default=0))
    series = [
        Series("Half within", [one.median for one in trends.delays], 0),
        Series("9 of 10 within", [one.p90 for one in trends.delays], 1),
    ]
    whole = trends.delay
    return Table(
        "time",
        "Time to decision",
        "From submission to the end of the review. What is acted on at once is not counted here.",
        [
            _begin(trends),
            ("Decided", "decided"),
            ("Half within", "median_seconds"),
            ("9 of 10 within", "p90_seconds"),
        ],
        _by_part(
            trends,
            days,
            trends.delays,
            lambda one: [_count(one.decided), _duration(one.median), _duration(one.p90)],
        ),
        charts.lines(days, series, top, duration),
        f"Of {whole.decided:,} reviews half were decided within {duration(whole.median)}, "
        f"9 of 10 within {duration(whole.p90)}."
        if whole.decided
        else "No review was decided.",
    )


def _backlog(trends: Trends, days: Sequence[str]) -> Table:
    waiting = [one.waiting for one in trends.backlog]
    return Table(
        "backlog",
        "Waiting for review",
        "How many reviews were open at the end of each day or week.",
        [_begin(trends), ("Began", "opened"), ("Ended", "closed"), ("Waiting", "waiting")],
        _by_part(
            trends,
            days,
            trends.backlog,
            lambda one: [_count(one.opened), _count(one.closed), _count(one.waiting)],
        ),
        charts.lines(days, [Series("Waiting", waiting, 0)], charts.count_top(max(waiting, default=0))),
        f"{waiting[-1]:,} at the end. " + _peak("reviews", days, waiting),
    )


def _raters(trends: Trends, days: Sequence[str]) -> Table:
    ratings = [one.ratings for one in trends.activity]
    people = [one.raters for one in trends.activity]
    series = [Series("Ratings", ratings, 0), Series("People who rated", people, 1)]
    return Table(
        "raters",
        "Rater activity",
        "Ratings given, and by how many people.",
        [_begin(trends), ("Ratings", "ratings"), ("People", "raters")],
        _by_part(trends, days, trends.activity, lambda one: [_count(one.ratings), _count(one.raters)]),
        charts.lines(days, series, charts.count_top(max([*ratings, *people], default=0))),
        f"{sum(ratings):,} ratings by {trends.raters:,} people. " + _peak("ratings", days, ratings),
    )


def _agreement(trends: Trends, days: Sequence[str]) -> Table:
    series = [
        Series("Matched the outcome", [one.share for one in trends.agreement], 0),
        Series("Split", [one.split_share for one in trends.agreement], 1),
    ]
    sided = sum(one.sided for one in trends.agreement)
    borne = sum(one.borne_out for one in trends.agreement)
    reviews = sum(one.reviews for one in trends.agreement)
    split = sum(one.split for one in trends.agreement)
    return Table(
        "agreement",
        "Agreement",
        "Ratings that matched the outcome, of those that said yes or no; and reviews in which at least a third "
        "of the answers stood against the others.",
        [
            _begin(trends),
            ("Answered yes or no", "took_a_side"),
            ("Matched the outcome", "borne_out"),
            ("Reviews", "reviews"),
            ("Split", "split"),
        ],
        _by_part(
            trends,
            days,
            trends.agreement,
            lambda one: [
                _count(one.sided),
                Cell(percent(one.share), one.borne_out),
                _count(one.reviews),
                Cell(percent(one.split_share), one.split),
            ],
        ),
        charts.lines(days, series, 1.0, percent),
        f"{percent(borne / sided if sided else None)} of {sided:,} ratings matched the outcome, "
        f"{percent(split / reviews if reviews else None)} of {reviews:,} reviews were split.",
    )


def _overturned(
    key: str,
    title: str,
    hint: str,
    first: tuple[str, str],
    rows: Sequence[Overturned],
    named: Callable[[str], str],
) -> Table:
    return Table(
        key,
        title,
        hint,
        [first, ("Actions", "actions"), ("Overturned", "overturned"), ("Rate", "rate")],
        [
            [
                Cell(named(one.name), one.name),
                _count(one.acted),
                _count(one.overturned),
                Cell(percent(one.share, 1), f"{one.share:.4f}", one.share),
            ]
            for one in rows
        ],
    )


def _begin(trends: Trends) -> tuple[str, str]:
    return ("Day", "day") if trends.period.width == 1 else ("Week from", "week_from")


def _by_part(
    trends: Trends, days: Sequence[str], parts: Sequence[Any], cells: Callable[[Any], list[Cell]]
) -> list[list[Cell]]:
    """A row for each part of the period, newest first."""
    starts: Sequence[date] = trends.period.starts
    rows = [
        [Cell(label, start.isoformat()), *cells(one)]
        for label, start, one in zip(days, starts, parts, strict=True)
    ]
    return rows[::-1]


def _count(value: int) -> Cell:
    return Cell(f"{value:,}", value)


def _duration(seconds: int | None) -> Cell:
    return Cell(duration(seconds), "" if seconds is None else seconds)


def _peak(what: str, days: Sequence[str], values: Sequence[int]) -> str:
    most = max(values, default=0)
    if most == 0:
        return f"No {what}."
    return f"Most {what}: {most:,} on {days[values.index(most)]}."
