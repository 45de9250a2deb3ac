"""The sums of one period by its parts: of the slots that are counted, and of the rows that came after them."""

import uuid
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import quantiles
from app.core.insights import groups
from app.core.insights.groups import GroupQueries
from app.core.insights.trend_figures import Decisions, Delay, Overturned
from app.core.insights.trend_queries import COUNTS, Slots
from app.core.models import InsightOutcome, InsightSlot
from app.core.models.insights import OutcomeKind
from app.core.periods import WEEK, Period, slot_of

Seconds = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Counts:
    """For each part of a period: each of ``trend_queries.COUNTS``, ``actions`` and how many of them were
    ``overturned``, and the seconds from submission to decision."""

    by_name: Mapping[str, Sequence[int]]
    seconds: Sequence[Seconds]

    def folded(self, into: int) -> "Counts":
        """The same in ``into`` parts of seven, of which the first one may have fewer."""
        if into == len(self.seconds):
            return self
        last = len(self.seconds) - (into - 1) * WEEK
        runs = [
            slice(0, last),
            *(slice(begin, begin + WEEK) for begin in range(last, len(self.seconds), WEEK)),
        ]
        return Counts(
            {name: [sum(values[run]) for run in runs] for name, values in self.by_name.items()},
            [np.concatenate(self.seconds[run]) for run in runs],
        )


class PeriodSums:
    """What happened in a period. ``counted_until``: where the counted slots end; None: there are none.

    Nothing is asked of rows where all slots of the period are counted.
    """

    def __init__(
        self, session: Session, community_id: uuid.UUID, period: Period, counted_until: datetime | None
    ) -> None:
        self._session = session
        self._community_id = community_id
        self._period = period
        edge = period.since if counted_until is None else min(max(counted_until, period.since), period.until)
        self._slots = slot_of(period.since), slot_of(edge)
        uncounted = Slots(slot_of(edge), slot_of(period.until))
        self._rows = (
            GroupQueries(session, community_id, uncounted, is_short=counted_until is not None)
            if edge < period.until
            else None
        )
        self._begins = [slot_of(since) for since, _ in period.bounds]

    def counts(self) -> Counts:
        """All counts by part, and the seconds of the reviews."""
        of_slots, texts = self._of_slots()
        parts = range(len(self._period.starts))
        sums = {name: [of_slots.get(part, {}).get(name, 0) for part in parts] for name in COUNTS}
        seconds = [[np.fromstring(texts.get(part, ""), np.int64, sep=",")] for part in parts]
        if self._rows is not None:
            for slot, values in self._rows.counts():
                for name, value in values.items():
                    sums[name][self._part_of(slot)] += value
            for slot, waited in self._rows.waits():
                seconds[self._part_of(slot)].append(np.array([waited]))
        sums["actions"], sums["overturned"] = ([0 for _ in parts] for _ in range(2))
        for part, _, acted, overturned in self._outcomes[OutcomeKind.CATEGORY]:
            sums["actions"][part] += acted
            sums["overturned"][part] += overturned
        return Counts(sums, [np.concatenate(of_part) for of_part in seconds])

    def overturned(self, kind: OutcomeKind) -> list[Overturned]:
        """The actions by category or by classifier, the most frequent first."""
        sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for _, name, acted, overturned in self._outcomes[kind]:
            sums[name][0] += acted
            sums[name][1] += overturned
        found = [Overturned(name, acted, overturned) for name, (acted, overturned) in sums.items()]
        return sorted(found, key=lambda row: (-row.acted, row.name))

    def channels(self) -> list[Overturned]:
        """The same by channel: those with most actions."""
        found = groups.channels(self._session, self._community_id, self._slots, self._rows)
        return [Overturned(name, sums.total, sums.of_which) for name, sums in found[: groups.CHANNELS]]

    def moderators(self) -> list[Decisions]:
        """The decisions by moderator: those with most."""
        found = groups.moderators(self._session, self._community_id, self._slots, self._rows)
        found = found[: groups.MODERATORS]
        names = groups.names(self._session, [account_id for account_id, _ in found])
        return [
            Decisions(
                names.get(account_id, ""), sums.total, quantiles.nearest(sums.seconds, 0.5), sums.of_which
            )
            for account_id, sums in found
        ]

    def _part_of(self, slot: int) -> int:
        return bisect_right(self._begins, slot) - 1

    def _of_slots(self) -> tuple[dict[int, dict[str, int]], dict[int, str]]:
        first, end = self._slots
        part = self._period.part_of_slot(InsightSlot.slot)
        counts: dict[int, dict[str, int]] = {}
        waits: dict[int, str] = {}
        if first == end:
            return counts, waits
        for number, text, *values in self._session.execute(
            sa.select(
                part,
                sa.func.aggregate_strings(InsightSlot.waits, ","),
                *(sa.func.sum(getattr(InsightSlot, name)) for name in COUNTS),
            )
            .where(
                InsightSlot.community_id == self._community_id,
                InsightSlot.slot >= first,
                InsightSlot.slot < end,
            )
            .group_by(part)
        ):
            counts[int(number)] = dict(zip(COUNTS, map(int, values), strict=True))
            if text is not None:
                # Tens of thousands in a long period: to read them one by one would take most of the time.
                waits[int(number)] = text
        return counts, waits

    @cached_property
    def _outcomes(self) -> Mapping[str, Sequence[tuple[int, str, int, int]]]:
        """By kind: part, name, actions, and how many of them were overturned."""
        found: dict[str, list[tuple[int, str, int, int]]] = defaultdict(list)
        if self._rows is not None:
            for counted, rows in (
                (OutcomeKind.CATEGORY, self._rows.categories()),
                (OutcomeKind.CLASSIFIER, self._rows.classifiers()),
            ):
                found[counted] += [(self._part_of(slot), of, acted, over) for slot, of, acted, over in rows]
        first, end = self._slots
        if first == end:
            return found
        part, kind, name = (
            self._period.part_of_slot(InsightOutcome.slot),
            InsightOutcome.kind,
            InsightOutcome.name,
        )
        for of_part, of_kind, of_name, acted, overturned in self._session.execute(
            sa.select(
                part, kind, name, sa.func.sum(InsightOutcome.total), sa.func.sum(InsightOutcome.of_which)
            )
            .where(
                InsightOutcome.community_id == self._community_id,
                InsightOutcome.slot >= first,
                InsightOutcome.slot < end,
                kind.in_((OutcomeKind.CATEGORY.value, OutcomeKind.CLASSIFIER.value)),
            )
            .group_by(part, kind, name)
        ):
            found[of_kind].append((int(of_part), of_name, int(acted), int(overturned)))
        return found


def delay(seconds: Seconds) -> Delay:
    """Median and ninth decile of these seconds."""
    in_order: list[int] = np.sort(seconds).tolist()
    return Delay(len(in_order), quantiles.nearest(in_order, 0.5), quantiles.nearest(in_order, 0.9))
