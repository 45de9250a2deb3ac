"""Insights, for moderators: how moderation went over a period, as plots with their tables, and as files."""

import csv
import io
from datetime import timedelta
from zoneinfo import ZoneInfo

from flask import Response, abort, g, url_for
from wtforms import DateField, HiddenField, SelectField
from wtforms.validators import Optional

from app.core import clock
from app.core.errors import Invalid
from app.core.insights import trends
from app.core.insights.trend_figures import Trends
from app.core.periods import Period
from app.core.permissions import Permission
from app.web import auth, csv_cells, forms, page
from app.web.blueprint import web
from app.web.filter_forms import FilterForm, check_year, encoded
from app.web.operate import insight_tables
from app.web.operate.insight_tables import duration
from app.wiring import wired

DEFAULT = 30
DAYS = {7: "7 days", DEFAULT: "30 days", 90: "90 days"}


class PeriodForm(FilterForm):
    """A period, in the address: so many days until today, or From and To. Days are the reader's."""

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
        """Whether days were given instead of a number of them."""
        return bool(self.from_day.data or self.to_day.data)

    def period(self) -> Period:
        """What a valid form asks for. Raises Invalid for a period that is empty or too long."""
        zone = ZoneInfo(g.get("timezone") or "UTC")
        last = self.to_day.data or clock.now().astimezone(zone).date()
        count = DEFAULT if self.is_chosen else int(self.days.data)
        return Period(self.from_day.data or last - timedelta(days=count - 1), last, zone)


@web.get("/insights")
@auth.needs(Permission.SEE_HISTORY)
def insights_page() -> Response:
    form = forms.queried(PeriodForm)
    found = _found(form)
    query = form.query()
    kept = {name: text for name, text in query.items() if name == "community"}
    tables = insight_tables.tables(found) if found is not None and not found.is_empty else []
    return page.render(
        "operate/insights.html",
        status=422 if form.errors else 200,
        filters=form,
        found=found,
        tables=tables,
        sums=_sums(found) if found is not None and tables else [],
        periods=[
            (
                words,
                f"{url_for('web.insights_page')}?{encoded({**kept, 'days': str(days)})}",
                _is_shown(form, days),
            )
            for days, words in DAYS.items()
        ],
        csv_url=f"{url_for('web.insights_csv')}?{encoded(query)}{'&' if query else ''}table=",
        zone=g.get("timezone") or "UTC",
    )


@web.get("/insights.csv")
@auth.needs(Permission.SEE_HISTORY)
def insights_csv() -> Response:
    """One table as a file. An unknown table is not found; a period that cannot be read is named by the page."""
    form = forms.queried(PeriodForm)
    wanted = forms.from_address("table")
    if wanted not in insight_tables.KEYS:
        abort(404)
    found = _found(form)
    if found is None:
        return insights_page()
    table = next(one for one in insight_tables.tables(found) if one.key == wanted)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([name for _, name in table.columns])
    writer.writerows([csv_cells.cell(cell.raw) for cell in row] for row in table.rows)
    response = Response(buffer.getvalue(), mimetype="text/csv")
    slug, period = auth.current_community().slug, found.period
    name = f"insights-{wanted}-{slug}-{period.first}-{period.last}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _found(form: PeriodForm) -> Trends | None:
    """The figures, None when the form says what is wrong with the period."""
    if not forms.filled_in(form):
        return None
    try:
        period = form.period()
    except Invalid as refusal:
        forms.explain(form, refusal, {"to": "to_day"})
        return None
    with wired().database.reading() as session:
        return trends.of(session, auth.current_actor(), auth.current_community().id, period)


def _is_shown(form: PeriodForm, days: int) -> bool:
    return not form.is_chosen and form.days.data == str(days)


def _sums(found: Trends) -> list[tuple[str, str, str]]:
    """What the whole period comes to: label, figure, hint."""
    submitted = sum(one.submitted for one in found.volume)
    acted, reviewed = sum(one.acted for one in found.volume), sum(one.reviewed for one in found.volume)
    ratings = sum(one.ratings for one in found.activity)
    actions = sum(one.acted for one in found.categories)
    overturned = sum(one.overturned for one in found.categories)
    return [
        ("Submitted", f"{submitted:,}", f"{acted:,} acted on at once, {reviewed:,} sent to review"),
        ("Time to decision", duration(found.delay.median), f"9 of 10 within {duration(found.delay.p90)}"),
        ("Waiting at the end", f"{found.backlog[-1].waiting:,}", "reviews"),
        ("Ratings", f"{ratings:,}", f"by {found.raters:,} people"),
        (
            "Overturned",
            f"{overturned / actions * 100:.1f}\u00a0%" if actions else "–",
            f"{overturned:,} of {actions:,} actions",
        ),
    ]
