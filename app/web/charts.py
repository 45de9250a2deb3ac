"""Plots as geometry: data in, rectangles and lines out. ``macros/charts.html`` draws them.

A plot fills a box of ``WIDTH`` by ``HEIGHT`` that is stretched to whatever room there is, so it holds no text: the
axes' words stand around it. What tells series apart is a pattern or dashes, never colour alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 1_000.0, 300.0
GAP = 0.2
"""The part of a column that is left free between two."""

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
    """Values by column, None where there is nothing to tell. ``look`` 0–3 chooses the pattern."""

    name: str
    values: Sequence[float | None]
    look: int


@dataclass(frozen=True)
class Box:
    """A rectangle in the plot's own units, from its top left corner."""

    x: float
    y: float
    width: float
    height: float
    look: int = 0
    title: str = ""


@dataclass(frozen=True)
class Line:
    """Points joined by a line, and the same points each for itself, as SVG writes them."""

    points: str
    dots: str
    look: int


@dataclass(frozen=True)
class Chart:
    """Everything that is drawn. ``columns`` carry what a pointer reads, ``ticks`` the axis from top to bottom."""

    bars: Sequence[Box]
    lines: Sequence[Line]
    columns: Sequence[Box]
    ticks: Sequence[str]
    labels: Sequence[str]
    legend: Sequence[Series]
    is_line: bool
    width: float = WIDTH
    height: float = HEIGHT


def stacked(labels: Sequence[str], series: Sequence[Series], shown: Format = "{:,.0f}".format) -> Chart:
    """Columns of parts, the first series at the bottom."""
    sums = [sum(one.values[number] or 0 for one in series) for number in range(len(labels))]
    top = count_top(max(sums, default=0))
    step = WIDTH / max(1, len(labels))
    bars = []
    for number in range(len(labels)):
        base = 0.0
        for one in series:
            value = one.values[number] or 0
            if value:
                height = value / top * HEIGHT
                x, y = number * step + step * GAP / 2, HEIGHT - base - height
                bars.append(Box(_round(x), _round(y), _round(step * (1 - GAP)), _round(height), one.look))
                base += height
    return _chart(labels, series, top, shown, bars=bars)


def lines(
    labels: Sequence[str], series: Sequence[Series], top: float, shown: Format = "{:,.0f}".format
) -> Chart:
    """Lines over the columns' middles, broken where a value is missing. ``top`` is the axis's upper end."""
    step = WIDTH / max(1, len(labels))
    drawn = []
    for one in series:
        for run in _runs(one.values):
            points = [
                f"{_round((number + 0.5) * step)},{_round(HEIGHT - value / top * HEIGHT)}"
                for number, value in run
            ]
            drawn.append(Line(" ".join(points), "".join(f"M{point}h0" for point in points), one.look))
    return _chart(labels, series, top, shown, drawn=drawn)


def count_top(most: float) -> float:
    """An even number, round and at least 2, that is no less than ``most``: its half is written beside it."""
    if most <= 10:
        return max(2.0, 2.0 * math.ceil(most / 2))
    scale = 10.0 ** (math.floor(math.log10(most)) - 1)
    return next(step * scale for step in _TENTHS if step * scale >= most)


def duration_top(most: float) -> float:
    """A length of time in seconds, round in minutes, hours or days, that is no less than ``most``."""
    return float(next((seconds for seconds in _DURATIONS if seconds >= most), count_top(most)))


def _chart(
    labels: Sequence[str],
    series: Sequence[Series],
    top: float,
    shown: Format,
    *,
    bars: Sequence[Box] = (),
    drawn: Sequence[Line] = (),
) -> Chart:
    step = WIDTH / max(1, len(labels))
    columns = []
    for number, label in enumerate(labels):
        values = [(one.name, one.values[number]) for one in series]
        told = ", ".join(f"{name} {shown(value)}" for name, value in values if value is not None)
        columns.append(
            Box(_round(number * step), 0, _round(step), HEIGHT, title=f"{label}: {told or 'nothing'}")
        )
    last = len(labels) - 1
    ends = [labels[number] for number in sorted({0, last // 2, last})] if labels else []
    return Chart(
        bars=bars,
        lines=drawn,
        columns=columns,
        ticks=[shown(top), shown(top / 2), shown(0)],
        labels=ends,
        legend=series,
        is_line=not bars and bool(drawn),
    )


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Stretches of neighbouring values."""
    runs: list[list[tuple[int, float]]] = [[]]
    for number, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((number, value))
    return [run for run in runs if run]


def _round(value: float) -> float:
    return round(value, 1)
