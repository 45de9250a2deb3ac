"""The one place where states change: checked against the table, safe in a race, with history and events."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, class_mapper
from sqlalchemy.orm.attributes import set_committed_value

from app.core import bulk, clock, outbox
from app.core.db import serialise
from app.core.errors import Forbidden, IllegalMove, NotFound
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.reason import NO_REASON, Reason
from app.core.models import Action, HistoryEntry, Note, Panel, Report, Request
from app.core.permissions import ADMIN_REQUIRED, ARCHIVED, Actor, Permission, allows, is_closed
from app.core.states import ACTION, NOTE, REPORT, REQUEST, Machine, Move, When, Who
from app.core.texts import gettext as _
from app.core.vocabulary import IN_REVIEW, ActionState, ActionTier, EventName, ReportState, RequestStatus
from app.core.webhooks import events

Stateful = Request | Note | Action | Report

_WHO_NEEDS = {
    Who.INTEGRATION: Permission.ACKNOWLEDGE,
    Who.REPORTER: Permission.REPORT,
    Who.RATER: Permission.RATE,
    Who.MODERATOR: Permission.MODERATE,
    Who.OPERATOR: Permission.REVISE_POLICY,
}


def machine_of(subject: Stateful) -> Machine:
    return {Request: REQUEST, Note: NOTE, Action: ACTION, Report: REPORT}[type(subject)]


def may(actor: Actor, move: Move, community_id: Any) -> bool:
    """Whether this actor may make the move. The service itself makes only the moves marked ``Who.SERVICE``."""
    if actor.kind == "system":
        return Who.SERVICE in move.who
    return any(
        allows(actor, _WHO_NEEDS[who], community_id) and (who is not Who.INTEGRATION or actor.kind == "key")
        for who in move.who
        if who in _WHO_NEEDS
    )


def moves_open_to(actor: Actor, subject: Stateful) -> list[Move]:
    """The moves that this actor can make from the subject's state. The dashboard draws its buttons from them."""
    machine = machine_of(subject)
    return [
        move
        for move in machine.open_from(getattr(subject, machine.field))
        if may(actor, move, subject.community_id) and condition_holds(move, subject)
    ]


def begin(
    session: Session, actor: Actor, subject: Stateful, *, reason: Reason = NO_REASON, quiet: bool = False
) -> HistoryEntry | None:
    """Add a new object in its first state, and return its history entry.

    ``quiet`` writes no entry or event and returns None (a submission is its own record).

    Raises:
        IllegalMove: the table has no row that begins in this state.
        Forbidden, NotFound: this actor may not make the move.
    """
    (move,) = add(session, actor, [subject])
    return None if quiet else record_created(session, actor, move, subject, reason=reason)


def add(session: Session, actor: Actor, subjects: Sequence[Stateful]) -> list[Move]:
    """Add new objects in their first states, with one statement a table, and return the moves.

    ``begin`` for several: it writes no history, which is left to ``record_created``. Raises the same.
    """
    moves = []
    for subject in subjects:
        machine = machine_of(subject)
        state = getattr(subject, machine.field)
        move = machine.find(None, state, reopens=_reopens(subject) is not None)
        if move is None:
            raise IllegalMove(machine.field, "nothing", state)
        _authorise(actor, move, subject, machine)
        moves.append(move)
    session.add_all(subjects)
    session.flush()
    return moves


def record_created(
    session: Session, actor: Actor, move: Move, subject: Stateful, *, reason: Reason = NO_REASON
) -> HistoryEntry | None:
    """Write the history and the events of an object that ``add`` added by this move."""
    return _record(session, actor, machine_of(subject), move, subject, reason)


def make_move(
    session: Session,
    actor: Actor,
    subject: Stateful,
    target: Any,
    *,
    reason: Reason = NO_REASON,
    **changes: Any,
) -> Move:
    """Move ``subject`` to ``target`` with ``changes`` to other columns, in one conditional UPDATE.

    Raises:
        IllegalMove: the table has no such row from the current state, or another transaction moved it first.
        Forbidden, NotFound: this actor may not make the move.
    """
    machine = machine_of(subject)
    serialise(session, subject.community_id)
    source = getattr(subject, machine.field)
    move = machine.find(source, target)
    if move is None or not condition_holds(move, subject):
        raise IllegalMove(machine.field, source, target)
    _authorise(actor, move, subject, machine)
    values = {machine.field: target, **changes, "updated_at": clock.now()}
    if isinstance(subject, Action):
        values["version"] = subject.version + 1
    if isinstance(subject, Note):
        values.setdefault("status_since", values["updated_at"])
    if isinstance(subject, Request):
        values.setdefault("completed_at", values["updated_at"] if target is RequestStatus.COMPLETED else None)
    gathered: list[_Change] | None = session.info.get(_GATHERED)
    if gathered is None:
        _write(session, [_Change(subject, machine.field, source, values)])
    else:
        gathered.append(_Change(subject, machine.field, source, values))
    for name, value in values.items():
        set_committed_value(subject, name, value)
    _record(session, actor, machine, move, subject, reason)
    if isinstance(subject, Action) and source in IN_REVIEW:
        wake_panel(session, subject)
    if isinstance(subject, Request) and target is not RequestStatus.PENDING:
        wake_followers(session, subject)
    return move


@contextmanager
def together(session: Session, *, named: bool = True) -> Iterator[None]:
    """Write the moves in the block, their history and their events when it ends: a few statements instead of many.

    For new objects and decisions about them, each of which moves once. A move that takes something back reads the
    history of its object, which is not written yet. ``named`` as in ``events.gathered``.
    """
    changes: list[_Change] = []
    session.info[_GATHERED] = changes
    try:
        with events.gathered(session, named=named), history.gathered(session):
            yield
            _write(session, changes)
    finally:
        del session.info[_GATHERED]


_GATHERED = "moves_gathered"


@dataclass(frozen=True)
class _Change:
    subject: Stateful
    field: str
    source: Any
    values: Mapping[str, Any]


def _write(session: Session, changes: Sequence[_Change]) -> None:
    """Update the rows of moved objects: one statement for all that change the same columns.

    Raises IllegalMove when another transaction moved one of them first.
    """
    alike: dict[tuple[type[Stateful], tuple[str, ...]], list[_Change]] = {}
    for change in changes:
        alike.setdefault((type(change.subject), tuple(change.values)), []).append(change)
    for (model, names), several in alike.items():
        rows = [
            {"of_id": change.subject.id, "of_source": change.source}
            | {f"to_{name}": value for name, value in change.values.items()}
            for change in several
        ]
        statement = _updates(model, names, several[0].field)
        written = session.connection().execute(statement, rows if len(rows) > 1 else rows[0])
        if written.rowcount == len(rows):
            continue
        for change in several:
            target = change.values[change.field]
            session.refresh(change.subject)
            if getattr(change.subject, change.field) != target:
                raise IllegalMove(change.field, getattr(change.subject, change.field), target)
        raise RuntimeError("the database does not say how many rows it has changed")


@cache
def _updates(model: type[Stateful], names: tuple[str, ...], field: str) -> sa.Update:
    table = model.metadata.tables[model.__tablename__]
    columns = {attribute.key: attribute.columns[0] for attribute in class_mapper(model).column_attrs}
    own, state = columns["id"], columns[field]
    return (
        sa.update(table)
        .where(
            own == sa.bindparam("of_id", type_=own.type), state == sa.bindparam("of_source", type_=state.type)
        )
        .values({columns[name]: sa.bindparam(f"to_{name}", type_=columns[name].type) for name in names})
    )


def condition_holds(move: Move, subject: Stateful) -> bool:
    """Whether this object meets the row's condition (``When``)."""
    if move.when is When.ONCE_PROPOSED:
        return isinstance(subject, Action) and subject.proposed_at is not None
    if move.when is When.SCORE_ALONE:
        return isinstance(subject, Action) and subject.action_tier is ActionTier.IMMEDIATE
    return True


def _reopens(subject: Stateful) -> uuid.UUID | None:
    return subject.reopens_id if isinstance(subject, Action) else None


def _authorise(actor: Actor, move: Move, subject: Stateful, machine: Machine) -> None:
    if may(actor, move, subject.community_id):
        return
    if not actor.sees(subject.community_id):
        raise NotFound(machine.name)
    if is_closed(actor, Permission.MODERATE, subject.community_id):
        raise Forbidden(ARCHIVED)
    if actor.kind == "key" and Who.MODERATOR in move.who and not actor.read_only:
        raise Forbidden(ADMIN_REQUIRED)
    if actor.kind == "key" and not actor.read_only:
        # No integration may ever make this move, so the answer is the same as for a row that does not exist.
        raise IllegalMove(machine.field, str(move.source or "nothing"), move.target)
    raise Forbidden(_("You may not move this %(name)s to %(target)s", name=machine.name, target=move.target))


def _record(
    session: Session, actor: Actor, machine: Machine, move: Move, subject: Stateful, reason: Reason
) -> HistoryEntry | None:
    if isinstance(subject, Report):
        # Its row has all of it: when it came, its outcome and when. The history of its post says who decided.
        if EventName.REPORT_RESOLVED in move.events:
            events.emit_report(session, subject)
        return None
    reopens = _reopens(subject) if move.source is None else None
    entry = history.record(
        session,
        actor,
        subject.community_id,
        f"{machine.name}.{move.target.lower()}",
        machine.name,
        subject.id,
        before={machine.field: move.source.value} if move.source else {},
        after={machine.field: move.target.value} | ({"reopens": str(reopens)} if reopens else {}),
        reason=reason,
    )
    if isinstance(subject, Action):
        notices.notify_overturned(session, actor, entry)
        if move.target in DECIDES_REPORTS:
            wake_reports(session, subject.community_id, subject.request_id)
    for name in move.events:
        if isinstance(subject, Action):
            events.emit_action(session, name, subject)
        elif isinstance(subject, Note) and name is EventName.NOTE_STATUS:
            events.emit_note(session, subject)
    return entry


FOLLOW_JOB = "follow_post"


def wake_followers(session: Session, request: Request) -> None:
    """Have the job look after the requests that wait for this one, if there are any."""
    if request.is_followed:
        outbox.enqueue(
            session, FOLLOW_JOB, {"request_id": str(request.id)}, community_id=request.community_id
        )


TEND_JOB = "tend_panels"


def wake_panel(session: Session, action: Action) -> None:
    """Have the job look at the action's open panel after the commit: one look-up where there is none."""
    changed = bulk.change(
        session,
        sa.update(Panel)
        .where(Panel.action_id == action.id, Panel.ended_at.is_(None))
        .values(due_at=clock.now()),
    )
    if changed:
        wake_panels(session, action.community_id)


RESOLVE_REPORTS_JOB = "resolve_reports"
DECIDES_REPORTS = frozenset(
    {ActionState.APPLIED, ActionState.CONFIRMED, ActionState.DISMISSED, ActionState.OVERTURNED}
)
"""States of an action that say what becomes of the reports of its post."""


def wake_reports(session: Session, community_id: uuid.UUID, request_id: uuid.UUID) -> None:
    """Have the job resolve the post's open reports after the commit: one look-up where there is none."""
    is_open = sa.select(Report.id).where(Report.request_id == request_id, Report.state == ReportState.OPEN)
    if session.connection().execute(is_open.limit(1)).first() is not None:
        outbox.enqueue(
            session, RESOLVE_REPORTS_JOB, {"request_id": str(request_id)}, community_id=community_id
        )


def wake_panels(session: Session, community_id: uuid.UUID) -> None:
    """Have the job look at the community's panels as soon as this transaction commits."""
    outbox.enqueue(session, TEND_JOB, {"community_id": str(community_id)}, community_id=community_id)
