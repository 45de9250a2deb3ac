"""What needs attention in a community: late reviews, a growing backlog, wrong actions, failing webhooks.

``read`` asks for what is true now, ``from_trends`` judges the figures of a period. Few cases never raise a matter:
shares are compared by their 95 % intervals, which must not overlap.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.insights.trend_figures import Overturned, Totals, Trends
from app.core.models import Action, Community, Webhook
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, allows, require
from app.core.review import conditions, queue_filters
from app.core.review.conditions import MOST_COUNTED
from app.core.review.queue_filters import QueueFilter
from app.core.thresholds.outcomes import lower_bound
from app.core.vocabulary import ActionState
from app.core.webhooks.registrations import BY_HAND

LEAST_ACTIONS, LEAST_OVERTURNED = 10, 3
"""With fewer actions, or fewer of them overturned, a category's or a classifier's rate raises no matter."""
LEAST_GROWTH, GROWTH = 10, 1.25
"""A backlog grew if it has at least this many reviews more than at the beginning, and is this many times as large."""


class Concern(StrEnum):
    """What a matter is about, most serious first."""

    WEBHOOK_DISABLED = "webhook_disabled"
    OVERDUE = "overdue"
    UNCONFIRMED = "unconfirmed"
    WEBHOOK_FAILING = "webhook_failing"
    PAUSED = "paused"
    CATEGORY = "category"
    CLASSIFIER = "classifier"
    BACKLOG = "backlog"


@dataclass(frozen=True)
class Matter:
    """One thing that needs attention.

    ``count`` is of reviews, decisions or failures, at most ``conditions.MOST_COUNTED`` + 1 where it is counted now;
    for a backlog the reviews at the end of the period, and ``before`` those at its beginning. ``since``: when the
    oldest became due, was decided, or when it began. ``rate`` and ``compared`` are the shares of a category or
    classifier and of what it is compared with: all others, or itself in the period before (``is_before``).
    """

    concern: Concern
    name: str = ""
    count: int = 0
    before: int = 0
    since: datetime | None = None
    webhook_id: uuid.UUID | None = None
    rate: Overturned | None = None
    compared: Overturned | None = None
    is_before: bool = False


def read(session: Session, actor: Actor, community_id: uuid.UUID) -> list[Matter]:
    """What needs attention now, in three queries that read a bounded number of rows.

    Webhooks are left out for actors who may not see them.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    found = [*_waiting(session, actor, community_id), *_paused(session, community_id)]
    if allows(actor, Permission.MANAGE_WEBHOOKS, community_id):
        found += _webhooks(session, community_id)
    return in_order(found)


def from_trends(trends: Trends) -> list[Matter]:
    """What needs attention by the figures of a period and of the one before."""
    now, before = trends.totals, trends.before
    return in_order(
        [
            *_outstanding(Concern.CATEGORY, now, before, lambda totals: totals.categories),
            *_outstanding(Concern.CLASSIFIER, now, before, lambda totals: totals.classifiers),
            *grown(now.waiting, before.waiting),
        ]
    )


def in_order(matters: Sequence[Matter]) -> list[Matter]:
    """The most serious first."""
    places = list(Concern)
    return sorted(matters, key=lambda matter: places.index(matter.concern))


def grown(waiting: int, before: int) -> list[Matter]:
    """The matter of a backlog that has grown since the period began; none if it has not."""
    has_grown = waiting - before >= LEAST_GROWTH and waiting >= before * GROWTH
    return [Matter(Concern.BACKLOG, count=waiting, before=before)] if has_grown else []


def stands_out(rate: Overturned, compared: Overturned | None) -> bool:
    """Whether more is overturned than of what it is compared with, beyond what chance explains.

    The lower bound of its 95 % interval must be above the upper bound of the other's (Wilson 1927).
    """
    if compared is None or min(rate.acted, compared.acted) < LEAST_ACTIONS:
        return False
    upper = 1 - lower_bound(compared.acted - compared.overturned, compared.acted)
    return rate.overturned >= LEAST_OVERTURNED and lower_bound(rate.overturned, rate.acted) > upper


def _outstanding(
    concern: Concern, now: Totals, before: Totals, rows: Callable[[Totals], Sequence[Overturned]]
) -> list[Matter]:
    """The rates that stand out from all others together or, if not, from their own before; the highest first."""
    acted, overturned = (sum(getattr(row, name) for row in rows(now)) for name in ("acted", "overturned"))
    earlier = {row.name: row for row in rows(before)}
    found = []
    for row in rows(now):
        others = Overturned("", acted - row.acted, overturned - row.overturned)
        own = earlier.get(row.name)
        if stands_out(row, others):
            found.append(Matter(concern, row.name, rate=row, compared=others))
        elif stands_out(row, own):
            found.append(Matter(concern, row.name, rate=row, compared=own, is_before=True))
    return sorted(found, key=lambda matter: -matter.rate.share if matter.rate else 0.0)


def _waiting(session: Session, actor: Actor, community_id: uuid.UUID) -> list[Matter]:
    """Reviews past their target time, and decisions that the platform has not confirmed; one query."""
    late = queue_filters.filtered(session, actor, community_id, QueueFilter(overdue=True))
    due = late.with_only_columns(Action.due_at).order_by(Action.due_at)
    limit = clock.now() - conditions.UNCONFIRMED_AFTER
    sent = (
        sa.select(Action.proposed_at)
        .where(
            Action.community_id == community_id,
            Action.action_state == ActionState.PROPOSED,
            # What was decided before was opened before: in the index.
            Action.created_at < limit,
            Action.proposed_at < limit,
        )
        .order_by(Action.created_at)
    )
    # The one that was opened first may be decided last.
    counted = sent.limit(MOST_COUNTED + 1).subquery()
    overdue, oldest_due, unconfirmed, oldest_sent = session.execute(
        sa.select(
            up_to(due, MOST_COUNTED),
            due.limit(1).scalar_subquery(),
            sa.select(sa.func.count()).select_from(counted).scalar_subquery(),
            sa.select(sa.func.min(counted.c.proposed_at)).scalar_subquery(),
        )
    ).one()
    found = []
    if overdue:
        found.append(Matter(Concern.OVERDUE, count=overdue, since=oldest_due))
    if unconfirmed:
        found.append(Matter(Concern.UNCONFIRMED, count=unconfirmed, since=oldest_sent))
    return found


def _paused(session: Session, community_id: uuid.UUID) -> list[Matter]:
    community = session.get_one(Community, community_id)
    since = conditions.paused_since(community)
    return [Matter(Concern.PAUSED, community.paused_by or "", since=since)] if since is not None else []


def _webhooks(session: Session, community_id: uuid.UUID) -> list[Matter]:
    """Webhooks that failures disabled, and those that are failing. One that a person disabled needs no attention."""
    found = []
    for webhook in session.scalars(
        sa.select(Webhook)
        .where(Webhook.community_id == community_id, Webhook.deleted_at.is_(None))
        .order_by(Webhook.created_at, Webhook.id)
    ):
        if not webhook.is_active and webhook.disabled_reason != BY_HAND:
            concern = Concern.WEBHOOK_DISABLED
        elif conditions.is_failing(webhook):
            concern = Concern.WEBHOOK_FAILING
        else:
            continue
        name, since = webhook.url.partition("?")[0], webhook.failing_since
        found.append(Matter(concern, name, webhook.failures, since=since, webhook_id=webhook.id))
    return found
