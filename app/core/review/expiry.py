"""Ends reviews that reached no consensus in time."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.actions import actions
from app.core.history.reason import Reason
from app.core.models import Action, Hold
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState

EXPIRED_AT_ONCE = 200


def expire(session: Session, older_than: datetime) -> int:
    """End old reviews without consensus and return how many: queued ones are dismissed, second looks confirm.

    See docs/integrate/api.md.
    """
    is_old = sa.or_(
        sa.and_(
            Action.action_state == ActionState.UNDER_REVIEW,
            # For the index too; what came back under review is read from the row.
            Action.created_at < older_than,
            sa.or_(Action.review_opened_at.is_(None), Action.review_opened_at < older_than),
        ),
        sa.and_(Action.action_state == ActionState.RETRO_REVIEW, Action.retro_review_at < older_than),
    )
    ended = session.scalars(
        sa.select(Action)
        .where(
            # Written out for the index of the few open reviews: this runs every half minute.
            sa.text("moderation_actions.action_state IN ('under_review', 'retro_review')"),
            is_old,
            Action.id.not_in(sa.select(Hold.action_id).where(Hold.action_id.is_not(None))),
        )
        .order_by(Action.community_id, Action.created_at)
        .limit(EXPIRED_AT_ONCE)
    ).all()
    for action in ended:
        actions.lapse(session, action, reason=Reason(cause=lazy_gettext("no consensus in time")))
    return len(ended)
