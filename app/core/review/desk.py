"""A moderator's own view of the queue: what is theirs, what nobody has, what is late, what was overturned."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Notice
from app.core.permissions import Actor, Permission, require
from app.core.review import queue, queue_filters
from app.core.review.open_counts import bounded_count
from app.core.review.queue import QueueItem
from app.core.review.queue_filters import QueueFilter

OVERTURNED_DAYS = 7
SHOWN = 5
MINE, UNCLAIMED, OVERDUE = (
    QueueFilter(claimed_by="me"),
    QueueFilter(claimed_by="nobody"),
    QueueFilter(overdue=True),
)


@dataclass(frozen=True)
class Desk:
    """Counts of items, each at most ``MOST_COUNTED`` + 1, and the first of them in the queue's order.

    ``overturned`` counts the moderator's decisions that were reversed in the last ``OVERTURNED_DAYS`` days.
    """

    mine: int
    unclaimed: int
    overdue: int
    overturned: int
    my_items: Sequence[QueueItem]
    overdue_items: Sequence[QueueItem]


def desk(session: Session, actor: Actor, community_id: uuid.UUID) -> Desk:
    """The moderator's desk in this community; the same number of queries whatever waits."""
    require(actor, Permission.SEE_QUEUE, community_id)
    counts = (
        bounded_count(
            queue_filters.filtered(session, actor, community_id, filters).with_only_columns(sa.literal(1))
        )
        for filters in (MINE, UNCLAIMED, OVERDUE)
    )
    figures = session.execute(sa.select(*counts)).one()
    mine, unclaimed, overdue = figures[0], figures[1], figures[2]
    since = clock.now() - timedelta(days=OVERTURNED_DAYS)
    overturned = session.scalar(
        sa.select(sa.func.count()).where(
            Notice.account_id == actor.account_id,
            Notice.community_id == community_id,
            Notice.decided_id.is_not(None),
            Notice.created_at >= since,
        )
    )
    return Desk(
        mine,
        unclaimed,
        overdue,
        overturned or 0,
        queue.first(session, actor, community_id, MINE, size=SHOWN) if mine else [],
        queue.first(session, actor, community_id, OVERDUE, size=SHOWN) if overdue else [],
    )
