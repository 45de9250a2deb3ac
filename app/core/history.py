"""The history that people read: append-only, one hash chain per community.

Each entry's hash is SHA-256 over the RFC 8785 form of its columns and the hash before it. Names and free text stand
in ``HistoryText``; the chain holds only their salted hash (RELIABILITY: Audit), so erasing them breaks nothing.
"""

import hashlib
import secrets
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import rfc8785
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import serialise
from app.core.ids import new_id
from app.core.models import Action, HistoryEntry, HistoryText, Note, Request
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ActionState, ActionType

GENESIS = "0" * 64


def record(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    what: str,
    object_type: str,
    object_id: uuid.UUID,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
    comment: str = "",
    cause: str = "",
) -> HistoryEntry:
    """Append one entry. ``what`` is a dotted past tense such as ``action.proposed``; values are plain JSON."""
    serialise(session, community_id)
    last = session.execute(
        sa.select(HistoryEntry.number, HistoryEntry.hash)
        .where(HistoryEntry.community_id == community_id)
        .order_by(HistoryEntry.number.desc())
        .limit(1)
    ).first()
    text = HistoryText(
        salt=secrets.token_hex(16), actor_name=actor.name, reason=reason, comment=comment, erased_at=None
    )
    entry = HistoryEntry(
        id=new_id(),
        community_id=community_id,
        number=last.number + 1 if last else 1,
        at=clock.now(),
        actor_kind=actor.kind,
        account_id=actor.account_id,
        key_id=actor.key_id,
        profile_id=actor.profile_id,
        what=what,
        object_type=object_type,
        object_id=object_id,
        before=dict(before or {}),
        after=dict(after or {}),
        cause=cause[:255],
        text_hash=_text_hash(text),
        previous_hash=last.hash if last else GENESIS,
        text=text,
    )
    entry.hash = _hash(entry)
    session.add(entry)
    session.flush()
    return entry


def _text_hash(text: HistoryText) -> str:
    parts = [text.salt, text.actor_name, text.reason, text.comment]
    return hashlib.sha256(rfc8785.dumps(parts)).hexdigest()


def _hash(entry: HistoryEntry) -> str:
    columns: dict[str, Any] = {
        "id": str(entry.id),
        "community_id": str(entry.community_id),
        "number": entry.number,
        "at": clock.iso(entry.at),
        "actor_kind": entry.actor_kind,
        "account_id": _plain(entry.account_id),
        "key_id": _plain(entry.key_id),
        "profile_id": _plain(entry.profile_id),
        "what": entry.what,
        "object_type": entry.object_type,
        "object_id": str(entry.object_id),
        "before": entry.before,
        "after": entry.after,
        "cause": entry.cause,
        "text_hash": entry.text_hash,
        "previous_hash": entry.previous_hash,
    }
    return hashlib.sha256(rfc8785.dumps(columns)).hexdigest()


def _plain(value: uuid.UUID | None) -> str | None:
    return None if value is None else str(value)


@dataclass(frozen=True)
class Broken:
    """The first entry of a chain that is not as it was written."""

    community_id: uuid.UUID
    number: int
    entry_id: uuid.UUID
    why: str


def verify(session: Session, community_id: uuid.UUID) -> tuple[int, Broken | None]:
    """Walk one community's chain: how many entries hold, and the first that does not."""
    previous, expected = GENESIS, 1
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .outerjoin(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(HistoryEntry.community_id == community_id)
        .order_by(HistoryEntry.number)
        .execution_options(yield_per=500)
    )
    with closing(rows):
        for entry, text in rows:
            why = _fault(entry, text, previous, expected)
            if why:
                return expected - 1, Broken(community_id, entry.number, entry.id, why)
            previous, expected = entry.hash, expected + 1
    return expected - 1, None


def _fault(entry: HistoryEntry, text: HistoryText | None, previous: str, expected: int) -> str | None:
    if entry.number != expected:
        return f"entry {expected} is missing"
    if entry.previous_hash != previous:
        return "it does not follow the entry before it"
    if entry.hash != _hash(entry):
        return "its columns were altered"
    if text is None:
        return "its text is missing"
    if text.erased_at is None and entry.text_hash != _text_hash(text):
        return "its text was altered"
    return None


@dataclass(frozen=True)
class HistoryFilter:
    """Which changes of actions are wanted; empty means all. ``since`` is inclusive, ``until`` exclusive."""

    action_type: ActionType | None = None
    state: ActionState | None = None
    actor: str = ""
    author: str = ""
    category: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class ActionChange:
    """One change of one action: the entry, its erasable text, the action as it is now, and its request."""

    entry: HistoryEntry
    text: HistoryText
    action: Action
    request: Request

    @property
    def state(self) -> str:
        """The state that this change led to."""
        return str(self.entry.after.get("action_state", ""))

    @property
    def is_latest(self) -> bool:
        """Whether the action still stands where this change put it."""
        return self.action.action_state == self.state


@dataclass(frozen=True)
class ChangesPage:
    """Some changes, newest first, of ``count`` in all; ``newer`` and ``older`` are numbers to go on from."""

    rows: Sequence[ActionChange]
    count: int
    newer: int | None
    older: int | None


def matching(
    actor: Actor, community_id: uuid.UUID, wanted: HistoryFilter
) -> sa.Select[HistoryEntry, HistoryText, Action, Request]:
    """The community's changes of actions that match, unordered: (entry, text, action, request) each.

    Raises:
        NotFound, Forbidden: the history is not the actor's to see.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    states = (wanted.state,) if wanted.state else tuple(ActionState)
    statement = (
        sa.select(HistoryEntry, HistoryText, Action, Request)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .join(Action, Action.id == HistoryEntry.object_id)
        .join(Request, Request.id == Action.request_id)
        .where(
            HistoryEntry.community_id == community_id,
            HistoryEntry.object_type == "action",
            HistoryEntry.what.in_([f"action.{state.value}" for state in states]),
        )
    )
    if wanted.action_type:
        statement = statement.where(Action.action_type == wanted.action_type)
    if wanted.category:
        statement = statement.where(Action.category == wanted.category)
    if wanted.actor:
        statement = statement.where(HistoryText.actor_name.icontains(wanted.actor, autoescape=True))
    if wanted.author:
        statement = statement.where(Request.platform_author_id.icontains(wanted.author, autoescape=True))
    if wanted.since:
        statement = statement.where(HistoryEntry.at >= wanted.since)
    if wanted.until:
        statement = statement.where(HistoryEntry.at < wanted.until)
    return statement


def changes(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: HistoryFilter,
    *,
    size: int,
    older_than: int | None = None,
    newer_than: int | None = None,
) -> ChangesPage:
    """A page of the changes that match, newest first; two queries however many rows.

    Pages follow the entries' numbers, so changes that happen meanwhile neither repeat nor hide a row.
    """
    statement = matching(actor, community_id, wanted)
    count = session.scalar(sa.select(sa.func.count()).select_from(statement.subquery())) or 0
    if newer_than is not None:
        statement = statement.where(HistoryEntry.number > newer_than).order_by(HistoryEntry.number)
    else:
        if older_than is not None:
            statement = statement.where(HistoryEntry.number < older_than)
        statement = statement.order_by(HistoryEntry.number.desc())
    found = [ActionChange(*row) for row in session.execute(statement.limit(size + 1))]
    more, rows = len(found) > size, found[:size]
    if newer_than is not None:
        rows.reverse()
        has_newer, has_older = more, bool(rows)
    else:
        has_newer, has_older = older_than is not None, more
    return ChangesPage(
        rows=rows,
        count=count,
        newer=rows[0].entry.number if rows and has_newer else None,
        older=rows[-1].entry.number if rows and has_older else None,
    )


def export(
    session: Session, actor: Actor, community_id: uuid.UUID, wanted: HistoryFilter
) -> Iterator[ActionChange]:
    """Every change that matches, newest first, read in batches.

    Refusals are raised at the call, not at the first row.
    """
    statement = matching(actor, community_id, wanted).order_by(HistoryEntry.number.desc())
    rows = session.execute(statement.execution_options(yield_per=500))

    def each() -> Iterator[ActionChange]:
        with closing(rows):
            for row in rows:
                yield ActionChange(*row)

    return each()


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The categories that actions of the community ever had, for the history's filter."""
    found = session.scalars(
        sa.select(Action.category)
        .where(Action.community_id == community_id)
        .distinct()
        .order_by(Action.category)
    )
    return [name for name in found if name]


def of_item(session: Session, actor: Actor, action: Action) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """What happened to an action, its request, rationale and restorations, comments too; oldest first."""
    require(actor, Permission.SEE_HISTORY, action.community_id, "item")
    siblings = sa.select(Action.id).where(Action.request_id == action.request_id)
    objects = [identity for identity in (action.request_id, action.note_id) if identity is not None]
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.community_id == action.community_id,
            sa.or_(
                sa.and_(
                    HistoryEntry.object_type.in_(("request", "note")), HistoryEntry.object_id.in_(objects)
                ),
                sa.and_(HistoryEntry.object_type == "action", HistoryEntry.object_id.in_(siblings)),
            ),
        )
        .order_by(HistoryEntry.number)
    )
    return [(entry, text) for entry, text in rows]


def of_note(session: Session, actor: Actor, note: Note) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """What happened to one note, oldest first."""
    require(actor, Permission.SEE_HISTORY, note.community_id, "note")
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.community_id == note.community_id,
            HistoryEntry.object_type == "note",
            HistoryEntry.object_id == note.id,
        )
        .order_by(HistoryEntry.number)
    )
    return [(entry, text) for entry, text in rows]
