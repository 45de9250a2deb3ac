"""The five figures of a period on the insights page, and which of them changed most."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.insights.trend_figures import Totals, Trends
from app.core.texts import gettext as _
from app.core.texts import ngettext, number
from app.web import charts
from app.web.filters import percent
from app.web.insights.insight_cells import duration
from app.web.insights.insight_groups import before_words

FEW = 10
"""A figure of fewer cases than this, in both periods, changes by chance: it is not said to have changed most."""
NOTABLE = math.log(1.2)
"""A smaller change than this, up or down, is none to speak of."""


@dataclass(frozen=True)
class Headline:
    """One figure: its label, value, a hint, what it was before, and the key of the table whose chart it opens.

    ``spark``: its values over the period, as ``charts.sparkline`` draws them. ``change``: the logarithm of how many
    times as large it is as before; 0 where there are too few cases.
    """

    label: str
    value: str
    hint: str
    before: str
    key: str
    spark: Sequence[str]
    change: float


def headlines(trends: Trends) -> list[Headline]:
    """Return the figures of the whole period."""
    now, before, when = trends.totals, trends.before, before_words(trends)
    acted, reviewed = sum(item.acted for item in trends.volume), sum(item.reviewed for item in trends.volume)
    return [
        Headline(
            _("Posts"),
            number(now.submitted),
            _(
                "%(acted)s acted on at once, %(reviewed)s sent to review",
                acted=number(acted),
                reviewed=number(reviewed),
            ),
            compared(now.submitted, before.submitted, number, when),
            "volume",
            charts.sparkline([day.submitted for day in trends.volume]),
            _change(now.submitted, before.submitted, 1, max(now.submitted, before.submitted)),
        ),
        Headline(
            _("Time to decision"),
            duration(now.delay.median),
            _(
                "9 of 10 within %(time)s, of %(decided)s decided",
                time=duration(now.delay.p90),
                decided=number(now.delay.decided),
            ),
            compared(now.delay.median, before.delay.median, duration, when),
            "time",
            charts.sparkline([day.median for day in trends.delays]),
            _change(now.delay.median, before.delay.median, 60, min(now.delay.decided, before.delay.decided)),
        ),
        Headline(
            _("Waiting at the end"),
            number(now.waiting),
            ngettext("review", "reviews", now.waiting),
            compared(now.waiting, before.waiting, number, _("when it began")),
            "backlog",
            charts.sparkline([day.waiting for day in trends.backlog]),
            _change(now.waiting, before.waiting, 1, max(now.waiting, before.waiting)),
        ),
        Headline(
            _("Ratings"),
            number(now.ratings),
            ngettext("by %(num)s person", "by %(num)s people", now.raters),
            compared(now.ratings, before.ratings, number, when),
            "raters",
            charts.sparkline([day.ratings for day in trends.activity]),
            _change(now.ratings, before.ratings, 1, max(now.ratings, before.ratings)),
        ),
        Headline(
            _("Overturned"),
            percent(_rate(now), 1),
            ngettext(
                "%(overturned)s of %(num)s action",
                "%(overturned)s of %(num)s actions",
                now.actions,
                overturned=number(now.overturned),
            ),
            compared(
                _rate(now),
                _rate(before),
                lambda share: percent(share, 1),
                _("of %(actions)s %(before)s", actions=number(before.actions), before=when),
            )
            if before.actions
            else _("No actions %(before)s", before=when),
            "categories",
            charts.sparkline(trends.overturned),
            _change(_rate(now), _rate(before), 0.05, min(now.actions, before.actions)),
        ),
    ]


def changed_most(figures: Sequence[Headline]) -> Headline | None:
    """Return the figure that changed most against the period before; None if none did notably."""
    most = max(figures, key=lambda figure: abs(figure.change))
    return most if abs(most.change) >= NOTABLE else None


def compared(now: float | None, before: float | None, shown: Callable[[float], str], when: str) -> str:
    """Return in words what a figure was before: "Up from 104 in the 30 days before"."""
    if before is None:
        return _("None %(before)s", before=when)
    if now is None:
        return _("%(value)s %(before)s", value=shown(before), before=when)
    if shown(now) == shown(before):
        return _("The same %(before)s", before=when)
    if now > before:
        return _("Up from %(value)s %(before)s", value=shown(before), before=when)
    return _("Down from %(value)s %(before)s", value=shown(before), before=when)


def _change(now: float | None, before: float | None, least: float, cases: int) -> float:
    """``least``: what is added to both, so that a change between small values is a small one."""
    if now is None or before is None or cases < FEW:
        return 0.0
    return math.log((now + least) / (before + least))


def _rate(totals: Totals) -> float | None:
    return totals.overturned / totals.actions if totals.actions else None
