"""Many communities, attacked in every way: how often each method acts wrongly, and how often it fails to act."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt

import numpy as np

from app.consensus.attacks import Attack, Struck, strike
from app.consensus.methods import Outcome, bayes, majority
from app.consensus.population import HOURS, VOTES_EACH, Community, Truth, community, crowd_with_notes
from app.consensus.review import Review
from app.core.scoring import MIN_RATINGS, BoolArray, IntArray, score
from app.core.vocabulary import NoteStatus

SHARES = (0.1, 0.2, 0.3, 0.4)
GROWTH_SHARE = 0.3
CONFIDENCE_Z = 1.959964
"""The normal distribution's quantile for 95 %."""
SINCE = HOURS / 2
"""The first half of the content is the community's past; the attack, and the counting, begin with the second."""


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
    """A row of the tables: an attack (None: nobody attacks) by a share of the raters, 0.0 to 1.0."""

    attack: Attack | None
    share: float
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

    def began(self, review: Review) -> None:
        self.votes.append(len(review.counted))
        self.voters.append(len(np.unique(review.counted.rater)))
        self.regimes[review.model.regime.value] += 1


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


@dataclass
class Balance:
    """Camps of unequal size, and no attack: what becomes of the smaller camp's divisive content, and what should go."""

    smaller: float
    measured: dict[Method, Measured] = field(default_factory=_per_method)


@dataclass
class Report:
    """All that was measured."""

    stage: Stage
    cells: list[Cell]
    stages: list[Stage]
    balances: list[Balance]
    crowds: list[Crowd]


STAGES = (
    (20, 30, 10.0),
    (30, 66, 11.0),
    (35, 84, 12.0),
    (40, 100, 13.0),
    (55, 140, 14.0),
    (75, 170, 18.0),
    (120, 280, 25.0),
    (300, 700, 25.0),
    (400, 240, 25.0),
)
STAGE_ITEMS = 240
"""Small communities have little content to count: there are as many more of them in each trial."""
"""Raters, items and votes each of growing communities, and last of one whose raters have hardly voted yet."""
BALANCES = (0.5, 0.3, 0.2, 0.1)
"""Shares of the smaller camp."""
CROWDS = (
    (20, 15, 120),
    (25, 20, 200),
    (30, 25, 300),
    (40, 30, 400),
    (50, 40, 600),
    (65, 65, 1_000),
    (100, 100, 2_000),
    (200, 200, 5_000),
    (500, 400, 15_000),
)
CROWD_NOTES = 300
"""Notes to look at, for each size of crowd and each trial."""


@dataclass(frozen=True)
class Plan:
    """How much to simulate. The same plan gives the same report."""

    trials: int = 7
    raters: int = 200
    items: int = 240
    seed: int = 1
    shares: Sequence[float] = SHARES
    stages: Sequence[tuple[int, int, float]] = STAGES
    balances: Sequence[float] = BALANCES
    crowds: Sequence[tuple[int, int, int]] = CROWDS

    @property
    def steps(self) -> int:
        """How often ``run`` calls back."""
        return self.trials * (2 + len(self.stages) + len(self.balances)) + len(self.crowds)

    @classmethod
    def quick(cls, seed: int = 1) -> "Plan":
        """Seconds instead of minutes: small, and with wide intervals."""
        return cls(2, 60, 90, seed, (0.3,), STAGES[1:3], (0.2,), CROWDS[1:4])


def run(plan: Plan, advance: Callable[[str], None]) -> Report:
    """Measure; ``advance`` is called after each step with what comes next."""
    report = Report(
        Stage(plan.raters, plan.items, VOTES_EACH),
        [Cell(None, 0.0), *(Cell(attack, share) for attack in Attack for share in plan.shares)],
        [Stage(*size) for size in plan.stages],
        [Balance(smaller) for smaller in plan.balances],
        [Crowd(*size) for size in plan.crowds],
    )
    for trial in range(plan.trials):
        for half in _attacked(plan, trial, report):
            advance(f"community {trial + 1} of {plan.trials}, {half}")
        for stage in report.stages:
            several = max(1, STAGE_ITEMS // stage.items)
            for number in range(trial * several, (trial + 1) * several):
                _grown(plan, number, stage)
            advance(f"community {trial + 1} of {plan.trials}, of {stage.raters} raters")
        for balance in report.balances:
            _unequal(plan, trial, balance)
            advance(f"community {trial + 1} of {plan.trials}, smaller camp {balance.smaller:.0%}")
    for crowd in report.crowds:
        _published(plan, crowd)
        advance(f"{crowd.ratings} ratings of ordinary notes")
    return report


def _attacked(plan: Plan, trial: int, report: Report) -> Iterator[str]:
    """One community under every attack; half of the cells at a time."""
    base = community(_dice(plan, 0, trial), plan.raters, plan.items)
    past = _past(base)
    report.stage.began(past)
    for place, cell in enumerate(report.cells):
        here, before = base, past
        if cell.attack is Attack.CARELESS:
            # Who is careless has always been so.
            here = community(_dice(plan, 0, trial), plan.raters, plan.items, careless=cell.share)
            before = _past(here)
        number = list(Attack).index(cell.attack) if cell.attack else 0
        struck = strike(_dice(plan, 1, trial, number), here, cell.attack, cell.share, SINCE)
        _measure(struck, before, cell.measured)
        if place == len(report.cells) // 2:
            yield "first attacks"
    yield "the other attacks"


def _grown(plan: Plan, number: int, stage: Stage) -> None:
    """One community of this size, left in peace and under a pile-on."""
    dice = _dice(plan, 2, number, stage.raters, stage.items)
    here = community(dice, stage.raters, stage.items, each=stage.each)
    past = _past(here)
    stage.began(past)
    _measure(strike(dice, here, None, 0.0, SINCE), past, stage.quiet)
    _measure(strike(dice, here, Attack.PILE_ON, GROWTH_SHARE, SINCE), past, stage.attacked)


def _unequal(plan: Plan, trial: int, balance: Balance) -> None:
    """One community whose camps differ in size, left in peace."""
    dice = _dice(plan, 4, trial, round(100 * balance.smaller))
    here = community(dice, plan.raters, plan.items, first_camp=balance.smaller)
    content = here.content
    looked_at = content.should_go | ((content.truth == Truth.DIVISIVE) & (content.owner == -1))
    struck = Struck(here, looked_at & (content.opened >= SINCE))
    _measure(struck, _past(here), balance.measured)


def _published(plan: Plan, crowd: Crowd) -> None:
    """Ordinary notes, scored once all ratings are in: which good ones, and how many bad ones, are called helpful."""
    for trial in range(max(1, plan.trials * CROWD_NOTES // crowd.notes)):
        dice = _dice(plan, 3, trial, crowd.raters)
        here = crowd_with_notes(dice, crowd.raters, crowd.notes, crowd.ratings)
        votes, content = here.votes, here.content
        scores = score(votes.item, votes.rater, votes.level / 2)
        crowd.regimes[scores.regime.value] += 1
        ours = np.zeros(crowd.notes, np.bool_)
        ours[scores.note_ids[scores.statuses == NoteStatus.CURRENTLY_RATED_HELPFUL]] = True
        good, poor = content.truth == Truth.BAD, content.must_stay
        crowd.decidable.add(ours[good & (np.bincount(votes.item, minlength=crowd.notes) >= MIN_RATINGS)])
        for method, helpful in (
            (Method.MAJORITY, majority(here) == Outcome.ACT),
            (Method.BAYES, bayes(here) == Outcome.ACT),
            (Method.OURS, ours),
        ):
            crowd.recall[method].add(helpful[good])
            crowd.bad[method].add(poor[helpful])


def _past(here: Community) -> Review:
    """Our method after the honest votes that were given before the attack on content opened before it."""
    review = Review(here.people, here.content)
    review.hear(here.votes.where(_is_past(here)))
    return review


def _is_past(here: Community) -> BoolArray:
    return (here.votes.at < SINCE) & (here.content.opened[here.votes.item] < SINCE)


def _measure(struck: Struck, past: Review, measured: dict[Method, Measured]) -> None:
    here, targets = struck.community, struck.targets
    review = past.fork(here.people)
    review.hear(here.votes.where(~_is_past(here)))
    late = here.content.opened >= SINCE
    stay, go = here.content.must_stay & late, here.content.should_go & late
    # What is attacked is looked at; where the attack is on the other kind, all of this kind.
    stay = stay & targets if (stay & targets).any() else stay
    go = go & targets if (go & targets).any() else go
    for method, outcome in (
        (Method.MAJORITY, majority(here)),
        (Method.BAYES, bayes(here)),
        (Method.OURS, review.outcome),
    ):
        measured[method].add(outcome, stay, go, targets)


def _dice(plan: Plan, *place: int) -> np.random.Generator:
    """A generator for one place in the plan: no place depends on what was drawn in another."""
    return np.random.default_rng([plan.seed, *place])
