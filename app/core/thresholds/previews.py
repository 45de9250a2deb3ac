"""Preview of changed thresholds on stored scores (docs/develop/design-system.md, docs/moderate/operator.md).

``route_changes`` routes and counts; this module turns the counts into what the page shows.
"""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Action, Request
from app.core.permissions import Actor, Permission, require
from app.core.thresholds import outcomes, post_scores, route_changes, threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.thresholds.drafts import check as check_drafts
from app.core.thresholds.outcomes import RIGHT, WRONG, Outcome
from app.core.thresholds.route_changes import PERIODS, Counted, Item, Judged, Route, strictness
from app.core.thresholds.routing import ScoreColumn
from app.core.vocabulary import ActionTier

BINS = 20
"""Bars of a histogram over 0.0 to 1.0. Each counts scores above its lower end, up to and including its upper end."""


@dataclass(frozen=True)
class Effect:
    """The effect of a threshold set, in requests: acted on without review, sent to reviewers."""

    acted: int = 0
    reviewed: int = 0

    def __add__(self, other: "Effect") -> "Effect":
        return Effect(self.acted + other.acted, self.reviewed + other.reviewed)


@dataclass(frozen=True)
class Change:
    """The effects before and after: with the thresholds in force, and with the entered values."""

    before: Effect = Effect()
    after: Effect = Effect()


@dataclass(frozen=True)
class Acted:
    """Requests whose route comes to act without review, or no longer does, and what people decided about them."""

    count: int = 0
    right: int = 0
    """Upheld: to act was right."""
    wrong: int = 0
    """Overturned or dismissed: to act was wrong."""

    @property
    def known(self) -> int:
        return self.right + self.wrong

    def __add__(self, other: "Acted") -> "Acted":
        return Acted(self.count + other.count, self.right + other.right, self.wrong + other.wrong)


@dataclass(frozen=True)
class Period:
    """The last ``days``. A request counts in the one category that its route names.

    ``newly_acted``, ``no_longer_acted``: by the category that acts, with the entered values and with those in force.
    ``outcomes`` are of the requests that the entered values would act on without review; ``outcomes_before`` of
    those that the values in force would.
    """

    days: int
    scored: int
    categories: Mapping[str, Change]
    newly_acted: Mapping[str, Acted]
    no_longer_acted: Mapping[str, Acted]
    outcomes: Mapping[Outcome | None, int]
    outcomes_before: Mapping[Outcome | None, int]
    newly_affected: int
    no_longer_affected: int

    @property
    def before(self) -> Effect:
        return sum((change.before for change in self.categories.values()), Effect())

    @property
    def after(self) -> Effect:
        return sum((change.after for change in self.categories.values()), Effect())

    def ignored(self, effect: Effect) -> int:
        """The number of scored requests without any effect."""
        return max(0, self.scored - effect.acted - effect.reviewed)


@dataclass(frozen=True)
class Affected:
    """A post that the entered values would treat otherwise; None as ``was`` or ``now``: it is let through.

    ``judged``: what people's decision about it says of that. ``category``: the one it would be in, or was.
    """

    content: str
    scored_at: datetime
    was: ActionTier | None
    now: ActionTier | None
    category: str
    action_id: uuid.UUID | None
    outcome: Outcome | None
    judged: Judged


@dataclass(frozen=True)
class Preview:
    """All periods, the shortest first, and the newest posts that would be treated otherwise, of each ``Judged``."""

    periods: Sequence[Period]
    affected: Sequence[Affected]
    histograms: Mapping[str, Sequence[int]]
    """Per category the number of scores above 0 in each of ``BINS`` bars, over the longest period."""


def preview(
    session: Session, actor: Actor, community_id: uuid.UUID, drafts: Sequence[CategoryDraft]
) -> Preview:
    """Route recently scored requests by the thresholds in force and by ``drafts``; changes nothing.

    Raises:
        Invalid: as ``threshold_sets.revise``, for the values.
    """
    require(actor, Permission.PREVIEW_POLICY, community_id)
    check_drafts(drafts)
    now = clock.now()
    before = [
        threshold_sets.rule_of(category)
        for category in threshold_sets.current(session, community_id).categories
    ]
    after = [threshold_sets.rule_of(draft) for draft in drafts]
    posts = post_scores.read(session, community_id, now - timedelta(days=PERIODS[-1]))
    counted, items = route_changes.compare(session, community_id, posts, before, after, now)
    scored = _scored(session, community_id, now)
    return Preview(
        periods=[_period(days, scored[days], counted) for days in PERIODS],
        affected=_affected(session, items),
        histograms=_histograms(posts.columns),
    )


def histograms(
    session: Session, actor: Actor, community_id: uuid.UUID
) -> tuple[int, Mapping[str, Sequence[int]]]:
    """The longest period in days, and ``Preview.histograms`` of it, without a preview."""
    require(actor, Permission.PREVIEW_POLICY, community_id)
    since = clock.now() - timedelta(days=PERIODS[-1])
    return PERIODS[-1], _histograms(post_scores.read(session, community_id, since).columns)


def _histograms(columns: Mapping[str, ScoreColumn]) -> dict[str, list[int]]:
    return {name: post_scores.histogram(column, BINS) for name, column in columns.items()}


def _scored(session: Session, community_id: uuid.UUID, now: datetime) -> dict[int, int]:
    """The number of requests scored in each period."""
    starts = [now - timedelta(days=days) for days in PERIODS]
    counts = session.execute(
        sa.select(*(sa.func.count().filter(Request.scored_at >= start) for start in starts)).where(
            Request.community_id == community_id, Request.scored_at >= min(starts)
        )
    ).one()
    return dict(zip(PERIODS, counts, strict=True))


def _period(days: int, scored: int, counted: Sequence[Counted]) -> Period:
    within = [row for row in counted if row.days <= days]
    totals: tuple[Counter[tuple[str, ActionTier]], ...] = (Counter(), Counter())
    outcomes_of: tuple[Counter[Outcome | None], ...] = (Counter(), Counter())
    newly_acted: dict[str, Acted] = {}
    no_longer_acted: dict[str, Acted] = {}
    newly = no_longer = 0
    for row in within:
        for route, total, outcome_counts in zip((row.before, row.after), totals, outcomes_of, strict=True):
            if route is not None:
                tier, name = route
                total[name, tier] += row.count
                if tier is ActionTier.IMMEDIATE:
                    outcome_counts[row.outcome] += row.count
        acted, acts = _acting(row.before), _acting(row.after)
        if acts is not None and acted is None:
            newly_acted[acts] = newly_acted.get(acts, Acted()) + _acted(row)
        elif acted is not None and acts is None:
            no_longer_acted[acted] = no_longer_acted.get(acted, Acted()) + _acted(row)
        was, becomes = strictness(row.before), strictness(row.after)
        newly += row.count if becomes > was else 0
        no_longer += row.count if becomes < was else 0
    names = sorted({name for total in totals for name, _ in total})
    return Period(
        days=days,
        scored=scored,
        categories={name: Change(_effect(totals[0], name), _effect(totals[1], name)) for name in names},
        newly_acted=newly_acted,
        no_longer_acted=no_longer_acted,
        outcomes=outcomes_of[1],
        outcomes_before=outcomes_of[0],
        newly_affected=newly,
        no_longer_affected=no_longer,
    )


def _acting(route: Route) -> str | None:
    """The category that acts without review, if the route does."""
    return route[1] if route is not None and route[0] is ActionTier.IMMEDIATE else None


def _acted(row: Counted) -> Acted:
    right, wrong = row.outcome in RIGHT, row.outcome in WRONG
    return Acted(row.count, row.count if right else 0, row.count if wrong else 0)


def _effect(total: Counter[tuple[str, ActionTier]], name: str) -> Effect:
    return Effect(acted=total[name, ActionTier.IMMEDIATE], reviewed=total[name, ActionTier.CONSENSUS])


def _affected(session: Session, items: Sequence[Item]) -> list[Affected]:
    """The posts of these items, in this order, with the latest action of each; withdrawn ones are left out."""
    if not items:
        return []
    rows = session.execute(
        sa.select(
            Request.id, Request.content, Request.scored_at, Action.id.label("action_id"), outcomes.code()
        )
        .outerjoin(Action, sa.and_(Action.request_id == Request.id, outcomes.opened_by_service()))
        .where(Request.id.in_([item.request_id for item in items]), Request.withdrawn_at.is_(None))
        .order_by(Action.created_at)
    )
    latest = {row.id: row for row in rows}
    posts = []
    for item in items:
        row, route = latest.get(item.request_id), item.after or item.before
        if row is None or route is None:
            continue
        outcome = outcomes.from_code(row[4]) if row.action_id is not None else None
        posts.append(
            Affected(
                content=row.content,
                scored_at=row.scored_at,
                was=item.before[0] if item.before else None,
                now=item.after[0] if item.after else None,
                category=route[1],
                action_id=row.action_id,
                # Of several, the one that the lists go by; read only where either set of rules acts.
                outcome=item.outcome or outcome,
                judged=item.judged,
            )
        )
    return posts
