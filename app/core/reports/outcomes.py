"""Outcomes of reports: they follow the decision about their post, and each reporter hears it once.

An action that the platform carried out upholds them, a dismissal or an overturned action rejects them, and a review
without a decision, or a withdrawn post, leaves them undecided. What is overturned later changes no report that was
resolved: its reporter has heard an outcome. A decision that can still be undone has moved nothing yet.
"""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions, exemptions
from app.core.actions.moves import make_move, together
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.history.reason import Reason
from app.core.models import Action, Community, Report, Request
from app.core.permissions import SYSTEM
from app.core.texts import lazy_gettext
from app.core.vocabulary import OUTCOMES, ActionState, ReportOutcome, ReportState, RequestStatus

BATCH = 500
"""Reports that are resolved in one transaction."""

_OF_ACTION = {
    ActionState.APPLIED: ReportState.UPHELD,
    ActionState.RETRO_REVIEW: ReportState.UPHELD,
    ActionState.CONFIRMED: ReportState.UPHELD,
    ActionState.DISMISSED: ReportState.REJECTED,
    ActionState.OVERTURNED: ReportState.REJECTED,
    ActionState.SCAN_EXEMPT: ReportState.REJECTED,
}
CAUSES = {
    ReportState.UPHELD: lazy_gettext("the platform acted on the post"),
    ReportState.REJECTED: lazy_gettext("the post was kept"),
    ReportState.UNDECIDED: lazy_gettext("there was no decision about the post"),
}


def outcome_of(session: Session, request: Request, latest: Action | None) -> ReportState | None:
    """What reports of this post come to now; None while nothing is decided. ``latest`` is its newest action."""
    if request.withdrawn_at is not None:
        return ReportState.UNDECIDED
    if latest is None:
        is_left_alone = request.status is RequestStatus.COMPLETED and exemptions.is_exempt(session, request)
        return ReportState.REJECTED if is_left_alone else None
    if latest.action_state is ActionState.DISMISSED and latest.lapsed_at is not None:
        return ReportState.UNDECIDED
    return _OF_ACTION.get(latest.action_state)


def resolve(session: Session, report: Report, state: ReportState) -> None:
    """Resolve one report. Its event goes out with the words that the community has for the outcome."""
    community = session.get_one(Community, report.community_id)
    settings = community_settings.for_community(community, community_settings.defaults(session))
    words = {
        ReportOutcome.ACTED: settings.report_acted_text,
        ReportOutcome.KEPT: settings.report_kept_text,
        ReportOutcome.NONE: settings.report_none_text,
    }
    make_move(
        session,
        SYSTEM,
        report,
        state,
        reason=Reason(cause=CAUSES[state]),
        resolved_at=clock.now(),
        outcome_text=words[OUTCOMES[state]] or None,
    )


def resolve_post(session: Session, request_id: uuid.UUID) -> bool:
    """Resolve the next open reports of a post that is decided. Return whether there may be more of them."""
    request = session.get(Request, request_id)
    if request is None:
        return False
    serialise(session, request.community_id)
    session.refresh(request)
    state = outcome_of(session, request, actions.live_for(session, request.id))
    return state is not None and _resolve(session, Report.request_id == request.id, state)


def _resolve(session: Session, which: sa.ColumnElement[bool], state: ReportState) -> bool:
    found = session.scalars(
        sa.select(Report).where(which, Report.state == ReportState.OPEN).order_by(Report.id).limit(BATCH)
    ).all()
    with together(session):
        for report in found:
            resolve(session, report, state)
    return len(found) == BATCH


def _forgotten(older_than: datetime) -> sa.Select[uuid.UUID]:
    """The posts whose open reports waited longer than a review may, while nobody was asked about them."""
    asked = (ActionState.PROPOSED, ActionState.UNDER_REVIEW)
    return (
        sa.select(Report.request_id)
        .where(
            # Written out for the index of open reports.
            sa.text("reports.state = 'open'"),
            Report.created_at < older_than,
            ~sa.exists().where(
                Action.request_id == Report.request_id,
                Action.action_state.in_(asked),
                Action.strike_step.is_(None),
            ),
        )
        .limit(BATCH)
    )


def end_forgotten(session: Session, older_than: datetime) -> bool:
    """End old reports of posts that no review is open about: as their post was decided, else without a decision.

    Return whether there may be more of them.
    """
    request_ids = list(dict.fromkeys(session.scalars(_forgotten(older_than))))
    for request_id in request_ids:
        request = session.get_one(Request, request_id)
        serialise(session, request.community_id)
        state = outcome_of(session, request, actions.live_for(session, request_id))
        _resolve(
            session,
            sa.and_(Report.request_id == request_id, Report.created_at < older_than),
            state or ReportState.UNDECIDED,
        )
    return bool(request_ids)
