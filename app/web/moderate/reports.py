"""Reports page for moderators: open and resolved reports, reporters and whom to mute."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import Response, url_for
from sqlalchemy.orm import Session
from wtforms import Form, IntegerField
from wtforms.validators import InputRequired, ValidationError

from app.core import clock, limits
from app.core.errors import Invalid, NotFound
from app.core.ids import parse_id
from app.core.models import Profile, Request
from app.core.paging import Slice
from app.core.permissions import Permission, require
from app.core.reports import asking, lists, muting
from app.core.reports.lists import Reported
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ReportState
from app.process.replica_reads import may_be_old
from app.web import auth, community_choice, csv_files, cursor_links, filter_forms, forms, page
from app.web.blueprint import web
from app.web.categories import HIDDEN
from app.web.filter_forms import encoded
from app.web.filters import excerpt
from app.web.item import reporting
from app.web.list_filters import ReportsForm
from app.web.veils import is_veiled
from app.wiring import wired

PAGE_SIZE = 50
CSV_MOST = 10_000
RESOLVED = (ReportState.UPHELD, ReportState.REJECTED, ReportState.UNDECIDED, ReportState.WITHDRAWN)
TABS = {
    "open": lazy_gettext("Open"),
    "resolved": lazy_gettext("Resolved"),
    "reporters": lazy_gettext("Reporters"),
}


def _in_days(form: Form, field: IntegerField) -> None:
    if field.data is None or not 1 <= field.data <= limits.MUTE_DAYS_MAX:
        raise ValidationError(_("Enter a number of days from 1 to %(most)s.", most=limits.MUTE_DAYS_MAX))


class MuteForm(Form):
    """For how long a person's reports count nothing, and why."""

    days = IntegerField(
        lazy_gettext("Days"),
        [
            InputRequired(lazy_gettext("Enter a number of days.")),
            _in_days,
        ],
        default=30,
    )
    reason = forms.reason_field()


@web.get("/reports")
@auth.needs(Permission.SEE_QUEUE)
@may_be_old
def reports_page() -> Response:
    tab = forms.query_arg("tab") if forms.query_arg("tab") in TABS else "open"
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        context: dict[str, Any]
        if tab == "reporters":
            context = {"reporters": muting.reporters(session, actor, community.id), "now": clock.now()}
        else:
            context = _listed(session, community.id, tab)
    return page.render("moderate/reports.html", tab=tab, kinds=_kinds(tab), csv_most=CSV_MOST, **context)


def _listed(session: Session, community_id: uuid.UUID, tab: str) -> dict[str, Any]:
    filters = forms.queried(ReportsForm)
    filters.offer(asking.categories(session, community_id))
    person, category = parse_id(filters.reporter.data or ""), filters.category.data or ""
    found = lists.reported_posts(
        session,
        auth.current_actor(),
        community_id,
        Slice(size=PAGE_SIZE, of=tab, **cursor_links.cursors()),
        states=_states(tab),
        category=category or None,
        profile_id=person,
    )
    reporter = session.get(Profile, person) if person is not None else None
    if reporter is not None:
        filters.reporter.in_words = reporter.display_name or reporter.platform_user_id
    chosen = {"reporter": str(person or ""), "category": category}
    return {
        "rows": _rows(session, community_id, found.rows),
        "links": cursor_links.links(
            url_for("web.reports_page"),
            found,
            lambda count: ngettext("%(num)s post", "%(num)s posts", count),
            **community_choice.carried(),
            tab=tab,
            **chosen,
        ),
        "filters": filters,
        "csv_url": _url(tab, "web.reports_csv", **chosen),
        "is_narrowed": bool(person or category),
        "chips": filter_forms.chips(filters, url_for("web.reports_page")),
        "all_url": _url(tab),
    }


def _states(tab: str) -> tuple[ReportState, ...]:
    return RESOLVED if tab == "resolved" else (ReportState.OPEN,)


def _rows(session: Session, community_id: uuid.UUID, posts: Sequence[Reported]) -> list[dict[str, Any]]:
    """Return the rows; the posts' items and the severities of categories are read at once."""
    items = lists.items_of(session, [post.reports[0].request_id for post in posts])
    severities = threshold_sets.severity_levels(session, community_id)
    nothing: tuple[uuid.UUID | None, str | None] = (None, None)
    return [_row(post, *items.get(post.reports[0].request_id, nothing), severities) for post in posts]


def _row(
    post: Reported, action_id: uuid.UUID | None, category: str | None, severities: Mapping[str, int]
) -> dict[str, Any]:
    """A post with its newest reports, each with the id of its reporter; ``more``: how many others match.

    ``url`` leads to the item, None without one; ``asks``: a review can be opened.
    """
    categories = {category, *(report.category for report in post.reports)}
    veiled = any(is_veiled(one) for one in categories)
    request = post.reports[0].request
    return {
        "request_id": request.id,
        "text": HIDDEN if veiled else excerpt(request.content, 120),
        "is_veiled": veiled,
        "severity": max(severities.get(one or "", 1) for one in categories),
        "url": url_for("web.item", action_id=action_id) if action_id is not None else None,
        "asks": action_id is None and post.reports[0].state is ReportState.OPEN,
        "lines": [(report.reporter_id, reporting.line(report)) for report in post.reports],
        "more": post.more,
    }


def _kinds(current: str) -> list[tuple[str, str, bool]]:
    return [(label, _url(name), name == current) for name, label in TABS.items()]


def _url(tab: str, view: str = "web.reports_page", **more: str) -> str:
    return f"{url_for(view)}?{encoded({**community_choice.carried(), 'tab': tab, **more})}"


@web.post("/reports/<uuid:request_id>/review")
def review_reported(request_id: uuid.UUID) -> Response:
    """Open a review of a reported post at once."""
    actor = auth.current_actor()
    with wired().database.writing() as session:
        request = session.get(Request, request_id)
        if request is None or request.withdrawn_at is not None or not actor.sees(request.community_id):
            raise NotFound("post")
        require(actor, Permission.MODERATE, request.community_id, "post")
        action = asking.ask_moderators(session, request)
        url = url_for("web.item", action_id=action.id) if action is not None else url_for("web.reports_page")
    message = (
        _("The review is open.") if action is not None else _("It was opened or decided in the meantime.")
    )
    return page.done(None, url, message, status=200 if action is not None else 409)


@web.get("/reports/reporters/<uuid:profile_id>")
@auth.needs(Permission.MODERATE)
def mute_page(profile_id: uuid.UUID) -> Response:
    return _mute_page(profile_id, MuteForm(), forms.WhyForm())


@web.post("/reports/reporters/<uuid:profile_id>/mute")
@auth.needs(Permission.MODERATE)
def mute_reporter(profile_id: uuid.UUID) -> Response:
    form = forms.posted(MuteForm)
    if not form.validate():
        return _mute_page(profile_id, form, forms.WhyForm(), status=422)
    try:
        with wired().database.writing() as session:
            community = auth.current_community()
            days, reason = form.days.data or 0, form.reason.data or ""
            muting.mute(session, auth.current_actor(), community.id, profile_id, days, reason)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _mute_page(profile_id, form, forms.WhyForm(), status=422)
    return page.done(None, _url("reporters"), _("Muted. Their reports count nothing until then."))


@web.post("/reports/reporters/<uuid:profile_id>/unmute")
@auth.needs(Permission.MODERATE)
def unmute_reporter(profile_id: uuid.UUID) -> Response:
    form = forms.posted(forms.WhyForm)
    if not form.validate():
        return _mute_page(profile_id, MuteForm(), form, status=422)
    with wired().database.writing() as session:
        community = auth.current_community()
        muting.unmute(session, auth.current_actor(), community.id, profile_id, form.reason.data or "")
    return page.done(None, _url("reporters"), _("Their reports count again."))


def _mute_page(
    profile_id: uuid.UUID, form: MuteForm, unmute: forms.WhyForm, *, status: int = 200
) -> Response:
    with wired().database.reading() as session:
        community = auth.current_community()
        reporter = muting.reporter(session, auth.current_actor(), community.id, profile_id)
    return page.render(
        "moderate/mute_reporter.html",
        status=status,
        reporter=reporter,
        form=form,
        unmute_form=unmute,
        reports_url=_url("open", reporter=str(profile_id)),
        back_url=_url("reporters"),
    )


@web.get("/reports.csv")
@auth.needs(Permission.SEE_QUEUE)
@may_be_old
def reports_csv() -> Response:
    """Export the open or the resolved reports that the page shows, the newest of them first."""
    tab = "resolved" if forms.query_arg("tab") == "resolved" else "open"
    community = auth.current_community()
    with wired().database.reading() as session:
        lines = list(_lines(session, community.id, tab))
    return csv_files.attachment(lines, f"reports-{tab}-{community.slug}-{clock.now():%Y-%m-%d}.csv")


def _lines(session: Session, community_id: uuid.UUID, tab: str) -> Iterator[tuple[object, ...]]:
    yield (
        "reported_at",
        "report_id",
        "post",
        "reporter",
        "origin",
        "category",
        "text",
        "state",
        "weight",
        "resolved_at",
    )
    found = lists.for_moderators(
        session,
        auth.current_actor(),
        community_id,
        Slice(size=CSV_MOST),
        states=_states(tab),
        category=forms.query_arg("category") or None,
        profile_id=parse_id(forms.query_arg("reporter")),
    )
    for report in found.rows:
        yield (
            clock.iso(report.reported_at),
            report.report_id,
            report.request.request_id,
            report.reporter_ref,
            report.origin.value,
            report.category,
            report.text or "",
            report.state.value,
            f"{report.weight:.2f}",
            clock.iso(report.resolved_at) if report.resolved_at else "",
        )
