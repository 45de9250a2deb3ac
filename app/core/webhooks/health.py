"""Health of a webhook's receiver: count failures, disable after too many, enable again (docs/integrate/api.md).

``for_webhooks`` has what operators see of it: success rates, latency, backlog (docs/run/reliability.md). A busy webhook
gets thousands of attempts a minute, so its newest ones speak for it: what is read stays the same.

Who changes a webhook must hold the lock of its row and, where history may be written, the community's lock before it.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import bulk, clock, outbox, quantiles
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.models import Attempt, Delivery, Webhook
from app.core.permissions import SYSTEM
from app.core.texts import lazy_gettext
from app.core.vocabulary import DeliveryState
from app.core.webhooks.sending import Outcome

GONE_LIMIT = 3
FAILURE_LIMIT = 20
FAILING_LIMIT = timedelta(days=5)
DAY = timedelta(days=1)
WEEK = timedelta(days=7)


def history_values(webhook: Webhook) -> dict[str, Any]:
    """The webhook's values for history. The URL's query string may contain the receiver's token, so it is left out."""
    return {
        "url": webhook.url.partition("?")[0],
        "events": list(webhook.events) if webhook.events is not None else None,
        "is_active": webhook.is_active,
    }


def enable(session: Session, webhook: Webhook) -> None:
    """Enable the webhook and reset its failures; deliveries that waited for it are due now."""
    webhook.is_active = True
    webhook.disabled_reason = None
    forget_failures(webhook)
    session.flush()
    change_due(session, webhook.id, Delivery.due_at.is_(None), due_at=clock.now())
    outbox.wake_dispatcher(session)


def disable(session: Session, webhook: Webhook, reason: str) -> None:
    """Disable the webhook; ``reason`` is shown to its operators.

    Its due deliveries get no due time: thousands of such rows would slow down every query for due deliveries.
    """
    webhook.is_active = False
    webhook.disabled_reason = reason
    session.flush()
    change_due(session, webhook.id, sa.true(), due_at=None)


def change_due(session: Session, webhook_id: uuid.UUID, which: sa.ColumnElement[bool], **values: Any) -> None:
    """Change the webhook's due deliveries, locked in the same order as in ``record_attempts``."""
    rows = (
        sa.select(Delivery.id)
        .where(Delivery.webhook_id == webhook_id, Delivery.state == DeliveryState.DUE, which)
        .order_by(Delivery.id)
        .with_for_update(key_share=True)
    )
    changed = sa.update(Delivery).where(Delivery.id.in_(rows))
    bulk.change(session, changed.values(updated_at=clock.now(), **values))


def forget_failures(webhook: Webhook) -> None:
    webhook.failures, webhook.gone_answers, webhook.failing_since = 0, 0, None


def count_attempt(webhook: Webhook, outcome: Outcome, ended: datetime) -> None:
    """Count one attempt. A 410 counts as "in a row" only directly after another 410."""
    if outcome.delivered:
        forget_failures(webhook)
        webhook.last_success_at = ended
        return
    webhook.failures += 1
    webhook.gone_answers = webhook.gone_answers + 1 if outcome.status == 410 else 0
    if webhook.failing_since is None:
        webhook.failing_since = ended


def may_disable_webhook(outcome: Outcome, failing_since: datetime | None, ended: datetime) -> bool:
    """Whether counting this attempt could disable its webhook, judged from an unlocked read.

    ``failing_since`` only ever changes from None to the present time or back, so whatever an unlocked read misses
    is not yet five days old.
    """
    old = failing_since is not None and ended - failing_since >= FAILING_LIMIT
    return outcome.status == 410 or (old and not outcome.delivered)


def disable_if_failing(session: Session, webhook: Webhook, now: datetime) -> None:
    """Disable an enabled webhook after three 410s in a row, or after 20 failures and no success for five days."""
    reason = _reason_to_disable(webhook, now) if webhook.is_active else None
    if reason is None:
        return
    before = history_values(webhook)
    disable(session, webhook, reason)
    entry = history.record(
        session,
        SYSTEM,
        webhook.community_id,
        "webhook.disabled",
        "webhook",
        webhook.id,
        before=before,
        after=history_values(webhook),
        reason=Reason(cause=reason),
    )
    notices.notify_disabled(session, entry)


def _reason_to_disable(webhook: Webhook, now: datetime) -> str | None:
    if webhook.gone_answers >= GONE_LIMIT:
        return lazy_gettext("The receiver answered three times in a row that it is gone (410)")
    since = webhook.failing_since
    if webhook.failures >= FAILURE_LIMIT and since is not None and now - since >= FAILING_LIMIT:
        return lazy_gettext("20 failures or more, and no success for five days")
    return None


@dataclass(frozen=True)
class Failure:
    """A failed attempt. ``error`` says why there was no answer; ``status`` is None then."""

    at: datetime
    delivery_id: uuid.UUID
    status: int | None
    error: str | None


@dataclass(frozen=True)
class Figures:
    """The statistics of one webhook: of its attempts within a week, but at most of its ``MOST_ATTEMPTS`` newest.

    Rates are shares of the attempts, 0.0–1.0. Latencies, in milliseconds, are of answered attempts. Each is None
    without any attempts. ``failure`` is the last failed one of these attempts. ``waiting`` and ``dead`` are counted
    up to one more than ``MOST_QUEUED``.
    """

    MOST_ATTEMPTS: ClassVar[int] = 500
    MOST_QUEUED: ClassVar[int] = 1_000

    attempts_day: int = 0
    attempts_week: int = 0
    rate_day: float | None = None
    rate_week: float | None = None
    median: int | None = None
    p95: int | None = None
    failure: Failure | None = None
    waiting: int = 0
    dead: int = 0


def for_webhooks(session: Session, webhook_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Figures]:
    """The statistics of webhooks that the caller may see: two queries however many there are."""
    now = clock.now()
    attempts = _newest_attempts(session, webhook_ids, now - WEEK)
    queued = _queued(session, webhook_ids)
    return {
        webhook_id: _figures(attempts[webhook_id], now - DAY, *queued[webhook_id])
        for webhook_id in webhook_ids
    }


def _figures(attempts: Sequence[Any], day: datetime, waiting: int, dead: int) -> Figures:
    """The statistics of these attempts, newest first."""
    arrived = [row.status is not None and 200 <= row.status < 300 for row in attempts]
    in_day = sum(row.at >= day for row in attempts)
    answered = sorted(row.milliseconds for row in attempts if row.status is not None)
    failed = next((row for row, ok in zip(attempts, arrived, strict=True) if not ok), None)
    return Figures(
        attempts_day=in_day,
        attempts_week=len(attempts),
        rate_day=sum(arrived[:in_day]) / in_day if in_day else None,
        rate_week=sum(arrived) / len(attempts) if attempts else None,
        median=quantiles.nearest(answered, 0.5),
        p95=quantiles.nearest(answered, 0.95),
        failure=Failure(failed.at, failed.delivery_id, failed.status, failed.error)
        if failed is not None
        else None,
        waiting=waiting,
        dead=dead,
    )


def _newest_attempts(
    session: Session, webhook_ids: Collection[uuid.UUID], since: datetime
) -> Mapping[uuid.UUID, Sequence[Any]]:
    """The newest attempts of each webhook, newest first."""
    other = aliased(Attempt)
    # The moment of the last one that counts. A window function would number all of the week first.
    oldest = (
        sa.select(other.at)
        .where(other.webhook_id == Webhook.id, other.at >= since)
        .order_by(other.at.desc())
        .offset(Figures.MOST_ATTEMPTS - 1)
        .limit(1)
        .correlate(Webhook)
        .scalar_subquery()
    )
    begins = (
        sa.select(Webhook.id, sa.func.coalesce(oldest, since).label("at"))
        .where(Webhook.id.in_(webhook_ids))
        .cte("begins")
        # Else PostgreSQL looks for that moment once for each attempt of 20 webhooks, which takes minutes.
        .prefix_with("MATERIALIZED")
    )
    rows = session.execute(
        sa.select(
            begins.c.id, Attempt.at, Attempt.delivery_id, Attempt.status, Attempt.milliseconds, Attempt.error
        )
        .join(Attempt, sa.and_(Attempt.webhook_id == begins.c.id, Attempt.at >= begins.c.at))
        # Repeated, so that it is known how few these are.
        .where(Attempt.at >= since)
        .order_by(Attempt.at.desc(), Attempt.id.desc())
    )
    found: defaultdict[uuid.UUID, list[Any]] = defaultdict(list)
    for row in rows:
        # Of several at that moment there may be more.
        if len(found[row.id]) < Figures.MOST_ATTEMPTS:
            found[row.id].append(row)
    return found


def _queued(session: Session, webhook_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, tuple[int, int]]:
    """How many deliveries of each webhook wait, and how many are dead."""

    def counted(state: DeliveryState) -> Any:
        some = (
            sa.select(sa.literal(1))
            .where(Delivery.webhook_id == Webhook.id, Delivery.state == state)
            .limit(Figures.MOST_QUEUED + 1)
            .correlate(Webhook)
            .subquery()
        )
        return sa.select(sa.func.count()).select_from(some).correlate(Webhook).scalar_subquery()

    rows = session.execute(
        sa.select(Webhook.id, counted(DeliveryState.DUE), counted(DeliveryState.DEAD)).where(
            Webhook.id.in_(webhook_ids)
        )
    )
    return {webhook_id: (waiting, dead) for webhook_id, waiting, dead in rows}
