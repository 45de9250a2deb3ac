"""What-if about strikes: whom the steps would have warned and silenced in the past year (docs/moderate/authors.md)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import strike_steps
from app.core.models import Action, Category
from app.core.permissions import Actor, Permission, require
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ActionType, StrikeStep

PERIOD = timedelta(days=365)
MOST = 20_000
"""The most actions that a trial reads, the newest; it says so if there are more."""
_CATEGORY = sa.func.coalesce(Action.decided_category, Action.category)


@dataclass(frozen=True)
class Trial:
    """How many authors the steps would have warned at most, and silenced.

    ``overturned``: of the silenced, those whose points would not have sufficed without what was overturned afterwards.
    ``is_cut``: only the newest actions were read.
    """

    warned: int = 0
    silenced: int = 0
    overturned: int = 0
    is_cut: bool = False


@dataclass(frozen=True)
class _Given:
    """A strike that an action would have given; ``until``: when it ends, or its action was overturned."""

    at: datetime
    until: datetime
    overturned_at: datetime | None
    points: int


def past_year(
    session: Session, actor: Actor, community_id: uuid.UUID, steps: Mapping[StrikeStep, int]
) -> Trial:
    """Try the steps on the actions that were applied in the past year, with the points of the categories in force."""
    require(actor, Permission.REVISE_POLICY, community_id)
    points = _points_in_force(session, community_id)
    if not steps or not points:
        return Trial()
    since = clock.now() - PERIOD
    given = sa.case({name: worth for name, (worth, _) in points.items()}, value=_CATEGORY, else_=0)
    applied = (
        Action.community_id == community_id,
        # An action is applied after it was made: the index on that time leaves older ones out.
        Action.created_at >= since - timedelta(days=30),
        Action.applied_at >= since,
        Action.action_type != ActionType.UNHIDE,
        Action.strike_step.is_(None),
        Action.platform_author_id.is_not(None),
        _CATEGORY.in_(points),
    )
    enough = (
        sa.select(Action.platform_author_id)
        .where(*applied)
        .group_by(Action.platform_author_id)
        .having(sa.func.sum(given) >= min(steps.values()))
    )
    rows = session.execute(
        sa.select(Action.platform_author_id, Action.applied_at, Action.overturned_at, _CATEGORY)
        .where(*applied, Action.platform_author_id.in_(enough))
        .order_by(Action.applied_at.desc())
        .limit(MOST + 1)
    ).all()
    is_cut = len(rows) > MOST
    by_author = groupby(sorted(rows[:MOST], key=lambda row: (row[0], row[1])), key=lambda row: row[0])
    outcomes = [_walk([_given(points, *row[1:]) for row in own], steps) for _, own in by_author]
    return Trial(
        warned=sum(warned and not silenced for warned, silenced, _ in outcomes),
        silenced=sum(silenced for _, silenced, _ in outcomes),
        overturned=sum(overturned for _, _, overturned in outcomes),
        is_cut=is_cut,
    )


def _points_in_force(session: Session, community_id: uuid.UUID) -> dict[str, tuple[int, int]]:
    """Points and days of each category that gives any."""
    rows = session.execute(
        sa.select(Category.name, Category.strike_points, Category.strike_days).where(
            Category.threshold_set_id == threshold_sets.in_force(community_id), Category.strike_points > 0
        )
    )
    return {name: (worth, days) for name, worth, days in rows}


def _given(
    points: Mapping[str, tuple[int, int]], at: datetime | None, overturned_at: datetime | None, category: str
) -> _Given:
    worth, days = points[category]
    at = at or clock.now()
    until = at + timedelta(days=days)
    return _Given(at, min(until, overturned_at or until), overturned_at, worth)


def _walk(given: Sequence[_Given], steps: Mapping[StrikeStep, int]) -> tuple[bool, bool, bool]:
    """Whether an author would have been warned, silenced, and silenced for what was overturned afterwards."""
    warned = silenced = overturned = False
    counting: list[_Given] = []
    for strike in given:
        counting = [one for one in counting if one.until > strike.at]
        before = sum(one.points for one in counting)
        counting.append(strike)
        step = strike_steps.reached(steps, before, before + strike.points)
        if step is None:
            continue
        if step.action_type is ActionType.WARN:
            warned = True
            continue
        silenced = True
        stood = sum(one.points for one in counting if one.overturned_at is None)
        overturned = overturned or stood < steps[step]
    return warned, silenced, overturned
