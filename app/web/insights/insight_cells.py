"""The cells of the tables of the insights page and its CSV file: durations in words, and links to the rows counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Self

from flask import url_for

from app.core import texts
from app.core.insights.groups import DECIDED
from app.core.periods import Period
from app.core.permissions import Actor, Permission, allows
from app.core.texts import gettext as _
from app.core.vocabulary import ActionState
from app.web import auth
from app.web.charts import Chart
from app.web.filter_forms import Query, encoded


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

    ``chart`` is None if the table itself has bars; ``desc`` is what it shows, in a sentence; ``note`` explains what is
    in the chart, or who is left out. ``url``: the rows behind all of it.
    """

    key: str
    title: str
    hint: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    chart: Chart | None = None
    desc: str = ""
    note: str = ""
    url: str | None = None

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
        return _("%(seconds)s s", seconds=whole)
    minutes = whole // 60
    if minutes < 60:
        return _("%(minutes)s min", minutes=minutes)
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        if minutes:
            return _("%(hours)s h %(minutes)s min", hours=hours, minutes=minutes)
        return _("%(hours)s h", hours=hours)
    days, hours = divmod(hours, 24)
    if hours and days < 10:
        return _("%(days)s d %(hours)s h", days=days, hours=hours)
    return _("%(days)s d", days=texts.number(days))


def count_cell(value: int, url: str | None = None) -> Cell:
    """Return a number, linked to its rows unless it is 0."""
    return Cell(texts.number(value), value, url=url if value else None)


def duration_cell(seconds: int | None) -> Cell:
    """Return a number of seconds."""
    return Cell(duration(seconds), "" if seconds is None else seconds)


DECISIONS = tuple(what.removeprefix("action.") for what in DECIDED)
"""The states that end a review."""


@dataclass(frozen=True)
class RowLinks:
    """Links of one page: of its ``period``, for its reader. ``base`` is kept in each: the community, if it is named."""

    period: Period
    base: Query
    sees_classifiers: bool
    sees_community: bool

    @classmethod
    def for_reader(cls, period: Period, base: Query) -> Self:
        """Return the links for the signed-in reader."""
        actor: Actor = auth.current_actor()
        community_id = auth.current_community().id
        return cls(
            period,
            base,
            allows(actor, Permission.REVISE_POLICY, community_id),
            allows(actor, Permission.SEE_SETTINGS, community_id),
        )

    def history(
        self, *states: str, first: date | None = None, last: date | None = None, **filters: str
    ) -> str:
        """Return the action history of the whole period or of these days, of entries that led to these states."""
        query: Query = {**self.base, **filters}
        if states:
            query["state"] = sorted(states)
        query["from"] = (first or self.period.first).isoformat()
        query["to"] = (last or self.period.last).isoformat()
        return f"{url_for('web.history_page')}?{encoded(query)}"

    def overturned(self, **filters: str) -> str:
        """Return what was overturned since the period began: also later, as the figures count it."""
        query: Query = {
            **self.base,
            **filters,
            "state": ActionState.OVERTURNED.value,
            "from": self.period.first.isoformat(),
        }
        return f"{url_for('web.history_page')}?{encoded(query)}"

    def by_part(self, *states: str) -> Sequence[str]:
        """Return the action history of each day or week."""
        return [
            self.history(*states, first=first, last=last)
            for first, last in zip(self.period.starts, self.period.ends, strict=True)
        ]

    def queue(self, **filters: str) -> str:
        """Return the review queue with these filters."""
        return self._page(url_for("web.review"), **filters)

    def classifiers(self) -> str | None:
        """Return the page of the classifiers, for those who may see it."""
        return self._page(url_for("web.classifiers")) if self.sees_classifiers else None

    def webhook(self, webhook_id: object) -> str:
        """Return the page of a webhook."""
        return url_for("web.webhook_page", webhook_id=webhook_id)

    def paused(self) -> str:
        """Return where automatic actions are resumed, or what they sent to review for those who may not."""
        if self.sees_community:
            return self._page(url_for("web.community_page", section="danger"))
        return self.queue(sort="newest")

    def _page(self, url: str, **filters: str) -> str:
        query = {**self.base, **filters}
        return f"{url}?{encoded(query)}" if query else url
