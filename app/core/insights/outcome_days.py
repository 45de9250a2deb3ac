"""The sums by name of each finished day, packed, so that those of a long period need not read every slot."""

import json
import uuid
from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import packed_days
from app.core.models import InsightOutcome
from app.core.models.insights import OutcomeKind
from app.core.models.packed_days import DayKind
from app.core.periods import SLOT_SECONDS

_SLOTS = 86_400 // SLOT_SECONDS
Sums = tuple[str, str, int, int]
"""Kind, name, how many actions, and of which how many."""


def first_day(session: Session, community_id: uuid.UUID) -> int | None:
    """The first day with a sum; None without any."""
    slot = session.scalar(
        sa.select(sa.func.min(InsightOutcome.slot)).where(InsightOutcome.community_id == community_id)
    )
    return None if slot is None else slot // _SLOTS


def note(session: Session, community_id: uuid.UUID, first: int, end: int) -> None:
    """Note that the slots from ``first`` up to ``end`` were counted again."""
    days = range(first // _SLOTS, (end - 1) // _SLOTS + 1)
    packed_days.note(session, community_id, DayKind.OUTCOMES, days)


def pack(session: Session, community_id: uuid.UUID, day: int) -> int:
    """Pack the sums of this day, and return how many there are."""
    packed_days.begin(session, community_id, DayKind.OUTCOMES, day)
    found = _of_slots(session, community_id, [(day * _SLOTS, (day + 1) * _SLOTS)], list(OutcomeKind))
    data = json.dumps(found).encode() if found else b""
    packed_days.store(session, community_id, DayKind.OUTCOMES, day, data)
    return len(found)


def sums(
    session: Session, community_id: uuid.UUID, first: int, end: int, kinds: Collection[OutcomeKind]
) -> Sequence[Sums]:
    """The sums of these kinds over the slots from ``first`` up to ``end``, in parts: a name may come several times.

    Whole days come packed; those at the ends, and days that are not packed or have changed since, of the slots.
    """
    first_whole, end_whole = -(-first // _SLOTS), end // _SLOTS
    data = packed_days.unchanged(session, community_id, DayKind.OUTCOMES, first_whole, end_whole)
    words = {kind.value for kind in kinds}
    found = [
        (kind, name, total, of_which)
        for of_day in data.values()
        for kind, name, total, of_which in (json.loads(of_day) if of_day else ())
        if kind in words
    ]
    unpacked = [day for day in range(first // _SLOTS, -(-end // _SLOTS)) if day not in data]
    stretches = [
        (max(first, since * _SLOTS), min(end, until * _SLOTS)) for since, until in packed_days.runs(unpacked)
    ]
    return [*found, *_of_slots(session, community_id, stretches, kinds)]


def _of_slots(
    session: Session,
    community_id: uuid.UUID,
    stretches: Sequence[tuple[int, int]],
    kinds: Collection[OutcomeKind],
) -> list[Sums]:
    slot, kind, name = InsightOutcome.slot, InsightOutcome.kind, InsightOutcome.name
    of_stretches = [sa.and_(slot >= first, slot < end) for first, end in stretches]
    rows = session.execute(
        sa.select(kind, name, sa.func.sum(InsightOutcome.total), sa.func.sum(InsightOutcome.of_which))
        .where(
            InsightOutcome.community_id == community_id,
            sa.or_(sa.false(), *of_stretches),
            kind.in_([one.value for one in kinds]),
        )
        .group_by(kind, name)
    )
    return [(of_kind, of_name, int(total), int(of_which)) for of_kind, of_name, total, of_which in rows]
