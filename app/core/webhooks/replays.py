"""Send a range of deliveries again: count them first, then put them back into the queue in batches.

The job engine calls ``run_batch`` until nothing is left. A batch and its position are written in one transaction,
so that a restart repeats nothing. Every delivery keeps its ``event_id`` (docs/run/reliability.md).
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
from app.core.models import Delivery, Replay, Webhook
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, require, require_found
from app.core.texts import gettext as _
from app.core.vocabulary import DeliveryState, EventName
from app.core.webhooks import deliveries
from app.core.webhooks.deliveries import Filters

REPLAY_JOB = "replay_range"
BATCH = 500
"""Deliveries put back in one transaction. A range no larger than this is sent again at once, without a job."""


@dataclass(frozen=True)
class Preview:
    """Counts of a range: ``dead``, ``parked`` and ``delivered`` ones can be sent again.

    ``shut_out`` ones cannot, because their webhook is disabled or removed. None is greater than ``most`` + 1, where
    that is given.
    """

    dead: int
    parked: int
    delivered: int
    shut_out: int
    most: int | None = None

    @property
    def total(self) -> int:
        """How many can be sent again, without those that were not counted."""
        counts = (self.dead, self.parked, self.delivered)
        return sum(counts if self.most is None else (min(count, self.most) for count in counts))

    @property
    def is_more(self) -> bool:
        """Whether more than ``total`` can be sent again."""
        return self.total < self.dead + self.parked + self.delivered


def preview(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: Filters, most: int | None = None
) -> Preview:
    """Count what the filters match, each part up to one more than ``most``, in one query.

    Raises:
        Invalid: the range is empty.
    """
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    _check(filters)
    receives = sa.and_(Webhook.is_active, Webhook.deleted_at.is_(None))
    # A delivery's community is its webhook's: said of both, either side can be read first.
    here = sa.and_(Delivery.community_id == community_id, Webhook.community_id == community_id)

    def counted(which: sa.ColumnElement[bool], *states: DeliveryState) -> Any:
        rows = (
            sa.select(sa.literal(1))
            .select_from(Delivery)
            .join(Webhook, Webhook.id == Delivery.webhook_id)
            .where(here, deliveries.in_states(states), which, *deliveries.clauses(filters))
        )
        if most is not None:
            return up_to(rows, most)
        return sa.select(sa.func.count()).select_from(rows.subquery()).scalar_subquery()

    dead, parked, delivered, shut_out, *_ = session.execute(
        sa.select(
            *(
                counted(receives, state)
                for state in (DeliveryState.DEAD, DeliveryState.PARKED, DeliveryState.DELIVERED)
            ),
            counted(sa.not_(receives), *deliveries.REPLAYABLE),
        )
    ).one()
    return Preview(dead, parked, delivered, shut_out, most)


def begin(session: Session, actor: Actor, community_id: uuid.UUID, filters: Filters) -> Replay:
    """Send the matching deliveries again; without states also those that arrived.

    A small range is back in the queue when this returns; a large one becomes a job. Deliveries queued from now on
    are not part of it.

    Raises:
        Invalid: the range is empty, or begins in the future.
        Conflict: no delivery in it can be sent again.
    """
    serialise(session, community_id)
    now = clock.now()
    if filters.since is not None and filters.since >= now:
        raise Invalid.field("since", _("must be in the past"), clock.iso(filters.since))
    chosen = replace(filters, until=min(filters.until or now, now))
    total = preview(session, actor, community_id, chosen).total
    if total == 0:
        raise Conflict(_("Nothing here can be sent again"))
    created = Replay(community_id=community_id, filters=written(chosen), total=total, sent=0)
    session.add(created)
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "delivery.range_replayed",
        "replay",
        created.id,
        after={**created.filters, "deliveries": total},
    )
    if total > BATCH or not run_batch(session, created.id):
        args, key = {"replay_id": str(created.id)}, str(created.id)
        outbox.enqueue(session, REPLAY_JOB, args, community_id=community_id, key=key)
    return created


def run_batch(session: Session, replay_id: uuid.UUID) -> bool:
    """Put the next batch back into the queue. Return whether it was the last."""
    job = session.get_one(Replay, replay_id)
    serialise(session, job.community_id)
    session.refresh(job, with_for_update=True)
    if job.finished_at is not None:
        return True
    filters = read(job.filters)
    which = [
        Delivery.community_id == job.community_id,
        Delivery.state.in_(deliveries.REPLAYABLE),
        Delivery.webhook_id.in_(sa.select(Webhook.id).where(Webhook.is_active, Webhook.deleted_at.is_(None))),
        *deliveries.clauses(filters),
    ]
    if job.last_id is not None:
        which.append(Delivery.id > job.last_id)
    ids = session.scalars(sa.select(Delivery.id).where(*which).order_by(Delivery.id).limit(BATCH)).all()
    if ids:
        job.sent += deliveries.send_again(session, Delivery.id.in_(ids), deliveries.REPLAYABLE)
        job.last_id = ids[-1]
    if len(ids) < BATCH:
        job.finished_at = clock.now()
    session.flush()
    return job.finished_at is not None


def give_up(session: Session, replay_id: uuid.UUID, why: str) -> None:
    """Record in the replay that its job failed permanently."""
    job = session.get(Replay, replay_id)
    if job is not None and job.finished_at is None:
        job.finished_at, job.stopped = clock.now(), why
        session.flush()


def get(session: Session, actor: Actor, replay_id: uuid.UUID) -> Replay:
    """One replay. Raises NotFound when unknown or foreign."""
    return require_found(actor, Permission.MANAGE_WEBHOOKS, session.get(Replay, replay_id), "replay")


def recent(session: Session, actor: Actor, community_id: uuid.UUID, limit: int = 3) -> Sequence[Replay]:
    """The community's latest replays, newest first."""
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    return session.scalars(
        sa.select(Replay)
        .where(Replay.community_id == community_id)
        .order_by(Replay.created_at.desc(), Replay.id.desc())
        .limit(limit)
    ).all()


def written(filters: Filters) -> dict[str, Any]:
    """The filters as plain JSON, without those that are not set."""
    values: dict[str, Any] = {
        "state": ",".join(filters.states) or None,
        "endpoint_id": str(filters.webhook_id) if filters.webhook_id else None,
        "event": filters.event,
        "about": filters.about,
        "since": clock.iso(filters.since) if filters.since else None,
        "until": clock.iso(filters.until) if filters.until else None,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def read(values: Mapping[str, Any]) -> Filters:
    """The filters from the JSON of ``written``."""
    return Filters(
        states=tuple(map(DeliveryState, values["state"].split(","))) if "state" in values else (),
        webhook_id=uuid.UUID(values["endpoint_id"]) if "endpoint_id" in values else None,
        event=EventName(values["event"]) if "event" in values else None,
        about=values.get("about"),
        since=datetime.fromisoformat(values["since"]) if "since" in values else None,
        until=datetime.fromisoformat(values["until"]) if "until" in values else None,
    )


def _check(filters: Filters) -> None:
    if filters.since is not None and filters.until is not None and filters.since >= filters.until:
        raise Invalid.field("until", _("must be later than the start"), clock.iso(filters.until))
