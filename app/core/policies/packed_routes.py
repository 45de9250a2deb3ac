"""Routing of packed days: counts requests by their routes as ``route_counts`` does in SQL, with vectors of numbers.

What the packed days do not tell is left to ``route_counts``: the days that are not packed, today above all, and single
requests that have changed since or have scores on several days. So a preview is exact at every moment (decision 0064).
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import packed_days
from app.core.history.tallies import begin_of, day_of
from app.core.listed import is_one_of
from app.core.models import DayChange, PackedDay
from app.core.models.packed_days import DayKind
from app.core.policies import outcomes, route_counts, score_days
from app.core.policies.route_counts import (
    CLASS,
    MARGIN,
    PERIODS,
    SHOWN_ITEMS,
    Counted,
    Item,
    Loose,
    Order,
    in_force,
    least_exceeded,
    newest_of,
)
from app.core.policies.routing import CategoryRule
from app.core.policies.score_days import ID_BYTES, IS_ACTING, IS_CAPABLE, IS_HIGHEST, ScoreDay, microseconds
from app.core.vocabulary import ActionTier

MOST_LOOSE = 31
"""With more days than this not packed, all are read from the rows."""
MOST_CHANGED = 200
"""A day with more changed requests than this counts as not packed: they would be looked up one by one."""
Numbers = np.ndarray[Any, np.dtype[Any]]
_NONE = np.iinfo(np.int64).max
_CODES = 2**20
"""More than any place of a class with a name, as ``_code`` writes them in one number."""


@dataclass(frozen=True)
class _Days:
    """Packed days with scores, each with the places of its requests among all from ``begins`` on.

    ``versions``: those of the days, by day. ``left_out``: whether a request has changed since.
    """

    versions: Mapping[int, int]
    packed: Sequence[ScoreDay]
    begins: Sequence[int]
    at: Numbers
    outcome: Numbers
    left_out: Numbers


def route(
    session: Session,
    community_id: uuid.UUID,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    now: datetime,
) -> tuple[list[Counted], list[Item]]:
    """As ``route_counts.route``, from packed days where there are any."""
    read = _read(session, community_id, now)
    if read is None:
        return route_counts.route(session, community_id, before, after, now)
    days, loose = read
    counted, items = _route_packed(session, community_id, days, before, after, now)
    if items is None:
        return route_counts.route(session, community_id, before, after, now)
    others, other_items = route_counts.route(session, community_id, before, after, now, loose)
    sums: Counter[Counted] = Counter()
    for row in (*counted, *others):
        sums[replace(row, count=0)] += row.count
    return [replace(row, count=count) for row, count in sums.items()], newest_of([*items, *other_items])


def _read(session: Session, community_id: uuid.UUID, now: datetime) -> tuple[_Days, Loose] | None:
    """The packed days of the period, and what is to be read beside them; None if too few are packed.

    One statement: what has changed is told of the packed days as they are read.
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
    packed = {day: found for day in usable if (found := score_days.unpacked(data[day][1])) is not None}
    days = _placed(packed, data, changes)
    named = {request_id for day in usable for request_id in changes[day]}
    named.update(request_id for found in packed.values() for request_id in found.apart)
    # The last stretch has no end: a score of the next moment belongs to it.
    stretches = [(begin_of(since), begin_of(until)) for since, until in packed_days.runs([*unpacked, end])]
    periods = [*stretches[:-1], (stretches[-1][0], None)]
    return days, Loose(periods, sorted(named), packed_days.runs(usable))


def _placed(
    packed: Mapping[int, ScoreDay],
    data: Mapping[int, tuple[int, bytes, bytes]],
    changes: Mapping[int, Collection[uuid.UUID]],
) -> _Days:
    begins = np.cumsum([0, *(len(day.at) for day in packed.values())]).tolist()
    left_out = np.zeros(begins[-1], np.bool_)
    for begin, day in zip(begins, packed, strict=False):
        requests = changes.get(day, ())
        if requests:
            # Of 16 bytes each: what numpy strips from the end of such texts, it strips from both sides.
            own = np.frombuffer(data[day][2], f"S{ID_BYTES}")
            listed = np.array([request_id.bytes for request_id in requests], f"S{ID_BYTES}")
            left_out[begin : begin + len(own)] = np.isin(own, listed)
    return _Days(
        {day: data[day][0] for day in packed},
        list(packed.values()),
        begins[:-1],
        _joined([day.at for day in packed.values()], np.int64),
        _joined([day.outcome for day in packed.values()], np.int64),
        left_out,
    )


def _joined(columns: Sequence[Numbers], kind: Any) -> Numbers:
    return np.concatenate([np.zeros(0, kind), *columns]).astype(kind, copy=False)


def _route_packed(
    session: Session,
    community_id: uuid.UUID,
    days: _Days,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    now: datetime,
) -> tuple[list[Counted], list[Item] | None]:
    """The counts and the newest items of the packed days; no items if a day was packed anew since it was read."""
    orders = Order.from_rules(before), Order.from_rules(after)
    rules = in_force(before), in_force(after)
    since = microseconds(now - timedelta(days=PERIODS[-1]))
    routes = np.full((2, len(days.at)), _NONE, np.int64)
    at = np.full(len(days.at), -1, np.int64)
    for name in sorted(rules[0].keys() | rules[1].keys()):
        both = rules[0].get(name), rules[1].get(name)
        request, score, flags, moment = _scores(days, name, both, since)
        np.maximum.at(at, request, moment)
        for place, (rule, order) in enumerate(zip(both, orders, strict=True)):
            if rule is not None:
                np.minimum.at(routes[place], request, _number(rule, order, score, flags))
    places = np.flatnonzero((routes != _NONE).any(axis=0))
    routes, at = routes[:, places], at[places]
    first_reviewed = [[order.first_reviewed] for order in orders]
    acted = routes < np.array(first_reviewed)
    outcome = np.where(acted.any(axis=0), days.outcome[places], 0)
    counted = _counted(routes, at, outcome, orders, now)
    is_none = routes == _NONE
    stricter = np.flatnonzero((is_none[0] & ~is_none[1]) | (~is_none[0] & ~acted[0] & acted[1]))
    if len(stricter) > SHOWN_ITEMS:
        # All of the moment that the last one shown has: which of them is shown, their ids tell.
        oldest = np.partition(at[stricter], -SHOWN_ITEMS)[-SHOWN_ITEMS]
        stricter = stricter[at[stricter] >= oldest]
    ids = _ids(session, community_id, days, places[stricter])
    if ids is None:
        return counted, None
    items = [
        Item(
            request_id,
            score_days.moment_of(int(at[place])),
            *(
                _read_route(order, int(number))
                for order, number in zip(orders, routes[:, place], strict=True)
            ),
        )
        for request_id, place in zip(ids, stricter, strict=True)
    ]
    return counted, newest_of(items)


def _scores(
    days: _Days, category: str, rules: tuple[CategoryRule | None, CategoryRule | None], since: int
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The scores of this category that exceed what could route: their requests, heights, flags and moments."""
    least, least_acting = least_exceeded(*rules)
    found: list[tuple[Numbers, Numbers, Numbers, Numbers]] = []
    for day, begin in zip(days.packed, days.begins, strict=True):
        if category not in day.categories:
            continue
        place = day.categories.index(category)
        part = slice(int(day.ends[place - 1]) if place else 0, int(day.ends[place]))
        found.append(
            (day.request[part].astype(np.int64) + begin, day.score[part], day.flags[part], day.delay[part])
        )
    request, score, flags, delay = (
        _joined([one[column] for one in found], kind)
        for column, kind in enumerate((np.int64, np.float64, np.uint8, np.int64))
    )
    exceeds = (flags & IS_HIGHEST != 0) & (score > 0) & (score > least)
    if least_acting is not None:
        exceeds |= (flags & IS_ACTING != 0) & (score > least_acting)
    chosen = np.flatnonzero(exceeds)
    request = request[chosen]
    moment = days.at[request] + delay[chosen]
    counts = (moment >= since) & ~days.left_out[request]
    chosen = chosen[counts]
    return request[counts], score[chosen], flags[chosen], moment[counts]


def _number(rule: CategoryRule, order: Order, score: Numbers, flags: Numbers) -> Numbers:
    """The number of each score under the rule, as ``Order.number`` gives it in SQL."""

    def numbers(tier: ActionTier, threshold: float) -> Numbers:
        highest, is_less_by_height = order.highest(rule, tier, threshold)
        if not is_less_by_height:
            return np.full(len(score), highest, np.int64)
        millionths: Numbers = np.rint(score * 1_000_000).astype(np.int64)
        return np.asarray(highest - millionths * MARGIN)

    found = np.where(score > rule.tier2, numbers(ActionTier.CONSENSUS, rule.tier2), _NONE)
    if rule.tier1 is not None:
        acts = (flags & IS_CAPABLE != 0) & (score > rule.tier1)
        found = np.where(acts, numbers(ActionTier.IMMEDIATE, rule.tier1), found)
    return np.asarray(found)


def _counted(
    routes: Numbers, at: Numbers, outcome: Numbers, orders: tuple[Order, Order], now: datetime
) -> list[Counted]:
    # In the order of PERIODS: how many of the shorter ones a request is too old for.
    older_than = [microseconds(now - timedelta(days=days)) for days in PERIODS[:-1]]
    period = sum((at < moment).astype(np.int64) for moment in older_than)
    codes = [np.where(row == _NONE, 0, row // CLASS * MARGIN + row % MARGIN + 1) for row in routes]
    keys = ((period * _CODES + codes[0]) * _CODES + codes[1]) * (outcomes.HIGHEST_CODE + 1) + outcome
    counted = []
    for key, count in zip(*(found.tolist() for found in np.unique(keys, return_counts=True)), strict=True):
        rest, of_outcome = divmod(key, outcomes.HIGHEST_CODE + 1)
        rest, becomes = divmod(rest, _CODES)
        place, was = divmod(rest, _CODES)
        counted.append(
            Counted(
                PERIODS[place],
                _read_code(orders[0], was),
                _read_code(orders[1], becomes),
                outcomes.from_code(of_outcome or None),
                count,
            )
        )
    return counted


def _read_code(order: Order, code: int) -> route_counts.Route:
    return order.read((code - 1) // MARGIN, (code - 1) % MARGIN) if code else None


def _read_route(order: Order, number: int) -> route_counts.Route:
    return None if number == _NONE else order.read(number // CLASS, number % MARGIN)


def _ids(
    session: Session, community_id: uuid.UUID, days: _Days, places: Numbers
) -> Sequence[uuid.UUID] | None:
    """The ids of the requests at these places; None if a day was packed anew, so that they may be others now."""
    if not len(places):
        return []
    numbers = list(days.versions)
    of_days = [numbers[place] for place in (np.searchsorted(days.begins, places, side="right") - 1).tolist()]
    begins = dict(zip(numbers, days.begins, strict=True))
    found = {
        day: (version, ids)
        for day, version, ids in session.execute(
            sa.select(PackedDay.day, PackedDay.version, PackedDay.ids).where(
                PackedDay.community_id == community_id,
                PackedDay.kind == DayKind.SCORES.value,
                is_one_of(session, PackedDay.day, sorted(set(of_days))),
            )
        )
    }
    made = []
    for place, day in zip(places.tolist(), of_days, strict=True):
        version, ids = found.get(day, (None, None))
        if version != days.versions[day] or ids is None:
            return None
        begin = (place - begins[day]) * ID_BYTES
        made.append(uuid.UUID(bytes=ids[begin : begin + ID_BYTES]))
    return made
