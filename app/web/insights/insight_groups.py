"""The tables of the insights page by category, classifier, channel and moderator."""

from collections.abc import Callable, Mapping, Sequence

from app.core.insights.groups import CHANNELS
from app.core.insights.trend_figures import Decisions, Overturned, Trends
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number, pgettext
from app.core.vocabulary import ActionState
from app.web.categories import category_name
from app.web.filters import channel, percent
from app.web.insights.insight_cells import DECISIONS, Cell, RowLinks, Table, count_cell, duration_cell

KEYS = ("categories", "classifiers", "channels", "moderators")
ERASED = lazy_gettext("Erased account")


def tables(trends: Trends, links: RowLinks) -> list[Table]:
    """Return the tables in the order of ``KEYS``; that of moderators only if the community shows it."""
    before = trends.before
    rate_before = _("Rate, %(before)s", before=before_words(trends))
    return [
        Table(
            "categories",
            _("Overturned by category"),
            _("Actions sent to the platform in this period, and how many of them were overturned since."),
            [(_("Category"), "category"), *_columns(), (rate_before, "")],
            _rows(
                trends.categories,
                before.categories,
                lambda row: Cell(category_name(row.name), row.name, url=links.history(category=row.name)),
                lambda row: links.history(ActionState.PROPOSED.value, category=row.name),
                lambda row: links.overturned(category=row.name),
            ),
            desc=_worst(trends.categories, category_name),
            url=links.overturned(),
        ),
        Table(
            "classifiers",
            _("Overturned by classifier"),
            _("The same, by the classifier that scored highest. Actions without a score are left out."),
            [(_("Classifier"), "classifier"), *_columns(), (rate_before, "")],
            _rows(
                trends.classifiers,
                before.classifiers,
                lambda row: Cell(row.name, row.name, url=links.classifiers()),
            ),
            desc=_worst(trends.classifiers, str),
        ),
        Table(
            "channels",
            _("Overturned by channel"),
            _(
                "The same, by the channel of the post: the %(most)s with most actions. A channel leads to what waits "
                "in it.",
                most=CHANNELS,
            ),
            [(_("Channel"), "channel"), *_columns()],
            _rows(
                trends.channels,
                None,
                lambda row: Cell(channel(row.name), row.name, url=links.queue(channel=row.name)),
            ),
            desc=_worst(trends.channels, channel),
        ),
        *([] if trends.moderators is None else [_moderators(trends.moderators, links)]),
    ]


def _worst(rows: Sequence[Overturned], title: Callable[[str], str]) -> str:
    """Return in a sentence where most was overturned."""
    worst = max(rows, key=lambda row: (row.overturned, row.share), default=None)
    if worst is None or not worst.overturned:
        return _("Nothing was overturned.")
    return ngettext(
        "Most of it: %(name)s, %(overturned)s of %(num)s action.",
        "Most of it: %(name)s, %(overturned)s of %(num)s actions.",
        worst.acted,
        name=title(worst.name),
        overturned=number(worst.overturned),
    )


def before_words(trends: Trends) -> str:
    """Return when the period before was: "in the 30 days before"."""
    days = trends.period.days
    return ngettext("on the day before", "in the %(num)s days before", days)


def _columns() -> Sequence[tuple[str, str]]:
    return (_("Actions"), "actions"), (_("Overturned"), "overturned"), (pgettext("a share", "Rate"), "rate")


def _rows(
    rows: Sequence[Overturned],
    before: Sequence[Overturned] | None,
    first: Callable[[Overturned], Cell],
    acted_url: Callable[[Overturned], str | None] = lambda row: None,
    overturned_url: Callable[[Overturned], str | None] = lambda row: None,
) -> list[list[Cell]]:
    earlier: Mapping[str, Overturned] = {row.name: row for row in before or ()}
    return [
        [
            first(row),
            count_cell(row.acted, acted_url(row)),
            count_cell(row.overturned, overturned_url(row)),
            _rate(row.share),
            *([] if before is None else [_earlier(earlier.get(row.name))]),
        ]
        for row in rows
    ]


def _rate(share: float) -> Cell:
    return Cell(percent(share, 1), f"{share:.4f}", share)


def _earlier(row: Overturned | None) -> Cell:
    return Cell(
        "–"
        if row is None
        else _("%(share)s of %(cases)s", share=percent(row.share, 1), cases=number(row.acted)),
        "",
    )


def _moderators(rows: Sequence[Decisions], links: RowLinks) -> Table:
    return Table(
        "moderators",
        _("Decisions by moderator"),
        _(
            "Reviews that each moderator decided in this period, the median time from submission to their decision, "
            "and how many were overturned, taken back or reopened since. Few decisions say little about a person."
        ),
        [
            (_("Moderator"), "moderator"),
            (_("Decisions"), "decisions"),
            (_("Half within"), "median_seconds"),
            (_("Overturned"), "overturned"),
            (pgettext("a share", "Rate"), "rate"),
        ],
        [
            [
                Cell(
                    row.name or str(ERASED), row.name, url=links.history(actor=row.name) if row.name else None
                ),
                count_cell(row.decided, links.history(*DECISIONS, actor=row.name) if row.name else None),
                duration_cell(row.median),
                count_cell(row.reversed),
                _rate(row.share),
            ]
            for row in rows
        ],
    )
