"""The headline figures of the insights page: each with what it was in the period before, and its rows."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.insights.trend_figures import Totals, Trends
from app.web.filters import percent
from app.web.insights.insight_cells import duration
from app.web.insights.insight_groups import before_words
from app.web.insights.insight_links import DECISIONS, RowLinks


@dataclass(frozen=True)
class Headline:
    """One figure: its label, value, a hint, what it was before, and the rows behind it."""

    label: str
    value: str
    hint: str
    before: str
    url: str | None = None


def headlines(trends: Trends, links: RowLinks) -> list[Headline]:
    """Return the figures of the whole period."""
    now, before, when = trends.totals, trends.before, before_words(trends)
    acted, reviewed = sum(item.acted for item in trends.volume), sum(item.reviewed for item in trends.volume)
    return [
        Headline(
            "Submitted",
            f"{now.submitted:,}",
            f"{acted:,} acted on at once, {reviewed:,} sent to review",
            compared(now.submitted, before.submitted, "{:,.0f}".format, when),
            links.history(),
        ),
        Headline(
            "Time to decision",
            duration(now.delay.median),
            f"9 of 10 within {duration(now.delay.p90)}, of {now.delay.decided:,} decided",
            compared(now.delay.median, before.delay.median, duration, when),
            links.history(*DECISIONS),
        ),
        Headline(
            "Waiting at the end",
            f"{now.waiting:,}",
            "reviews",
            compared(now.waiting, before.waiting, "{:,.0f}".format, "when it began"),
            links.queue(sort="oldest"),
        ),
        Headline(
            "Ratings",
            f"{now.ratings:,}",
            f"by {now.raters:,} people",
            compared(now.ratings, before.ratings, "{:,.0f}".format, when),
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
            links.overturned(),
        ),
    ]


def compared(now: float | None, before: float | None, shown: Callable[[float], str], when: str) -> str:
    """Return in words what a figure was before: "Up from 104 the 30 days before"."""
    if before is None:
        return f"None {when}"
    if now is None:
        return f"{shown(before)} {when}"
    if shown(now) == shown(before):
        return f"The same {when}"
    return f"{'Up' if now > before else 'Down'} from {shown(before)} {when}"


def _rate(totals: Totals) -> float | None:
    return totals.overturned / totals.actions if totals.actions else None
