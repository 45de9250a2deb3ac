"""Reports are filed and withdrawn. A report is known by its ``report_id``; a person reports a post once."""

import uuid
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import actions
from app.core.actions.moves import begin, make_move
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.helpfulness import eligibility
from app.core.ids import new_id, parse_id
from app.core.models import Community, Profile, Report, Request
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require, require_found
from app.core.reports import asking, outcomes, reporters, sums
from app.core.requests import following, posts, submitting
from app.core.requests.submitting import Submission
from app.core.texts import gettext as _
from app.core.thresholds.routing import OTHER
from app.core.vocabulary import ReportOrigin, ReportState


@dataclass(frozen=True)
class NewReport:
    """What a person says about a post.

    The post is ``request_id`` (our UUID, or the integration's string) or ``platform_message_id``; ``submission`` is
    what an unknown one is submitted as. ``reporter_ref`` is the reporter as it was sent.
    """

    report_id: str
    reporter_ref: str
    request_id: str | None = None
    platform_message_id: str | None = None
    category: str | None = None
    text: str | None = None
    reported_at: datetime | None = None
    submission: Submission | None = None


@dataclass(frozen=True)
class Filed:
    """The stored report, and whether this call created it."""

    report: Report
    is_new: bool


def file(session: Session, actor: Actor, community: Community, reporter: Profile, new: NewReport) -> Filed:
    """Store a report and do what follows from it. A known ``report_id``, or a second report of a post, changes nothing.

    A post that is decided answers at once with its outcome, and opens nothing unless people of both sides object.

    Raises:
        NotFound: the post is unknown, and there is nothing to submit.
        Invalid: a value, such as the category, is not allowed; or the reporter has too many open reports.
    """
    require(actor, Permission.REPORT, community.id, "community server")
    _check(new)
    person_profile = profiles.hold_canonical(session, reporter)
    serialise(session, community.id)
    known = session.scalars(
        sa.select(Report).where(Report.community_id == community.id, Report.report_id == new.report_id)
    ).first()
    if known is not None:
        return Filed(known, is_new=False)
    category = _category(session, community.id, new.category)
    request = _post(session, actor, community.id, new)
    first = session.scalars(
        sa.select(Report).where(
            Report.request_id == request.id,
            Report.reporter_id == person_profile.id,
            Report.state != ReportState.WITHDRAWN,
        )
    ).first()
    if first is not None:
        return Filed(first, is_new=False)
    person = eligibility.person_of(session, person_profile)
    standing = reporters.standing_of(session, community, person, person_profile.id)
    limits.room(limits.OPEN_REPORTS, standing.open, "report_id")
    is_author = person.is_called(request.platform_author_id)
    latest = actions.live_for(session, request.id)
    outcome = outcomes.outcome_of(session, request, latest)
    weight = 0.0 if is_author else standing.weight
    is_weighed = outcome is None and asking.may_count(latest, weight, is_newcomer=standing.is_newcomer)
    before = asking.weighed(session, request, latest) if is_weighed else ()
    report = Report(
        id=new_id(),
        community_id=community.id,
        report_id=new.report_id,
        request_id=request.id,
        reporter_id=person_profile.id,
        reporter_ref=new.reporter_ref,
        category=category,
        text=(new.text or "").strip() or None,
        state=ReportState.OPEN,
        origin=_origin(community, reporter, is_author=is_author),
        reported_at=new.reported_at or clock.now(),
        weight=weight,
        side=standing.side,
        is_newcomer=standing.is_newcomer,
        is_late=outcome is not None,
    )
    begin(session, actor, report)
    if outcome is not None:
        outcomes.resolve(session, report, outcome)
        asking.second_look(session, request, latest)
    elif is_weighed:
        asking.weigh_post(session, request, latest, before, [*before, sums.of_one(report)])
    return Filed(report, is_new=True)


def withdraw(session: Session, actor: Actor, report: Report) -> None:
    """Take a report back: its reporter, or the integration for nobody in particular. Repeating it changes nothing.

    Raises:
        Forbidden: another person's report.
        Conflict: it has an outcome already.
    """
    require(actor, Permission.REPORT, report.community_id, "report")
    serialise(session, report.community_id)
    session.refresh(report)
    if actor.profile_id is not None and not profiles.are_one(session, actor.profile_id, report.reporter_id):
        raise Forbidden(_("Only its reporter may withdraw a report"))
    if report.state is ReportState.WITHDRAWN:
        return
    if report.state is not ReportState.OPEN:
        raise Conflict(_("This report has an outcome already"), report.id)
    request = session.get_one(Request, report.request_id)
    latest = actions.live_for(session, request.id)
    before = asking.weighed(session, request, latest) if latest is not None else ()
    make_move(session, actor, report, ReportState.WITHDRAWN)
    if latest is not None:
        asking.weigh_post(session, request, latest, before, asking.weighed(session, request, latest))


def get(session: Session, actor: Actor, report_id: uuid.UUID) -> Report:
    """The report. Raises NotFound if it is unknown or belongs to another community."""
    return require_found(actor, Permission.READ, session.get(Report, report_id), "report")


def is_reported_by(session: Session, request_id: uuid.UUID, profile_id: uuid.UUID | None) -> bool:
    """Whether this person has reported the post, and not taken it back."""
    theirs = sa.select(Report.id).where(
        Report.request_id == request_id,
        Report.reporter_id == profile_id,
        Report.state != ReportState.WITHDRAWN,
    )
    return session.scalar(theirs.limit(1)) is not None


def _check(new: NewReport) -> None:
    limits.foreign_id(new.report_id, "report_id")
    limits.foreign_id(new.reporter_ref, "reporter_id")
    if new.text is not None:
        limits.text(new.text, "text", limits.REPORT_MAX, least=0)
    if new.request_id is None and new.platform_message_id is None:
        raise Invalid.field("request_id", _("Field required, or platform_message_id"), type="missing")


def _category(session: Session, community_id: uuid.UUID, name: str | None) -> str:
    """The category that the report names. Raises Invalid for one that the community does not have."""
    if name is None:
        return OTHER
    known = asking.categories(session, community_id)
    if name not in known:
        raise Invalid.field("category", _("must be one of %(choices)s", choices=", ".join(known)), name[:50])
    return name


def _post(session: Session, actor: Actor, community_id: uuid.UUID, new: NewReport) -> Request:
    """The request with the post's item, by its newest text. An unknown post or text is submitted if it can be."""
    found = find_post(session, community_id, new)
    if found is None and new.submission is not None:
        found = submitting.submit(session, actor, community_id, new.submission).request
    if found is None:
        raise NotFound("request")
    return following.item_of(session, found)


def find_post(session: Session, community_id: uuid.UUID, new: NewReport) -> Request | None:
    """The request of this community that a report names. None: unknown, or another text of a known message."""
    here = sa.select(Request).where(Request.community_id == community_id, Request.withdrawn_at.is_(None))
    if new.request_id is not None:
        found = session.scalars(here.where(_is(new.request_id)).limit(1)).first()
        if found is not None:
            return found
    if new.platform_message_id is None:
        return None
    if new.submission is not None:
        content = new.submission.content
        same = posts.relation(session, community_id, new.platform_message_id, content).duplicate_of
        return None if same is None else session.get_one(Request, same)
    newest = here.where(Request.platform_message_id == new.platform_message_id)
    return session.scalars(newest.order_by(Request.requested_at.desc(), Request.id.desc()).limit(1)).first()


def _is(reference: str) -> sa.ColumnElement[bool]:
    identity = parse_id(reference)
    by_string = Request.request_id == reference
    return by_string if identity is None else sa.or_(Request.id == identity, by_string)


def _origin(community: Community, reporter: Profile, *, is_author: bool) -> ReportOrigin:
    if is_author:
        return ReportOrigin.AUTHOR
    if reporter.platform == profiles.WEB:
        return ReportOrigin.DASHBOARD
    return ReportOrigin.PLATFORM if reporter.platform == community.platform else ReportOrigin.ELSEWHERE
