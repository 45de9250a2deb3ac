"""How a community's moderation went over a period and the one before it, for its moderators.

The counts of past quarters of an hour are kept ready (``rollups``); what they do not cover yet is summed up from the
rows (``trend_queries``). Both give the same figures (``period_sums``).
"""

import statistics
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.communities import settings as community_settings
from app.core.insights import rollups, targets
from app.core.insights.period_sums import Counts, PeriodSums, delay
from app.core.insights.trend_figures import Activity, Agreement, Backlog, Totals, Trends, Volume
from app.core.insights.trend_queries import TrendQueries, count_raters
from app.core.models import InsightSlot
from app.core.models.insights import OutcomeKind
from app.core.periods import WEEK, Period, slot_of
from app.core.permissions import Actor, Permission, require

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
    counted_until = rollups.end_of(session, community_id) if period.fits_slots else None
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
        categories=categories,
        classifiers=sums.overturned(OutcomeKind.CLASSIFIER),
        channels=sums.channels(),
        moderators=sums.moderators() if shows_moderators else None,
        target=targets.typical(session, community_id, {row.name: row.acted for row in categories}),
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
    sums = PeriodSums(session, community_id, period, counted_until if period.fits_slots else None)
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
        rows = TrendQueries(session, community_id, period, period.since, period.until)
        return rows.open_before(period.since)
    edge = min(counted_until, period.since)
    before: int | None = session.scalar(
        sa.select(sa.func.sum(InsightSlot.opened - InsightSlot.closed)).where(
            InsightSlot.community_id == community_id, InsightSlot.slot < slot_of(edge)
        )
    )
    if edge == period.since:
        return int(before or 0)
    rows = TrendQueries(session, community_id, period, edge, period.since, is_short=True)
    opened, closed = (sum(count for (count,) in found.values()) for found in (rows.opened(), rows.closed()))
    return int(before or 0) + opened - closed


def _volume(counts: Counts) -> list[Volume]:
    of_names = (counts.by_name[name] for name in rollups.VOLUME)
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
