"""Routing in SQL: counts requests by their routes under two sets of rules at once (decision 0019).

One aggregate gives every request the route that ``routing.decide`` would give it. Each category's scores above the
lower of its two Tier 2 thresholds are read from the index ``ix_scores_highest``, so lower scores cost nothing.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import tallies
from app.core.models import Action, Score
from app.core.models.insights import TallyKind
from app.core.policies import outcomes
from app.core.policies.outcomes import Outcome
from app.core.policies.routing import CategoryRule, millionths
from app.core.vocabulary import ActionTier

PERIODS = (7, 30, 90)
"""Lengths of the periods in days, ending now. Tallies by day are kept as long (``tallies.DAYS_KEPT``)."""
SHOWN_ITEMS = 20
BINS = 20
"""Bars of a histogram over 0.0 to 1.0. Each counts scores above its lower end, up to and including its upper end."""

_CLASS, _MARGIN = 10**10, 1_000
"""Factors that encode tier and severity, margin, and name in one whole number, ordered as ``routing`` orders routes."""


@dataclass(frozen=True)
class _Order:
    """Encodes routes as numbers: the lowest number takes precedence."""

    names: Sequence[str]
    classes: Sequence[tuple[int, int]]
    shared: frozenset[int]
    """Severities that several categories share: only for them margins decide."""

    @classmethod
    def from_rules(cls, rules: Sequence[CategoryRule]) -> "_Order":
        classes = {(tier.number, -rule.severity) for rule in rules for tier in ActionTier}
        severities = Counter(rule.severity for rule in rules)
        shared = frozenset(severity for severity, count in severities.items() if count > 1)
        return cls(sorted(rule.name for rule in rules), sorted(classes), shared)

    @property
    def first_reviewed(self) -> int:
        """The first number of Tier 2; lower numbers are Tier 1."""
        return sum(tier == 1 for tier, _ in self.classes) * _CLASS

    def number(self, rule: CategoryRule, tier: ActionTier, threshold: float) -> sa.ColumnElement[int]:
        fixed = self.classes.index((tier.number, -rule.severity)) * _CLASS + self.names.index(rule.name)
        if rule.severity not in self.shared:
            return sa.literal(fixed, sa.BigInteger)
        widest = 1_000_000 + millionths(threshold)
        return sa.literal(fixed + widest * _MARGIN, sa.BigInteger) - _MILLIONTHS * _MARGIN

    def read(self, place: int | None, name: int | None) -> tuple[ActionTier, str] | None:
        if place is None or name is None:
            return None
        tier = ActionTier.IMMEDIATE if self.classes[place][0] == 1 else ActionTier.CONSENSUS
        return tier, self.names[name]


# A literal, not a bound parameter: SQLite uses a partial index only if the statement contains its condition.
_ZERO: sa.ColumnElement[float] = sa.literal_column("0")
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


def route(
    session: Session,
    community_id: uuid.UUID,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    now: datetime,
) -> tuple[list[Counted], dict[uuid.UUID, tuple[Route, Route]]]:
    """Count the requests of the last 90 days by their routes under the rules ``before`` and ``after``.

    Return (counts, items): items are the newest ``SHOWN_ITEMS`` requests that ``after`` treats more strictly, by id,
    with both routes.
    """
    orders = _Order.from_rules(before), _Order.from_rules(after)
    routed = _routed(community_id, before, after, orders, now - timedelta(days=PERIODS[-1]))
    if routed is None:
        return [], {}
    acted_before = routed.c.before < orders[0].first_reviewed
    acted_after = routed.c.after < orders[1].first_reviewed
    known = _outcomes(community_id, now - timedelta(days=PERIODS[-1] + 1))
    coded = (
        sa.select(
            _days(routed.c.at, now).label("days"),
            (routed.c.before // _CLASS).label("before_place"),
            (routed.c.before % _MARGIN).label("before_name"),
            (routed.c.after // _CLASS).label("after_place"),
            (routed.c.after % _MARGIN).label("after_name"),
            # Only where a rule set acts at Tier 1: most requests go to review under both.
            sa.case((sa.or_(acted_before, acted_after), known.c.outcome), else_=None).label("outcome"),
        )
        .select_from(routed)
        .outerjoin(known, known.c.request_id == routed.c.request_id)
        .subquery()
    )
    counts = sa.select(
        *coded.c, sa.func.count().label("requests"), sa.null().cast(sa.Uuid).label("request_id")
    ).group_by(*coded.c)
    stricter = sa.or_(
        sa.and_(routed.c.before.is_(None), routed.c.after.is_not(None)),
        sa.and_(routed.c.before >= orders[0].first_reviewed, acted_after),
    )
    newest = (
        sa.select(
            sa.literal(0).label("days"),
            (routed.c.before // _CLASS).label("before_place"),
            (routed.c.before % _MARGIN).label("before_name"),
            (routed.c.after // _CLASS).label("after_place"),
            (routed.c.after % _MARGIN).label("after_name"),
            sa.null().cast(sa.Integer).label("outcome"),
            sa.literal(0).label("requests"),
            routed.c.request_id,
        )
        .where(stricter)
        .order_by(routed.c.at.desc(), routed.c.request_id)
        .limit(SHOWN_ITEMS)
        .subquery()
    )
    counted: list[Counted] = []
    items: dict[uuid.UUID, tuple[Route, Route]] = {}
    for row in session.execute(sa.union_all(counts, sa.select(*newest.c))):
        was = orders[0].read(row.before_place, row.before_name)
        becomes = orders[1].read(row.after_place, row.after_name)
        if row.request_id is not None:
            items[row.request_id] = was, becomes
        else:
            counted.append(Counted(row.days, was, becomes, outcomes.from_code(row.outcome), row.requests))
    return counted, items


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


def _routed(
    community_id: uuid.UUID,
    before: Sequence[CategoryRule],
    after: Sequence[CategoryRule],
    orders: tuple[_Order, _Order],
    since: datetime,
) -> sa.CTE | None:
    """Each request that either rule set routes, with both routes as numbers; None if no category can route."""
    both = [
        {rule.name: rule for rule in rules if rule.enabled and not rule.observe_only}
        for rules in (before, after)
    ]
    parts = []
    for name in sorted(both[0].keys() | both[1].keys()):
        old, new = both[0].get(name), both[1].get(name)
        acting = [rule.tier1 for rule in (old, new) if rule is not None and rule.tier1 is not None]
        if acting:
            # Where the highest score may not act, a lower one that may is a row of its own.
            parts.append(
                sa.select(
                    Score.request_id,
                    Score.created_at.label("at"),
                    _number(old, orders[0]).label("before"),
                    _number(new, orders[1]).label("after"),
                ).where(
                    Score.community_id == community_id,
                    Score.category == name,
                    Score.is_acting,
                    Score.score > min(acting),
                    Score.created_at >= since,
                )
            )
        parts.append(
            sa.select(
                Score.request_id,
                Score.created_at.label("at"),
                _number(old, orders[0]).label("before"),
                _number(new, orders[1]).label("after"),
            ).where(
                Score.community_id == community_id,
                Score.category == name,
                Score.is_highest,
                Score.score > _ZERO,
                Score.score > min(rule.tier2 for rule in (old, new) if rule is not None),
                Score.created_at >= since,
            )
        )
    if not parts:
        return None
    exceeding = sa.union_all(*parts).subquery("exceeding")
    return (
        sa.select(
            exceeding.c.request_id,
            sa.func.max(exceeding.c.at).label("at"),
            sa.func.min(exceeding.c.before).label("before"),
            sa.func.min(exceeding.c.after).label("after"),
        )
        .group_by(exceeding.c.request_id)
        .cte("routed")
    )


def _number(rule: CategoryRule | None, order: _Order) -> sa.ColumnElement[Any]:
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


def histograms(session: Session, community_id: uuid.UUID, since: datetime) -> dict[str, list[int]]:
    """For each category, how many scores above 0 lie in each of ``BINS`` bars, from the day of ``since`` on."""
    by_day = tallies.by_day(session, TallyKind.BAR, community_id, tallies.day_of(since))
    bars_by_category: dict[str, list[int]] = {}
    for names in by_day.values():
        for name, count in names.items():
            bar, category = name.split(" ", 1)
            if count:
                bars_by_category.setdefault(category, [0] * BINS)[int(bar)] += count
    return bars_by_category
