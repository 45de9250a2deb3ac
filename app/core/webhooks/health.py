"""How an endpoint's receiver is doing: failures counted, given up on, enabled again (Contract: section 7).

Whoever calls holds the endpoint's row, and where history may be written, the community's lock before it.
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
from app.core.models import Delivery, Endpoint
from app.core.permissions import SYSTEM
from app.core.vocabulary import DeliveryState
from app.core.webhooks.sending import Outcome

GONE_LIMIT = 3
FAILURE_LIMIT = 20
FAILING_LIMIT = timedelta(days=5)


def shown(endpoint: Endpoint) -> dict[str, Any]:
    """What history says of an endpoint. A query string may hold the receiver's token, so it is left out."""
    return {
        "url": endpoint.url.partition("?")[0],
        "events": list(endpoint.events) if endpoint.events is not None else None,
        "is_active": endpoint.is_active,
    }


def enable(session: Session, endpoint: Endpoint) -> None:
    """Enable it with a clean slate; what waited for it is due now."""
    endpoint.is_active = True
    endpoint.disabled_reason = None
    forget_failures(endpoint)
    session.flush()
    change_due(session, endpoint.id, Delivery.due_at.is_(None), due_at=clock.now())
    outbox.wake_dispatcher(session)


def disable(session: Session, endpoint: Endpoint, reason: str) -> None:
    """Disable it; ``reason`` is shown to its operators.

    What is due waits without a time: thousands of rows must not lie in the way of every look at what is due.
    """
    endpoint.is_active = False
    endpoint.disabled_reason = reason
    session.flush()
    change_due(session, endpoint.id, sa.true(), due_at=None)


def change_due(
    session: Session, endpoint_id: uuid.UUID, which: sa.ColumnElement[bool], **values: Any
) -> None:
    """Change the endpoint's due deliveries, locked in the order in which ``record_attempts`` locks them."""
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


def forget_failures(endpoint: Endpoint) -> None:
    endpoint.failures, endpoint.gone_answers, endpoint.failing_since = 0, 0, None


def count(endpoint: Endpoint, outcome: Outcome, ended: datetime) -> None:
    """Count one attempt. A 410 counts as "in a row" only directly after another."""
    if outcome.delivered:
        forget_failures(endpoint)
        endpoint.last_success_at = ended
        return
    endpoint.failures += 1
    endpoint.gone_answers = endpoint.gone_answers + 1 if outcome.status == 410 else 0
    if endpoint.failing_since is None:
        endpoint.failing_since = ended


def may_be_given_up(outcome: Outcome, failing_since: datetime | None, ended: datetime) -> bool:
    """Whether counting this attempt could disable its endpoint, judged from an unlocked read.

    ``failing_since`` only ever moves from none to the present or back, so what an unlocked read misses is no
    five days old.
    """
    old = failing_since is not None and ended - failing_since >= FAILING_LIMIT
    return outcome.status == 410 or (old and not outcome.delivered)


def give_up_if_hopeless(session: Session, endpoint: Endpoint, now: datetime) -> None:
    """Disable an enabled endpoint after three 410s in a row, or 20 failures and no success for five days."""
    reason = _reason_to_give_up(endpoint, now) if endpoint.is_active else None
    if reason is None:
        return
    before = shown(endpoint)
    disable(session, endpoint, reason)
    entry = history.record(
        session,
        SYSTEM,
        endpoint.community_id,
        "webhook.disabled",
        "webhook",
        endpoint.id,
        before=before,
        after=shown(endpoint),
        why=Why(cause=reason),
    )
    notices.tell_disabled(session, entry)


def _reason_to_give_up(endpoint: Endpoint, now: datetime) -> str | None:
    if endpoint.gone_answers >= GONE_LIMIT:
        return f"The receiver answered {endpoint.gone_answers} times in a row that it is gone (410)"
    since = endpoint.failing_since
    if endpoint.failures >= FAILURE_LIMIT and since is not None and now - since >= FAILING_LIMIT:
        return f"{endpoint.failures} failures and no success since {since:%Y-%m-%d %H:%M} UTC"
    return None
