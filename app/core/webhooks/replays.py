"""A range of deliveries sent again: counted first, then put back into the queue in batches that survive a restart.

The engine calls ``go_on`` until it says that nothing is left; a batch and where it ended are one transaction, so a
process that dies repeats nothing. Every delivery keeps its ``event_id`` (RELIABILITY: section 1).
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.db import serialise
from app.core.errors import Conflict, Invalid
from app.core.history import chain as history
from app.core.models import Delivery, Endpoint, Replay
from app.core.permissions import Actor, Permission, require, require_found
from app.core.vocabulary import DeliveryState, EventName
from app.core.webhooks import deliveries
from app.core.webhooks.deliveries import Filters

REPLAY_JOB = "replay_range"
BATCH = 500
"""Deliveries put back in one transaction. A range of no more than this is sent again at once."""


@dataclass(frozen=True)
class Preview:
    """What a range holds: ``dead``, ``parked`` and ``delivered`` can be sent again, ``shut_out`` not, for their webhook
    is disabled or removed."""

    dead: int
    parked: int
    delivered: int
    shut_out: int

    @property
    def total(self) -> int:
        """How many can be sent again."""
        return self.dead + self.parked + self.delivered


def preview(session: Session, actor: Actor, community_id: uuid.UUID, filters: Filters) -> Preview:
    """What the filters match, in one query. Raises Invalid for an empty range."""
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    _check(filters)
    receives = sa.and_(Endpoint.is_active, Endpoint.deleted_at.is_(None))
    columns: list[Any] = [Delivery.state, receives, sa.func.count()]
    rows = session.execute(
        sa.select(*columns)
        .join(Endpoint, Endpoint.id == Delivery.endpoint_id)
        .where(
            Delivery.community_id == community_id,
            Delivery.state.in_(deliveries.REPLAYABLE),
            *deliveries.clauses(filters),
        )
        .group_by(Delivery.state, receives)
    )
    found = {(state, bool(open_)): count for state, open_, count in rows}
    return Preview(
        dead=found.get((DeliveryState.DEAD, True), 0),
        parked=found.get((DeliveryState.PARKED, True), 0),
        delivered=found.get((DeliveryState.DELIVERED, True), 0),
        shut_out=sum(count for (_, open_), count in found.items() if not open_),
    )


def begin(session: Session, actor: Actor, community_id: uuid.UUID, filters: Filters) -> Replay:
    """Send again the deliveries that match; without a state all that can be, those too that arrived.

    A small range is back in the queue when this returns, a large one becomes a job. What is put into the queue from
    now on is no part of it.

    Raises:
        Invalid: the range is empty.
        Conflict: nothing in it can be sent again.
    """
    serialise(session, community_id)
    now = clock.now()
    chosen = replace(filters, until=min(filters.until or now, now))
    total = preview(session, actor, community_id, chosen).total
    if total == 0:
        raise Conflict("Nothing here can be sent again")
    made = Replay(community_id=community_id, filters=written(chosen), total=total, sent=0)
    session.add(made)
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "delivery.range_replayed",
        "replay",
        made.id,
        after={**made.filters, "deliveries": total},
    )
    if total > BATCH or not go_on(session, made.id):
        args, key = {"replay_id": str(made.id)}, str(made.id)
        outbox.enqueue(session, REPLAY_JOB, args, community_id=community_id, key=key)
    return made


def go_on(session: Session, replay_id: uuid.UUID) -> bool:
    """Put the next batch back into the queue; whether that was the last."""
    one = session.get_one(Replay, replay_id)
    serialise(session, one.community_id)
    session.refresh(one, with_for_update=True)
    if one.finished_at is not None:
        return True
    filters = read(one.filters)
    which = [
        Delivery.community_id == one.community_id,
        Delivery.state.in_(deliveries.REPLAYABLE),
        Delivery.endpoint_id.in_(
            sa.select(Endpoint.id).where(Endpoint.is_active, Endpoint.deleted_at.is_(None))
        ),
        *deliveries.clauses(filters),
    ]
    if one.last_id is not None:
        which.append(Delivery.id > one.last_id)
    ids = session.scalars(sa.select(Delivery.id).where(*which).order_by(Delivery.id).limit(BATCH)).all()
    if ids:
        one.sent += deliveries.send_again(session, Delivery.id.in_(ids), deliveries.REPLAYABLE)
        one.last_id = ids[-1]
    if len(ids) < BATCH:
        one.finished_at = clock.now()
    session.flush()
    return one.finished_at is not None


def give_up(session: Session, replay_id: uuid.UUID, why: str) -> None:
    """The job failed for good: say so where its progress stands."""
    one = session.get(Replay, replay_id)
    if one is not None and one.finished_at is None:
        one.finished_at, one.stopped = clock.now(), why
        session.flush()


def get(session: Session, actor: Actor, replay_id: uuid.UUID) -> Replay:
    """One replay. Raises NotFound when unknown or foreign."""
    return require_found(actor, Permission.MANAGE_WEBHOOKS, session.get(Replay, replay_id), "replay")


def recent(session: Session, actor: Actor, community_id: uuid.UUID, limit: int = 3) -> Sequence[Replay]:
    """The community's latest, newest first."""
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    return session.scalars(
        sa.select(Replay)
        .where(Replay.community_id == community_id)
        .order_by(Replay.created_at.desc(), Replay.id.desc())
        .limit(limit)
    ).all()


def written(filters: Filters) -> dict[str, Any]:
    """Filters as plain JSON, without those that are not set."""
    values: dict[str, Any] = {
        "state": filters.state,
        "endpoint_id": str(filters.endpoint_id) if filters.endpoint_id else None,
        "event": filters.event,
        "about": filters.about,
        "since": clock.iso(filters.since) if filters.since else None,
        "until": clock.iso(filters.until) if filters.until else None,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def read(values: Mapping[str, Any]) -> Filters:
    """The filters that ``written`` wrote."""
    return Filters(
        state=DeliveryState(values["state"]) if "state" in values else None,
        endpoint_id=uuid.UUID(values["endpoint_id"]) if "endpoint_id" in values else None,
        event=EventName(values["event"]) if "event" in values else None,
        about=values.get("about"),
        since=datetime.fromisoformat(values["since"]) if "since" in values else None,
        until=datetime.fromisoformat(values["until"]) if "until" in values else None,
    )


def _check(filters: Filters) -> None:
    if filters.since is not None and filters.until is not None and filters.since >= filters.until:
        raise Invalid.field("until", "must be later than the start", clock.iso(filters.until))
