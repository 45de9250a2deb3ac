"""Deliveries as people see them: listed, looked into, sent again, their log pruned (Contract: section 7)."""

import dataclasses
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager, joinedload

from app.core import clock, history, outbox, paging, webhooks
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.models import Attempt, Delivery, Endpoint, Event
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import DeliveryState, EventName

REPLAYABLE = (DeliveryState.DEAD, DeliveryState.DELIVERED)


@dataclass(frozen=True)
class Filters:
    """What to list; None leaves a filter out. ``since`` ≤ the event's time < ``until``."""

    state: DeliveryState | None = None
    endpoint_id: uuid.UUID | None = None
    event: EventName | None = None
    event_id: uuid.UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Line:
    """A delivery with its event and endpoint loaded, and its last attempt if there was one."""

    delivery: Delivery
    last: Attempt | None


def listing(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID | None,
    filters: Filters,
    wanted: paging.Slice,
) -> paging.Page[Line]:
    """The deliveries of one community, or of all where the actor manages webhooks, newest first.

    Three queries however many there are.
    """
    statement = (
        _managed(actor, community_id, sa.select(Delivery))
        .join(Delivery.event)
        .options(contains_eager(Delivery.event), joinedload(Delivery.endpoint))
        .where(*_clauses(filters))
    )
    page = paging.paginate(session, statement, Delivery.created_at, Delivery.id, wanted)
    last = _last_attempts(session, [delivery.id for delivery in page.rows])
    return dataclasses.replace(page, rows=[Line(delivery, last.get(delivery.id)) for delivery in page.rows])


def counts(session: Session, actor: Actor, community_id: uuid.UUID | None = None) -> dict[DeliveryState, int]:
    """How many deliveries are in each state; the dashboard's badge shows the dead ones."""
    columns: list[Any] = [Delivery.state, sa.func.count()]
    statement = _managed(actor, community_id, sa.select(*columns))
    found = {row[0]: row[1] for row in session.execute(statement.group_by(Delivery.state))}
    return {state: found.get(state, 0) for state in DeliveryState}


def get(session: Session, actor: Actor, delivery_id: uuid.UUID) -> Delivery:
    """The delivery with its event and endpoint. Raises NotFound when unknown or foreign."""
    delivery = session.get(
        Delivery, delivery_id, options=[joinedload(Delivery.event), joinedload(Delivery.endpoint)]
    )
    if delivery is None:
        raise NotFound("delivery")
    require(actor, Permission.MANAGE_WEBHOOKS, delivery.community_id, "delivery")
    return delivery


def attempts_of(session: Session, delivery: Delivery) -> Sequence[Attempt]:
    """Every attempt that is still on record, oldest first."""
    return session.scalars(
        sa.select(Attempt).where(Attempt.delivery_id == delivery.id).order_by(Attempt.at, Attempt.id)
    ).all()


def replay(session: Session, actor: Actor, delivery_id: uuid.UUID) -> Delivery:
    """Send a dead or delivered one again, with the same ``event_id`` and a fresh set of attempts.

    Raises:
        Conflict: it is on its way already, or its endpoint is removed or disabled.
    """
    delivery = get(session, actor, delivery_id)
    serialise(session, delivery.community_id)
    _check_receives(session.get_one(Endpoint, delivery.endpoint_id, populate_existing=True))
    if not _send_again(session, Delivery.id == delivery.id, REPLAYABLE):
        raise Conflict("This delivery is already on its way", delivery.id)
    session.refresh(delivery)
    history.record(
        session,
        actor,
        delivery.community_id,
        "delivery.replayed",
        "delivery",
        delivery.id,
        after={"event_id": str(delivery.event_id), "webhook": str(delivery.endpoint_id)},
    )
    return delivery


def replay_range(
    session: Session,
    actor: Actor,
    endpoint_id: uuid.UUID,
    since: datetime,
    until: datetime,
    *,
    delivered: bool = False,
) -> int:
    """Send again an endpoint's dead deliveries of events from ``since`` until before ``until``: how many.

    With ``delivered`` those too that arrived, for a receiver that lost what it had.

    Raises:
        Invalid: the range is empty.
        Conflict: the endpoint is disabled.
    """
    endpoint = webhooks.get(session, actor, endpoint_id)
    if since >= until:
        raise Invalid.field("until", "must be later than the start", clock.iso(until))
    serialise(session, endpoint.community_id)
    session.refresh(endpoint)
    _check_receives(endpoint)
    of_range = sa.and_(
        Delivery.endpoint_id == endpoint.id,
        Delivery.event_id.in_(
            sa.select(Event.id).where(
                Event.community_id == endpoint.community_id,
                Event.created_at >= since,
                Event.created_at < until,
            )
        ),
    )
    count = _send_again(session, of_range, REPLAYABLE if delivered else (DeliveryState.DEAD,))
    if count:
        history.record(
            session,
            actor,
            endpoint.community_id,
            "delivery.range_replayed",
            "webhook",
            endpoint.id,
            after={
                "since": clock.iso(since),
                "until": clock.iso(until),
                "deliveries": count,
                "delivered": delivered,
            },
        )
    return count


def prune_attempts(session: Session, older_than: datetime, *, limit: int = 5_000) -> int:
    """Forget up to ``limit`` attempts older than that: how many. A caller repeats it in new transactions.

    One statement over a month of attempts would keep every other writer of SQLite waiting.
    """
    old = sa.select(Attempt.id).where(Attempt.at < older_than).limit(limit)
    result = session.execute(
        sa.delete(Attempt).where(Attempt.id.in_(old)).execution_options(synchronize_session=False)
    )
    return int(result.rowcount)  # type: ignore[attr-defined]  # a DELETE's result is a CursorResult


def _managed(actor: Actor, community_id: uuid.UUID | None, statement: sa.Select[Any]) -> sa.Select[Any]:
    if community_id is not None:
        require(actor, Permission.MANAGE_WEBHOOKS, community_id)
        return statement.where(Delivery.community_id == community_id)
    if actor.communities is not None:
        return statement.where(Delivery.community_id.in_(webhooks.managed_communities(actor)))
    if actor.read_only:
        raise Forbidden("A read-only key may not manage webhooks")
    return statement


def _clauses(filters: Filters) -> list[sa.ColumnElement[bool]]:
    given = [
        (filters.state, Delivery.state == filters.state),
        (filters.endpoint_id, Delivery.endpoint_id == filters.endpoint_id),
        (filters.event, Event.name == filters.event),
        (filters.event_id, Delivery.event_id == filters.event_id),
        (filters.since, Event.created_at >= filters.since if filters.since else sa.true()),
        (filters.until, Event.created_at < filters.until if filters.until else sa.true()),
    ]
    return [clause for value, clause in given if value is not None]


def _last_attempts(session: Session, delivery_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Attempt]:
    place = (
        sa.func.row_number()
        .over(partition_by=Attempt.delivery_id, order_by=(Attempt.at.desc(), Attempt.id.desc()))
        .label("place")
    )
    ranked = sa.select(Attempt.id, place).where(Attempt.delivery_id.in_(delivery_ids)).subquery()
    rows = session.scalars(
        sa.select(Attempt).join(ranked, ranked.c.id == Attempt.id).where(ranked.c.place == 1)
    )
    return {attempt.delivery_id: attempt for attempt in rows}


def _check_receives(endpoint: Endpoint) -> None:
    if endpoint.deleted_at is not None:
        raise Conflict("The webhook of this delivery has been removed", endpoint.id)
    if not endpoint.is_active:
        raise Conflict("This webhook is disabled; enable it first", endpoint.id)


def _send_again(session: Session, which: sa.ColumnElement[bool], states: Collection[DeliveryState]) -> int:
    now = clock.now()
    rows = (
        sa.select(Delivery.id)
        .where(which, Delivery.state.in_(states))
        .order_by(Delivery.id)
        .with_for_update(key_share=True)
    )
    result = session.execute(
        sa.update(Delivery)
        .where(Delivery.id.in_(rows))
        .values(
            state=DeliveryState.DUE,
            due_at=now,
            attempts_made=0,
            delivered_at=None,
            leased_by=None,
            leased_until=None,
            updated_at=now,
        )
        .execution_options(synchronize_session=False)
    )
    count = int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult
    if count:
        outbox.wake_dispatcher(session)
    return count
