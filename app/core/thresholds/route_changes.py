"""Counts posts by their routes under two sets of rules at once, from their stored scores."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum

import numpy as np
from sqlalchemy.orm import Session

from app.core.thresholds import outcomes
from app.core.thresholds.outcomes import RIGHT, WRONG, Outcome
from app.core.thresholds.post_scores import Posts, microseconds
from app.core.thresholds.routing import CategoryRule, Numbers, Routes, decide_many
from app.core.vocabulary import ActionTier, Verb

PERIODS = (7, 30, 90)
"""Lengths of the periods in days, ending now."""
SHOWN_ITEMS = 10
"""The most posts in each of the lists that ``Judged`` names."""
_ACTS = 2
Route = tuple[ActionTier, str] | None


@dataclass(frozen=True)
class Counted:
    """The number of posts whose route changes from ``before`` to ``after``.

    ``days`` is the shortest period that they lie in. ``outcome`` is read only where either set of rules acts without
    review.
    """

    days: int
    before: Route
    after: Route
    outcome: Outcome | None
    count: int


class Judged(IntEnum):
    """What people's decisions say of a changed route: that the change is right, that it is wrong, or nothing.

    To act without review on what people upheld is right, and so is no longer to act on what they overturned.
    """

    RIGHTLY = 1
    WRONGLY = 2
    UNKNOWN = 3


@dataclass(frozen=True)
class Item:
    """A post with a changed route; ``outcome`` as of ``Counted``."""

    request_id: uuid.UUID
    before: Route
    after: Route
    outcome: Outcome | None
    judged: Judged


def judge(before: Route, after: Route, outcome: Outcome | None) -> Judged | None:
    """What the outcome says of this change; None if nothing is to be shown: neither rule set acts or is stricter."""
    was, becomes = strictness(before), strictness(after)
    acts, acted = becomes == _ACTS, was == _ACTS
    if acts is not acted and outcome in RIGHT | WRONG:
        return Judged.RIGHTLY if (outcome in RIGHT) is acts else Judged.WRONGLY
    return Judged.UNKNOWN if becomes > was else None


def strictness(route: Route) -> int:
    """0 for a post that is let through, 1 for one that people are asked about, 2 for one that is acted on."""
    return 0 if route is None else 3 - route[0].number


def compare(
    session: Session,
    community_id: uuid.UUID,
    posts: Posts,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    now: datetime,
) -> tuple[list[Counted], list[Item]]:
    """Route the posts by the rules ``before`` and ``after``, and count them by both routes.

    Return (counts, items): items are posts whose route changes, the newest ``SHOWN_ITEMS`` of each ``Judged``.
    """
    was, becomes = _routes(posts, before), _routes(posts, after)
    routed = np.flatnonzero(was.codes + becomes.codes)
    at, codes = posts.at[routed], (was.codes[routed], becomes.codes[routed])
    # How many of the shorter periods each post is too old for.
    too_old = [at < microseconds(now - timedelta(days=days)) for days in PERIODS[:-1]]
    acts = np.flatnonzero((codes[0] | codes[1]) & 1 == 1)
    outcome_codes = np.zeros(len(routed), np.int64)
    if len(acts):
        # A member may have asked for a review shortly before the post was scored.
        known = outcomes.codes_since(session, community_id, now - timedelta(days=PERIODS[-1] + 1))
        outcome_codes[acts] = [known.get(request_id, 0) for request_id in posts.ids[routed[acts]].tolist()]
    shape = len(PERIODS), 2 * len(before) + 1, 2 * len(after) + 1, outcomes.HIGHEST_CODE + 1
    keys = np.ravel_multi_index((np.sum(too_old, axis=0), *codes, outcome_codes), shape)
    totals = np.bincount(keys)
    rows: dict[int, Counted] = {}
    judged = np.zeros(len(totals), np.int64)
    for key in np.flatnonzero(totals).tolist():
        place, old, new, code = (int(number) for number in np.unravel_index(key, shape))
        outcome = outcomes.from_code(code or None)
        row = Counted(PERIODS[place], was.read(old), becomes.read(new), outcome, int(totals[key]))
        rows[key], judged[key] = row, judge(row.before, row.after, outcome) or 0
    items = []
    for kind in Judged:
        shown = _newest(posts, routed, np.flatnonzero(judged[keys] == kind))
        for request_id, place in zip(posts.ids_at(routed[shown]), shown.tolist(), strict=True):
            row = rows[int(keys[place])]
            items.append(Item(request_id, row.before, row.after, row.outcome, kind))
    return list(rows.values()), items


def _routes(posts: Posts, rules: Sequence[CategoryRule]) -> Routes:
    """The routes by what happens: a flag is reviewed before anything happens, even above Tier 1."""
    routes = decide_many(len(posts.at), posts.columns, rules)
    flagged = [
        routes.code(ActionTier.IMMEDIATE, rule.name) for rule in rules if rule.tier1_action is Verb.FLAG
    ]
    return replace(routes, codes=routes.codes + np.isin(routes.codes, flagged))


def _newest(posts: Posts, routed: Numbers, places: Numbers) -> Numbers:
    """The newest ``SHOWN_ITEMS`` of these places among the routed posts; those of one moment by id."""
    at = posts.at[routed[places]]
    if len(places) > SHOWN_ITEMS:
        places = places[at >= np.partition(at, -SHOWN_ITEMS)[-SHOWN_ITEMS]]
    moments, ids = posts.at[routed[places]].tolist(), posts.ids_at(routed[places])
    order = sorted(range(len(places)), key=lambda number: (-moments[number], ids[number].bytes))
    return places[order[:SHOWN_ITEMS]]
