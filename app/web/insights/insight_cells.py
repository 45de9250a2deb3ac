"""The parts of a table of the insights page and of its CSV file, and words for durations."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.web.charts import Chart


@dataclass(frozen=True)
class Cell:
    """A value as text for the page and as a value for the CSV file; ``share`` (0.0–1.0) is drawn as a bar.

    ``url``: the rows behind the value.
    """

    text: str
    raw: object
    share: float | None = None
    url: str | None = None


@dataclass(frozen=True)
class Table:
    """One section. ``columns`` are (heading, name in the file); a column without a name is on the page only.

    ``chart`` is None if the table itself has bars; ``note`` explains what is in the chart, or who is left out.
    """

    key: str
    title: str
    hint: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    chart: Chart | None = None
    desc: str = ""
    note: str = ""

    def lines(self) -> list[list[object]]:
        """The file: the names of the columns, and the rows."""
        named = [place for place, (_, name) in enumerate(self.columns) if name]
        return [
            [self.columns[place][1] for place in named],
            *([row[place].raw for place in named] for row in self.rows),
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


def count_cell(value: int, url: str | None = None) -> Cell:
    """Return a number, linked to its rows unless it is 0."""
    return Cell(f"{value:,}", value, url=url if value else None)


def duration_cell(seconds: int | None) -> Cell:
    """Return a number of seconds."""
    return Cell(duration(seconds), "" if seconds is None else seconds)
