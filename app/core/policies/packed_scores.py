"""The packed days of a preview's period, read and joined; with what is to be read beside them (decision 0064)."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import packed_days
from app.core.models import DayChange, PackedDay
from app.core.models.packed_days import DayKind
from app.core.periods import begin_of, day_of
from app.core.policies import route_counts, score_days
from app.core.policies.route_counts import BINS, PERIODS, Loose
from app.core.policies.score_days import ID_BYTES, IS_HIGHEST, PARTS, ScoreDay

MOST_LOOSE = 31
"""With more days than this not packed, all are read from the rows."""
MOST_CHANGED = 200
"""A day with more changed requests than this counts as not packed: they would be looked up one by one."""
Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Packed:
    """The packed days of a preview's period, each with the places of its requests among all from ``begins`` on.

    ``versions``: those of the days with scores, by day. ``scores``: by category, of each score its request, height,
    flags, and the microseconds after its request's first score. ``at``, ``outcome``: of each request, as ``ScoreDay``
    has them; ``is_left_out``: it has changed since. ``unchanged``: days on which no request has, nor has a score on
    another day; ``of_unchanged``: whether a request is of them. ``loose``: what is to be read beside the packed days.
    """

    versions: Mapping[int, int]
    begins: Sequence[int]
    scores: Mapping[str, tuple[Numbers, Numbers, Numbers, Numbers]]
    at: Numbers
    outcome: Numbers
    is_left_out: Numbers
    unchanged: frozenset[int]
    of_unchanged: Numbers
    loose: Loose


def read(session: Session, community_id: uuid.UUID, now: datetime) -> Packed | None:
    """Read the packed days of the last 90 days; None if too few are packed.

    One statement: what has changed is said of the packed days as they are read.
    """
    first = score_days.first_day(now)
    own = PackedDay.community_id == community_id, PackedDay.kind == DayKind.SCORES.value
    changed = (
        DayChange.community_id == PackedDay.community_id,
        DayChange.kind == PackedDay.kind,
        DayChange.day == PackedDay.day,
    )
    ids = sa.case((sa.exists().where(*changed), PackedDay.ids), else_=None)
    no_bytes = sa.null().cast(sa.LargeBinary)
    data: dict[int, tuple[int, bytes, bytes]] = {}
    changes: defaultdict[int, set[uuid.UUID]] = defaultdict(set)
    for day, version, of_day, ids_of_day, request_id in session.execute(
        sa.union_all(
            sa.select(
                PackedDay.day,
                PackedDay.version,
                PackedDay.data,
                ids.label("ids"),
                sa.null().cast(sa.Uuid).label("request_id"),
            ).where(*own, PackedDay.day >= first),
            sa.select(PackedDay.day, PackedDay.version, no_bytes, no_bytes, DayChange.request_id)
            .join(DayChange, sa.and_(*changed))
            .where(*own, PackedDay.day >= first)
            .distinct(),
        )
    ):
        if request_id is None:
            data[day] = version, of_day, ids_of_day or b""
        else:
            changes[day].add(request_id)
    usable = sorted(day for day in data if len(changes[day]) <= MOST_CHANGED)
    end = max([day_of(now), *usable]) + 1
    unpacked = [day for day in range(first, end) if day not in set(usable)]
    if len(unpacked) > MOST_LOOSE:
        return None
    days = {day: found for day in usable if (found := score_days.unpacked(data[day][1])) is not None}
    named = {request_id for day in usable for request_id in changes[day]}
    named.update(request_id for found in days.values() for request_id in found.apart)
    # The last stretch has no end: a score of the next moment belongs to it.
    stretches = [(begin_of(since), begin_of(until)) for since, until in packed_days.runs([*unpacked, end])]
    periods = [*stretches[:-1], (stretches[-1][0], None)]
    whole = {day for day in usable if day not in days or (days[day].is_in_parts and not days[day].apart)}
    unchanged = frozenset(day for day in whole if not changes[day])
    lengths = [len(found.at) for found in days.values()]
    begins = np.cumsum([0, *lengths])
    return Packed(
        versions={day: data[day][0] for day in days},
        begins=begins[:-1].tolist(),
        scores=_by_category(days, begins.tolist()),
        at=_joined([found.at for found in days.values()], np.int64),
        outcome=_joined([found.outcome for found in days.values()], np.int64),
        is_left_out=_joined(
            [_changed_of(found, data[day][2], changes[day]) for day, found in days.items()], np.bool_
        ),
        unchanged=unchanged,
        of_unchanged=np.repeat(np.array([day in unchanged for day in days], np.bool_), lengths),
        loose=Loose(periods, sorted(named), packed_days.runs(usable)),
    )


def _changed_of(day: ScoreDay, ids: bytes, requests: Collection[uuid.UUID]) -> Numbers:
    """Of each request of the day, whether it is one of these."""
    if not requests:
        return np.zeros(len(day.at), np.bool_)
    # Of 16 bytes each: what numpy strips from the end of such texts, it strips from both sides.
    listed = np.array([request_id.bytes for request_id in requests], f"S{ID_BYTES}")
    return np.isin(np.frombuffer(ids, f"S{ID_BYTES}"), listed)


def _by_category(
    days: Mapping[int, ScoreDay], begins: Sequence[int]
) -> Mapping[str, tuple[Numbers, Numbers, Numbers, Numbers]]:
    found: defaultdict[str, list[tuple[Numbers, Numbers, Numbers, Numbers]]] = defaultdict(list)
    for day, begin in zip(days.values(), begins, strict=False):
        ends = [0, *day.ends.tolist()]
        for name, part in zip(day.categories, map(slice, ends, ends[1:]), strict=False):
            request = day.request[part].astype(np.int64) + begin
            found[name].append((request, day.score[part], day.flags[part], day.delay[part]))
    kinds = np.int64, np.float64, np.uint8, np.int64
    joined = {
        name: [_joined(columns, kind) for columns, kind in zip(zip(*parts, strict=True), kinds, strict=True)]
        for name, parts in found.items()
    }
    return {name: (columns[0], columns[1], columns[2], columns[3]) for name, columns in joined.items()}


def _joined(columns: Sequence[Numbers], kind: Any) -> Numbers:
    return np.concatenate([np.zeros(0, kind), *columns]).astype(kind, copy=False)


def histograms(
    session: Session, community_id: uuid.UUID, packed: Packed | None, now: datetime
) -> dict[str, list[int]]:
    """As ``route_counts.histograms`` of the longest period, by the packed days; from rows only of the others."""
    since = now - timedelta(days=PERIODS[-1])
    if packed is None:
        return route_counts.histograms(session, community_id, since)
    days = range(day_of(since), max([day_of(now), *packed.unchanged]) + 1)
    others = [day for day in days if day not in packed.unchanged]
    bars_by_category = route_counts.histograms(session, community_id, since, others)
    for name, (request, score, flags, _) in packed.scores.items():
        counts = (flags & IS_HIGHEST != 0) & (score > 0) & packed.of_unchanged[request]
        # Whole parts, from 1 on: days with other scores are not among the unchanged ones.
        parts = np.rint(score[counts] * PARTS).astype(np.int64)
        bars = np.bincount((parts - 1) // (PARTS // BINS), minlength=BINS).tolist()
        if any(bars):
            known = bars_by_category.get(name, [0] * BINS)
            bars_by_category[name] = [one + other for one, other in zip(known, bars, strict=True)]
    return bars_by_category
