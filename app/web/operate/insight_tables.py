"""The tables of the insights page and of its CSV files, each with its chart."""

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
    """A value as text for the page and as a value for the CSV file; ``share`` (0.0–1.0) is drawn as a bar."""

    text: str
    raw: object
    share: float | None = None


@dataclass(frozen=True)
class Table:
    """One section. ``columns`` are (heading, name in the file); ``chart`` is None if the table itself has bars."""

    key: str
    title: str
    hint: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    chart: Chart | None = None
    desc: str = ""


def tables(trends: Trends) -> list[Table]:
    """Return all sections, in the order of ``KEYS``."""
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
    """Return a duration in its two largest units: "45 s", "4 min", "2 h 5 min", "3 d 4 h"; a dash if unknown."""
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
        Series(name, [getattr(day, field) for day in trends.volume], look)
        for name, _, field, look in parts
        if field != "unscored" or any(day.unscored for day in trends.volume)
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
            lambda day: [
                _count(day.submitted),
                _count(day.acted),
                _count(day.reviewed),
                _count(day.ignored),
                _count(day.unscored),
            ],
        ),
        charts.stacked(days, series),
        _peak("posts", days, [day.submitted for day in trends.volume]),
    )


def _time(trends: Trends, days: Sequence[str]) -> Table:
    top = charts.duration_top(max((day.p90 or 0 for day in trends.delays), default=0))
    series = [
        Series("Half within", [day.median for day in trends.delays], 0),
        Series("9 of 10 within", [day.p90 for day in trends.delays], 1),
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
            lambda day: [_count(day.decided), _duration(day.median), _duration(day.p90)],
        ),
        charts.lines(days, series, top, duration),
        f"Of {whole.decided:,} reviews half were decided within {duration(whole.median)}, "
        f"9 of 10 within {duration(whole.p90)}."
        if whole.decided
        else "No review was decided.",
    )


def _backlog(trends: Trends, days: Sequence[str]) -> Table:
    waiting = [day.waiting for day in trends.backlog]
    return Table(
        "backlog",
        "Waiting for review",
        "How many reviews were open at the end of each day or week.",
        [_begin(trends), ("Began", "opened"), ("Ended", "closed"), ("Waiting", "waiting")],
        _by_part(
            trends,
            days,
            trends.backlog,
            lambda day: [_count(day.opened), _count(day.closed), _count(day.waiting)],
        ),
        charts.lines(days, [Series("Waiting", waiting, 0)], charts.count_top(max(waiting, default=0))),
        f"{waiting[-1]:,} at the end. " + _peak("reviews", days, waiting),
    )


def _raters(trends: Trends, days: Sequence[str]) -> Table:
    ratings = [day.ratings for day in trends.activity]
    people = [day.raters for day in trends.activity]
    series = [Series("Ratings", ratings, 0), Series("People who rated", people, 1)]
    return Table(
        "raters",
        "Rater activity",
        "Ratings given, and by how many people.",
        [_begin(trends), ("Ratings", "ratings"), ("People", "raters")],
        _by_part(trends, days, trends.activity, lambda day: [_count(day.ratings), _count(day.raters)]),
        charts.lines(days, series, charts.count_top(max([*ratings, *people], default=0))),
        f"{sum(ratings):,} ratings by {trends.raters:,} people. " + _peak("ratings", days, ratings),
    )


def _agreement(trends: Trends, days: Sequence[str]) -> Table:
    series = [
        Series("Matched the outcome", [day.share for day in trends.agreement], 0),
        Series("Split", [day.split_share for day in trends.agreement], 1),
    ]
    sided = sum(day.sided for day in trends.agreement)
    borne = sum(day.borne_out for day in trends.agreement)
    reviews = sum(day.reviews for day in trends.agreement)
    split = sum(day.split for day in trends.agreement)
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
            lambda day: [
                _count(day.sided),
                Cell(percent(day.share), day.borne_out),
                _count(day.reviews),
                Cell(percent(day.split_share), day.split),
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
                Cell(named(row.name), row.name),
                _count(row.acted),
                _count(row.overturned),
                Cell(percent(row.share, 1), f"{row.share:.4f}", row.share),
            ]
            for row in rows
        ],
    )


def _begin(trends: Trends) -> tuple[str, str]:
    return ("Day", "day") if trends.period.width == 1 else ("Week from", "week_from")


def _by_part(
    trends: Trends, days: Sequence[str], parts: Sequence[Any], cells: Callable[[Any], list[Cell]]
) -> list[list[Cell]]:
    """Return a row for each day or week of the period, newest first."""
    starts: Sequence[date] = trends.period.starts
    rows = [
        [Cell(label, start.isoformat()), *cells(part)]
        for label, start, part in zip(days, starts, parts, strict=True)
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
