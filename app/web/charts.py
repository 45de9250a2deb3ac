"""Converts data into the rectangles and lines of a chart. ``macros/charts.html`` draws them.

A chart is a box of ``WIDTH`` by ``HEIGHT`` that the page stretches, so it contains no text: labels are in drawings of
their own, placed by per cent. Series differ by pattern or dashes, not only by colour.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.core import texts
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

DAYS = (
    lazy_gettext("Mon"),
    lazy_gettext("Tue"),
    lazy_gettext("Wed"),
    lazy_gettext("Thu"),
    lazy_gettext("Fri"),
    lazy_gettext("Sat"),
    lazy_gettext("Sun"),
)
WIDTH, HEIGHT = 1_000.0, 300.0
GAP = 0.2
"""The gap between two columns, as a share of a column's width."""
LEVEL = 2
"""The look of a line across the chart."""
MOST_TOTALS = 15
"""With more columns than this, the numbers above them would run into each other."""
LEAST_GAP = 8.0
"""The least distance between two labels beside the chart, in per cent of its height."""
SPARK_WIDTH, SPARK_HEIGHT = 100.0, 24.0

Format = Callable[[float], str]

_TENTHS = (10, 12, 16, 20, 30, 40, 60, 80, 100)
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_DURATIONS = (
    *(count * _MINUTE for count in (1, 2, 4, 10, 20, 30)),
    *(count * _HOUR for count in (1, 2, 4, 8, 12)),
    *(count * _DAY for count in (1, 2, 4, 8, 14, 30, 60, 120, 240, 500, 1_000)),
)


@dataclass(frozen=True)
class Series:
    """Values by column, None where a value is missing. ``look`` 0–3 selects the pattern."""

    name: str
    values: Sequence[float | None]
    look: int


@dataclass(frozen=True)
class Box:
    """A rectangle in the chart's units; ``x`` and ``y`` are its top left corner."""

    x: float
    y: float
    width: float
    height: float
    look: int


@dataclass(frozen=True)
class Line:
    """A line through points (``points``) and the points as single dots (``dots``), in SVG syntax."""

    points: str
    dots: str
    look: int


@dataclass(frozen=True)
class Label:
    """A text in the chart or beside it; ``x`` and ``y`` are per cent of its width and height."""

    text: str
    y: float
    x: float = 0.0
    look: int = 0


@dataclass(frozen=True)
class Chart:
    """All parts of a chart. ``columns`` are their tooltips; ``ticks`` are the axis labels from top to bottom.

    ``totals`` are the numbers above stacked columns, ``ends`` the names of the series at their right ends.
    """

    bars: Sequence[Box]
    lines: Sequence[Line]
    columns: Sequence[str]
    ticks: Sequence[str]
    labels: Sequence[str]
    legend: Sequence[Series]
    is_line: bool
    totals: Sequence[Label] = ()
    ends: Sequence[Label] = ()
    width: float = WIDTH
    height: float = HEIGHT


def stacked(labels: Sequence[str], series: Sequence[Series]) -> Chart:
    """Return a chart of stacked columns, the first series at the bottom."""
    sums = [sum(item.values[number] or 0 for item in series) for number in range(len(labels))]
    top = count_top(max(sums, default=0))
    step = WIDTH / max(1, len(labels))
    bars, ends = [], []
    for number in range(len(labels)):
        base = 0.0
        for item in series:
            value = item.values[number] or 0
            if value:
                height = value / top * HEIGHT
                x, y = number * step + step * GAP / 2, HEIGHT - base - height
                bars.append(Box(_round(x), _round(y), _round(step * (1 - GAP)), _round(height), item.look))
                base += height
                if number == len(labels) - 1:
                    ends.append(Label(item.name, 100 * (y + height / 2) / HEIGHT, look=item.look))
    totals = [
        Label(
            texts.number(total), _round(100 - total / top * 100), _round((number + 0.5) * step / WIDTH * 100)
        )
        for number, total in enumerate(sums)
        if total and len(labels) <= MOST_TOTALS
    ]
    chart = _chart(labels, series, top, texts.number, bars=bars)
    return replace(chart, totals=totals, ends=spread(ends))


def lines(
    labels: Sequence[str],
    series: Sequence[Series],
    top: float,
    format_value: Format = texts.number,
    *,
    counts: Sequence[str] = (),
    level: tuple[str, float] | None = None,
) -> Chart:
    """Return a line chart, with gaps where a value is missing. ``top`` is the upper end of the axis.

    ``counts``: of how many cases each column is. ``level``: a name and the value at which a line goes across.
    """
    step = WIDTH / max(1, len(labels))
    drawn, ends = [], []
    for item in series:
        last = next((value for value in reversed(item.values) if value is not None), None)
        if last is not None:
            ends.append(Label(item.name, 100 - last / top * 100, look=item.look))
        for run in _runs(item.values):
            points = [
                f"{_round((number + 0.5) * step)},{_round(HEIGHT - value / top * HEIGHT)}"
                for number, value in run
            ]
            drawn.append(Line(" ".join(points), "".join(f"M{point}h0" for point in points), item.look))
    if level is None:
        chart = _chart(labels, series, top, format_value, drawn=drawn, counts=counts)
        return replace(chart, ends=spread(ends))
    name, value = level
    across = _round(HEIGHT - value / top * HEIGHT)
    line = Line(f"0,{across} {WIDTH},{across}", "", LEVEL)
    chart = _chart(labels, series, top, format_value, drawn=[line, *drawn], counts=counts)
    ends.append(Label(name, 100 - value / top * 100, look=LEVEL))
    return replace(chart, legend=[*series, Series(name, (), LEVEL)], ends=spread(ends))


def spread(labels: Sequence[Label]) -> list[Label]:
    """Move labels apart that would cover each other, as little as possible and within the chart; from top to bottom."""
    placed: list[Label] = []
    for label in sorted(labels, key=lambda label: label.y):
        least = placed[-1].y + LEAST_GAP if placed else 0.0
        placed.append(replace(label, y=max(label.y, least)))
    floor = 100.0
    for number in reversed(range(len(placed))):
        placed[number] = replace(placed[number], y=_round(min(placed[number].y, floor)))
        floor = placed[number].y - LEAST_GAP
    return placed


def sparkline(values: Sequence[float | None]) -> list[str]:
    """Return the points of a small line without axes from 0 to its highest value; one list of points between gaps."""
    top = max((value for value in values if value is not None), default=0) or 1
    step = SPARK_WIDTH / max(1, len(values) - 1)
    return [
        " ".join(
            f"{_round(number * step)},{_round(SPARK_HEIGHT - 2 - value / top * (SPARK_HEIGHT - 4))}"
            for number, value in (run if len(run) > 1 else run * 2)
        )
        for run in _runs(values)
    ]


def count_top(most: float) -> float:
    """Return a round number of at least 2 that is not less than ``most``. Even, because its half is a label too."""
    if most <= 10:
        return max(2.0, 2.0 * math.ceil(most / 2))
    scale = 10.0 ** (math.floor(math.log10(most)) - 1)
    return next(step * scale for step in _TENTHS if step * scale >= most)


def duration_top(most: float) -> float:
    """Return a duration in seconds, round in minutes, hours or days, that is not less than ``most`` (seconds)."""
    return float(next((seconds for seconds in _DURATIONS if seconds >= most), count_top(most)))


def _chart(
    labels: Sequence[str],
    series: Sequence[Series],
    top: float,
    format_value: Format,
    *,
    bars: Sequence[Box] = (),
    drawn: Sequence[Line] = (),
    counts: Sequence[str] = (),
) -> Chart:
    columns = []
    for number, label in enumerate(labels):
        values = [(item.name, item.values[number]) for item in series]
        parts = ", ".join(f"{name} {format_value(value)}" for name, value in values if value is not None)
        parts = parts or _("nothing")
        of_how_many = f" ({counts[number]})" if counts else ""
        columns.append(f"{label}: {parts}{of_how_many}")
    last = len(labels) - 1
    ends = [labels[number] for number in sorted({0, last // 2, last})] if labels else []
    return Chart(
        bars=bars,
        lines=drawn,
        columns=columns,
        ticks=[format_value(top), format_value(top / 2), format_value(0)],
        labels=ends,
        legend=series,
        is_line=not bars and bool(drawn),
    )


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Split the values into runs without gaps; each item is (column, value)."""
    runs: list[list[tuple[int, float]]] = [[]]
    for number, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((number, value))
    return [run for run in runs if run]


def _round(value: float) -> float:
    return round(value, 1)


@dataclass(frozen=True)
class DayBar:
    """One day of the reader's week. ``height`` is 2 to 100, the busiest day's 100; ``url`` None: it has no rows."""

    name: str
    count: int
    height: int
    url: str | None


def week(days: Sequence[tuple[date, int, str]]) -> Sequence[DayBar]:
    """Bars for (day, count, URL of its rows); none if nothing was done on any of the days."""
    most = max(count for _day, count, _url in days)
    if not most:
        return []
    return [
        DayBar(DAYS[day.weekday()], count, max(2, round(100 * count / most)), url if count else None)
        for day, count, url in days
    ]
