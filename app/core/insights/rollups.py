"""Keeps the counts of a community's statistics by the quarter of an hour, so that a page need not sum raw rows.

An hourly job adds the quarters that have passed, and counts those again in which a late change falls: an action of
last month that was overturned today belongs to the day on which it was proposed. Every change has a history entry,
so the entries since the last run tell which quarters those are. Run again, or from the beginning, the job comes to
the same counts. What it has not counted yet, pages sum up from the rows (``trends``).
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.db import Base
from app.core.insights import groups
from app.core.insights.groups import GroupQueries
from app.core.insights.trend_queries import COUNTS, RECORDED_WITHIN, Slots
from app.core.models import (
    Action,
    Community,
    Decision,
    HistoryEntry,
    InsightGroup,
    InsightOutcome,
    InsightSlot,
    Note,
    Rating,
    Request,
    RetentionMark,
    Rollup,
)
from app.core.models.insights import GroupKind, OutcomeKind
from app.core.periods import SLOT_SECONDS, moment_of, slot_of, slot_of_column
from app.core.services import figures

ROLLUP_JOB = "roll_up"
ROLLUP_SECONDS = 3_600.0
CHUNK = 20_000
"""About how many history entries one transaction counts when a community is counted for the first time."""
RUNS = 12
"""Late changes are merged into at most about this many ranges of slots; the slots between are counted too."""
OF_SCORES = (OutcomeKind.CLASSIFIER, OutcomeKind.RECORD)
"""What is counted by scores, which are kept for a limited time only."""
_DAY = 86_400 // SLOT_SECONDS
_SLOTS_BACK = int(RECORDED_WITHIN.total_seconds()) // SLOT_SECONDS + 1


def end_of(session: Session, community_id: uuid.UUID) -> datetime | None:
    """Until when the community's slots are counted; None before the first run."""
    end = session.scalar(sa.select(Rollup.end).where(Rollup.community_id == community_id))
    return None if end is None else moment_of(end)


def due(session: Session) -> Sequence[uuid.UUID]:
    """The communities in which anything happened since their last run."""
    newest = (
        sa.select(HistoryEntry.id)
        .where(HistoryEntry.community_id == Community.id, HistoryEntry.at >= Rollup.changes_until)
        .exists()
    )
    return session.scalars(
        sa.select(Community.id)
        .outerjoin(Rollup, Rollup.community_id == Community.id)
        .where(sa.or_(Rollup.community_id.is_(None), newest))
        .order_by(Community.id)
    ).all()


def roll_up(session: Session, community_id: uuid.UUID) -> bool:
    """Count one stretch of time of the community, and return whether it was the last one for now.

    For the first time these are stretches from the beginning on; later whatever is new or was changed.
    """
    now = clock.now()
    current = slot_of(now)
    state = session.scalars(
        sa.select(Rollup).where(Rollup.community_id == community_id).with_for_update()
    ).first()
    if state is None:
        first = session.scalar(
            sa.select(sa.func.min(Request.requested_at)).where(Request.community_id == community_id)
        )
        begin = current if first is None else min(current, slot_of(first))
        state = Rollup(community_id=community_id, end=begin, changes_until=now)
        session.add(state)
    end = min(_chunk_end(session, community_id, state.end), current)
    is_last = end == current
    if is_last:
        # Also the slots just before the end: what was committed late may have no entry of its own.
        changed = _changed(session, community_id, state.changes_until - RECORDED_WITHIN)
        recent = range(state.end - _SLOTS_BACK, end)
        slots = {slot for slot in changed if slot < end} | set(recent)
        oldest = _first_entry(session, community_id)
        slots = {slot for slot in slots if slot >= oldest}
        state.changes_until = now
    else:
        slots = set(range(state.end, end))
    for stretch in _stretches(slots):
        _count(session, community_id, stretch)
    state.end = end
    session.flush()
    return is_last


def _first_entry(session: Session, community_id: uuid.UUID) -> int:
    """The first slot of which the history tells everything; earlier ones cannot be counted again."""
    at = session.scalar(sa.select(RetentionMark.history_at).where(RetentionMark.community_id == community_id))
    return 0 if at is None else slot_of(at) + 1


def _first_scored(session: Session, community_id: uuid.UUID) -> int:
    """The first slot of which all scores are kept."""
    at = session.scalar(
        sa.select(RetentionMark.scores_until).where(RetentionMark.community_id == community_id)
    )
    return 0 if at is None else slot_of(at) + 1


def _chunk_end(session: Session, community_id: uuid.UUID, begin: int) -> int:
    """Where the transaction that counts from the slot ``begin`` ends: at least a day later."""
    last = session.scalar(
        sa.select(HistoryEntry.at)
        .where(HistoryEntry.community_id == community_id, HistoryEntry.at >= Slots(begin, begin).since)
        .order_by(HistoryEntry.at)
        .offset(CHUNK)
        .limit(1)
    )
    slot = slot_of(last or clock.now())
    return slot if last is None else max(slot, begin + _DAY)


def _stretches(slots: Iterable[int]) -> Iterator[Slots]:
    """The slots in a few stretches: neighbours together, and more than neighbours where they are many."""
    ordered = sorted(slots)
    gap = 4
    while sum(after - before > gap for before, after in pairwise(ordered)) >= RUNS:
        gap *= 2
    begin = None
    for place, slot in enumerate(ordered):
        begin = slot if begin is None else begin
        if place + 1 == len(ordered) or ordered[place + 1] - slot > gap:
            yield Slots(begin, slot + 1)
            begin = None


def _changed(session: Session, community_id: uuid.UUID, since: datetime) -> set[int]:
    """The slots in which something lies that was changed since this moment."""

    def changed(*kinds: str) -> sa.Select[Any]:
        return sa.select(HistoryEntry.object_id).where(
            HistoryEntry.community_id == community_id,
            HistoryEntry.at >= since,
            HistoryEntry.object_type.in_(kinds),
        )

    withdrawn = session.scalars(
        sa.select(HistoryEntry.before).where(
            HistoryEntry.community_id == community_id,
            HistoryEntry.at >= since,
            HistoryEntry.what == "rating.withdrawn",
        )
    )
    lost = [uuid.UUID(before["note_id"]) for before in withdrawn if "note_id" in before]
    actions = changed("action")
    notes = sa.union_all(
        changed("note"),
        sa.select(Rating.note_id).where(Rating.id.in_(changed("rating"))),
        sa.select(Note.id).where(Note.id.in_(lost)),
    ).subquery()
    of_notes = sa.select(notes)
    requests = sa.select(
        sa.union_all(
            changed("request"),
            sa.select(Action.request_id).where(Action.id.in_(actions)),
            sa.select(Action.request_id).where(Action.note_id.in_(of_notes)),
        ).subquery()
    )
    moments = [
        (Request.requested_at, Request.id.in_(requests)),
        (Decision.decided_at, Decision.request_id.in_(requests)),
        (Rating.created_at, Rating.id.in_(changed("rating"))),
        (Rating.created_at, Rating.note_id.in_(of_notes)),
        *(
            (column, Action.id.in_(actions))
            for column in (Action.created_at, Action.proposed_at, Action.applied_at, Action.dismissed_at)
        ),
    ]
    found: set[int] = set()
    for column, condition in moments:
        found.update(
            slot
            for slot in session.scalars(sa.select(slot_of_column(column)).where(condition).distinct())
            if slot is not None
        )
    # Earlier moments of the same objects, which a later change has overwritten.
    earlier = session.scalars(
        sa.select(slot_of_column(HistoryEntry.at))
        .where(
            HistoryEntry.object_type.in_(("action", "rating")),
            HistoryEntry.object_id.in_(changed("action", "rating")),
        )
        .distinct()
    )
    for slot in earlier:
        found.update(range(slot - _SLOTS_BACK, slot + 1))
    return found


def _count(session: Session, community_id: uuid.UUID, slots: Slots) -> None:
    """Count these slots, in place of what was counted before.

    What is counted by scores stays where scores were removed.
    """
    first_scored = _first_scored(session, community_id)
    for model, goes in (
        (InsightSlot, sa.true()),
        # All there are: their index has the kind before the slot.
        (InsightGroup, InsightGroup.kind.in_([kind.value for kind in GroupKind])),
        (
            InsightOutcome,
            sa.not_(InsightOutcome.kind.in_(OF_SCORES) & (InsightOutcome.slot < first_scored)),
        ),
    ):
        session.execute(
            sa.delete(model).where(
                model.community_id == community_id, model.slot >= slots.first, model.slot < slots.end, goes
            )
        )
    queries = GroupQueries(session, community_id, slots)
    rows: dict[int, dict[str, Any]] = defaultdict(dict)
    for slot, values in queries.counts():
        rows[slot] |= values
    waits: dict[int, list[int]] = defaultdict(list)
    for slot, seconds in queries.waits():
        waits[slot].append(seconds)
    for slot, values_of_slot in waits.items():
        rows[slot]["waits"] = ",".join(map(str, sorted(values_of_slot)))
    columns = {"community_id": community_id, "waits": None} | dict.fromkeys(COUNTS, 0)
    _insert(session, InsightSlot, [columns | {"slot": slot} | row for slot, row in rows.items()])
    sums: Counter[tuple[int, str, str]] = Counter()
    parts: Counter[tuple[int, str, str]] = Counter()
    records = figures.decided_by_slot(
        session, community_id, slot_of_column(Action.created_at), slots.since, slots.until
    )
    for kind, found in (
        (OutcomeKind.CATEGORY, queries.categories()),
        (OutcomeKind.CLASSIFIER, queries.classifiers()),
        (OutcomeKind.RECORD, records),
    ):
        for slot, name, total, of_which in found:
            if kind in OF_SCORES and slot < first_scored:
                continue
            sums[slot, kind.value, name] += total
            parts[slot, kind.value, name] += of_which
    _insert(
        session,
        InsightOutcome,
        [
            {
                "community_id": community_id,
                "slot": slot,
                "kind": kind,
                "name": name,
                "total": total,
                "of_which": parts[slot, kind, name],
            }
            for (slot, kind, name), total in sums.items()
        ],
    )
    groups.count(session, community_id, queries)


def _insert(session: Session, model: type[Base], rows: Sequence[Mapping[str, Any]]) -> None:
    bulk.insert(session.connection(), model.metadata.tables[model.__tablename__], rows)
