"""The moderators' home: what waits, what happened since their last visit, their week, and who else is here.

Nothing of it is kept: each figure is counted with the filters of the list that it leads to.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import notices
from app.core.models import Account, Action, HistoryEntry, SignIn
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, require
from app.core.review import action_history, assignments, history_filters, queue, queue_filters
from app.core.review.action_history import ActionChange
from app.core.review.conditions import MOST_COUNTED
from app.core.review.history_filters import HistoryFilter
from app.core.review.queue import QueueItem
from app.core.review.queue_filters import QueueFilter, Sort
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ActionState

OVERTURNED_FOR = timedelta(days=7)
"""How far back the moderator's overturned decisions are counted."""
HERE_FOR = timedelta(minutes=10)
"""For how long after their last request a colleague is here: as long as a claim lasts."""
SHOWN = 5
"""The most items of a list, and colleagues."""
MINE, UNCLAIMED, OVERDUE = (
    QueueFilter(claimed_by="me"),
    QueueFilter(claimed_by="nobody"),
    QueueFilter(overdue=True),
)
CAME, ACTED, KEPT, OVERTURNED = NEWS = (
    ActionState.UNDER_REVIEW,
    ActionState.PROPOSED,
    ActionState.DISMISSED,
    ActionState.OVERTURNED,
)
"""The changes that are counted since the last visit: posts that came to review, and what was decided."""


@dataclass(frozen=True)
class Colleague:
    """A moderator who is here now, and how many items they have claimed or are to decide."""

    account_id: uuid.UUID
    name: str
    items: int


@dataclass(frozen=True)
class Desk:
    """Counts of items, each at most ``MOST_COUNTED`` + 1, and the first of them in the queue's order.

    ``worst``: the overdue category of the highest severity, with its number of items; None without overdue items of a
    category, or with more than are counted. ``overturned``: the moderator's decisions that were reversed within
    ``OVERTURNED_FOR``. ``queues``: the counts of the queues that were asked for, in their order.
    """

    mine: int
    unclaimed: int
    overdue: int
    overturned: int
    worst: tuple[str, int] | None
    my_items: Sequence[QueueItem]
    overdue_items: Sequence[QueueItem]
    queues: Sequence[int]
    colleagues: Sequence[Colleague]


def read(session: Session, actor: Actor, community_id: uuid.UUID, queues: Sequence[QueueFilter] = ()) -> Desk:
    """What waits in this community, and who is here; the same number of queries whatever waits.

    A queue whose filter searches for a text would cost queries of its own, so the caller leaves it out.
    """
    require(actor, Permission.SEE_QUEUE, community_id)
    here = _here(session, actor, community_id)
    theirs = [QueueFilter(claimed_by=str(account_id)) for account_id, _ in here]
    mine, unclaimed, overdue, *others = _counts(
        session, actor, community_id, [MINE, UNCLAIMED, OVERDUE, *queues, *theirs]
    )
    return Desk(
        mine,
        unclaimed,
        overdue,
        notices.reversals(session, actor, community_id, clock.now() - OVERTURNED_FOR),
        _worst(session, actor, community_id) if 0 < overdue <= MOST_COUNTED else None,
        _first(session, actor, community_id, MINE) if mine else [],
        _first(session, actor, community_id, OVERDUE) if overdue else [],
        others[: len(queues)],
        [
            Colleague(account_id, name, items)
            for (account_id, name), items in zip(here, others[len(queues) :], strict=True)
        ],
    )


def news(
    session: Session, actor: Actor, community_id: uuid.UUID, since: datetime
) -> Mapping[ActionState, int]:
    """How many actions came to each state of ``NEWS`` since then, each at most ``MOST_COUNTED`` + 1; three queries."""
    require(actor, Permission.SEE_HISTORY, community_id)
    within = history_filters.matching(session, community_id, HistoryFilter(since=since)).conditions
    entries = sa.select(HistoryEntry.id).where(*within)
    counts = [up_to(entries.where(HistoryEntry.what == f"action.{state}"), MOST_COUNTED) for state in NEWS]
    return dict(zip(NEWS, session.execute(sa.select(*counts)).one(), strict=True))


def week(
    session: Session, actor: Actor, community_id: uuid.UUID, midnights: Sequence[datetime]
) -> Sequence[int]:
    """What the actor did on each day between these midnights, as the history lists it; four queries."""
    require(actor, Permission.SEE_HISTORY, community_id)
    filters = HistoryFilter(account_id=actor.account_id, since=midnights[0], until=midnights[-1])
    matching = history_filters.matching(session, community_id, filters)
    days = [
        sa.func.coalesce(
            sa.func.sum(sa.case((sa.and_(HistoryEntry.at >= begin, HistoryEntry.at < end), 1), else_=0)), 0
        )
        for begin, end in pairwise(midnights)
    ]
    counted = sa.select(*days).where(*matching.conditions, history_filters.kind(filters))
    return list(session.execute(counted).one())


def nearest(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[QueueItem]:
    """Of the items that were put aside, the three with the most ratings: nearest to a decision while no other waits."""
    require(actor, Permission.SEE_QUEUE, community_id)
    aside = QueueFilter(snoozed=True, sort=Sort.RATINGS)
    found = queue_filters.filtered(session, actor, community_id, aside)
    return queue.first_items(session, found, aside.sort, 3, backwards=False)


def last_decision(session: Session, actor: Actor, community_id: uuid.UUID) -> ActionChange | None:
    """The newest decision to act or to dismiss; a few queries."""
    decided = HistoryFilter(states=(ActionState.PROPOSED, ActionState.DISMISSED))
    rows = action_history.changes(session, actor, community_id, decided, size=1).rows
    return rows[0] if rows else None


def _counts(
    session: Session, actor: Actor, community_id: uuid.UUID, wanted: Sequence[QueueFilter]
) -> Sequence[int]:
    """How many items each of the filters finds, in one query."""
    found = (queue_filters.filtered(session, actor, community_id, filters) for filters in wanted)
    counts = (up_to(items.with_only_columns(Action.id), MOST_COUNTED) for items in found)
    return list(session.execute(sa.select(*counts)).one())


def _first(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: QueueFilter
) -> Sequence[QueueItem]:
    found = queue_filters.filtered(session, actor, community_id, filters)
    return queue.first_items(session, found, filters.sort, SHOWN, backwards=False)


def _worst(session: Session, actor: Actor, community_id: uuid.UUID) -> tuple[str, int] | None:
    late = queue_filters.filtered(session, actor, community_id, OVERDUE)
    categories = late.with_only_columns(Action.category).subquery()
    counted = sa.select(categories.c.category, sa.func.count()).group_by(categories.c.category)
    overdue = {name: count for name, count in session.execute(counted) if name}
    rules = threshold_sets.category_rules(threshold_sets.current(session, community_id))
    known = [rule for rule in rules if rule.name in overdue]
    worst = max(known, key=lambda rule: rule.severity, default=None)
    return (worst.name, overdue[worst.name]) if worst is not None else None


def _here(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[tuple[uuid.UUID, str]]:
    """Moderators of the community whose browser asked for a page within ``HERE_FOR``, by name; not the actor."""
    is_here = sa.exists().where(
        SignIn.account_id == Account.id,
        SignIn.ended_at.is_(None),
        SignIn.last_seen_at > clock.now() - HERE_FOR,
    )
    others = assignments.moderators(community_id).where(Account.id != actor.account_id, is_here)
    return [(account_id, name) for account_id, name in session.execute(others.limit(SHOWN))]
