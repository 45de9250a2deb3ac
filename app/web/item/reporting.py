"""Reporting a post from its item: a form for members, and for moderators the reports that it has."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, url_for
from sqlalchemy.orm import Session
from wtforms import Form, SelectField, TextAreaField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.errors import Invalid
from app.core.ids import new_id
from app.core.models import Community, Profile, Report
from app.core.permissions import Permission
from app.core.raters.samples import Asked
from app.core.reports import asking, lists, reporting, sums
from app.core.reports.reporting import NewReport
from app.core.reports.weighing import PRIOR_SHARE, Tally
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ReportOrigin, ReportState
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import reason_word
from app.web.filters import excerpt
from app.web.item import answering
from app.wiring import wired

SHOWN = 20
"""How many reports an item lists; the page of reports has the others."""
ORIGINS = {
    ReportOrigin.PLATFORM: "",
    ReportOrigin.DASHBOARD: lazy_gettext("a member here"),
    ReportOrigin.ELSEWHERE: lazy_gettext("from another platform"),
    ReportOrigin.AUTHOR: lazy_gettext("the author: counts nothing"),
}


STATES = {
    ReportState.OPEN: lazy_gettext("Not decided yet"),
    ReportState.UPHELD: lazy_gettext("Acted on"),
    ReportState.REJECTED: lazy_gettext("Kept"),
    ReportState.UNDECIDED: lazy_gettext("No decision"),
    ReportState.WITHDRAWN: lazy_gettext("Withdrawn"),
}
"""The states of a report, to reporters and moderators alike."""


class ReportForm(Form):
    """What is wrong with the post."""

    category = SelectField(
        lazy_gettext("What is wrong with it?"),
        [InputRequired(lazy_gettext("Choose what is wrong with the post."))],
        validate_choice=False,
        default="",
    )
    text = TextAreaField(
        lazy_gettext("Tell the moderators more"),
        [forms.at_most(limits.REPORT_MAX, lazy_gettext("Tell the moderators more"))],
        filters=[forms.whole_lines],
    )

    def offer(self, categories: Sequence[str]) -> None:
        """Set the choices to the community's categories, with "Something else" last."""
        self.category.choices = forms.choices(
            {"": _("Choose …")} | {name: reason_word(name) for name in categories}
        )


@dataclass(frozen=True)
class Reporting:
    """The part of a page with which its reader reports the post. ``own``: the reader reported it already."""

    asked_id: uuid.UUID
    form: ReportForm
    own: bool
    may: bool
    is_open: bool = False


def form_for(session: Session, asked: Asked, form: ReportForm | None = None) -> Reporting:
    """Return the form to report the post of an item; ``form`` is the one that came back with errors."""
    # Moderators decide instead.
    may = auth.may(Permission.REPORT, asked.community_id) and not auth.may(
        Permission.MODERATE, asked.community_id
    )
    shown = form or ReportForm()
    if may:
        shown.offer(asking.categories(session, asked.community_id))
    own = may and reporting.is_reported_by(session, asked.request_id, auth.current_profile_id())
    is_open = form is not None or forms.query_arg("report") == "1"
    return Reporting(asked.id, shown, own, may, is_open)


def for_moderators(session: Session, request_id: uuid.UUID) -> dict[str, Any] | None:
    """Return the reports of a post: ``words`` of all, and the latest. None if it has none. Always two statements."""
    counted = sums.tallies(session, [request_id]).get(request_id, Tally())
    if not counted.number:
        return None
    found = lists.of_post(session, request_id, SHOWN)
    return {
        "words": counted.words,
        "lines": [line(report) for report in found],
        "more": counted.number - len(found),
    }


def reported_as(session: Session, request_id: uuid.UUID) -> str:
    """Return the reasons of a post's reports, for a rater who has answered: "Spam, Something else"."""
    counted = sums.tallies(session, [request_id]).get(request_id, Tally())
    return ", ".join(reason_word(category) for category in counted.categories)


def line(report: Report) -> dict[str, Any]:
    """Return a report for a list of moderators. ``state`` is empty while it is open.

    ``note`` tells apart who does not report as a user of the platform.
    """
    return {
        "reporter": report.reporter.display_name or report.reporter_ref,
        "note": ORIGINS[report.origin],
        "category": reason_word(report.category),
        "text": excerpt(report.text or "", 300),
        "at": report.reported_at,
        "state": str(STATES[report.state]) if report.state is not ReportState.OPEN else "",
        "was_right": report.weight > PRIOR_SHARE,
    }


@web.post("/review/<uuid:action_id>/report")
def report_item(action_id: uuid.UUID) -> Response:
    """Report the post of an item, as a member."""
    form = forms.posted(ReportForm)
    with wired().database.reading() as session:
        asked = answering.find_asked(session, action_id)
        auth.require(Permission.REPORT, asked.community_id)
        form.offer(asking.categories(session, asked.community_id))
    url = url_for("web.item", action_id=action_id)
    if form.validate():
        try:
            with wired().database.writing() as session:
                asked = answering.find_asked(session, action_id)
                filed = _file(session, asked, form)
                shown = form_for(session, asked)
        except Invalid as refusal:
            forms.explain(form, refusal, {"report_id": "category"})
        else:
            message = (
                _("Reported. You read the outcome under My impact.")
                if filed
                else _("You reported it before.")
            )
            return page.done("item/_report.html", url, message, reporting=shown)
    with wired().database.reading() as session:
        asked = answering.find_asked(session, action_id)
        reporting_form = form_for(session, asked, form)
    return page.render("item/report.html", "item/_report.html", status=422, reporting=reporting_form)


def _file(session: Session, asked: Asked, form: ReportForm) -> bool:
    """Store the report; return False if the reader had reported the post."""
    community = session.get_one(Community, asked.community_id)
    profile = session.get_one(Profile, auth.current_profile_id())
    new = NewReport(
        f"dashboard:{new_id()}",
        str(profile.id),
        request_id=str(asked.request_id),
        category=form.category.data,
        text=form.text.data,
    )
    return reporting.file(session, auth.current_actor(), community, profile, new).is_new
