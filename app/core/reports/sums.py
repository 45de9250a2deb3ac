"""The reports of posts, summed in one index, which has all that their weight takes."""

import uuid
from collections.abc import Collection, Sequence

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
_COUNTED = (ReportState.OPEN, ReportState.UPHELD, ReportState.REJECTED, ReportState.UNDECIDED)
"""All but what was withdrawn, written out for the index."""


def of_open(session: Session, request_id: uuid.UUID) -> Sequence[Alike]:
    """The open reports of a post."""
    return _of(session, [request_id], Report.state == ReportState.OPEN).get(request_id, [])


def of_one(report: Report) -> Alike:
    """One report, to be added to the sums of the others."""
    right = int(report.weight > PRIOR_SHARE)
    return Alike(report.category, report.side, report.is_newcomer, 1, report.weight, right)


def of_late(session: Session, request_id: uuid.UUID) -> Sequence[Alike]:
    """The reports of a post that came after its decision."""
    which = sa.and_(Report.state.in_(_COUNTED), Report.is_late)
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
