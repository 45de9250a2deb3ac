"""Ends reviews that reached no consensus in time."""

from datetime import datetime
from typing import Any

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
    oldest = _old(older_than).order_by(Action.community_id, Action.created_at).limit(EXPIRED_AT_ONCE)
    ended = session.scalars(oldest).all()
    for action in ended:
        actions.lapse(session, action, reason=Reason(cause=lazy_gettext("no consensus in time")))
    return len(ended)


def has_expired(session: Session, older_than: datetime) -> bool:
    """Whether there is anything for ``expire`` to end, so that nothing needs to be locked to find out."""
    return session.scalar(_old(older_than).with_only_columns(Action.id).limit(1)) is not None


def _old(older_than: datetime) -> sa.Select[Any]:
    return sa.select(Action).where(
        # Written out for the index of the few open reviews: this runs every half minute.
        sa.text("moderation_actions.action_state IN ('under_review', 'retro_review')"),
        sa.or_(
            sa.and_(
                Action.action_state == ActionState.UNDER_REVIEW,
                # For the index too; what came back under review is read from the row.
                Action.created_at < older_than,
                sa.or_(Action.review_opened_at.is_(None), Action.review_opened_at < older_than),
            ),
            sa.and_(Action.action_state == ActionState.RETRO_REVIEW, Action.retro_review_at < older_than),
        ),
        Action.id.not_in(sa.select(Hold.action_id).where(Hold.action_id.is_not(None))),
    )
