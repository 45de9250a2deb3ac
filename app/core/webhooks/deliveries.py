"""Deliveries in the dashboard and the API: list, show, send again, delete old attempts (docs/integrate/api.md)."""

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from app.core import bulk, clock, outbox, paging
from app.core.db import serialise
from app.core.errors import Conflict
from app.core.history import chain as history
from app.core.ids import parse_id
from app.core.models import Action, Attempt, Delivery, Event, Note, Request, Webhook
from app.core.models.notes import about_withdrawn
from app.core.permissions import Actor, Permission, require, require_found
from app.core.texts import gettext as _
from app.core.vocabulary import DeliveryState, EventName

_SHOWN = (
    joinedload(Delivery.event).load_only(
        Event.community_id, Event.name, Event.request_id, Event.action_id, Event.note_id
    ),
    joinedload(Delivery.webhook),
)
REPLAYABLE = (DeliveryState.DEAD, DeliveryState.DELIVERED, DeliveryState.PARKED)

MOST_COUNTED = 100
"""The navigation counts up to this; above it it only says that there are more."""
MOST_MATCHING = 1_000
"""The dashboard counts so many deliveries in a list; above it it only says that there are more."""


@dataclass(frozen=True)
class Filters:
    """Filters for a list of deliveries; None leaves a filter out, as no ``states`` do. ``since`` ≤ time of queueing <
    ``until``.

    ``about`` is an id: of the delivery, its event, the action, or the request (ours, or the integration's own
    string).
    """

    states: tuple[DeliveryState, ...] = ()
    webhook_id: uuid.UUID | None = None
    event: EventName | None = None
    about: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Line:
    """A delivery with its event and webhook loaded, and its last attempt, None before the first."""

    delivery: Delivery
    last: Attempt | None


@dataclass(frozen=True)
class Subjects:
    """The actions, each with its request loaded, and the notes that some events are about, by id.

    ``requests`` are the integration's own strings of requests on which no action was opened.
    """

    actions: Mapping[uuid.UUID, Action] = field(default_factory=dict)
    notes: Mapping[uuid.UUID, Note] = field(default_factory=dict)
    requests: Mapping[uuid.UUID, str] = field(default_factory=dict)


def listing(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: Filters,
    part: paging.Slice,
    *,
    most: int | None,
) -> paging.Page[Line]:
    """A page of the community's deliveries, newest first.

    At most ``most`` are counted; None counts all of them. Three queries however many deliveries there are; ``subjects``
    says what they are about.
    """
    require(actor, Permission.SEE_WEBHOOKS, community_id)
    page = paging.paginate(
        session,
        sa.select(Delivery).options(*_SHOWN).where(Delivery.community_id == community_id, *clauses(filters)),
        Delivery.created_at,
        Delivery.id,
        part,
        most=most,
    )
    return dataclasses.replace(page, rows=_lines(session, page.rows))


def subjects(session: Session, events: Iterable[Event]) -> Subjects:
    """Look up what events of one community are about; at most three queries. Callers have checked the permission."""
    listed = list(events)
    actions = {event.action_id for event in listed if event.action_id is not None}
    # An event about an action may name a note too; the action has the post that people know it by.
    notes = {event.note_id for event in listed if event.note_id is not None and event.action_id is None}
    requests = {
        event.request_id
        for event in listed
        if event.request_id is not None and event.action_id is None and event.note_id is None
    }
    return Subjects(
        _actions(session, actions) if actions else {},
        _notes(session, notes) if notes else {},
        _requests(session, requests) if requests else {},
    )


def _requests(session: Session, ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, str]:
    rows = session.execute(sa.select(Request.id, Request.request_id).where(Request.id.in_(ids)))
    return {request_id: own_id for request_id, own_id in rows}


def _actions(session: Session, ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, Action]:
    columns = (Request.content, Request.platform_author_id, Request.request_id)
    posts = [
        joinedload(texts).load_only(*columns, raiseload=True) for texts in (Action.request, Action.newest)
    ]
    rows = session.scalars(sa.select(Action).where(Action.id.in_(ids)).options(*posts))
    return {action.id: action for action in rows}


def _notes(session: Session, ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, Note]:
    rows = session.scalars(sa.select(Note).where(Note.id.in_(ids), sa.not_(about_withdrawn())))
    return {note.id: note for note in rows}


def latest(session: Session, actor: Actor, webhook: Webhook, limit: int) -> list[Line]:
    """A webhook's newest deliveries; two queries."""
    require(actor, Permission.MANAGE_WEBHOOKS, webhook.community_id, "webhook")
    rows = session.scalars(
        sa.select(Delivery)
        .options(*_SHOWN)
        .where(Delivery.community_id == webhook.community_id, Delivery.webhook_id == webhook.id)
        .order_by(Delivery.created_at.desc(), Delivery.id.desc())
        .limit(limit)
    )
    return _lines(session, rows.all())


def need_attention(session: Session, actor: Actor, community_id: uuid.UUID) -> tuple[int, int]:
    """Count the dead or parked deliveries that could be sent again, and the disabled webhooks; one quick query.

    Deliveries are counted up to one more than ``MOST_COUNTED``.
    """
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    present = sa.and_(Webhook.community_id == community_id, Webhook.deleted_at.is_(None))
    dead = sa.select(Delivery.id).where(
        Delivery.webhook_id.in_(sa.select(Webhook.id).where(present)),
        Delivery.state.in_((DeliveryState.DEAD, DeliveryState.PARKED)),
    )
    disabled = sa.select(sa.func.count()).select_from(Webhook).where(present, sa.not_(Webhook.is_active))
    dead_count, disabled_count = session.execute(
        sa.select(paging.up_to(dead, MOST_COUNTED), disabled.scalar_subquery())
    ).one()
    return dead_count, disabled_count


def get(session: Session, actor: Actor, delivery_id: uuid.UUID) -> Delivery:
    """Return the delivery with its event and webhook. Raises NotFound when unknown or foreign."""
    delivery = session.get(
        Delivery, delivery_id, options=[joinedload(Delivery.event), joinedload(Delivery.webhook)]
    )
    return require_found(actor, Permission.MANAGE_WEBHOOKS, delivery, "delivery")


def of_event(session: Session, event_id: uuid.UUID, webhook_id: uuid.UUID) -> uuid.UUID:
    """The id of the delivery of an event to a webhook; it must exist."""
    which = sa.and_(Delivery.event_id == event_id, Delivery.webhook_id == webhook_id)
    return session.scalars(sa.select(Delivery.id).where(which)).one()


def attempts_of(session: Session, delivery: Delivery) -> Sequence[Attempt]:
    """All attempts that are still stored, oldest first."""
    return session.scalars(
        sa.select(Attempt).where(Attempt.delivery_id == delivery.id).order_by(Attempt.at, Attempt.id)
    ).all()


def replay(session: Session, actor: Actor, delivery_id: uuid.UUID) -> Delivery:
    """Send a dead, parked or delivered delivery again, with the same ``event_id``, its attempt count reset to 0.

    Raises:
        Conflict: it is already in the queue, or its webhook is removed or disabled.
    """
    delivery = get(session, actor, delivery_id)
    serialise(session, delivery.community_id)
    check_receives(session.get_one(Webhook, delivery.webhook_id, populate_existing=True))
    if not send_again(session, Delivery.id == delivery.id, REPLAYABLE):
        raise Conflict(_("This delivery is already on its way"), delivery.id)
    session.refresh(delivery)
    history.record(
        session,
        actor,
        delivery.community_id,
        "delivery.replayed",
        "delivery",
        delivery.id,
        after={"event_id": str(delivery.event_id), "webhook": str(delivery.webhook_id)},
    )
    return delivery


def prune_attempts(session: Session, older_than: datetime, *, limit: int = 5_000) -> int:
    """Delete up to ``limit`` attempts older than ``older_than``. Return how many; callers repeat it until 0.

    One statement over a month of attempts would block every other writer of SQLite.
    """
    old = sa.select(Attempt.id).where(Attempt.at < older_than).limit(limit)
    return bulk.change(session, sa.delete(Attempt).where(Attempt.id.in_(old)))


def clauses(filters: Filters) -> list[sa.ColumnElement[bool]]:
    """The filters as SQL conditions on deliveries."""
    conditions: list[tuple[Any, Any]] = [
        (filters.states or None, in_states(filters.states)),
        (filters.webhook_id, Delivery.webhook_id == filters.webhook_id),
        (filters.event, Delivery.event_name == filters.event),
        (filters.about, _is_about(filters.about or "")),
        (filters.since, Delivery.created_at >= filters.since if filters.since else sa.true()),
        (filters.until, Delivery.created_at < filters.until if filters.until else sa.true()),
    ]
    return [clause for value, clause in conditions if value is not None]


def in_states(states: Iterable[DeliveryState]) -> sa.ColumnElement[bool]:
    """SQL condition: the delivery is in one of these states.

    Each is text in the statement and compared by itself: otherwise PostgreSQL (for a prepared statement) and SQLite
    (for a list of one) would not use the index of the dead deliveries.
    """
    literals = (sa.literal(state, Delivery.state.type, literal_execute=True) for state in states)
    return sa.or_(sa.false(), *(Delivery.state == literal for literal in literals))


def _is_about(text: str) -> sa.ColumnElement[bool]:
    """SQL condition: the delivery is about the object with this id. Every branch uses an index."""
    theirs = Event.request_id.in_(sa.select(Request.id).where(Request.request_id == text))
    identity = parse_id(text)
    if identity is None:
        return Delivery.event_id.in_(sa.select(Event.id).where(theirs))
    of_action = sa.select(Action.request_id).where(Action.id == identity).scalar_subquery()
    by_action = sa.and_(Event.request_id == of_action, Event.action_id == identity)
    events = sa.select(Event.id).where(sa.or_(Event.request_id == identity, by_action, theirs))
    return sa.or_(Delivery.id == identity, Delivery.event_id == identity, Delivery.event_id.in_(events))


def _lines(session: Session, rows: Sequence[Delivery]) -> list[Line]:
    last = _last_attempts(session, [delivery.id for delivery in rows])
    return [Line(delivery, last.get(delivery.id)) for delivery in rows]


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


def check_receives(webhook: Webhook) -> None:
    """Raise Conflict if nothing is sent to this webhook."""
    if webhook.deleted_at is not None:
        raise Conflict(_("The webhook of this delivery has been removed"), webhook.id)
    if not webhook.is_active:
        raise Conflict(_("This webhook is disabled; enable it first"), webhook.id)


def send_again(session: Session, which: sa.ColumnElement[bool], states: Collection[DeliveryState]) -> int:
    """Put deliveries back into the queue, attempt counts reset. Return how many. Callers check permissions."""
    now = clock.now()
    rows = (
        sa.select(Delivery.id)
        .where(which, Delivery.state.in_(states))
        .order_by(Delivery.id)
        .with_for_update(key_share=True)
    )
    count = bulk.change(
        session,
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
        ),
    )
    if count:
        outbox.wake_dispatcher(session)
    return count
