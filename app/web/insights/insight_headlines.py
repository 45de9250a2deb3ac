"""The five figures of a period on the insights page, and which of them changed most."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.insights.trend_figures import Totals, Trends
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
            "Posts",
            f"{now.submitted:,}",
            f"{acted:,} acted on at once, {reviewed:,} sent to review",
            compared(now.submitted, before.submitted, "{:,.0f}".format, when),
            "volume",
            charts.sparkline([day.submitted for day in trends.volume]),
            _change(now.submitted, before.submitted, 1, max(now.submitted, before.submitted)),
        ),
        Headline(
            "Time to decision",
            duration(now.delay.median),
            f"9 of 10 within {duration(now.delay.p90)}, of {now.delay.decided:,} decided",
            compared(now.delay.median, before.delay.median, duration, when),
            "time",
            charts.sparkline([day.median for day in trends.delays]),
            _change(now.delay.median, before.delay.median, 60, min(now.delay.decided, before.delay.decided)),
        ),
        Headline(
            "Waiting at the end",
            f"{now.waiting:,}",
            "reviews",
            compared(now.waiting, before.waiting, "{:,.0f}".format, "when it began"),
            "backlog",
            charts.sparkline([day.waiting for day in trends.backlog]),
            _change(now.waiting, before.waiting, 1, max(now.waiting, before.waiting)),
        ),
        Headline(
            "Ratings",
            f"{now.ratings:,}",
            f"by {now.raters:,} people",
            compared(now.ratings, before.ratings, "{:,.0f}".format, when),
            "raters",
            charts.sparkline([day.ratings for day in trends.activity]),
            _change(now.ratings, before.ratings, 1, max(now.ratings, before.ratings)),
        ),
        Headline(
            "Overturned",
            percent(_rate(now), 1),
            f"{now.overturned:,} of {now.actions:,} actions",
            compared(
                _rate(now), _rate(before), lambda share: percent(share, 1), f"of {before.actions:,} {when}"
            )
            if before.actions
            else f"No actions {when}",
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
    """Return in words what a figure was before: "Up from 104 the 30 days before"."""
    if before is None:
        return f"None {when}"
    if now is None:
        return f"{shown(before)} {when}"
    if shown(now) == shown(before):
        return f"The same {when}"
    return f"{'Up' if now > before else 'Down'} from {shown(before)} {when}"


def _change(now: float | None, before: float | None, least: float, cases: int) -> float:
    """``least``: what is added to both, so that a change between small values is a small one."""
    if now is None or before is None or cases < FEW:
        return 0.0
    return math.log((now + least) / (before + least))


def _rate(totals: Totals) -> float | None:
    return totals.overturned / totals.actions if totals.actions else None
