"""The tables of the insights page and of its CSV files by day or week, each with its chart."""

from collections.abc import Callable, Sequence
from typing import Any

from app.core.insights.trend_figures import Target, Trends
from app.core.periods import BY_DAY
from app.core.texts import gettext as _
from app.core.texts import ngettext, number
from app.core.vocabulary import ActionState
from app.web import charts
from app.web.charts import Series
from app.web.filters import day_words, percent
from app.web.insights import insight_groups
from app.web.insights.insight_cells import (
    DECISIONS,
    Cell,
    RowLinks,
    Table,
    count_cell,
    duration,
    duration_cell,
)

KEYS = ("volume", "time", "backlog", "raters", "agreement", *insight_groups.KEYS)
DRAWN_ABOVE = 3
"""A target above this multiple of the plotted values is left out, because it would flatten their lines."""


def tables(trends: Trends, links: RowLinks) -> list[Table]:
    """Return all sections, in the order of ``KEYS``; those of moderators only if the community shows them."""
    days = _labels(trends)
    return [
        _volume(trends, days, links),
        _time(trends, days, links),
        _backlog(trends, days, links),
        _raters(trends, days),
        _agreement(trends, days, links),
        *insight_groups.tables(trends, links),
    ]


def why_weeks(trends: Trends, few: int) -> str:
    """Return in a sentence why the page is by week; empty if it is by day."""
    period = trends.period
    if period.width == 1:
        return ""
    if period.days > BY_DAY:
        return _("By week, because the period is longer than %(days)s days.", days=BY_DAY)
    return _(
        "By week, because on most days fewer than %(few)s reviews were decided, too few to compare.", few=few
    )


def _labels(trends: Trends) -> list[str]:
    """Return the name of each day or week. Part of a week says its days."""
    period, names = trends.period, []
    for first, last in zip(period.starts, period.ends, strict=True):
        days = (last - first).days + 1
        name = day_words(first)
        names.append(name if days == period.width else _("%(day)s (%(days)s d)", day=name, days=days))
    return names


def _volume(trends: Trends, days: Sequence[str], links: RowLinks) -> Table:
    parts = (
        (_("Acted on at once"), _("At once"), "acted", 0),
        (_("Sent to review"), _("Review"), "reviewed", 1),
        (_("Let through"), _("Let through"), "ignored", 2),
        (_("Not scored"), _("Unscored"), "unscored", 3),
    )
    series = [
        Series(name, [getattr(day, field) for day in trends.volume], look)
        for name, _, field, look in parts
        if field != "unscored" or any(day.unscored for day in trends.volume)
    ]
    return Table(
        "volume",
        _("Submitted posts"),
        _("By what followed when they were scored."),
        [
            _begin(trends),
            (_("Posts"), "submitted"),
            *((short, field) for _, short, field, _ in parts),
            (_("In part"), "partly_scored"),
        ],
        _by_part(
            trends,
            days,
            trends.volume,
            lambda day: [
                count_cell(day.submitted),
                count_cell(day.acted),
                count_cell(day.reviewed),
                count_cell(day.ignored),
                count_cell(day.unscored),
                count_cell(day.partly_scored),
            ],
            links.by_part(),
        ),
        charts.stacked(days, series),
        _peak(trends, days, [day.submitted for day in trends.volume]) + _partly_scored(trends),
        url=links.history(),
    )


def _partly_scored(trends: Trends) -> str:
    posts = sum(day.partly_scored for day in trends.volume)
    if not posts:
        return ""
    said = ngettext(
        "%(num)s post was scored in part: no classifier reads it for some of your categories.",
        "%(num)s posts were scored in part: no classifier reads them for some of your categories.",
        posts,
    )
    return f" {said}"


def _time(trends: Trends, days: Sequence[str], links: RowLinks) -> Table:
    most, target, level = max((day.p90 or 0 for day in trends.delays), default=0), trends.target, None
    if target is not None and 0 < target.seconds <= DRAWN_ABOVE * most:
        level = (_("Target %(time)s", time=duration(target.seconds)), target.seconds)
    series = [
        Series(_("Half within"), [day.median for day in trends.delays], 0),
        Series(_("9 of 10 within"), [day.p90 for day in trends.delays], 1),
    ]
    whole = trends.delay
    return Table(
        "time",
        _("Time to decision"),
        _("From submission to the end of the review. What is acted on at once is not counted here."),
        [
            _begin(trends),
            (_("Decided"), "decided"),
            (_("Half within"), "median_seconds"),
            (_("9 of 10 within"), "p90_seconds"),
        ],
        _by_part(
            trends,
            days,
            trends.delays,
            lambda day: [count_cell(day.decided), duration_cell(day.median), duration_cell(day.p90)],
            links.by_part(*DECISIONS),
        ),
        charts.lines(
            days,
            series,
            charts.duration_top(max(most, level[1] if level else 0)),
            duration,
            counts=[_("%(count)s decided", count=number(day.decided)) for day in trends.delays],
            level=level,
        ),
        _(
            "Of %(decided)s reviews half were decided within %(half)s, 9 of 10 within %(most)s.",
            decided=number(whole.decided),
            half=duration(whole.median),
            most=duration(whole.p90),
        )
        if whole.decided
        else _("No review was decided."),
        "" if target is None else _target_words(target, whole.median, is_drawn=level is not None),
        links.history(*DECISIONS),
    )


def _target_words(target: Target, median: int | None, *, is_drawn: bool) -> str:
    """Return what the target is, where it comes from and whether it was met."""
    time = duration(target.seconds)
    sentences = [
        _("The dotted line is the target of %(time)s.", time=time)
        if is_drawn
        else _("The target of %(time)s is far above this chart.", time=time)
    ]
    if target.shortest == target.longest:
        sentences.append(_("It is the target time of the categories of this period."))
    else:
        sentences.append(
            _(
                "It is the middle one of the target times of this period's actions, which are from %(shortest)s to "
                "%(longest)s.",
                shortest=duration(target.shortest),
                longest=duration(target.longest),
            )
        )
    sentences.append(_("Half of the reviews should be decided by then."))
    if median is not None:
        sentences.append(_("It was met.") if median <= target.seconds else _("It was missed."))
    return " ".join(sentences)


def _backlog(trends: Trends, days: Sequence[str], links: RowLinks) -> Table:
    waiting = [day.waiting for day in trends.backlog]
    at_end = ngettext("%(num)s review at the end.", "%(num)s reviews at the end.", waiting[-1])
    return Table(
        "backlog",
        _("Waiting for review"),
        _("How many reviews were open at the end of each day or week."),
        [_begin(trends), (_("Began"), "opened"), (_("Ended"), "closed"), (_("Waiting"), "waiting")],
        _by_part(
            trends,
            days,
            trends.backlog,
            lambda day: [count_cell(day.opened), count_cell(day.closed), count_cell(day.waiting)],
            links.by_part(ActionState.UNDER_REVIEW.value, *DECISIONS),
        ),
        charts.lines(days, [Series(_("Waiting"), waiting, 0)], charts.count_top(max(waiting, default=0))),
        f"{at_end} {_peak(trends, days, waiting)}",
        url=links.queue(sort="oldest"),
    )


def _raters(trends: Trends, days: Sequence[str]) -> Table:
    ratings = [day.ratings for day in trends.activity]
    people = [day.raters for day in trends.activity]
    given = ngettext(
        "%(ratings)s ratings by %(num)s person.",
        "%(ratings)s ratings by %(num)s people.",
        trends.raters,
        ratings=number(sum(ratings)),
    )
    series = [Series(_("Ratings"), ratings, 0), Series(_("People who rated"), people, 1)]
    return Table(
        "raters",
        _("Rater activity"),
        _("Ratings given, and by how many people."),
        [_begin(trends), (_("Ratings"), "ratings"), (_("People"), "raters")],
        _by_part(
            trends, days, trends.activity, lambda day: [count_cell(day.ratings), count_cell(day.raters)]
        ),
        charts.lines(days, series, charts.count_top(max([*ratings, *people], default=0))),
        f"{given} {_peak(trends, days, ratings)}",
    )


def _agreement(trends: Trends, days: Sequence[str], links: RowLinks) -> Table:
    series = [
        Series(_("Matched the outcome"), [day.share for day in trends.agreement], 0),
        Series(_("Split"), [day.split_share for day in trends.agreement], 1),
    ]
    sided = sum(day.sided for day in trends.agreement)
    borne = sum(day.borne_out for day in trends.agreement)
    reviews = sum(day.reviews for day in trends.agreement)
    split = sum(day.split for day in trends.agreement)
    return Table(
        "agreement",
        _("Agreement"),
        _(
            "Ratings that matched the outcome, of those that said yes or no; and reviews in which at least a third of "
            "the answers stood against the others."
        ),
        [
            _begin(trends),
            (_("Answered yes or no"), "took_a_side"),
            (_("Matched the outcome"), "borne_out"),
            (_("Reviews"), "reviews"),
            (_("Split"), "split"),
        ],
        _by_part(
            trends,
            days,
            trends.agreement,
            lambda day: [
                count_cell(day.sided),
                Cell(percent(day.share), day.borne_out),
                count_cell(day.reviews),
                Cell(percent(day.split_share), day.split),
            ],
            links.by_part(*DECISIONS),
        ),
        charts.lines(
            days,
            series,
            1.0,
            percent,
            counts=[
                _(
                    "%(ratings)s ratings, %(reviews)s reviews",
                    ratings=number(day.sided),
                    reviews=number(day.reviews),
                )
                for day in trends.agreement
            ],
        ),
        _(
            "%(matched)s of %(ratings)s ratings matched the outcome, %(split)s of %(reviews)s reviews were split.",
            matched=percent(borne / sided if sided else None),
            ratings=number(sided),
            split=percent(split / reviews if reviews else None),
            reviews=number(reviews),
        ),
    )


def _begin(trends: Trends) -> tuple[str, str]:
    return (_("Day"), "day") if trends.period.width == 1 else (_("Week from"), "week_from")


def _by_part(
    trends: Trends,
    days: Sequence[str],
    parts: Sequence[Any],
    cells: Callable[[Any], list[Cell]],
    urls: Sequence[str | None] = (),
) -> list[list[Cell]]:
    """Return a row for each day or week of the period, newest first; ``urls`` are the rows behind each."""
    rows = [
        [Cell(label, start.isoformat(), url=url), *cells(part)]
        for label, start, part, url in zip(
            days, trends.period.starts, parts, urls or [None] * len(days), strict=True
        )
    ]
    return rows[::-1]


def _peak(trends: Trends, days: Sequence[str], values: Sequence[int]) -> str:
    most = max(values, default=0)
    if most == 0:
        return _("None in this period.")
    when, count = days[values.index(most)], number(most)
    if trends.period.width == 1:
        return _("Most: %(count)s on %(day)s.", count=count, day=when)
    return _("Most: %(count)s in the week from %(day)s.", count=count, day=when)
