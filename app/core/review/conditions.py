"""What is late, failing, waiting or paused: one set of limits for lists, Insights, notices, mails and the doctor.

Each community sets how long a backlog, a delay or a pause may last before its operators get a notice
(``communities.settings``). The limit of a replica is in ``core/replica.py``.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock
from app.core.history import notices
from app.core.models import Action, Community, Webhook
from app.core.models.decisions import QUEUED, SECOND_LOOK
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, require
from app.core.services.calls import Period
from app.core.vocabulary import ActionState

JOB_LATE_AFTER = timedelta(minutes=5)
"""Scoring, a delivery or the fetch of an attachment is late when it has been due for this time."""
BACKUP_LATE_AFTER = timedelta(hours=26)
"""A daily backup is late after this time."""
UNCONFIRMED_AFTER = timedelta(hours=1)
"""A platform confirms within seconds; a decision that is not confirmed after this time is late."""
FAILURES, FAILING_FOR = 5, timedelta(hours=1)
"""A webhook is failing after this many failures in a row over at least this time (docs/run/operations.md)."""
MOST_COUNTED = 999
"""Counting stops after one more than this, so that a long queue costs no more than a short one."""


def is_awake(now: datetime) -> sa.ColumnElement[bool]:
    """Whether no moderator has put the item aside."""
    return sa.or_(Action.snoozed_until.is_(None), Action.snoozed_until <= now)


EARLIER = aliased(Action, name="earlier")
"""An item in the same wave that opened before (``is_first_alike``)."""


def is_first_alike(*listed: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Whether no earlier item of the same wave is under review: posts alike are one row, that of the first.

    ``listed``: further conditions on ``EARLIER``, those of the list. A claim and a snooze of the first are of all of
    them. An index leads to the few items of a wave.
    """
    earlier = sa.exists().where(
        EARLIER.wave_id == Action.wave_id,
        EARLIER.id < Action.id,
        sa.text(f"earlier.{QUEUED}"),
        *listed,
    )
    return sa.or_(Action.wave_id.is_(None), ~earlier.correlate(Action))


def waiting(community_id: uuid.UUID) -> sa.Select[Any]:
    """Select the actions under review, also those that are put aside."""
    # Written out, not a parameter: only so are the queue's partial indexes used for certain.
    return sa.select(Action).where(
        Action.community_id == community_id, sa.text(f"moderation_actions.{QUEUED}")
    )


def second_looks(community_id: uuid.UUID) -> sa.Select[Any]:
    """Select the open second looks, and the actions that a score alone decided."""
    return sa.select(Action).where(Action.community_id == community_id, sa.text(SECOND_LOOK))


@dataclass(frozen=True)
class OpenCounts:
    """Rows of the queue that are not put aside, and second looks; each at most ``MOST_COUNTED`` + 1.

    Posts alike are one row.
    ``notices``: the actor's unread notices of all communities.
    """

    review: int
    second_looks: int
    notices: int


def open_counts(session: Session, actor: Actor, community_id: uuid.UUID) -> OpenCounts:
    """Count what every page and poll of a moderator shows; one query on indexes of open items and unread notices."""
    require(actor, Permission.SEE_QUEUE, community_id)
    # In the orders of the partial indexes: only so are these used for certain.
    awake = waiting(community_id).where(is_awake(clock.now()), is_first_alike())
    awake = awake.order_by(Action.urgent_at, Action.id)
    looks = second_looks(community_id).order_by(Action.action_state, Action.retro_review_at)
    counts = (up_to(found.with_only_columns(Action.id), MOST_COUNTED) for found in (awake, looks))
    row = session.execute(sa.select(*counts, notices.unread_count(actor).scalar_subquery())).one()
    return OpenCounts(row[0], row[1], row[2])


def is_past_target(now: datetime, action: Any = Action) -> sa.ColumnElement[bool]:
    """Whether a review waits longer than its category's target time, as part of a query."""
    is_past: sa.ColumnElement[bool] = action.due_at <= now
    return is_past


def is_late(action: Action) -> bool:
    """Whether this review waits longer than its category's target time."""
    is_waiting = action.action_state is ActionState.UNDER_REVIEW and action.due_at is not None
    return is_waiting and action.due_at <= clock.now()  # type: ignore[operator]  # the line above excludes None


def paused_since(community: Community) -> datetime | None:
    """Since when automatic actions are paused; None if they are not, or if the community is archived."""
    return community.paused_at if community.archived_at is None else None


def is_failing(webhook: Webhook) -> bool:
    """Whether nothing has arrived at this webhook for long enough to need attention."""
    since = webhook.failing_since
    return (
        webhook.is_active
        and webhook.failures >= FAILURES
        and since is not None
        and since <= clock.now() - FAILING_FOR
    )


def fails_mostly(calls: Period) -> bool:
    """Whether more than half of a connected service's calls failed."""
    return calls.errors * 2 > calls.requests
