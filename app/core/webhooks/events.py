"""Events: rows written, with their deliveries, in the same transaction as the change they report."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.ids import new_id
from app.core.models import Action, Community, Decision, Delivery, Event, Note, Request, Webhook
from app.core.vocabulary import EventName
from app.core.webhooks import payloads


def emit_action(session: Session, name: EventName, action: Action) -> Event:
    community = session.get_one(Community, action.community_id)
    payload = payloads.action_event(name, community, action)
    return _emit(session, name, community, payload, request_id=action.request_id, action_id=action.id)


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


def _action_of(session: Session, note: Note) -> Action | None:
    """The action whose rationale this note is. (Importing ``actions.of_note`` would be circular.)"""
    return session.scalars(
        sa.select(Action)
        .where(Action.note_id == note.id, Action.restores_id.is_(None))
        .order_by(Action.created_at.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def emit_test(session: Session, webhook: Webhook) -> Event:
    """Write a test event for one webhook only, whatever it subscribes to."""
    event = Event(
        id=new_id(),
        community_id=webhook.community_id,
        name=EventName.TEST,
        payload={
            "event": EventName.TEST.value,
            "community_server_id": str(webhook.community_id),
            "data": {},
        },
    )
    event.payload = {**event.payload, "event_id": str(event.id)}
    session.add(event)
    session.flush()
    _deliver(session, event, webhook)
    return event


def _emit(
    session: Session, name: EventName, community: Community, payload: dict[str, Any], **subjects: Any
) -> Event:
    event = Event(id=new_id(), community_id=community.id, name=name, payload=payload, **subjects)
    event.payload = {**payload, "event_id": str(event.id)}
    session.add(event)
    session.flush()
    endpoints = session.scalars(
        sa.select(Webhook).where(
            Webhook.community_id == community.id, Webhook.deleted_at.is_(None), Webhook.is_active
        )
    )
    for webhook in endpoints:
        if webhook.events is None or not payloads.subscriptions(name).isdisjoint(webhook.events):
            _deliver(session, event, webhook)
    return event


def _deliver(session: Session, event: Event, webhook: Webhook) -> None:
    session.add(
        Delivery(
            event_id=event.id,
            endpoint_id=webhook.id,
            community_id=webhook.community_id,
            due_at=clock.now(),
        )
    )
    session.flush()
    outbox.wake_dispatcher(session)
