"""Insights page for moderators: headline figures, charts and tables about a period, also as CSV."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flask import Response, abort, url_for
from wtforms import DateField, HiddenField, SelectField
from wtforms.validators import Optional

from app.core import clock
from app.core.errors import Invalid
from app.core.insights import concerns, trends
from app.core.periods import Period
from app.core.permissions import Permission
from app.core.texts import lazy_gettext
from app.process.replica_reads import may_be_old
from app.web import auth, community_choice, csv_files, filter_forms, forms, page, reader_zone
from app.web.blueprint import web
from app.web.filter_forms import FilterForm, Query, check_year, encoded
from app.web.filters import day_words
from app.web.insights import insight_concerns, insight_tables
from app.web.insights.insight_cells import RowLinks
from app.web.insights.insight_headlines import changed_most, headlines
from app.wiring import wired

DEFAULT = 30
DAYS = {7: lazy_gettext("7 days"), DEFAULT: lazy_gettext("30 days"), 90: lazy_gettext("90 days")}

MOST_MATTERS = 8
MOST_ROWS = 10
"""How many days or weeks the tables show at first: with more, a page of a month would have too many elements."""


class PeriodForm(FilterForm):
    """A period in the URL: a number of days until today, or From and To. Days are in the reader's time zone.

    ``rows``: "all" shows all rows of the tables.
    """

    community = HiddenField()
    days = SelectField(lazy_gettext("Period"), choices=forms.choices(DAYS), default=str(DEFAULT))
    from_day = DateField(lazy_gettext("From"), [Optional()], name="from")
    to_day = DateField(lazy_gettext("To"), [Optional()], name="to")
    rows = HiddenField()

    def validate_from_day(self, field: DateField) -> None:
        check_year(field)

    def validate_to_day(self, field: DateField) -> None:
        check_year(field)

    @property
    def is_chosen(self) -> bool:
        """Whether From or To is set, instead of a number of days."""
        return bool(self.from_day.data or self.to_day.data)

    def period(self) -> Period:
        """Return the period of a valid form. Raises Invalid if it is empty or too long."""
        zone = reader_zone.zone()
        last = self.to_day.data or clock.now().astimezone(zone).date()
        count = DEFAULT if self.is_chosen else int(self.days.data)
        return Period(self.from_day.data or last - timedelta(days=count - 1), last, zone)


@web.get("/insights")
@auth.needs(Permission.SEE_HISTORY)
@may_be_old
def insights_page() -> Response:
    form = forms.queried(PeriodForm)
    period, query, base = _period(form), form.query(), community_choice.carried()
    return page.render(
        "insights/insights.html",
        status=422 if form.errors else 200,
        filters=form,
        chips=filter_forms.chips(form, url_for("web.insights_page")),
        clear_url=url_for("web.insights_page", **base),
        **(_NOTHING if period is None else _figures(period, base)),
        periods=[
            (
                words,
                f"{url_for('web.insights_page')}?{encoded({**base, 'days': str(days)})}",
                _is_shown(form, days),
            )
            for days, words in DAYS.items()
        ],
        most_rows=None if form.rows.data == "all" else MOST_ROWS,
        all_url=f"{url_for('web.insights_page')}?{encoded({**query, 'rows': 'all'})}",
        csv_url=f"{url_for('web.insights_csv')}?{encoded(query)}{'&' if query else ''}table=",
        zone=reader_zone.name(),
    )


@web.get("/insights.csv")
@auth.needs(Permission.SEE_HISTORY)
@may_be_old
def insights_csv() -> Response:
    """Return one table as CSV; for an invalid period, shows the page instead.

    Raises NotFound for an unknown table, and for that of moderators unless the community shows it.
    """
    form = forms.queried(PeriodForm)
    key = forms.query_arg("table")
    if key not in insight_tables.KEYS:
        abort(404)
    period = _period(form)
    if period is None:
        return insights_page()
    community = auth.current_community()
    with wired().database.reading() as session:
        found = trends.for_community(session, auth.current_actor(), community.id, period)
    links = RowLinks.for_reader(found.period, community_choice.carried())
    table = next((item for item in insight_tables.tables(found, links) if item.key == key), None)
    if table is None:
        abort(404)
    name = f"insights-{key}-{community.slug}-{found.period.first}-{found.period.last}.csv"
    return csv_files.attachment(table.lines(), name)


def _period(form: PeriodForm) -> Period | None:
    """Return the period, or None if it is invalid; the form then has the error."""
    if not form.validate():
        return None
    try:
        return form.period()
    except Invalid as refusal:
        forms.explain(form, refusal, {"to": "to_day"})
        return None


_NOTHING: Mapping[str, Any] = {
    "found": None,
    "attention": (),
    "more_attention": 0,
    "tables": (),
    "headlines": (),
    "changed_most": None,
    "why_weeks": "",
}
"""What the page shows of an invalid period."""


def _figures(period: Period, base: Query) -> Mapping[str, Any]:
    """Return what the page shows of a period, under the names of ``_NOTHING``."""
    actor, community_id = auth.current_actor(), auth.current_community().id
    with wired().database.reading() as session:
        found = trends.for_community(session, actor, community_id, period)
        now = concerns.read(session, actor, community_id)
    matters = concerns.in_order([*now, *concerns.from_trends(found)])
    links = RowLinks.for_reader(found.period, base)
    figures = [] if found.is_empty else headlines(found)
    return {
        "found": found,
        "first_day": day_words(found.period.first),
        "last_day": day_words(found.period.last),
        "attention": insight_concerns.sentences(matters[:MOST_MATTERS], found, links),
        "more_attention": max(0, len(matters) - MOST_MATTERS),
        "tables": () if found.is_empty else insight_tables.tables(found, links),
        "headlines": figures,
        "changed_most": changed_most(figures) if figures else None,
        "why_weeks": insight_tables.why_weeks(found, trends.FEW_DECIDED),
    }


def _is_shown(form: PeriodForm, days: int) -> bool:
    return not form.is_chosen and form.days.data == str(days)
