"""Routing of packed days: counts requests by their routes as ``route_counts`` does in SQL, with vectors of numbers.

What the packed days do not have is left to ``route_counts``: the days that are not packed, today above all, and single
requests that have changed since or have scores on several days. So a preview is exact at every moment (decision 0064).
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.listed import is_one_of
from app.core.models import PackedDay
from app.core.models.packed_days import DayKind
from app.core.policies import outcomes, route_counts, score_days
from app.core.policies.packed_scores import Numbers, Packed
from app.core.policies.route_counts import (
    CLASS,
    MARGIN,
    PERIODS,
    SHOWN_ITEMS,
    Counted,
    Item,
    Judged,
    Order,
    in_force,
    least_exceeded,
    newest_of,
)
from app.core.policies.routing import CategoryRule
from app.core.policies.score_days import ID_BYTES, IS_ACTING, IS_CAPABLE, IS_HIGHEST, microseconds
from app.core.vocabulary import ActionTier

_NONE = np.iinfo(np.int64).max
_CODES = 2**20
"""More than any place of a class with a name, as ``_counted`` writes them in one number."""


def route(
    session: Session,
    community_id: uuid.UUID,
    packed: Packed | None,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    now: datetime,
) -> tuple[list[Counted], list[Item]]:
    """As ``route_counts.route``, by the packed days that ``read`` gave."""
    if packed is None:
        return route_counts.route(session, community_id, before, after, now)
    counted, items = _route_packed(session, community_id, packed, before, after, now)
    if items is None:
        return route_counts.route(session, community_id, before, after, now)
    others, other_items = route_counts.route(session, community_id, before, after, now, packed.loose)
    sums: Counter[Counted] = Counter()
    for row in (*counted, *others):
        sums[replace(row, count=0)] += row.count
    return [replace(row, count=count) for row, count in sums.items()], newest_of([*items, *other_items])


def _route_packed(
    session: Session,
    community_id: uuid.UUID,
    packed: Packed,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    now: datetime,
) -> tuple[list[Counted], list[Item] | None]:
    """The counts and the newest items of the packed days; no items if a day was packed again since it was read."""
    orders = Order.from_rules(before), Order.from_rules(after)
    rules = in_force(before), in_force(after)
    since = microseconds(now - timedelta(days=PERIODS[-1]))
    routes = np.full((2, len(packed.at)), _NONE, np.int64)
    at = np.full(len(packed.at), -1, np.int64)
    for name in sorted((rules[0].keys() | rules[1].keys()) & packed.scores.keys()):
        both = rules[0].get(name), rules[1].get(name)
        request, score, flags, moment = _scores(packed, name, both, since)
        np.maximum.at(at, request, moment)
        for place, (rule, order) in enumerate(zip(both, orders, strict=True)):
            if rule is not None:
                np.minimum.at(routes[place], request, _number(rule, order, score, flags))
    places = np.flatnonzero((routes != _NONE).any(axis=0))
    routes, at = routes[:, places], at[places]
    first_reviewed = [[order.first_reviewed] for order in orders]
    acted = routes < np.array(first_reviewed)
    outcome = np.where(acted.any(axis=0), packed.outcome[places], 0)
    counted = _counted(routes, at, outcome, orders, now)
    judged = _judged(routes, acted, outcome)
    chosen = np.sort(np.concatenate([_newest(np.flatnonzero(judged == kind), at) for kind in Judged]))
    ids = _ids(session, community_id, packed, places[chosen])
    if ids is None:
        return counted, None
    items = [
        Item(
            request_id,
            score_days.moment_of(int(at[place])),
            _read_route(orders[0], int(routes[0, place])),
            _read_route(orders[1], int(routes[1, place])),
            outcomes.from_code(int(outcome[place]) or None),
            Judged(int(judged[place])),
        )
        for request_id, place in zip(ids, chosen, strict=True)
    ]
    return counted, newest_of(items)


def _judged(routes: Numbers, acted: Numbers, outcome: Numbers) -> Numbers:
    """As ``route_counts.judge``, of each request; 0 for None. Both before and after, in two rows."""
    was_acted, acts = acted
    newly, no_longer = acts & ~was_acted, was_acted & ~acts
    right, wrong = np.isin(outcome, outcomes.RIGHT_CODES), np.isin(outcome, outcomes.WRONG_CODES)
    is_new = (routes[0] == _NONE) & (routes[1] != _NONE)
    return np.select(
        [newly & right | no_longer & wrong, newly & wrong | no_longer & right, newly | is_new],
        [int(judged) for judged in Judged],
        0,
    )


def _newest(places: Numbers, at: Numbers) -> Numbers:
    """The newest ``SHOWN_ITEMS`` of these, and all of the moment that the last of them has: ids tell which is shown."""
    if len(places) <= SHOWN_ITEMS:
        return places
    moments = at[places]
    oldest = np.partition(moments, -SHOWN_ITEMS)[-SHOWN_ITEMS]
    return np.asarray(places[moments >= oldest])


def _scores(
    packed: Packed, category: str, rules: tuple[CategoryRule | None, CategoryRule | None], since: int
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The scores of this category that exceed what could route: their requests, heights, flags and moments."""
    least, least_acting = least_exceeded(*rules)
    request, score, flags, delay = packed.scores[category]
    exceeds = (flags & IS_HIGHEST != 0) & (score > 0) & (score > least)
    if least_acting is not None:
        exceeds |= (flags & IS_ACTING != 0) & (score > least_acting)
    chosen = np.flatnonzero(exceeds)
    request = request[chosen]
    moment = packed.at[request] + delay[chosen]
    counts = (moment >= since) & ~packed.is_left_out[request]
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
    session: Session, community_id: uuid.UUID, packed: Packed, places: Numbers
) -> Sequence[uuid.UUID] | None:
    """The ids of the requests at these places; None if a day was packed again, so that they may be others now."""
    if not len(places):
        return []
    numbers = list(packed.versions)
    of_days = [
        numbers[place] for place in (np.searchsorted(packed.begins, places, side="right") - 1).tolist()
    ]
    begins = dict(zip(numbers, packed.begins, strict=True))
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
        if version != packed.versions[day] or ids is None:
            return None
        begin = (place - begins[day]) * ID_BYTES
        made.append(uuid.UUID(bytes=ids[begin : begin + ID_BYTES]))
    return made
