"""Claims: which moderator holds an item of the review queue, for so long that two do not decide the same."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, queue_order, review_queue, rules
from app.core.errors import Conflict, Forbidden
from app.core.models import Account, Action, Hold
from app.core.permissions import Actor, Permission, require
from app.core.review_queue import QueueFilter

LEASE = timedelta(minutes=rules.CLAIM_MINUTES)


def claim(session: Session, actor: Actor, action: Action) -> None:
    """Hold an item for ten minutes; claiming one's own again renews the lease.

    Raises:
        Conflict: somebody else holds it.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    if actor.account_id is None:
        raise Forbidden("Only a signed-in moderator can claim an item")
    now = clock.now()
    result = session.execute(
        sa.update(Action)
        .where(Action.id == action.id, _open_to(actor, now))
        .values(claimed_by_id=actor.account_id, claimed_until=now + LEASE, updated_at=Action.updated_at)
        .execution_options(synchronize_session=False)
    )
    session.refresh(action, ["claimed_by_id", "claimed_until"])
    if result.rowcount == 0:  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult
        holder = session.get(Account, action.claimed_by_id) if action.claimed_by_id else None
        raise Conflict(f"Claimed by {holder.display_name if holder else 'somebody else'}", action.id)


def release(session: Session, actor: Actor, action: Action) -> None:
    """Let a claimed item go; somebody else's claim stays."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    session.execute(
        sa.update(Action)
        .where(Action.id == action.id, Action.claimed_by_id == actor.account_id)
        .values(claimed_by_id=None, claimed_until=None, updated_at=Action.updated_at)
        .execution_options(synchronize_session=False)
    )
    session.refresh(action, ["claimed_by_id", "claimed_until"])


def claim_next(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: QueueFilter,
    *,
    after: Action | None = None,
) -> Action | None:
    """Claim the next item of the filtered queue that nobody else holds and no decision waits on.

    Next is the first one that follows ``after`` in the queue's order; when none follows, the first of all, so
    that passing items by goes round the queue. ``after`` itself is never next.
    """
    require(actor, Permission.MODERATE, community_id)
    held = sa.select(Hold.action_id).where(Hold.action_id.is_not(None))
    statement = review_queue.filtered(actor, community_id, wanted).where(
        _open_to(actor, clock.now()), Action.id.not_in(held)
    )
    attempts = [statement]
    if after is not None:
        statement = statement.where(Action.id != after.id)
        attempts = [statement.where(queue_order.follows(wanted.sort, after)), statement]
    for attempt in attempts:
        candidates: Sequence[Action] = session.scalars(
            attempt.order_by(*queue_order.clauses(wanted.sort)).limit(5)
        ).all()
        for action in candidates:
            try:
                claim(session, actor, action)
            except Conflict:
                continue
            return action
    return None


def _open_to(actor: Actor, now: datetime) -> sa.ColumnElement[bool]:
    """Whether an item can be claimed: nobody holds it, or the actor does, or the lease is over."""
    return sa.or_(
        Action.claimed_by_id.is_(None),
        Action.claimed_by_id == actor.account_id,
        Action.claimed_until <= now,
    )
