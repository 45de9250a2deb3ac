"""Routing in SQL: counts requests by their routes under two sets of rules at once (decision 0019).

One aggregate gives every request the route that ``routing.decide`` would give it. It reads the scores of a period from
the index ``ix_scores_previewed``. ``packed_routes`` does the same with packed days, and asks here about the others.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history.packed_days import changes_of, runs
from app.core.listed import is_one_of
from app.core.models import Action, Score
from app.core.models.packed_days import DayKind
from app.core.periods import begin_of, day_of
from app.core.policies import outcomes
from app.core.policies.outcomes import RIGHT, RIGHT_CODES, WRONG, WRONG_CODES, Outcome
from app.core.policies.routing import CategoryRule, millionths
from app.core.policies.score_days import PARTS, PREVIEWED, ZERO
from app.core.vocabulary import ActionTier

PERIODS = (7, 30, 90)
"""Lengths of the periods in days, ending now."""
SHOWN_ITEMS = 10
"""The most requests in each of the lists that ``Judged`` names."""
BINS = 20
"""Bars of a histogram over 0.0 to 1.0. Each counts scores above its lower end, up to and including its upper end."""

CLASS, MARGIN = 10**10, 1_000
"""Factors that encode tier and severity, margin, and name in one whole number, ordered as ``routing`` orders routes."""


@dataclass(frozen=True)
class Order:
    """Encodes routes as numbers: the lowest number takes precedence."""

    names: Sequence[str]
    classes: Sequence[tuple[int, int]]
    shared: frozenset[int]
    """Severities that several categories share: only for them margins decide."""

    @classmethod
    def from_rules(cls, rules: Sequence[CategoryRule]) -> "Order":
        classes = {(tier.number, -rule.severity) for rule in rules for tier in ActionTier}
        severities = Counter(rule.severity for rule in rules)
        shared = frozenset(severity for severity, count in severities.items() if count > 1)
        return cls(sorted(rule.name for rule in rules), sorted(classes), shared)

    @property
    def first_reviewed(self) -> int:
        """The first number of Tier 2; lower numbers are Tier 1."""
        return sum(tier == 1 for tier, _ in self.classes) * CLASS

    def highest(self, rule: CategoryRule, tier: ActionTier, threshold: float) -> tuple[int, bool]:
        """The number of a score that exceeds this threshold, and whether its height counts.

        If so, ``MARGIN`` for each millionth of the score is to be taken off.
        """
        fixed = self.classes.index((tier.number, -rule.severity)) * CLASS + self.names.index(rule.name)
        if rule.severity not in self.shared:
            return fixed, False
        return fixed + (1_000_000 + millionths(threshold)) * MARGIN, True

    def number(self, rule: CategoryRule, tier: ActionTier, threshold: float) -> sa.ColumnElement[int]:
        highest, is_less_by_height = self.highest(rule, tier, threshold)
        number = sa.literal(highest, sa.BigInteger)
        return number - _MILLIONTHS * MARGIN if is_less_by_height else number

    def read(self, place: int | None, name: int | None) -> tuple[ActionTier, str] | None:
        if place is None or name is None:
            return None
        tier = ActionTier.IMMEDIATE if self.classes[place][0] == 1 else ActionTier.CONSENSUS
        return tier, self.names[name]


_MILLIONTHS: sa.ColumnElement[int] = sa.cast(sa.func.round(Score.score * 1_000_000), sa.BigInteger)


Route = tuple[ActionTier, str] | None


@dataclass(frozen=True)
class Counted:
    """The number of requests whose route changes from ``before`` to ``after``.

    ``days`` is the shortest period that they lie in.
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
    """A request with a changed route, when its newest score was given that could route it, and both routes.

    ``outcome`` is read only where either set of rules acts without review.
    """

    request_id: uuid.UUID
    at: datetime
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


def strictness(route_: Route) -> int:
    """0 for a request that is let through, 1 for one that people are asked about, 2 for one that is acted on."""
    return 0 if route_ is None else 3 - route_[0].number


_ACTS = 2


@dataclass(frozen=True)
class Loose:
    """What of a period packed days do not have.

    ``periods``: without packed days, each up to a moment or without an end. ``requests``: those that the packed days
    leave out, or that have changed since. ``packed``: the days that are packed, as stretches up to the day after.
    """

    periods: Sequence[tuple[datetime, datetime | None]]
    requests: Sequence[uuid.UUID]
    packed: Sequence[tuple[int, int]]


def route(
    session: Session,
    community_id: uuid.UUID,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    now: datetime,
    loose: Loose | None = None,
) -> tuple[list[Counted], list[Item]]:
    """Count the requests of the last 90 days by their routes under the rules ``before`` and ``after``.

    Return (counts, items): items are requests whose route changes, the newest ``SHOWN_ITEMS`` of each ``Judged``.
    With ``loose``, only of these requests.
    """
    orders = Order.from_rules(before), Order.from_rules(after)
    routed = _routed(session, community_id, before, after, orders, now, loose)
    if routed is None:
        return [], []
    acted = sa.func.coalesce(routed.c.before < orders[0].first_reviewed, sa.false())
    acts = sa.func.coalesce(routed.c.after < orders[1].first_reviewed, sa.false())
    source: Any = routed
    outcome: Any = outcomes.code_of_request(routed.c.request_id)
    if loose is None:
        known = _outcomes(community_id, now - timedelta(days=PERIODS[-1] + 1))
        source = routed.outerjoin(known, known.c.request_id == routed.c.request_id)
        outcome = known.c.outcome
    coded = (
        sa.select(
            routed.c.request_id,
            routed.c.at,
            _days(routed.c.at, now).label("days"),
            (routed.c.before // CLASS).label("before_place"),
            (routed.c.before % MARGIN).label("before_name"),
            (routed.c.after // CLASS).label("after_place"),
            (routed.c.after % MARGIN).label("after_name"),
            # Only where a rule set acts at Tier 1: most requests go to review under both.
            sa.case((sa.or_(acted, acts), outcome), else_=None).label("outcome"),
            acted.label("acted"),
            acts.label("acts"),
        )
        .select_from(source)
        .cte("coded")
    )
    kinds = (
        coded.c.days,
        coded.c.before_place,
        coded.c.before_name,
        coded.c.after_place,
        coded.c.after_name,
        coded.c.outcome,
    )
    counts = sa.select(
        *kinds,
        sa.func.count().label("requests"),
        sa.null().cast(sa.Uuid).label("request_id"),
        sa.null().cast(Score.created_at.type).label("at"),
        sa.null().cast(sa.Integer).label("judged"),
    ).group_by(*kinds)
    judged = _judged(coded)
    place = sa.func.row_number().over(partition_by=judged, order_by=(coded.c.at.desc(), coded.c.request_id))
    changed = (
        sa.select(
            *kinds,
            sa.literal(0).label("requests"),
            coded.c.request_id,
            coded.c.at,
            judged.label("judged"),
            place.label("place"),
        )
        .where(judged.is_not(None))
        .subquery("changed")
    )
    newest = sa.select(*(column for column in changed.c if column.name != "place")).where(
        changed.c.place <= SHOWN_ITEMS
    )
    counted: list[Counted] = []
    items: list[Item] = []
    for row in session.execute(sa.union_all(counts, newest)):
        was = orders[0].read(row.before_place, row.before_name)
        becomes = orders[1].read(row.after_place, row.after_name)
        known_outcome = outcomes.from_code(row.outcome)
        if row.request_id is not None:
            items.append(Item(row.request_id, row.at, was, becomes, known_outcome, Judged(row.judged)))
        else:
            counted.append(Counted(row.days, was, becomes, known_outcome, row.requests))
    return counted, newest_of(items)


def _judged(coded: sa.CTE) -> sa.Case[Any]:
    """As ``judge``, in SQL."""
    newly = sa.and_(coded.c.acts, sa.not_(coded.c.acted))
    no_longer = sa.and_(coded.c.acted, sa.not_(coded.c.acts))
    right, wrong = coded.c.outcome.in_(RIGHT_CODES), coded.c.outcome.in_(WRONG_CODES)
    is_new = sa.and_(coded.c.before_place.is_(None), coded.c.after_place.is_not(None))
    return sa.case(
        (sa.or_(sa.and_(newly, right), sa.and_(no_longer, wrong)), int(Judged.RIGHTLY)),
        (sa.or_(sa.and_(newly, wrong), sa.and_(no_longer, right)), int(Judged.WRONGLY)),
        (sa.or_(newly, is_new), int(Judged.UNKNOWN)),
        else_=None,
    )


def newest_of(items: Iterable[Item]) -> list[Item]:
    """The newest ``SHOWN_ITEMS`` of each ``Judged``, newest first; those of one moment in the order of their ids."""
    ordered = sorted(items, key=lambda item: item.request_id.bytes)
    ordered.sort(key=lambda item: item.at, reverse=True)
    chosen: list[Item] = []
    for judged in Judged:
        chosen += [item for item in ordered if item.judged is judged][:SHOWN_ITEMS]
    return chosen


def _outcomes(community_id: uuid.UUID, since: datetime) -> sa.Subquery:
    """The outcomes of the requests whose actions were opened since this moment: of several, an overturned one counts.

    All of them in the order of time: looked up one by one, those of 90 days would be a block or more each.
    """
    return (
        sa.select(Action.request_id, sa.func.min(outcomes.code()).label("outcome"))
        .where(Action.community_id == community_id, Action.created_at >= since, outcomes.opened_by_service())
        .group_by(Action.request_id)
        .subquery("outcomes")
    )


def in_force(rules: Sequence[CategoryRule]) -> dict[str, CategoryRule]:
    """The rules that can route, by category."""
    return {rule.name: rule for rule in rules if rule.enabled and not rule.observe_only}


def _routed(
    session: Session,
    community_id: uuid.UUID,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    orders: tuple[Order, Order],
    now: datetime,
    loose: Loose | None,
) -> sa.CTE | None:
    """Each request that either rule set routes, with both routes as numbers; None if no category can route."""
    old_rules, new_rules = in_force(before), in_force(after)
    parts: list[tuple[Any, Any, Any]] = []
    for name in sorted(old_rules.keys() | new_rules.keys()):
        old, new = old_rules.get(name), new_rules.get(name)
        numbers = _number(old, orders[0]), _number(new, orders[1])
        least, least_acting = least_exceeded(old, new)
        highest = sa.and_(Score.is_highest, Score.score > ZERO, Score.score > least)
        # Where the highest score may not act, a lower one that may is a row of its own.
        acting = sa.and_(Score.is_acting, Score.score > least_acting) if least_acting is not None else None
        exceeds = highest if acting is None else sa.or_(highest, acting)
        parts.append((sa.and_(Score.category == name, exceeds), *numbers))
    if not parts:
        return None
    exceeding = sa.select(
        Score.request_id,
        Score.created_at.label("at"),
        sa.case(*((exceeds, number) for exceeds, number, _ in parts)).label("before"),
        sa.case(*((exceeds, number) for exceeds, _, number in parts)).label("after"),
    ).where(
        Score.community_id == community_id,
        PREVIEWED,
        sa.or_(*(exceeds for exceeds, _, _ in parts)),
        Score.created_at >= now - timedelta(days=PERIODS[-1]),
    )
    rows = (
        exceeding if loose is None else sa.union_all(*_of_loose(session, community_id, exceeding, loose))
    ).subquery("exceeding")
    return (
        sa.select(
            rows.c.request_id,
            sa.func.max(rows.c.at).label("at"),
            sa.func.min(rows.c.before).label("before"),
            sa.func.min(rows.c.after).label("after"),
        )
        .group_by(rows.c.request_id)
        .cte("routed")
    )


def _of_loose(
    session: Session, community_id: uuid.UUID, exceeding: sa.Select[Any], loose: Loose
) -> Iterator[sa.Select[Any]]:
    """``exceeding`` of each period, and of the requests."""
    # With a score on a packed day as well, and changed only now: the packed days have it as it was.
    just_changed = changes_of(community_id, DayKind.SCORES, loose.packed)
    is_named = is_one_of(session, Score.request_id, loose.requests)
    for since, until in loose.periods:
        of_period = exceeding.where(
            Score.created_at >= since, sa.not_(is_named), Score.request_id.not_in(just_changed)
        )
        yield of_period if until is None else of_period.where(Score.created_at < until)
    yield exceeding.where(is_named)


def least_exceeded(old: CategoryRule | None, new: CategoryRule | None) -> tuple[float, float | None]:
    """What a category's scores must exceed to route anything: its highest one, and one that only may act."""
    rules = [rule for rule in (old, new) if rule is not None]
    acting = [rule.tier1 for rule in rules if rule.tier1 is not None]
    return min(rule.tier2 for rule in rules), min(acting, default=None)


def _number(rule: CategoryRule | None, order: Order) -> sa.ColumnElement[Any]:
    if rule is None:
        return sa.null().cast(sa.BigInteger)
    tiers: list[tuple[Any, Any]] = []
    if rule.tier1 is not None:
        acts = sa.and_(Score.tier1_capable, Score.score > rule.tier1)
        tiers.append((acts, order.number(rule, ActionTier.IMMEDIATE, rule.tier1)))
    tiers.append((Score.score > rule.tier2, order.number(rule, ActionTier.CONSENSUS, rule.tier2)))
    return sa.case(*tiers, else_=None)


def _days(at: sa.ColumnElement[Any], now: datetime) -> sa.ColumnElement[int]:
    """The shortest of ``PERIODS`` that contains this time."""
    *shorter, longest = PERIODS
    return sa.case(*((at >= now - timedelta(days=days), days) for days in shorter), else_=longest)


def histograms(
    session: Session, community_id: uuid.UUID, since: datetime, days: Collection[int] | None = None
) -> dict[str, list[int]]:
    """For each category, how many scores above 0 lie in each of ``BINS`` bars, from the day of ``since`` on.

    With ``days``, only of these days.
    """
    bar = ((sa.cast(sa.func.round(Score.score * PARTS), sa.Integer) - 1) // (PARTS // BINS)).label("bar")
    counts = (
        sa.select(Score.category, bar, sa.func.count())
        .where(
            Score.community_id == community_id,
            Score.is_highest,
            Score.score > 0,
            Score.created_at >= begin_of(day_of(since)),
        )
        .group_by(Score.category, "bar")
    )
    if days is not None:
        counts = counts.where(
            sa.or_(
                sa.false(),
                *(
                    sa.and_(Score.created_at >= begin_of(first), Score.created_at < begin_of(end))
                    for first, end in runs(days)
                ),
            )
        )
    bars_by_category: dict[str, list[int]] = {}
    for category, number, count in session.execute(counts):
        bars_by_category.setdefault(category, [0] * BINS)[number] += count
    return bars_by_category
