"""Lists of reports by filter, for the API and the dashboard (docs/integrate/reports.md)."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from app.core.ids import parse_id
from app.core.listed import is_one_of
from app.core.models import Action, Report, Request
from app.core.paging import MOST_COUNTED, Page, Slice, paginate
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ReportState

SHOWN_OF_POST = 3
"""How many reports of a post its row shows."""


def matching(
    session: Session,
    actor: Actor,
    *,
    communities: Collection[uuid.UUID | None] = (),
    state: ReportState | None = None,
    category: str | None = None,
    reporter: str | None = None,
    request: str | None = None,
    reported_from: datetime | None = None,
    reported_to: datetime | None = None,
    updated_from: datetime | None = None,
    platform: str | None = None,
) -> sa.Select[Any]:
    """The reports in the actor's communities that match all of these; None values are ignored.

    ``reporter`` is a profile UUID or a user id of ``platform`` (default: that of each report's community); ``request``
    is our UUID or the integration's string.
    """
    statement = sa.select(Report)
    visible = actor.seen_of(communities)
    if visible is not None:
        statement = statement.where(Report.community_id.in_(visible))
    if state is not None:
        statement = statement.where(Report.state == state)
    if category is not None:
        statement = statement.where(Report.category == category)
    if reported_from is not None:
        statement = statement.where(Report.reported_at >= reported_from)
    if reported_to is not None:
        statement = statement.where(Report.reported_at <= reported_to)
    if updated_from is not None:
        statement = statement.where(Report.updated_at >= updated_from)
    if request is not None:
        statement = statement.where(Report.request_id.in_(_request_ids(actor, request)))
    if reporter is not None:
        people = session.scalars(profiles.named(actor, [reporter])).all()
        statement = statement.where(
            is_one_of(session, Report.reporter_id, people),
            profiles.is_meant(actor, [reporter], platform, Report.reporter_id, Report.community_id),
        )
    return statement


def _request_ids(actor: Actor, reference: str) -> sa.Select[Any]:
    by_string = sa.and_(Request.request_id == reference, Request.withdrawn_at.is_(None))
    return sa.select(Request.id).where(sa.or_(by_string, Request.id == parse_id(reference)))


READ_OPTIONS = (joinedload(Report.request).load_only(Request.request_id, Request.platform_message_id),)
"""Load options for what a response shows of a report's post."""


def listed(
    session: Session, statement: sa.Select[Any], part: Slice, *, by_change: bool = False
) -> Page[Report]:
    """A page of the reports that ``matching`` selects, newest first; ``by_change``: those that changed first first."""
    return paginate(
        session,
        statement.options(*READ_OPTIONS),
        Report.updated_at if by_change else Report.reported_at,
        Report.id,
        part,
        descending=not by_change,
        narrow=statement.with_only_columns(Report.id),
    )


def for_moderators(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    part: Slice,
    *,
    states: Sequence[ReportState],
    category: str | None = None,
    profile_id: uuid.UUID | None = None,
) -> Page[Report]:
    """A page of a community's reports in these states, newest first, with their posts and reporters."""
    require(actor, Permission.SEE_QUEUE, community_id)
    statement = sa.select(Report).where(*_are(Report, community_id, states, category, profile_id))
    return paginate(
        session,
        statement.options(joinedload(Report.request), joinedload(Report.reporter)),
        Report.reported_at,
        Report.id,
        part,
        most=MOST_COUNTED,
    )


@dataclass(frozen=True)
class Reported:
    """A post with its newest reports, the newest first. ``more``: how many others match."""

    reports: Sequence[Report]
    more: int


def reported_posts(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    part: Slice,
    *,
    states: Sequence[ReportState],
    category: str | None = None,
    profile_id: uuid.UUID | None = None,
) -> Page[Reported]:
    """A page of a community's posts with reports that match, those with the newest report first."""
    require(actor, Permission.SEE_QUEUE, community_id)
    later = aliased(Report, name="later")
    is_newest = ~sa.exists().where(
        later.request_id == Report.request_id,
        sa.tuple_(later.reported_at, later.id) > sa.tuple_(Report.reported_at, Report.id),
        *_are(later, community_id, states, category, profile_id),
    )
    matching_reports = _are(Report, community_id, states, category, profile_id)
    newest = paginate(
        session,
        sa.select(Report).where(*matching_reports, is_newest),
        Report.reported_at,
        Report.id,
        part,
        most=MOST_COUNTED,
    )
    ranked = (
        sa.select(
            Report.id,
            sa.func.row_number()
            .over(partition_by=Report.request_id, order_by=(Report.reported_at.desc(), Report.id.desc()))
            .label("place"),
            sa.func.count().over(partition_by=Report.request_id).label("number"),
        )
        .where(*matching_reports, Report.request_id.in_([one.request_id for one in newest.rows]))
        .subquery()
    )
    shown = session.execute(
        sa.select(Report, ranked.c.number)
        .join(ranked, ranked.c.id == Report.id)
        .where(ranked.c.place <= SHOWN_OF_POST)
        .order_by(ranked.c.place)
        .options(joinedload(Report.request), joinedload(Report.reporter))
    ).all()
    posts: dict[uuid.UUID, list[Report]] = {}
    numbers: dict[uuid.UUID, int] = {}
    for report, number in shown:
        posts.setdefault(report.request_id, []).append(report)
        numbers[report.request_id] = number
    rows = [
        Reported(posts[one.request_id], numbers[one.request_id] - len(posts[one.request_id]))
        for one in newest.rows
    ]
    return replace(newest, rows=rows)


def _are(
    report: Any,
    community_id: uuid.UUID,
    states: Sequence[ReportState],
    category: str | None,
    profile_id: uuid.UUID | None,
) -> list[sa.ColumnElement[bool]]:
    """The conditions of the moderators' list, on ``Report`` or an alias of it."""
    conditions = [report.community_id == community_id, report.state.in_(states)]
    if category is not None:
        conditions.append(report.category == category)
    if profile_id is not None:
        conditions.append(report.reporter_id == profile_id)
    return conditions


def items_of(
    session: Session, request_ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, tuple[uuid.UUID, str | None]]:
    """The newest action of each of these posts, and its category."""
    return {
        request_id: (action_id, category)
        for request_id, action_id, category in session.execute(
            sa.select(Action.request_id, Action.id, Action.category)
            .where(Action.request_id.in_(request_ids), Action.restores_id.is_(None))
            .order_by(Action.created_at, Action.id)
        )
    }


def of_post(session: Session, request_id: uuid.UUID, most: int) -> Sequence[Report]:
    """The latest reports of a post that were not withdrawn, with their reporters, for its item's page."""
    return session.scalars(
        sa.select(Report)
        .where(Report.request_id == request_id, Report.state != ReportState.WITHDRAWN)
        .options(joinedload(Report.reporter))
        .order_by(Report.reported_at.desc(), Report.id.desc())
        .limit(most)
    ).all()


def of_person(session: Session, actor: Actor, community_id: uuid.UUID, part: Slice) -> Page[Report]:
    """A page of the actor's own reports in a community, newest first, with their posts."""
    statement = sa.select(Report).where(
        Report.reporter_id == actor.profile_id, Report.community_id == community_id
    )
    return paginate(
        session,
        statement.options(joinedload(Report.request)),
        Report.reported_at,
        Report.id,
        part,
        most=MOST_COUNTED,
    )
