"""Events: rows written, with their deliveries, in the same transaction as the change they report."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, outbox
from app.core.ids import new_id
from app.core.models import (
    Action,
    Community,
    Decision,
    Delivery,
    Event,
    Note,
    Panel,
    Report,
    Request,
    Webhook,
)
from app.core.vocabulary import AttentionReason, EventName
from app.core.webhooks import catalogue, payloads


def emit_action(session: Session, name: EventName, action: Action) -> Event:
    community = session.get_one(Community, action.community_id)
    if name is EventName.REVIEW_OPENED:
        payload = payloads.review_event(community, action, review_time(session))
    else:
        payload = payloads.action_event(name, community, action)
    return _emit(session, name, community, payload, request_id=action.request_id, action_id=action.id)


REVIEW_TIME = "review_time"
"""The key, in ``Database.info`` and ``Session.info``, of how long a review may last (setting ``review_days``)."""


def review_time(session: Session) -> timedelta:
    """After how long a review that nobody decides ends by itself."""
    wired: timedelta = session.info.get(REVIEW_TIME, timedelta(days=14))
    return wired


def emit_completed(session: Session, request: Request, decision: Decision | None) -> Event:
    """Tell that a request ended without action; ``decision`` is None where there was nothing to decide."""
    community = session.get_one(Community, request.community_id)
    payload = payloads.completed_event(community, request, decision)
    action_id = decision.action_id if decision is not None else None
    return _emit(
        session,
        EventName.REQUEST_COMPLETED,
        community,
        payload,
        request_id=request.id,
        action_id=action_id,
    )


def emit_decision(session: Session, request: Request, decision: Decision) -> Event:
    community = session.get_one(Community, request.community_id)
    payload = payloads.decision_event(community, request, decision)
    return _emit(
        session,
        EventName.DECISION,
        community,
        payload,
        request_id=request.id,
        action_id=decision.action_id,
    )


def emit_note(session: Session, note: Note) -> Event:
    community = session.get_one(Community, note.community_id)
    # Only the Discourse plugin uses the action.
    for_plugin = note.rationale and community.platform == payloads.DISCOURSE
    payload = payloads.note_event(community, note, _action_of(session, note) if for_plugin else None)
    return _emit(
        session, EventName.NOTE_STATUS, community, payload, request_id=note.request_id, note_id=note.id
    )


def emit_report(session: Session, report: Report) -> Event:
    """Write what reporters hear about a report: its outcome, in the words stored with it."""
    community = session.get_one(Community, report.community_id)
    payload = payloads.report_event(community, report)
    return _emit(session, EventName.REPORT_RESOLVED, community, payload, request_id=report.request_id)


def _action_of(session: Session, note: Note) -> Action | None:
    """The action whose rationale this note is. (Importing ``actions.of_note`` would be circular.)"""
    return session.scalars(
        sa.select(Action)
        .where(Action.note_id == note.id, Action.restores_id.is_(None))
        .order_by(Action.created_at.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def emit_panel(
    session: Session, panel: Panel, action: Action, rater_ids: Sequence[str], expires_at: datetime
) -> Event:
    """Tell which of the platform's users were drawn for a panel (docs/moderate/panels.md)."""
    community = session.get_one(Community, action.community_id)
    payload = payloads.panel_event(community, action, panel.note_id, rater_ids, expires_at)
    return _emit(
        session,
        EventName.PANEL_DRAWN,
        community,
        payload,
        request_id=action.request_id,
        action_id=action.id,
        note_id=panel.note_id,
    )


def emit_attention(
    session: Session, community: Community, reason: AttentionReason, since: datetime, count: int | None
) -> Event:
    """Tell webhooks that the community wants an operator."""
    payload = payloads.attention_event(community, reason, since, count)
    return _emit(session, EventName.ATTENTION, community, payload)


def is_subscribed(session: Session, community_id: uuid.UUID, name: EventName) -> bool:
    """Whether a webhook of this community gets these events."""
    return any(catalogue.is_wanted(name, wanted) for _, wanted in _subscriptions(session, community_id))


def _subscriptions(session: Session, community_id: uuid.UUID) -> Iterable[tuple[uuid.UUID, list[str] | None]]:
    """The community's enabled webhooks: id, and the events that it wants (None: all)."""
    rows = session.execute(
        sa.select(Webhook.id, Webhook.events).where(
            Webhook.community_id == community_id, Webhook.deleted_at.is_(None), Webhook.is_active
        )
    )
    return ((webhook_id, wanted) for webhook_id, wanted in rows)


def emit_test(session: Session, webhook: Webhook) -> Event:
    """Write a test event for one webhook only, whatever it subscribes to."""
    event = Event(
        id=new_id(),
        community_id=webhook.community_id,
        name=EventName.TEST,
        payload=payloads.test_event(webhook.community_id),
    )
    event.payload = {**event.payload, "event_id": str(event.id)}
    session.add(event)
    session.flush()
    session.add(
        Delivery(
            event_id=event.id,
            event_name=event.name,
            webhook_id=webhook.id,
            community_id=webhook.community_id,
            due_at=clock.now(),
        )
    )
    session.flush()
    outbox.wake_dispatcher(session)
    return event


def _emit(
    session: Session, name: EventName, community: Community, payload: dict[str, Any], **subjects: Any
) -> Event:
    event = Event(id=new_id(), community_id=community.id, name=name, payload=payload, **subjects)
    event.payload = {**payload, "event_id": str(event.id)}
    gathered: list[Event] | None = session.info.get(_GATHERED)
    if gathered is not None:
        gathered.append(event)
    else:
        _write(session, community.id, [event])
    return event


NAMES_EVENTS = (
    sa.exists()
    .where(
        Webhook.community_id == Community.id,
        Webhook.deleted_at.is_(None),
        Webhook.is_active,
        Webhook.events.is_not(None),
    )
    .correlate(Community)
)
"""For a statement that selects from communities: whether a webhook names the events that it wants."""


@contextmanager
def gathered(session: Session, *, named: bool = True) -> Iterator[None]:
    """Write the events that are emitted within the block, with their deliveries, when it ends: all at once.

    ``named``: False where ``NAMES_EVENTS`` is, so that nobody wants what only webhooks get that name it.
    """
    events: list[Event] = []
    session.info[_GATHERED] = events
    try:
        yield
    finally:
        del session.info[_GATHERED]
    if not named:
        events = [event for event in events if event.name not in catalogue.opt_in()]
    for community_id in dict.fromkeys(event.community_id for event in events):
        _write(session, community_id, [event for event in events if event.community_id == community_id])


_GATHERED = "events_gathered"
_EVENTS, _DELIVERIES = (model.metadata.tables[model.__tablename__] for model in (Event, Delivery))


def _write(session: Session, community_id: uuid.UUID, events: Sequence[Event]) -> None:
    """Store new events of one community, with a delivery for each webhook that wants one.

    An event that only webhooks get that name it is not stored where none does: most posts end without action.
    """
    subscriptions = list(_subscriptions(session, community_id))
    wanted_by = {
        event.id: [
            webhook_id for webhook_id, wanted in subscriptions if catalogue.is_wanted(event.name, wanted)
        ]
        for event in events
    }
    optional = catalogue.opt_in()
    events = [event for event in events if wanted_by[event.id] or event.name not in optional]
    if not events:
        return
    # The event may name an object that the session has not written yet.
    session.flush()
    names = ("id", "community_id", "name", "payload", "request_id", "action_id", "note_id")
    rows = [{name: getattr(event, name) for name in names} for event in events]
    connection = session.connection()
    bulk.insert(connection, _EVENTS, rows)
    deliveries = [
        {
            "event_id": event.id,
            "event_name": event.name,
            "endpoint_id": webhook_id,
            "community_id": community_id,
            "due_at": clock.now(),
        }
        for event in events
        for webhook_id in wanted_by[event.id]
    ]
    if deliveries:
        bulk.insert(connection, _DELIVERIES, deliveries)
        outbox.wake_dispatcher(session)
