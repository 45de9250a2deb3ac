"""What the trials count: tallies with their intervals, by method, attack, size and world."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from math import sqrt

import numpy as np

from app.core.scoring import BoolArray, IntArray, Regime
from tools.bench.consensus.attacks import Attack
from tools.bench.consensus.methods import Outcome
from tools.bench.consensus.population import World
from tools.bench.consensus.review import FitRecord, Review

CONFIDENCE_Z = 1.959964
"""The normal distribution's quantile for 95 %."""
FIXED_BOUND = 1.06
"""The bound that the axis test's ratio was held to before it was judged by its own spread."""


class Method(StrEnum):
    """Who decides."""

    MAJORITY = "majority"
    BAYES = "Bayesian average"
    OURS = "ours"


@dataclass
class Tally:
    """``hits`` of ``of``."""

    hits: int = 0
    of: int = 0

    def add(self, hits: BoolArray) -> None:
        self.hits += int(np.count_nonzero(hits))
        self.of += len(hits)

    @property
    def share(self) -> float:
        return self.hits / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval (1927) of the share; it takes pieces of content to be independent."""
        return wilson(self.hits, self.of)


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Between which shares the true one lies with 95 % confidence; all of them where nothing was seen."""
    if not of:
        return 0.0, 1.0
    z2, share = CONFIDENCE_Z**2, hits / of
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = CONFIDENCE_Z * sqrt(share * (1 - share) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass
class Measured:
    """One method under one attack. ``to_staff`` counts content of either kind that a burst sent to moderators."""

    wrongful: Tally = field(default_factory=Tally)
    missed: Tally = field(default_factory=Tally)
    to_staff: Tally = field(default_factory=Tally)

    def add(self, outcome: IntArray, stay: BoolArray, go: BoolArray, struck: BoolArray) -> None:
        self.wrongful.add(outcome[stay] == Outcome.ACT)
        self.missed.add(outcome[go] != Outcome.ACT)
        self.to_staff.add(outcome[struck] == Outcome.STAFF)


def _per_method() -> dict[Method, Measured]:
    return {method: Measured() for method in Method}


@dataclass
class Cell:
    """A row of the tables: an attack (None: nobody attacks) by a share of the raters, 0.0 to 1.0.

    ``rushed``: the attackers' votes come before everybody else's.
    """

    attack: Attack | None
    share: float
    rushed: bool = False
    measured: dict[Method, Measured] = field(default_factory=_per_method)


@dataclass
class Stage:
    """A community of a size: ``each`` votes a piece of content, and what the trials found when the attack began."""

    raters: int
    items: int
    each: float
    votes: list[int] = field(default_factory=list)
    voters: list[int] = field(default_factory=list)
    regimes: Counter[str] = field(default_factory=Counter)
    quiet: dict[Method, Measured] = field(default_factory=_per_method)
    attacked: dict[Method, Measured] = field(default_factory=_per_method)
    rushed: dict[Method, Measured] = field(default_factory=_per_method)

    def began(self, review: Review) -> None:
        self.votes.append(len(review.counted))
        self.voters.append(len(np.unique(review.counted.rater)))
        self.regimes[review.regime.value] += 1


@dataclass
class Large:
    """Large communities of one ``world`` under every attack, rushed and not."""

    world: World
    stage: Stage
    cells: list[Cell]


@dataclass
class AxisCount:
    """How often the axis test was wrong in one world and regime.

    ``presumed``: fits with too few ratings to test, where camps are taken to be there. ``wrong``: tested fits that
    took camps to be there where there are none, or the other way round; ``fixed``: what judging the ratio of the same
    fits by a bound of 1.06 would have made of them. ``lost``: fits that gave camps up, of those after one that had
    them.
    """

    communities: int = 0
    presumed: Tally = field(default_factory=Tally)
    wrong: Tally = field(default_factory=Tally)
    fixed: Tally = field(default_factory=Tally)
    lost: Tally = field(default_factory=Tally)

    def add(self, fits: Sequence[FitRecord], *, camps: bool) -> None:
        tested = [fit for fit in fits if fit.test is not None]
        self.communities += bool(fits)
        self.presumed.add(np.array([fit.test is None for fit in fits], np.bool_))
        self.wrong.add(np.array([fit.axis is not camps for fit in tested], np.bool_))
        found = [fit.test.ratio >= FIXED_BOUND for fit in tested if fit.test is not None]
        self.fixed.add(np.array([one is not camps for one in found], np.bool_))
        pairs = pairwise(fits)
        self.lost.add(np.array([not after.axis for before, after in pairs if before.axis], np.bool_))


@dataclass
class Crowd:
    """Ordinary notes: about ``ratings`` ratings of ``notes``; ``recall`` of good ones, ``bad`` of those published.

    ``decidable`` is the recall of ours among good notes that have the five ratings without which nobody decides.
    """

    raters: int
    notes: int
    ratings: int
    regimes: Counter[str] = field(default_factory=Counter)
    recall: dict[Method, Tally] = field(default_factory=lambda: {method: Tally() for method in Method})
    decidable: Tally = field(default_factory=Tally)
    bad: dict[Method, Tally] = field(default_factory=lambda: {method: Tally() for method in Method})
    missed_by: Counter[str] = field(default_factory=Counter)
    """Good notes that ours does not call helpful, by the rule that decided."""
    bars: dict[int, "Bar"] = field(default_factory=dict)


@dataclass
class Bar:
    """Ours with the bar elsewhere: recall of good notes; poor or divisive ones, and others, of those published."""

    recall: Tally = field(default_factory=Tally)
    bad: Tally = field(default_factory=Tally)
    between: Tally = field(default_factory=Tally)


@dataclass
class Balance:
    """Camps of unequal size, and no attack: what becomes of the smaller camp's divisive content, and what should go."""

    smaller: float
    measured: dict[Method, Measured] = field(default_factory=_per_method)


def _axis_counts() -> dict[tuple[World, Regime], AxisCount]:
    return {(world, regime): AxisCount() for world in World for regime in (Regime.WARM, Regime.FULL)}


@dataclass
class Report:
    """All that was measured."""

    stage: Stage
    cells: list[Cell]
    stages: list[Stage]
    united: list[Stage]
    balances: list[Balance]
    crowds: list[Crowd]
    united_crowds: list[Crowd]
    large: list[Large]
    axis: dict[tuple[World, Regime], AxisCount] = field(default_factory=_axis_counts)

    def tested(self, world: World, review: Review) -> None:
        """Note what the fits of this review made of the camps, regime by regime."""
        for regime in (Regime.WARM, Regime.FULL):
            fits = [fit for fit in review.fits if fit.regime is regime]
            self.axis[world, regime].add(fits, camps=world is not World.UNITED)
