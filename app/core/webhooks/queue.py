"""The delivery queue of the dispatcher: claim by lease, send, record.

``claim_due`` and ``record_attempts`` are two short transactions around the HTTP call, so that no transaction is
open while a receiver answers. If a process dies, its leases expire and another process sends again: delivery is at
least once (docs/integrate/api.md).

Locks are always taken in the order community, webhook, delivery.
"""

import random
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.db import serialise
from app.core.models import Attempt, Delivery, Event, Request, Webhook
from app.core.outbound import RETRY_AFTER_LIMIT
from app.core.sealing import SealBroken, Sealer
from app.core.vocabulary import DeliveryState, EventName
from app.core.webhooks import health, payloads, signing
from app.core.webhooks.catalogue import EVENTS
from app.core.webhooks.sending import Outcome, Slots

LEASE_SECONDS = 20.0
"""Seconds. Longer than the longest attempt (10 s, and 1 s for the response body), with time to record it."""

JITTER = 0.05
"""The greatest random delay of a retry, as a share of its delay; a retry is never early."""

_SUCCESS_NOTED_EVERY = timedelta(seconds=30)
_ERROR_LENGTH = 255
_Row = TypeVar("_Row", Webhook, Delivery)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed delivery with everything that the HTTP call needs. ``deadline`` is in seconds.

    ``secrets`` are newest first; empty when they cannot be decrypted.
    """

    delivery_id: uuid.UUID
    webhook_id: uuid.UUID
    community_id: uuid.UUID
    event_id: uuid.UUID
    event_name: EventName
    url: str
    payload: Mapping[str, Any]
    secrets: tuple[str, ...] = field(repr=False)
    attempts_made: int
    deadline: float


@dataclass(frozen=True, slots=True)
class SendResult:
    """The result of sending one claimed delivery; ``ended`` is when the attempt ended."""

    delivery_id: uuid.UUID
    outcome: Outcome
    ended: datetime


def is_anything_due(session: Session, now: datetime) -> bool:
    """Whether any delivery is due. One read of one index, because an idle dispatcher asks several times a second."""
    return session.scalar(sa.select(Delivery.id).where(_is_free(now)).limit(1)) is not None


def webhooks_due(session: Session, now: datetime, slots: Slots) -> list[Webhook]:
    """The enabled webhooks that have a claimable delivery, and room for it in ``slots``."""
    statement = sa.select(Webhook).where(
        Webhook.is_active,
        Webhook.deleted_at.is_(None),
        sa.exists().where(Delivery.webhook_id == Webhook.id, _is_free(now)),
    )
    if full := slots.full_webhooks():
        statement = statement.where(Webhook.id.not_in(full))
    if full := slots.full_communities():
        statement = statement.where(Webhook.community_id.not_in(full))
    return [webhook for webhook in session.scalars(statement) if slots.room(webhook) > 0]


def claim_due(
    session: Session,
    sealer: Sealer,
    owner: str,
    now: datetime,
    slots: Slots,
    *,
    limit: int = 64,
    lease_seconds: float = LEASE_SECONDS,
) -> list[Claimed]:
    """Lease up to ``limit`` due deliveries to ``owner``, shared evenly among communities, and then their webhooks.

    ``slots`` says what the owner is already sending, and how many more each may have; what is claimed is added to it.
    Needs a writing session. Two claimers never get the same row: SQLite allows one writer at a time, PostgreSQL skips
    rows that another transaction has locked.
    """
    waiting = webhooks_due(session, now, slots)
    # Idle ones first, ties in random order, so that an old backlog of one never delays a new one.
    random.shuffle(waiting)
    waiting.sort(key=slots.held)
    claimed: list[Claimed] = []
    while waiting and len(claimed) < limit:
        webhooks_of = Counter(webhook.community_id for webhook in waiting)
        share = max(1, (limit - len(claimed)) // len(webhooks_of))
        left = dict.fromkeys(webhooks_of, share)
        unfinished: list[Webhook] = []
        for webhook in waiting:
            community_id, room = webhook.community_id, slots.room(webhook)
            quota = min(
                max(1, share // webhooks_of[community_id]), left[community_id], room, limit - len(claimed)
            )
            leased = _lease(session, sealer, webhook, owner, now, quota, lease_seconds) if quota > 0 else []
            claimed += leased
            left[community_id] -= len(leased)
            slots.take(webhook.id, community_id, webhook.url, len(leased))
            if len(leased) == quota and room > len(leased):
                unfinished.append(webhook)
        waiting = unfinished
    return claimed


def traces(session: Session, event_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, str]:
    """The ``traceparent`` of the requests that these events are about, by event; one query."""
    rows = session.execute(
        sa.select(Event.id, Request.traceparent)
        .join(Request, Request.id == Event.request_id)
        .where(Event.id.in_(event_ids), Request.traceparent.is_not(None))
    )
    return {event_id: traceparent for event_id, traceparent in rows if traceparent}


def record_attempt(
    session: Session,
    delivery_id: uuid.UUID,
    owner: str,
    outcome: Outcome,
    now: datetime,
    retry_delays: Sequence[float],
) -> None:
    """``record_attempts`` for a single attempt that ended at ``now``."""
    record_attempts(session, owner, [SendResult(delivery_id, outcome, now)], retry_delays)


def record_attempts(
    session: Session, owner: str, tried: Sequence[SendResult], retry_delays: Sequence[float]
) -> None:
    """Store attempts, in the order in which they ended, and update their deliveries and webhooks.

    ``retry_delays``: seconds to wait after the first, second, … failure; there is one attempt more than delays.
    Every attempt is stored. A success counts even if another process holds the lease, because the receiver has the
    event. A failure changes the delivery only while ``owner`` still holds the lease, because another process may be
    sending it by now.
    """
    facts = _facts(session, {attempt.delivery_id for attempt in tried})
    tried = [attempt for attempt in tried if attempt.delivery_id in facts]
    for community_id in sorted(_may_disable(tried, facts)):
        serialise(session, community_id)
    endpoints = _locked(session, Webhook, _touched(tried, facts))
    deliveries = _locked(session, Delivery, facts.keys())
    for attempt in tried:
        delivery = deliveries[attempt.delivery_id]
        webhook = endpoints.get(delivery.webhook_id)
        session.add(_attempt(attempt, delivery.webhook_id))
        if webhook is not None:
            health.count_attempt(webhook, attempt.outcome, attempt.ended)
        if attempt.outcome.delivered:
            _arrived(delivery, attempt.ended)
        elif webhook is not None and delivery.state is DeliveryState.DUE and delivery.leased_by == owner:
            _failed(delivery, webhook, attempt, retry_delays)
    session.flush()
    for webhook in endpoints.values():
        health.disable_if_failing(session, webhook, max(attempt.ended for attempt in tried))


def _is_free(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(
        Delivery.state == DeliveryState.DUE,
        Delivery.due_at <= now,
        sa.or_(Delivery.leased_until.is_(None), Delivery.leased_until <= now),
    )


def _lease(
    session: Session,
    sealer: Sealer,
    webhook: Webhook,
    owner: str,
    now: datetime,
    limit: int,
    lease_seconds: float,
) -> list[Claimed]:
    rows = session.execute(
        sa.select(Delivery.id, Delivery.attempts_made, Event.id, Event.name, Event.payload)
        .join(Event, Event.id == Delivery.event_id)
        .where(Delivery.webhook_id == webhook.id, _is_free(now))
        .order_by(Delivery.due_at, Delivery.id)
        .limit(limit)
        .with_for_update(of=Delivery, skip_locked=True, key_share=True)
    ).all()
    if not rows:
        return []
    leased = sa.update(Delivery).where(Delivery.id.in_([row[0] for row in rows]))
    bulk.change(session, leased.values(leased_by=owner, leased_until=now + timedelta(seconds=lease_seconds)))
    try:
        secrets = tuple(signing.live_secrets(session, webhook, sealer, now))
    except SealBroken:
        secrets = ()
    return [
        Claimed(
            delivery_id=delivery_id,
            webhook_id=webhook.id,
            community_id=webhook.community_id,
            event_id=event_id,
            event_name=name,
            url=webhook.url,
            payload=payloads.as_subscribed(payload, webhook.events),
            secrets=secrets,
            attempts_made=attempts_made,
            deadline=EVENTS[name].deadline,
        )
        for delivery_id, attempts_made, event_id, name, payload in rows
    ]


_Facts = Mapping[uuid.UUID, Any]


def _facts(session: Session, delivery_ids: Collection[uuid.UUID]) -> _Facts:
    """What decides which locks are needed, read without any lock."""
    rows = session.execute(
        sa.select(
            Delivery.id,
            Delivery.webhook_id,
            Webhook.community_id,
            Webhook.failures,
            Webhook.gone_answers,
            Webhook.failing_since,
            Webhook.last_success_at,
        )
        .join(Webhook, Webhook.id == Delivery.webhook_id)
        .where(Delivery.id.in_(delivery_ids))
    )
    return {row.id: row for row in rows}


def _may_disable(tried: Iterable[SendResult], facts: _Facts) -> set[uuid.UUID]:
    """Communities whose history may get an entry; their lock must be taken before the rows' locks (``serialise``)."""
    return {
        facts[attempt.delivery_id].community_id
        for attempt in tried
        if health.may_disable_webhook(
            attempt.outcome, facts[attempt.delivery_id].failing_since, attempt.ended
        )
    }


def _touched(tried: Iterable[SendResult], facts: _Facts) -> set[uuid.UUID]:
    """Ids of the webhooks to lock and update. Repeated successes need no update: it would make the row contended."""
    touched = set()
    for attempt in tried:
        fact = facts[attempt.delivery_id]
        noted = (
            fact.last_success_at is not None and attempt.ended - fact.last_success_at < _SUCCESS_NOTED_EVERY
        )
        if (
            not attempt.outcome.delivered
            or fact.failures
            or fact.gone_answers
            or fact.failing_since
            or not noted
        ):
            touched.add(fact.webhook_id)
    return touched


def _locked(session: Session, model: type[_Row], ids: Collection[uuid.UUID]) -> dict[uuid.UUID, _Row]:
    # "No key update" is the weakest lock that suffices: transactions that write events can still refer to a webhook.
    rows = session.scalars(
        sa.select(model)
        .where(model.id.in_(ids))
        .order_by(model.id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return {row.id: row for row in rows}


def _attempt(attempt: SendResult, webhook_id: uuid.UUID) -> Attempt:
    outcome = attempt.outcome
    return Attempt(
        delivery_id=attempt.delivery_id,
        webhook_id=webhook_id,
        at=attempt.ended - timedelta(milliseconds=outcome.milliseconds),
        status=outcome.status,
        milliseconds=outcome.milliseconds,
        excerpt=outcome.excerpt,
        error=outcome.error[:_ERROR_LENGTH] if outcome.error is not None else None,
    )


def _arrived(delivery: Delivery, ended: datetime) -> None:
    if delivery.state is DeliveryState.DELIVERED:
        return
    delivery.state = DeliveryState.DELIVERED
    delivery.delivered_at = ended
    delivery.attempts_made += 1
    delivery.due_at = delivery.leased_by = delivery.leased_until = None


def _failed(delivery: Delivery, webhook: Webhook, attempt: SendResult, retry_delays: Sequence[float]) -> None:
    delivery.attempts_made += 1
    delivery.leased_by = delivery.leased_until = None
    if webhook.deleted_at is not None:
        delivery.state, delivery.due_at = DeliveryState.CANCELLED, None
    elif _is_final(webhook, attempt) or delivery.attempts_made > len(retry_delays):
        delivery.state, delivery.due_at = DeliveryState.DEAD, None
    elif not webhook.is_active:
        delivery.due_at = None  # The delivery waits until the webhook is enabled again.
    else:
        seconds = _wait(retry_delays[delivery.attempts_made - 1], attempt.outcome.retry_after)
        delivery.due_at = attempt.ended + timedelta(seconds=seconds)


def _is_final(webhook: Webhook, attempt: SendResult) -> bool:
    """Whether a failure ends its delivery at once.

    While a replaced secret signs, 401 and 403 do not: the receiver may not have the new secret yet.
    """
    if attempt.outcome.status in (401, 403) and signing.former_secret_until(webhook, attempt.ended):
        return False
    return attempt.outcome.permanent


def _wait(delay: float, retry_after: int | None) -> float:
    """Seconds until the next attempt: the longer of our delay with jitter and what the receiver asked for."""
    jittered = delay * (1 + random.random() * JITTER)  # noqa: S311 - spreads load, guards nothing
    return max(jittered, min(retry_after or 0, RETRY_AFTER_LIMIT))
