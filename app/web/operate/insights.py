"""Insights page for moderators: charts and tables about moderation in a period, also as CSV."""

import csv
import io
from datetime import timedelta

from flask import Response, abort, url_for
from wtforms import DateField, HiddenField, SelectField
from wtforms.validators import Optional

from app.core import clock
from app.core.errors import Invalid
from app.core.insights import trends
from app.core.insights.trend_figures import Trends
from app.core.periods import Period
from app.core.permissions import Permission
from app.web import auth, csv_cells, forms, page, reader_zone
from app.web.blueprint import web
from app.web.filter_forms import FilterForm, check_year, encoded
from app.web.operate import insight_tables
from app.web.operate.insight_tables import duration
from app.wiring import wired

DEFAULT = 30
DAYS = {7: "7 days", DEFAULT: "30 days", 90: "90 days"}


class PeriodForm(FilterForm):
    """A period in the URL: a number of days until today, or From and To. Days are in the reader's time zone."""

    community = HiddenField()
    days = SelectField("Period", choices=forms.choices(DAYS), default=str(DEFAULT))
    from_day = DateField("From", [Optional()], name="from")
    to_day = DateField("To", [Optional()], name="to")

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
def insights_page() -> Response:
    form = forms.queried(PeriodForm)
    trends = _found(form)
    query = form.query()
    base_query = {name: text for name, text in query.items() if name == "community"}
    tables = insight_tables.tables(trends) if trends is not None and not trends.is_empty else []
    return page.render(
        "operate/insights.html",
        status=422 if form.errors else 200,
        filters=form,
        found=trends,
        tables=tables,
        sums=_sums(trends) if trends is not None and tables else [],
        periods=[
            (
                words,
                f"{url_for('web.insights_page')}?{encoded({**base_query, 'days': str(days)})}",
                _is_shown(form, days),
            )
            for days, words in DAYS.items()
        ],
        csv_url=f"{url_for('web.insights_csv')}?{encoded(query)}{'&' if query else ''}table=",
        zone=reader_zone.name(),
    )


@web.get("/insights.csv")
@auth.needs(Permission.SEE_HISTORY)
def insights_csv() -> Response:
    """Return one table as CSV. Raises NotFound for an unknown table; for an invalid period, shows the page instead."""
    form = forms.queried(PeriodForm)
    key = forms.query_arg("table")
    if key not in insight_tables.KEYS:
        abort(404)
    trends = _found(form)
    if trends is None:
        return insights_page()
    table = next(item for item in insight_tables.tables(trends) if item.key == key)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([name for _, name in table.columns])
    writer.writerows([csv_cells.cell(cell.raw) for cell in row] for row in table.rows)
    response = Response(buffer.getvalue(), mimetype="text/csv")
    slug, period = auth.current_community().slug, trends.period
    name = f"insights-{key}-{slug}-{period.first}-{period.last}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _found(form: PeriodForm) -> Trends | None:
    """Return the figures, or None if the period is invalid; the form then has the error."""
    if not form.validate():
        return None
    try:
        period = form.period()
    except Invalid as refusal:
        forms.explain(form, refusal, {"to": "to_day"})
        return None
    with wired().database.reading() as session:
        return trends.for_community(session, auth.current_actor(), auth.current_community().id, period)


def _is_shown(form: PeriodForm, days: int) -> bool:
    return not form.is_chosen and form.days.data == str(days)


def _sums(trends: Trends) -> list[tuple[str, str, str]]:
    """Return the totals of the whole period: label, figure, hint."""
    submitted = sum(item.submitted for item in trends.volume)
    acted, reviewed = sum(item.acted for item in trends.volume), sum(item.reviewed for item in trends.volume)
    ratings = sum(item.ratings for item in trends.activity)
    actions = sum(item.acted for item in trends.categories)
    overturned = sum(item.overturned for item in trends.categories)
    return [
        ("Submitted", f"{submitted:,}", f"{acted:,} acted on at once, {reviewed:,} sent to review"),
        ("Time to decision", duration(trends.delay.median), f"9 of 10 within {duration(trends.delay.p90)}"),
        ("Waiting at the end", f"{trends.backlog[-1].waiting:,}", "reviews"),
        ("Ratings", f"{ratings:,}", f"by {trends.raters:,} people"),
        (
            "Overturned",
            f"{overturned / actions * 100:.1f}\u00a0%" if actions else "–",
            f"{overturned:,} of {actions:,} actions",
        ),
    ]
