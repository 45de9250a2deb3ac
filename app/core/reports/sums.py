"""The reports of posts, summed in one index, which has all that their weight takes."""

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Report
from app.core.reports.weighing import PRIOR_SHARE, Alike, Tally, tally
from app.core.vocabulary import ReportState

_COLUMNS = (
    Report.request_id,
    Report.category,
    Report.side,
    Report.is_newcomer,
    sa.func.count(),
    sa.func.sum(Report.weight),
    sa.func.sum(sa.case((Report.weight > PRIOR_SHARE, 1), else_=0)),
)
MOST_MOVING = 500
"""More reports of one post do not move its review: its place has changed by the most long before."""
_COUNTED = (ReportState.OPEN, ReportState.UPHELD, ReportState.REJECTED, ReportState.UNDECIDED)
"""All but what was withdrawn, written out for the index."""


def of_open(session: Session, request_id: uuid.UUID) -> Sequence[Alike]:
    """The open reports of a post."""
    return _of(session, [request_id], Report.state == ReportState.OPEN).get(request_id, [])


def of_moving(session: Session, request_id: uuid.UUID) -> Sequence[Alike]:
    """The open reports of a post that move its place in the queue; not more than ``MOST_MOVING`` are read."""
    moving = (
        sa.select(Report.side, Report.weight)
        .where(
            Report.request_id == request_id,
            Report.state == ReportState.OPEN,
            sa.not_(Report.is_newcomer),
            Report.weight > 0,
        )
        .limit(MOST_MOVING)
        .subquery()
    )
    rows = session.execute(
        sa.select(moving.c.side, sa.func.count(), sa.func.sum(moving.c.weight)).group_by(moving.c.side)
    )
    return [Alike("", side, False, number, float(weight)) for side, number, weight in rows]


def has_most(moving: Sequence[Alike]) -> bool:
    """Whether so many reports move a review that one more or less changes nothing."""
    return sum(alike.number for alike in moving) >= MOST_MOVING


def of_one(report: Report) -> Alike:
    """One report, to be added to the sums of the others."""
    right = int(report.weight > PRIOR_SHARE)
    return Alike(report.category, report.side, report.is_newcomer, 1, report.weight, right)


def of_late(session: Session, request_id: uuid.UUID, since: datetime | None = None) -> Sequence[Alike]:
    """The reports of a post that came after its decision; of one that was decided again, those after ``since``."""
    again = sa.true() if since is None else Report.created_at > since
    which = sa.and_(Report.state.in_(_COUNTED), Report.is_late, again)
    return _of(session, [request_id], which).get(request_id, [])


def tallies(session: Session, request_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Tally]:
    """What is to be said of the reports of these posts; posts without any are left out. One statement."""
    found = _of(session, request_ids, Report.state.in_(_COUNTED)) if request_ids else {}
    return {request_id: tally(alike) for request_id, alike in found.items()}


def _of(
    session: Session, request_ids: Collection[uuid.UUID], which: sa.ColumnElement[bool]
) -> dict[uuid.UUID, list[Alike]]:
    rows = session.execute(
        sa.select(*_COLUMNS)
        .where(Report.request_id.in_(request_ids), which)
        .group_by(Report.request_id, Report.category, Report.side, Report.is_newcomer)
    )
    found: dict[uuid.UUID, list[Alike]] = {}
    for request_id, category, side, is_newcomer, number, weight, right in rows:
        found.setdefault(request_id, []).append(
            Alike(category, side, is_newcomer, number, float(weight), int(right))
        )
    return found
