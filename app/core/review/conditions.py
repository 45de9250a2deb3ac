"""What is late, failing, waiting or paused: one set of limits for the queue, Insights, notices, mails and the doctor.

How long a backlog may get, and how late or how long paused something may be before operators are told, are settings of
each community (``communities.settings``).
"""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.core import clock
from app.core.models import Action, Community, Webhook
from app.core.models.decisions import QUEUED
from app.core.services.calls import Period
from app.core.vocabulary import ActionState

JOB_LATE_AFTER = timedelta(minutes=5)
"""Scoring, a delivery or the fetch of an attachment is late when it has been due for this time."""
UNCONFIRMED_AFTER = timedelta(hours=1)
"""A platform confirms within seconds; a decision that is not confirmed after this time is late."""
FAILURES, FAILING_FOR = 5, timedelta(hours=1)
"""A webhook is failing after so many failures in a row over at least this time (docs/operations.md)."""


def is_awake(now: Any) -> sa.ColumnElement[bool]:
    """Whether nobody has put the item aside. ``now`` is a moment, or the parameter that gets it later."""
    return sa.or_(Action.snoozed_until.is_(None), Action.snoozed_until <= now)


def waiting(community_id: Any) -> sa.Select[Any]:
    """Select the actions under review, also those that are put aside. Both are values or parameters."""
    # Written out, not a parameter: only so are the queue's partial indexes used for certain.
    return sa.select(Action).where(
        Action.community_id == community_id, sa.text(f"moderation_actions.{QUEUED}")
    )


def is_past_target(now: Any) -> sa.ColumnElement[bool]:
    """Whether a review waits longer than its category's target time, as part of a query."""
    return Action.due_at <= now


def is_late(action: Action) -> bool:
    """Whether this review waits longer than its category's target time."""
    is_waiting = action.action_state is ActionState.UNDER_REVIEW and action.due_at is not None
    return is_waiting and action.due_at <= clock.now()  # type: ignore[operator]  # the line above excludes None


def paused_since(community: Community) -> datetime | None:
    """Since when automatic actions are paused; None if they are not, or if the community is archived."""
    return community.paused_at if community.archived_at is None else None


def is_failing(webhook: Webhook) -> bool:
    """Whether nothing has arrived at this webhook for so long that somebody should look at it."""
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
