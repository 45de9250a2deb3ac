"""Health of a webhook's receiver: count failures, disable after too many, enable again (docs/integrate/api.md).

Callers must hold the lock of the webhook's row and, where history may be written, the community's lock before it.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.why import Why
from app.core.models import Delivery, Webhook
from app.core.permissions import SYSTEM
from app.core.vocabulary import DeliveryState
from app.core.webhooks.sending import Outcome

GONE_LIMIT = 3
FAILURE_LIMIT = 20
FAILING_LIMIT = timedelta(days=5)


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


def change_due(
    session: Session, endpoint_id: uuid.UUID, which: sa.ColumnElement[bool], **values: Any
) -> None:
    """Change the webhook's due deliveries, locked in the same order as in ``record_attempts``."""
    rows = (
        sa.select(Delivery.id)
        .where(Delivery.endpoint_id == endpoint_id, Delivery.state == DeliveryState.DUE, which)
        .order_by(Delivery.id)
        .with_for_update(key_share=True)
    )
    session.execute(
        sa.update(Delivery)
        .where(Delivery.id.in_(rows))
        .values(updated_at=clock.now(), **values)
        .execution_options(synchronize_session=False)
    )


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
        why=Why(cause=reason),
    )
    notices.tell_disabled(session, entry)


def _reason_to_disable(webhook: Webhook, now: datetime) -> str | None:
    if webhook.gone_answers >= GONE_LIMIT:
        return f"The receiver answered {webhook.gone_answers} times in a row that it is gone (410)"
    since = webhook.failing_since
    if webhook.failures >= FAILURE_LIMIT and since is not None and now - since >= FAILING_LIMIT:
        return f"{webhook.failures} failures and no success since {since:%Y-%m-%d %H:%M} UTC"
    return None
