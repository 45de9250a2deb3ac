"""Who rated on each day, packed: how many different people rated in a part of a period cannot be added up.

A packed day has the numbers of its raters by the quarter of an hour, because days begin at another moment in every time
zone. Days that are not packed, or have changed since, are read from the ratings.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import number_columns
from app.core.history import packed_days
from app.core.history.tallies import begin_of, day_of
from app.core.insights import trend_queries
from app.core.listed import is_one_of
from app.core.models import RaterNumber, Rating
from app.core.models.packed_days import DayKind
from app.core.periods import SLOT_SECONDS, Period, slot_of, slot_of_column

_SLOTS = 86_400 // SLOT_SECONDS
Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


def first_day(session: Session, community_id: uuid.UUID) -> int | None:
    """The day of the community's first rating; None without any."""
    at = session.scalar(sa.select(sa.func.min(Rating.created_at)).where(Rating.community_id == community_id))
    return None if at is None else day_of(at)


def pack(session: Session, community_id: uuid.UUID, day: int) -> int:
    """Pack who rated on this day, and return how many rows were read.

    Raters that have no number yet are given the next ones.
    """
    packed_days.begin(session, community_id, DayKind.RATERS, day)
    slot = slot_of_column(Rating.created_at).label("slot")
    found = session.execute(
        sa.select(slot, Rating.rater_id)
        .where(
            Rating.community_id == community_id,
            Rating.created_at >= begin_of(day),
            Rating.created_at < begin_of(day + 1),
        )
        .distinct()
    ).all()
    numbers = _numbers(session, community_id, sorted({rater_id for _, rater_id in found}))
    pairs = sorted((slot - day * _SLOTS, numbers[rater_id]) for slot, rater_id in found)
    counts = np.bincount([slot for slot, _ in pairs], minlength=_SLOTS) if pairs else None
    columns = [] if counts is None else [counts, np.array([number for _, number in pairs])]
    data = number_columns.to_bytes([number_columns.narrowed(column) for column in columns])
    packed_days.store(session, community_id, DayKind.RATERS, day, data)
    return len(found)


def _numbers(
    session: Session, community_id: uuid.UUID, raters: Sequence[uuid.UUID]
) -> Mapping[uuid.UUID, int]:
    """The numbers of these raters, new ones where they had none."""
    own = RaterNumber.community_id == community_id
    known = session.execute(
        sa.select(RaterNumber.rater_id, RaterNumber.number).where(
            own, is_one_of(session, RaterNumber.rater_id, raters)
        )
    )
    numbers = {rater_id: number for rater_id, number in known}
    unknown = [rater_id for rater_id in raters if rater_id not in numbers]
    if unknown:
        highest = session.scalar(sa.select(sa.func.max(RaterNumber.number)).where(own))
        begin = 0 if highest is None else highest + 1
        given = {rater_id: begin + place for place, rater_id in enumerate(unknown)}
        session.execute(
            sa.insert(RaterNumber),
            [
                {"community_id": community_id, "rater_id": rater_id, "number": number}
                for rater_id, number in given.items()
            ],
        )
        numbers |= given
    return numbers


def count(session: Session, community_id: uuid.UUID, period: Period) -> tuple[Mapping[int, int], int]:
    """The number of people who rated: by part, and in the whole period. As ``trend_queries.raters``."""
    first, end = day_of(period.since), day_of(period.until - timedelta(microseconds=1)) + 1
    data = (
        packed_days.unchanged(session, community_id, DayKind.RATERS, first, end) if period.fits_slots else {}
    )
    if not data:
        return trend_queries.raters(session, community_id, period)
    places, numbers = _in_order(data, first, end)
    others = _of_rows(session, community_id, period, [day for day in range(first, end) if day not in data])
    seen_by_part = []
    highest = max(
        [int(numbers.max(initial=-1)), *(number for known, _ in others.values() for number in known)]
    )
    everybody, nameless = np.zeros(highest + 1, np.bool_), set[uuid.UUID]()
    for part, (since, until) in enumerate(period.bounds):
        begin_place, end_place = (places[slot_of(moment) - first * _SLOTS] for moment in (since, until))
        known, unknown = others.get(part, ((), ()))
        seen = np.zeros(highest + 1, np.bool_)
        seen[numbers[begin_place:end_place]] = True
        seen[np.array(known, np.int64)] = True
        everybody |= seen
        nameless.update(unknown)
        seen_by_part.append(int(np.count_nonzero(seen)) + len(unknown))
    counts = {part: people for part, people in enumerate(seen_by_part) if people}
    return counts, int(np.count_nonzero(everybody)) + len(nameless)


def _in_order(data: Mapping[int, bytes], first: int, end: int) -> tuple[Numbers, Numbers]:
    """The numbers of all packed days in the order of time, and at which place those of each slot begin.

    The places are those of the slots from the first one of the day ``first`` on, with one more for the end.
    """
    counts, numbers = np.zeros((end - first, _SLOTS), np.int64), []
    for day in sorted(data):
        columns = number_columns.from_bytes(data[day])
        if columns:
            counts[day - first] = columns[0]
            numbers.append(columns[1].astype(np.int64))
    places = np.concatenate([[0], np.cumsum(counts)])
    return places, np.concatenate(numbers) if numbers else np.zeros(0, np.int64)


def _of_rows(
    session: Session, community_id: uuid.UUID, period: Period, days: Sequence[int]
) -> Mapping[int, tuple[Sequence[int], Sequence[uuid.UUID]]]:
    """By part, who rated on these days: the numbers of those who have one, and the ids of the others."""
    stretches = [
        (part, max(since, begin_of(first)), min(until, begin_of(end)))
        for first, end in packed_days.runs(days)
        for part, (since, until) in enumerate(period.bounds)
        if since < begin_of(end) and until > begin_of(first)
    ]
    if not stretches:
        return {}
    people = sa.union_all(
        *(
            sa.select(sa.literal(part).label("part"), Rating.rater_id)
            .where(Rating.community_id == community_id, Rating.created_at >= since, Rating.created_at < until)
            .group_by(Rating.rater_id)
            for part, since, until in stretches
        )
    ).subquery("people")
    known: defaultdict[int, set[int]] = defaultdict(set)
    unknown: defaultdict[int, set[uuid.UUID]] = defaultdict(set)
    for part, rater_id, number in session.execute(
        sa.select(people.c.part, people.c.rater_id, RaterNumber.number).outerjoin(
            RaterNumber,
            sa.and_(
                RaterNumber.community_id == community_id,
                RaterNumber.rater_id == people.c.rater_id,
            ),
        )
    ):
        if number is None:
            unknown[part].add(rater_id)
        else:
            known[part].add(number)
    return {part: (list(known[part]), list(unknown[part])) for part in known.keys() | unknown.keys()}
