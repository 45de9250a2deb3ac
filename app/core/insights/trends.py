"""How a community's moderation went over a period, for its moderators.

The counts of past quarters of an hour are kept ready (``rollups``); what they do not cover yet is summed up from the
rows (``trend_queries``). Both give the same figures.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import quantiles
from app.core.insights import outcome_days, rater_days, rollups
from app.core.insights.rollups import COUNTS
from app.core.insights.trend_figures import Activity, Agreement, Backlog, Delay, Overturned, Trends, Volume
from app.core.insights.trend_queries import Rows, TrendQueries
from app.core.models import InsightSlot
from app.core.models.insights import OutcomeKind
from app.core.number_columns import Column
from app.core.periods import Period, slot_of
from app.core.permissions import Actor, Permission, require


def for_community(session: Session, actor: Actor, community_id: uuid.UUID, period: Period) -> Trends:
    """The statistics of one community.

    Raises:
        NotFound, Forbidden: the actor may not see its history.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    counted_until = rollups.end_of(session, community_id) if period.fits_slots else None
    edge = period.since if counted_until is None else min(max(counted_until, period.since), period.until)
    counted = _Counted(session, community_id, period, edge)
    rows = TrendQueries(session, community_id, period, edge, period.until, is_short=counted_until is not None)
    parts = range(len(period.starts))
    counts, waits = counted.counts()
    submitted, acted, reviewed, ignored = _added(counts, rows.volume(), COUNTS[:4])
    opened, closed, ratings = (
        _added(counts, found, (name,))[0]
        for found, name in ((rows.opened(), "opened"), (rows.closed(), "closed"), (rows.ratings(), "ratings"))
    )
    sided, borne_out = _added(counts, rows.sides(), ("sided", "borne_out"))
    reviews, split = _added(counts, rows.splits(), ("reviews", "split"))
    people, raters = rater_days.count(session, community_id, period)
    outcomes = counted.outcomes()
    for part, seconds in rows.waits():
        waits[part].append(np.array([seconds]))
    seconds_of = {part: np.concatenate([np.zeros(0, np.int64), *waits[part]]) for part in parts}
    waiting = _waiting(session, community_id, period, counted_until)
    backlog = []
    for part in parts:
        waiting += opened[part] - closed[part]
        backlog.append(Backlog(opened[part], closed[part], waiting))
    return Trends(
        period=period,
        volume=[
            Volume(
                submitted[part],
                acted[part],
                reviewed[part],
                ignored[part],
                submitted[part] - acted[part] - reviewed[part] - ignored[part],
            )
            for part in parts
        ],
        delays=[_delay(seconds_of[part]) for part in parts],
        delay=_delay(np.concatenate([seconds_of[part] for part in parts])),
        backlog=backlog,
        activity=[Activity(ratings[part], people.get(part, 0)) for part in parts],
        raters=raters,
        agreement=[Agreement(sided[part], borne_out[part], reviews[part], split[part]) for part in parts],
        categories=_overturned(outcomes[OutcomeKind.CATEGORY], rows.categories()),
        classifiers=_overturned(outcomes[OutcomeKind.CLASSIFIER], rows.classifiers()),
    )


class _Counted:
    """The sums of the slots of a period that lie before ``edge``."""

    def __init__(self, session: Session, community_id: uuid.UUID, period: Period, edge: datetime) -> None:
        self._session = session
        self._community_id = community_id
        self._period = period
        self._slots = slot_of(period.since), slot_of(edge)

    def counts(self) -> tuple[dict[int, dict[str, int]], dict[int, list[Column]]]:
        """By part, each of ``COUNTS``, and the seconds from submission to decision."""
        part = self._period.part_of_slot(InsightSlot.slot)
        sums = (sa.func.sum(getattr(InsightSlot, name)) for name in COUNTS)
        waits = sa.func.aggregate_strings(InsightSlot.waits, ",")
        counts: dict[int, dict[str, int]] = {}
        seconds: dict[int, list[Column]] = defaultdict(list)
        for number, texts, *values in self._session.execute(
            sa.select(part, waits, *sums).where(*self._within(InsightSlot)).group_by(part)
        ):
            counts[int(number)] = dict(zip(COUNTS, map(int, values), strict=True))
            if texts is not None:
                # Tens of thousands in a long period: to read them one by one would take most of the time.
                seconds[int(number)] = [np.fromstring(texts, np.int64, sep=",")]
        return counts, seconds

    def outcomes(self) -> Mapping[str, Sequence[tuple[str, int, int]]]:
        """By kind: name, actions, and how many of them were overturned."""
        found: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        for of_kind, name, acted, overturned in outcome_days.sums(
            self._session, self._community_id, *self._slots, (OutcomeKind.CATEGORY, OutcomeKind.CLASSIFIER)
        ):
            found[of_kind].append((name, acted, overturned))
        return found

    def _within(self, model: Any) -> tuple[sa.ColumnElement[bool], ...]:
        first, end = self._slots
        return model.community_id == self._community_id, model.slot >= first, model.slot < end


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
    rows = TrendQueries(session, community_id, period, edge, period.since, is_short=True)
    opened, closed = (sum(count for (count,) in found.values()) for found in (rows.opened(), rows.closed()))
    return int(before or 0) + opened - closed


def _added(
    counts: dict[int, dict[str, int]], rows: Rows, names: Sequence[str]
) -> list[defaultdict[int, int]]:
    """For each of the names, its count by part: of the slots and of the rows together."""
    sums: list[defaultdict[int, int]] = []
    for place, name in enumerate(names):
        sums.append(defaultdict(int, {part: of_part[name] for part, of_part in counts.items()}))
        for part, values in rows.items():
            sums[-1][part] += values[place]
    return sums


def _delay(seconds: Column) -> Delay:
    in_order: list[int] = np.sort(seconds).tolist()
    return Delay(len(in_order), quantiles.nearest(in_order, 0.5), quantiles.nearest(in_order, 0.9))


def _overturned(
    counted: Iterable[tuple[str, int, int]], rows: Iterable[tuple[int, str, int, int]]
) -> list[Overturned]:
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, acted, overturned in (*counted, *(row[1:] for row in rows)):
        sums[name][0] += acted
        sums[name][1] += overturned
    found = [Overturned(name, acted, overturned) for name, (acted, overturned) in sums.items()]
    return sorted(found, key=lambda row: (-row.acted, row.name))
