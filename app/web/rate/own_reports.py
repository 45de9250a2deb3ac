"""A person's own reports on "My impact": what they reported, and the outcome in the community's words."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from flask import Response, url_for
from sqlalchemy.orm import Session

from app.core.errors import Conflict, NotFound
from app.core.models import Report
from app.core.paging import Slice
from app.core.permissions import Actor
from app.core.reports import lists, reporting
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.vocabulary import ReportState
from app.web import auth, community_choice, cursor_links, forms, page
from app.web.blueprint import web
from app.web.categories import HIDDEN, reason_word
from app.web.filter_forms import encoded
from app.web.filters import excerpt
from app.web.item.reporting import STATES
from app.web.page import PageLinks
from app.web.veils import is_veiled
from app.wiring import wired

PAGE_SIZE = 10
ICONS = {
    ReportState.OPEN: "hourglass",
    ReportState.UPHELD: "circle-check",
    ReportState.REJECTED: "circle-dashed",
    ReportState.UNDECIDED: "circle-minus",
    ReportState.WITHDRAWN: "undo-2",
}


@dataclass(frozen=True)
class OwnReport:
    """One row; ``words`` say the outcome. ``is_open``: it can be withdrawn."""

    id: uuid.UUID
    text: str
    is_veiled: bool
    category: str
    icon: str
    words: str
    at: datetime
    is_open: bool


@dataclass(frozen=True)
class OwnReports:
    """A page of a person's reports."""

    rows: list[OwnReport]
    links: PageLinks


def shown(session: Session, actor: Actor, community_id: uuid.UUID) -> OwnReports:
    """Return the newest reports of the reader, or the page of them that the URL names."""
    after, before = forms.query_arg("reports-after") or None, forms.query_arg("reports-before") or None
    part = Slice(size=PAGE_SIZE, after=after, before=before, of="own reports")
    found = lists.of_person(session, actor, community_id, part)

    def url(name: str, cursor: str | None) -> str | None:
        query = encoded({**community_choice.carried(), f"reports-{name}": cursor or ""})
        return f"{url_for('web.my_impact')}?{query}#reports" if cursor else None

    summary = cursor_links.total(found, lambda count: ngettext("%(num)s report", "%(num)s reports", count))
    links = PageLinks(url("before", found.previous), url("after", found.next), summary)
    return OwnReports([_row(report) for report in found.rows], links)


def _row(report: Report) -> OwnReport:
    veiled = is_veiled(report.category)
    is_gone = report.request.withdrawn_at is not None
    return OwnReport(
        report.id,
        _("The post was withdrawn") if is_gone else HIDDEN if veiled else excerpt(report.request.content),
        veiled or is_gone,
        reason_word(report.category),
        ICONS[report.state],
        report.outcome_text or f"{STATES[report.state]}",
        report.reported_at,
        report.state is ReportState.OPEN,
    )


@web.post("/me/reports/<uuid:report_id>/withdraw")
def withdraw_report(report_id: uuid.UUID) -> Response:
    """Take one's own report back."""
    url = url_for("web.my_impact") + "#reports"
    try:
        with wired().database.writing() as session:
            report = reporting.get(session, auth.current_actor(), report_id)
            if report.reporter_id != auth.current_profile_id():
                raise NotFound("report")
            reporting.withdraw(session, auth.current_actor(), report)
    except Conflict as refusal:
        return page.done(None, url, f"{refusal.detail}.", status=409)
    return page.done(None, url, _("Taken back."))
