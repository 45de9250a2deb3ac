"""Reviews that a drawn panel decides, as docs/moderate/panels.md has them, without the database.

What is assumed: somebody who is drawn answers in time with the probability ``ANSWERING``, at any moment of the hours
they have, and honestly; the organised always answer, as agreed. Accounts kept for an attack can be drawn like anybody
else. A panel is judged by the fit in force when it opened.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

import numpy as np

from app.core.communities.settings import CommunitySettings
from app.core.panels import panels, rolls
from app.core.panels.doubts import CHANCE, chance_of
from app.core.scoring import GRAVE_MARGIN, BoolArray, FloatArray, IntArray, Regime
from app.core.scoring.rules import judge
from app.core.scoring.sums import CORRELATED, NEGATIVE, POSITIVE, SOLVED
from tools.bench.consensus.attacks import Struck
from tools.bench.consensus.methods import Outcome
from tools.bench.consensus.population import People, Votes, levels
from tools.bench.consensus.review import HELPFUL, UNRATED, Review

ANSWERING = 0.6
"""Share of those drawn who answer in time."""
MOST_OPEN = 3
"""Seats that somebody may hold at once."""


MOST_AGAINST = panels.most_against(CommunitySettings().panel_seats)
"""As the service has it."""


class Who(StrEnum):
    """The setting ``who_decides``, in the words of the tables."""

    EVERYONE = "everyone"
    NEEDED = "panel_when_needed"
    PANEL = "panel"


@dataclass
class Asked:
    """What panels asked of people: ``seats`` drawn and ``answers`` given, over ``ended`` reviews."""

    seats: int = 0
    answers: int = 0
    ended: int = 0

    def add(self, other: Self) -> None:
        self.seats += other.seats
        self.answers += other.answers
        self.ended += other.ended


@dataclass(frozen=True, eq=False)
class Drawable:
    """Who can be drawn and how they answer: ``answers`` is each person's probability to answer in time.

    ``most_against``: how many of one side may say no where a panel acts. ``confirmed``: whether a second panel has to
    act, too, where a *no* came from a known side.
    """

    struck: Struck
    answers: FloatArray
    dice: np.random.Generator
    held: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    most_against: int = MOST_AGAINST
    confirmed: bool = True


class DrawnReview(Review):
    """``Review`` where panels decide: always, or where everybody's ratings give reason for doubt."""

    who: Who
    drawable: Drawable
    asked: Asked
    ends: FloatArray
    unopposed: IntArray
    """What panels would have decided without the rule about those who say no (``panels.OPPOSED``)."""
    alone: IntArray
    """What the first panels decided, whether or not a second one had to (``panels.CONTESTED``)."""

    @classmethod
    def after(cls, past: Review, people: People, who: Who, drawable: Drawable) -> Self:
        """Go on from a past in which everybody decided."""
        review = cls(people, past.content, past.settings)
        review.take_over(past)
        review.who, review.drawable, review.asked = who, drawable, Asked()
        review.ends = np.full(len(past.content), np.nan)
        review.unopposed = np.full(len(past.content), int(Outcome.OPEN))
        review.alone = past.outcome.copy()
        return review

    def hear(self, votes: Votes) -> None:
        votes = votes.where(self._may_vote(votes))
        start = 0
        while start < len(votes):
            end = start + self._until_refit()
            part = votes.where(slice(start, end))
            if self.who is Who.PANEL:
                for item in np.unique(part.item).tolist():
                    if (
                        self.content.reviewed[item]
                        and self.outcome[item] == Outcome.OPEN
                        and not self._has(item)
                    ):
                        self._hold(item, float(self.content.opened[item]))
            part = part.where(self._is_heard(part))
            if len(part):
                self._count(part)
                self._refit(float(part.at[-1]))
            start = end

    def _has(self, item: int) -> bool:
        return not np.isnan(self.ends[item])

    def _is_heard(self, part: Votes) -> BoolArray:
        """Nothing is heard after the decision, nor twice from members of a panel, who answer there."""
        ends = self.ends[part.item]
        is_open = np.where(np.isnan(ends), self.outcome[part.item] == Outcome.OPEN, part.at < ends)
        # Few pieces of content are voted on at a time, and np.isin sorts what it is given.
        is_asked = np.zeros(len(self.content), np.bool_)
        is_asked[part.item] = True
        earlier, width = self.counted.where(is_asked[self.counted.item]), len(self.people)
        members = earlier.item * width + earlier.rater
        return np.asarray(is_open & ~np.isin(part.item * width + part.rater, members))

    def _judge(self, rows: FloatArray, item: IntArray) -> IntArray:
        status = super()._judge(rows, item)
        return np.where(np.isnan(self.ends[item]), status, UNRATED)

    def _decide(self, item: int, status: int, at: float) -> None:
        if self._has(item):
            return
        doubted = self.who is Who.NEEDED and (self._is_doubted(item) or self._is_burst(item, at))
        if not (doubted and self._hold(item, at)):
            super()._decide(item, status, at)

    def _is_doubted(self, item: int) -> bool:
        """The reasons for doubt, but for those who arrived together: in these communities nobody did but bursts."""
        if self.model.regime is Regime.COLD:
            return True
        votes = self.counted.where(self.counted.item == item)
        rows = self._rows_after_each(votes)[-1] - self.rows[item]
        one, other = rows[NEGATIVE].sum(), rows[POSITIVE].sum()
        known = self.raters.kept
        share = int(np.count_nonzero(self.raters.factor[known] < 0)) / max(1, int(np.count_nonzero(known)))
        has_sides = self.model.axis and 0 < share < 1 and one + other > 0
        if has_sides and chance_of(int(one), int(one + other), share) < CHANCE:
            return True
        alike = rows[CORRELATED.start]
        settings = self.settings
        return bool(alike >= settings.burst_raters and alike > settings.burst_share * rows[SOLVED.start])

    def _hold(self, item: int, at: float) -> bool:
        """Draw a panel, and a second one if its members disagree; False if too few people can be drawn."""
        order = self._order(item, at)
        if len(order) < rolls.LEAST:
            return False
        members = self._ask(item, order, at)
        self.alone[item] = self.outcome[item]
        if self.drawable.confirmed and self.outcome[item] == Outcome.ACT:
            sides = (self._rows_after_each(members) - self.rows[item])[-1, [NEGATIVE.start, POSITIVE.start]]
            if sides.any():
                self._ask(item, self._order(item, float(self.ends[item])), float(self.ends[item]))
        self.asked.ended += 1
        return True

    def _ask(self, item: int, order: list[int], at: float) -> Votes:
        """Draw a panel, let it answer and decide; return its answers."""
        drawable, settings = self.drawable, self.settings
        wanted, members, ends = settings.panel_seats, Votes.none(), at + 24.0 * panels.LONGEST.days
        now, drawn, outcome = at, 0, Outcome.STAFF
        while now < ends and outcome is Outcome.STAFF:
            missing = wanted - len(members)
            asked = self._next(order, missing, panels.MOST_SEATS - drawn, now)
            drawn += len(asked)
            answers = self._answers(item, asked, now)
            members = members.and_later(answers)
            for person in asked.tolist():
                said = answers.at[answers.rater == person]
                drawable.held[person].append(float(said[0]) if len(said) else now + settings.panel_hours)
            found, count = self._verdict(item, members, wanted)
            if found is not None:
                outcome, members = found, members.where(slice(0, count))
                ends = float(members.at.max())
            elif len(members) >= wanted:
                if wanted == panels.MOST_SEATS:
                    ends = float(members.at.max())
                wanted = min(wanted + settings.panel_seats, panels.MOST_SEATS)
            elif not len(asked):
                ends = now
            now += settings.panel_hours
        self.asked.add(Asked(drawn, len(members)))
        self.outcome[item], self.ends[item], self.took[item] = outcome, ends, len(members)
        self.counted = self.counted.and_later(members)
        return members

    def _order(self, item: int, at: float) -> list[int]:
        """Everybody who can be drawn, in the order of the draw: a side's next after the other side's."""
        counted = self.counted
        rated = np.bincount(counted.rater, minlength=len(self.people)) >= rolls.RATINGS
        rated[self.drawable.struck.organised] = True
        known_for = self.people.first_seen <= at - rolls.KNOWN_FOR.total_seconds() / 3600
        may = rated & known_for
        if self.content.grave[item]:
            may &= self.people.first_seen <= self.content.opened[item]
        may[counted.rater[counted.item == item]] = False
        people = self.drawable.dice.permutation(np.flatnonzero(may))
        is_known = self.raters.kept[people] & self.model.axis
        of_one = self.raters.factor[people] < 0
        sides = [people[is_known & of_one], people[is_known & ~of_one]]
        if not (len(sides[0]) and len(sides[1])):
            return [int(person) for person in people]
        both = min(len(sides[0]), len(sides[1]))
        mixed = np.column_stack([side[:both] for side in sides]).ravel()
        rest = np.concatenate([side[both:] for side in sides])
        return [int(person) for person in np.concatenate([mixed, rest, people[~is_known]])]

    def _next(self, order: list[int], missing: int, most: int, now: float) -> IntArray:
        """The next people; those with too many seats are passed over."""
        found: list[int] = []
        while order and len(found) < min(missing, most):
            person = order.pop(0)
            if sum(until > now for until in self.drawable.held[person]) < MOST_OPEN:
                found.append(person)
        return np.array(found, np.int64)

    def _answers(self, item: int, asked: IntArray, now: float) -> Votes:
        struck, dice = self.drawable.struck, self.drawable.dice
        items = np.full(len(asked), item)
        level = levels(dice, self.people, self.content, items, asked)
        organised = np.isin(asked, struck.organised)
        chance = self.drawable.answers[asked]
        if struck.targets[item]:
            level = np.where(organised, struck.level, level).astype(np.int8)
            chance = np.where(organised, 1.0, chance)
        at = now + dice.random(len(asked)) * self.settings.panel_hours
        return Votes(items, asked, level, at).where(dice.random(len(asked)) < chance).by_time()

    def _verdict(self, item: int, members: Votes, wanted: int) -> tuple[Outcome | None, int]:
        """What the panel's answers decide, and how many of them that takes."""
        needed = panels.enough(wanted)
        if len(members) < needed:
            return None, 0
        model = self.model.with_settings(min(self.settings.min_ratings, needed), self.settings.helpful_at)
        rows = self._rows_after_each(members) - self.rows[item]
        nothing = np.zeros(len(rows), np.bool_)
        threshold = np.full(len(rows), model.helpful_at + (GRAVE_MARGIN if self.content.grave[item] else 0.0))
        status = judge(rows, model, nothing, nothing, threshold, ~nothing).status
        against = np.maximum(rows[:, NEGATIVE.start], rows[:, POSITIVE.start])
        opposed = (status == HELPFUL) & (against > self.drawable.most_against + 0.5)
        can_decide = (status != UNRATED) & (np.arange(1, len(rows) + 1) >= needed)
        if self.unopposed[item] == Outcome.OPEN and can_decide.any():
            self.unopposed[item] = _outcome(status[can_decide][0])
        decided = np.flatnonzero(can_decide & ~opposed)
        if not len(decided):
            return None, 0
        first = int(decided[0])
        return _outcome(status[first]), first + 1


def _outcome(status: int) -> Outcome:
    return Outcome.ACT if status == HELPFUL else Outcome.KEEP
