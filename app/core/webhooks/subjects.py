"""What events are about, for the people who look at their deliveries: actions with their posts, and notes."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from app.core.models import Action, Event, Note, Request
from app.core.models.content import about_withdrawn


@dataclass(frozen=True)
class Subjects:
    """The actions, each with its request loaded, and the notes that some events are about, by id."""

    actions: Mapping[uuid.UUID, Action] = field(default_factory=dict)
    notes: Mapping[uuid.UUID, Note] = field(default_factory=dict)


def of_events(session: Session, events: Iterable[Event]) -> Subjects:
    """Look up what events of one community are about; at most two queries. Callers have checked the permission."""
    listed = list(events)
    actions = {event.action_id for event in listed if event.action_id is not None}
    # An event about an action may name a note too; the action has the post that people know it by.
    notes = {event.note_id for event in listed if event.note_id is not None and event.action_id is None}
    return Subjects(_actions(session, actions) if actions else {}, _notes(session, notes) if notes else {})


def _actions(session: Session, ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, Action]:
    post = joinedload(Action.request).load_only(
        Request.content, Request.platform_author_id, Request.request_id, raiseload=True
    )
    rows = session.scalars(sa.select(Action).where(Action.id.in_(ids)).options(post))
    return {action.id: action for action in rows}


def _notes(session: Session, ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, Note]:
    rows = session.scalars(sa.select(Note).where(Note.id.in_(ids), sa.not_(about_withdrawn())))
    return {note.id: note for note in rows}
