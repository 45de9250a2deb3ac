"""Reports: file, list, poll, read, withdraw (docs/integrate/reports.md)."""

from dataclasses import replace
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi, user_profiles
from app.api.blueprints import opens_communities, polls, public
from app.api.requests import submission_of
from app.api.schemas.reports import (
    ReportAttributes,
    ReportCreate,
    ReportDocument,
    ReportList,
    ReportPatch,
    ReportQuery,
)
from app.core.ids import require_id
from app.core.models import Community, Report, Request
from app.core.people import profiles
from app.core.reports import lists, reporting
from app.core.reports.reporting import NewReport
from app.core.requests.submitting import Submission
from app.process.replica_reads import may_be_old
from app.wiring import wired


@public.post("/reports")
@public.input(ReportCreate)
@public.answers(ReportDocument, 201, also=[200, 400, 404])
@opens_communities
def create_report(json_data: ReportCreate) -> Response:
    """Report a post for a person. A report never acts; reports of several people may have the post reviewed.

    The same `report_id` again, or another report of the same post by the same person, returns the first with 200. A
    post that is decided already is answered at once, with an `outcome`.
    """
    caller = auth.caller()
    known_id = community_servers.find_known(caller, json_data.community_server_id)
    with wired().database.writing() as session:
        community_id, actor = community_servers.find_or_open(
            session, caller, json_data.community_server_id, known_id=known_id
        )
        community = session.get_one(Community, community_id)
        identity = user_profiles.resolve_identity(
            session, caller, json_data.reporter_id, community, "reporter_id"
        )
        reporter = profiles.ensure(session, *identity)
        actor = replace(actor, profile_id=auth.caller_in(session, community_id).actor.profile_id)
        reference = json_data.reporter_id or identity.user_id
        new = NewReport(
            json_data.report_id,
            reference,
            request_id=json_data.request_id,
            platform_message_id=json_data.platform_message_id,
            category=json_data.category,
            text=json_data.text,
            reported_at=json_data.reported_at,
            submission=_submission(json_data, reference),
        )
        filed = reporting.file(session, actor, community, reporter, new)
        shown = _show(session, filed.report)
        meta = None if filed.is_new else {"duplicate": True}
        return jsonapi.answer_resource(shown, 201 if filed.is_new else 200, located=True, meta=meta)


def _submission(body: ReportCreate, reporter: str) -> Submission | None:
    """What an unknown post is submitted as; None without a text."""
    if body.original_message_content is None:
        return None
    defaults = {
        "request_id": body.request_id or f"report:{body.report_id}",
        "requested_by": body.requested_by or reporter,
    }
    return submission_of(body.model_copy(update=defaults))


@public.get("/reports")
@public.input(ReportQuery, location="query")
@public.answers(ReportList, also=[400])
@polls
@may_be_old
def list_reports(query_data: ReportQuery) -> Response:
    """List reports, newest first.

    With ``filter[updated_at__gte]`` the list is in the order of changes, and ``meta.next_since`` is the value of the
    next call, which repeats up to a minute: deduplicate by id and ``updated_at``.
    """
    caller = auth.caller()
    with wired().database.reading() as session:
        matching = lists.matching(
            session,
            caller.actor,
            communities=(query_data.community,),
            state=query_data.state,
            category=query_data.category,
            reporter=query_data.reporter,
            request=query_data.request,
            reported_from=query_data.reported_from,
            reported_to=query_data.reported_to,
            updated_from=query_data.updated_from,
            platform=caller.platform,
        )
        page = lists.listed(
            session, matching, query_data.slice(), by_change=query_data.updated_from is not None
        )
        return jsonapi.answer(
            jsonapi.listing(page, show, **jsonapi.next_changes(page, query_data.updated_from))
        )


@public.get("/reports/<report_id>")
@public.answers(ReportDocument, also=[404])
@polls
def read_report(report_id: str) -> Response:
    """Read one report."""
    with wired().database.reading() as session:
        report = reporting.get(session, auth.actor(), require_id(report_id, "report"))
        return jsonapi.answer_resource(_show(session, report))


@public.patch("/reports/<report_id>")
@public.input(ReportPatch)
@public.answers(ReportDocument, also=[400, 404, 409])
def patch_report(report_id: str, json_data: ReportPatch) -> Response:
    """Withdraw a report: for its reporter, or for the integration where no user acts. Repeating it changes nothing."""
    with wired().database.writing() as session:
        report = reporting.get(session, auth.actor(), require_id(report_id, "report"))
        actor = auth.caller_in(session, report.community_id).actor
        reporting.withdraw(session, actor, report)
        return jsonapi.answer_resource(_show(session, report))


def _show(session: Session, report: Report) -> dict[str, Any]:
    return show(report, session.get_one(Request, report.request_id))


def show(report: Report, post: Request | None = None) -> dict[str, Any]:
    """Return the resource object of a report; without ``post``, of one that was read by ``reports.lists``."""
    post = post or report.request
    return jsonapi.shown(
        "reports",
        ReportAttributes,
        report,
        reporter_id=report.reporter_ref,
        community_server_id=report.community_id,
        request_id=post.request_id,
        post_id=report.request_id,
        platform_message_id=post.platform_message_id,
    )
