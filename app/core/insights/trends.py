"""How a community's moderation went over a period and the one before it, for its moderators.

The counts of past quarters of an hour are kept ready (``rollups``); what they do not cover yet is summed up from the
rows (``trend_queries``). Both give the same figures (``period_sums``).
"""

import statistics
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.communities import settings as community_settings
from app.core.insights import rollups
from app.core.insights.period_sums import Counts, PeriodSums, delay
from app.core.insights.trend_figures import Activity, Agreement, Backlog, Target, Totals, Trends, Volume
from app.core.insights.trend_queries import VOLUME, Slots, TrendQueries
from app.core.models import InsightSlot, RaterDay, Rating
from app.core.models.insights import OutcomeKind
from app.core.periods import WEEK, Period, begin_of, day_of, slot_of
from app.core.permissions import Actor, Permission, require
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import CategoryRule, default_target

FEW_DECIDED = 5
"""With fewer decided reviews than this on half of the days, days say little: they are put together into weeks."""
LEAST_DAYS = 14
"""A shorter period is shown by day however few its reviews are: it would be one week or two."""


def for_community(session: Session, actor: Actor, community_id: uuid.UUID, period: Period) -> Trends:
    """The statistics of one community, by day or by week (``bucketed``).

    Raises:
        NotFound, Forbidden: the actor may not see its history.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    counted_until = rollups.end_of(session, community_id)
    sums = PeriodSums(session, community_id, period, counted_until)
    counts = sums.counts()
    period = bucketed(period, [len(seconds) for seconds in counts.seconds])
    counts = counts.folded(len(period.starts))
    people, raters = count_raters(session, community_id, period)
    waiting_before = _waiting(session, community_id, period, counted_until)
    categories = sums.overturned(OutcomeKind.CATEGORY)
    shows_moderators = community_settings.read(session, community_id).moderator_figures
    return Trends(
        period=period,
        volume=_volume(counts),
        delays=[delay(seconds) for seconds in counts.seconds],
        delay=delay(np.concatenate(counts.seconds)),
        backlog=_backlog(counts, waiting_before),
        activity=[
            Activity(ratings, people.get(part, 0)) for part, ratings in enumerate(counts.by_name["ratings"])
        ],
        raters=raters,
        agreement=[
            Agreement(*of_part)
            for of_part in zip(
                *(counts.by_name[name] for name in ("sided", "borne_out", "reviews", "split")), strict=True
            )
        ],
        overturned=[
            overturned / actions if actions else None
            for actions, overturned in zip(
                counts.by_name["actions"], counts.by_name["overturned"], strict=True
            )
        ],
        categories=categories,
        classifiers=sums.overturned(OutcomeKind.CLASSIFIER),
        channels=sums.channels(),
        moderators=sums.moderators() if shows_moderators else None,
        target=_target(session, community_id, {row.name: row.acted for row in categories}),
        before=_before(session, community_id, period.before, counted_until, waiting_before),
    )


def bucketed(period: Period, decided: Sequence[int]) -> Period:
    """The period by week if it was asked by day and half of its days have few decided reviews.

    ``decided``: how many reviews were decided in each bucket of the period as it was asked for.
    """
    is_sparse = statistics.median(decided) < FEW_DECIDED
    if period.by or period.width != 1 or period.days < LEAST_DAYS or not is_sparse:
        return period
    return replace(period, by=WEEK)


def _before(
    session: Session,
    community_id: uuid.UUID,
    period: Period,
    counted_until: datetime | None,
    waiting: int,
) -> Totals:
    """The figures of the whole period before."""
    sums = PeriodSums(session, community_id, period, counted_until)
    counts = sums.counts()
    _, raters = count_raters(session, community_id, period)
    return Totals(
        submitted=sum(counts.by_name["submitted"]),
        delay=delay(np.concatenate(counts.seconds)),
        waiting=waiting,
        ratings=sum(counts.by_name["ratings"]),
        raters=raters,
        categories=sums.overturned(OutcomeKind.CATEGORY),
        classifiers=sums.overturned(OutcomeKind.CLASSIFIER),
    )


def _waiting(
    session: Session, community_id: uuid.UUID, period: Period, counted_until: datetime | None
) -> int:
    """The reviews that were open when the period began."""
    if counted_until is None:
        rows = TrendQueries(session, community_id, Slots(slot_of(period.since), slot_of(period.until)))
        return rows.open_before(period.since)
    edge = min(counted_until, period.since)
    before: int | None = session.scalar(
        sa.select(sa.func.sum(InsightSlot.opened - InsightSlot.closed)).where(
            InsightSlot.community_id == community_id, InsightSlot.slot < slot_of(edge)
        )
    )
    if edge == period.since:
        return int(before or 0)
    rows = TrendQueries(session, community_id, Slots(slot_of(edge), slot_of(period.since)))
    opened, closed = (sum(count for (count,) in found.values()) for found in (rows.opened(), rows.closed()))
    return int(before or 0) + opened - closed


def _volume(counts: Counts) -> list[Volume]:
    of_names = (counts.by_name[name] for name in VOLUME)
    return [
        Volume(submitted, acted, reviewed, ignored, submitted - acted - reviewed - ignored, partly_scored)
        for submitted, acted, reviewed, ignored, partly_scored in zip(*of_names, strict=True)
    ]


def _backlog(counts: Counts, waiting: int) -> list[Backlog]:
    rows = []
    for opened, closed in zip(counts.by_name["opened"], counts.by_name["closed"], strict=True):
        waiting += opened - closed
        rows.append(Backlog(opened, closed, waiting))
    return rows


def count_raters(session: Session, community_id: uuid.UUID, period: Period) -> tuple[Mapping[int, int], int]:
    """The number of people who rated: by part, and in the whole period.

    Whole days in UTC are read from ``rater_days``, the rest of a part from an index of ratings.
    """
    people = sa.union(
        *(
            statement
            for part, (since, until) in enumerate(period.bounds)
            for statement in _who_rated(community_id, part, since, until)
        )
    ).cte("people")
    whole = sa.select(people.c.rater_id).distinct().subquery()
    found = session.execute(
        sa.union_all(
            sa.select(people.c.part, sa.func.count()).group_by(people.c.part),
            sa.select(sa.literal(-1), sa.func.count()).select_from(whole),
        )
    )
    counts = {int(part): int(count) for part, count in found}
    return counts, counts.pop(-1)


def _who_rated(community_id: uuid.UUID, part: int, since: datetime, until: datetime) -> Iterator[Any]:
    number = sa.literal_column(str(part), sa.Integer).label("part")
    first, end = day_of(since - timedelta(microseconds=1)) + 1, day_of(until)
    stretches = [(since, until)]
    if first < end:
        yield sa.select(number, RaterDay.rater_id).where(
            RaterDay.community_id == community_id, RaterDay.day >= first, RaterDay.day < end
        )
        stretches = [(since, begin_of(first)), (begin_of(end), until)]
    for begin, finish in stretches:
        if begin < finish:
            yield sa.select(number, Rating.rater_id).where(
                Rating.community_id == community_id, Rating.created_at >= begin, Rating.created_at < finish
            )


def _target(session: Session, community_id: uuid.UUID, actions: Mapping[str, int]) -> Target | None:
    """The target time that fits the categories of a period; None if no category asks people.

    ``actions``: how many there were of each category. Categories without any count only where none has any.
    """
    version_id = session.scalar(sa.select(threshold_sets.in_force(community_id)))
    if version_id is None:
        return None
    _, rules = threshold_sets.rules_of(session, version_id)
    return typical_target({rule.name: rule for rule in rules}, actions)


def typical_target(rules: Mapping[str, CategoryRule], actions: Mapping[str, int]) -> Target | None:
    """The middle one of the actions' target times: half of the actions have this one or a shorter one.

    It is compared with the time within which half of the reviews were decided.
    """
    minutes = {
        name: default_target(rule.severity) if rule.target_minutes is None else rule.target_minutes
        for name, rule in rules.items()
        if rule.enabled and not rule.observe_only
    }
    found = {name: actions.get(name, 0) for name in minutes}
    if not any(found.values()):
        found = dict.fromkeys(minutes, 1)
    used = sorted((minutes[name], count) for name, count in found.items() if count)
    if not used:
        return None
    half, reached = sum(count for _, count in used) / 2, accumulate(count for _, count in used)
    middle = next(target for (target, _), so_far in zip(used, reached, strict=True) if so_far >= half)
    return Target(middle * 60, used[0][0] * 60, used[-1][0] * 60)
