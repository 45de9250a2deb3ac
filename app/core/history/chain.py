"""Writes and verifies the audit history: append-only, one hash chain per community.

Each entry's hash is SHA-256 over the RFC 8785 form of its columns and the previous hash. Names and free text are in
``HistoryText``; the chain holds only their salted hash (docs/run/reliability.md), so that erasing them does not break
it.
"""

import hashlib
import secrets
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import rfc8785
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.db import serialise
from app.core.history import facts, marks
from app.core.history.marks import GENESIS, Broken
from app.core.history.reason import NO_REASON, Reason
from app.core.ids import new_id
from app.core.models import HistoryEntry, HistoryText, RetentionMark
from app.core.models.history import NOT_ABOUT_POSTS
from app.core.permissions import Actor

ERASURE_ENTRIES = ("account.erased", "profile.erased")
"""The entries about an erasure. Their own text is kept: it contains nothing to erase."""


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
    reason: Reason = NO_REASON,
) -> HistoryEntry:
    """Append and return one entry. ``what`` is a dotted past tense (``action.proposed``); values are plain JSON."""
    serialise(session, community_id)
    text = HistoryText(
        salt=secrets.token_hex(16),
        actor_name=actor.name,
        reason=reason.reason,
        comment=reason.comment,
        erased_at=None,
    )
    entry = HistoryEntry(
        id=new_id(),
        community_id=community_id,
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
        cause=reason.cause[:255],
        text_hash=_text_hash(text),
        text=text,
    )
    gathered: list[HistoryEntry] | None = session.info.get(_GATHERED)
    if gathered is not None:
        gathered.append(entry)
        return entry
    _append(session, [entry])
    _copy_facts(session, [entry])
    session.add(entry)
    session.flush()
    return entry


@contextmanager
def gathered(session: Session) -> Iterator[None]:
    """Write the entries that are recorded within the block when it ends: all at once, in their order.

    Only for verbs that do not read what they recorded. An entry has its number and its hash from the end of the
    block on; when the block raises, there is none.
    """
    entries: list[HistoryEntry] = []
    session.info[_GATHERED] = entries
    try:
        yield
    finally:
        del session.info[_GATHERED]
    for community_id in dict.fromkeys(entry.community_id for entry in entries):
        own = [entry for entry in entries if entry.community_id == community_id]
        _append(session, own)
        _copy_facts(session, own)
        connection = session.connection()
        bulk.insert(connection, _ENTRIES, [_row(entry) for entry in own])
        bulk.insert(connection, _TEXTS, [{"entry_id": entry.id, **_row(entry.text)} for entry in own])


_GATHERED = "history_gathered"
_ENTRIES, _TEXTS = (model.metadata.tables[model.__tablename__] for model in (HistoryEntry, HistoryText))


def _row(instance: HistoryEntry | HistoryText) -> dict[str, Any]:
    return {
        name: value for name, value in vars(instance).items() if name not in ("_sa_instance_state", "text")
    }


def _copy_facts(session: Session, entries: Sequence[HistoryEntry]) -> None:
    for entry in entries:
        for name, value in facts.of_object(session, entry.object_type, entry.object_id).items():
            setattr(entry, name, value)


def _append(session: Session, entries: Sequence[HistoryEntry]) -> None:
    """Number new entries of one community and chain them to its last one. The community is locked."""
    session.flush()
    newest = last(session, entries[0].community_id)
    number, previous = (newest.number, newest.hash) if newest else (0, GENESIS)
    for entry in entries:
        number += 1
        entry.number, entry.previous_hash = number, previous
        entry.hash = previous = _hash(entry)


def last(session: Session, community_id: uuid.UUID) -> sa.Row[int, str, datetime] | None:
    """The number, the hash and the time of a community's last entry."""
    return session.connection().execute(_LAST, {"community": community_id}).first()


_LAST = (
    sa.select(HistoryEntry.number, HistoryEntry.hash, HistoryEntry.at)
    .where(HistoryEntry.community_id == sa.bindparam("community"))
    .order_by(HistoryEntry.number.desc())
    .limit(1)
)


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


STRETCH = 20_000
"""Entries that ``stretch`` reads: some seconds, so that no transaction sees an old database for long."""


@dataclass(frozen=True)
class Stretch:
    """``number`` and ``hash`` are of the last entry that holds, ``count`` entries after the one that it began with.

    ``is_last``: the chain ends there, or breaks.
    """

    count: int
    number: int
    hash: str
    is_last: bool
    broken: Broken | None


def verify(session: Session, community_id: uuid.UUID, *, only_new: bool = False) -> tuple[int, Broken | None]:
    """Check one community's chain. Return the number of valid entries and the first broken one, or None.

    It goes on from the last entry that was removed (``upkeep.pruning``); with ``only_new`` from the last one that
    ``remember_verified`` noted, if that is a later one. That one must still be there, as it was noted.
    """
    found = list(stretches(lambda: nullcontext(session), community_id, only_new=only_new))
    return sum(one.count for one in found), found[-1].broken


def stretches(
    reading: Callable[[], AbstractContextManager[Session]], community_id: uuid.UUID, *, only_new: bool = False
) -> Iterator[Stretch]:
    """Check one community's chain as ``verify`` does, each stretch in a session of its own."""
    with reading() as session:
        at = start_of(session, community_id, only_new=only_new)
    is_last = False
    while not is_last:
        with reading() as session:
            found = stretch(session, community_id, *at)
        yield found
        at, is_last = (found.number, found.hash), found.is_last


def stretch(session: Session, community_id: uuid.UUID, number: int, previous: str) -> Stretch:
    """Check the next entries of a chain, from the one after the entry of this number and hash."""
    while True:
        removed = start_of(session, community_id)
        first = (number, previous) if number > removed[0] else removed
        found = _walk(session, community_id, *first)
        # Of every stretch: the caller may note how far it came.
        broken = found.broken or marks.unlike_noted(session, community_id)
        # Entries that were removed while this read are not missing.
        if broken is None or start_of(session, community_id) == removed:
            return replace(found, broken=broken, is_last=found.is_last or broken is not None)


_READ_AT_ONCE = 500


def _walk(session: Session, community_id: uuid.UUID, first: int, previous: str) -> Stretch:
    number, broken = first, None
    with closing(checked(session, community_id, first, previous, STRETCH)) as entries:
        try:
            for entry, why in entries:
                if why:
                    broken = Broken(community_id, entry.number, entry.id, why)
                    break
                number, previous = entry.number, entry.hash
        except ValueError:
            # SQLite keeps anything in a column, such as half a JSON value or no time in a time.
            why = f"it, or one of the {_READ_AT_ONCE} entries from there on, cannot be read"
            broken = Broken(community_id, number + 1, None, why)
    count = number - first
    return Stretch(count, number, previous, count < STRETCH, broken)


def checked(
    session: Session, community_id: uuid.UUID, number: int, previous: str, limit: int | None = None
) -> Generator[tuple[HistoryEntry, str | None], None, None]:
    """The entries after the one with this number and hash, in their order, each with what is wrong with it, or None.

    What comes after a wrong one means nothing.
    """
    erased = _erased_people(session, community_id)
    rows = session.execute(
        facts.with_objects(
            sa.select(HistoryEntry, HistoryText)
            .outerjoin(HistoryText, HistoryText.entry_id == HistoryEntry.id)
            .where(HistoryEntry.community_id == community_id, HistoryEntry.number > number)
            .order_by(HistoryEntry.number)
            .limit(limit)
        ).execution_options(yield_per=_READ_AT_ONCE)
    )
    with closing(rows):
        for row in rows:
            entry, text, *of_object = tuple[Any, ...](row)
            number += 1
            yield (
                entry,
                _fault(entry, previous, number)
                or _text_fault(entry, text, erased)
                or facts.fault(entry, of_object),
            )
            previous = entry.hash


def _erased_people(session: Session, community_id: uuid.UUID) -> Mapping[uuid.UUID, int]:
    """The accounts and profiles that were erased, with the number of the entry that says so."""
    rows = session.execute(
        sa.select(HistoryEntry.object_id, sa.func.max(HistoryEntry.number))
        .where(
            HistoryEntry.community_id == community_id,
            HistoryEntry.what.in_(ERASURE_ENTRIES),
            # Written out for the index of these few entries.
            sa.text(f"history.{NOT_ABOUT_POSTS}"),
        )
        .group_by(HistoryEntry.object_id)
    )
    return {object_id: number for object_id, number in rows}


def start_of(session: Session, community_id: uuid.UUID, *, only_new: bool = False) -> tuple[int, str]:
    """The number and hash of the entry after which ``verify`` begins: 0 and ``GENESIS`` at the very beginning."""
    known = session.get(RetentionMark, community_id, populate_existing=True)
    if known is None:
        return 0, GENESIS
    if only_new and known.verified_number > known.history_number:
        return known.verified_number, known.verified_hash
    return known.history_number, known.history_hash


def remember_verified(session: Session, community_id: uuid.UUID, number: int) -> None:
    """Note that the chain was found valid up to the entry of this number, if none later was."""
    last = session.scalars(
        sa.select(HistoryEntry.hash).where(
            HistoryEntry.community_id == community_id, HistoryEntry.number == number
        )
    ).first()
    known = marks.mark(session, community_id)
    if last is not None and number > known.verified_number:
        known.verified_number, known.verified_hash = number, last
        session.flush()


def _fault(entry: HistoryEntry, previous: str, expected: int) -> str | None:
    """``expected`` is the number that the entry must have, ``previous`` the hash of the one before."""
    if entry.number != expected:
        return f"entry {expected} is missing"
    if entry.previous_hash != previous:
        return "it does not follow the entry before it"
    if entry.hash != _hash(entry):
        return "its columns were altered"
    return None


def _text_fault(entry: HistoryEntry, text: HistoryText | None, erased: Mapping[uuid.UUID, int]) -> str | None:
    if text is None:
        return "its text is missing"
    if text.erased_at is not None:
        is_empty = not (text.actor_name or text.reason or text.comment or text.salt)
        return None if is_empty else "its text was erased, and is there again"
    if entry.text_hash != _text_hash(text):
        return "its text was altered"
    # The whole row may have been put back as it was.
    people = [entry.account_id, entry.profile_id]
    people += [entry.object_id] if entry.object_type == "account" else []
    if entry.what not in ERASURE_ENTRIES and any(
        person is not None and erased.get(person, 0) > entry.number for person in people
    ):
        return "its text was erased with the person, and is there again"
    return None
