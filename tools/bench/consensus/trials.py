"""Many communities, attacked in every way: how often each method acts wrongly, and how often it fails to act."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.scoring import BoolArray
from tools.bench.consensus import crowds
from tools.bench.consensus.attacks import Attack, Struck, strike
from tools.bench.consensus.methods import bayes, majority
from tools.bench.consensus.population import (
    HOURS,
    VOTES_EACH,
    Community,
    Truth,
    World,
    community,
    large_community,
)
from tools.bench.consensus.results import Balance, Cell, Crowd, Large, Measured, Method, Report, Stage
from tools.bench.consensus.review import Review

VOTERS = [attack for attack in Attack if attack is not Attack.FALSE_RECORD]
"""The attacks of these tables; the other is of the tables of panels (``drawn_trials``)."""
SHARES = (0.1, 0.2, 0.3, 0.4)
GROWTH_SHARE = 0.3
SINCE = HOURS / 2
"""The first half of the content is the community's past; the attack, and the counting, begin with the second."""


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
UNITED_STAGES = ((55, 140, 14.0), (75, 170, 18.0), (120, 280, 25.0), (300, 700, 25.0))
UNITED_CROWDS = ((50, 40, 600), (65, 65, 1_000), (100, 100, 2_000), (200, 200, 5_000), (500, 400, 15_000))
"""The same without camps."""
LARGE_SHARES = (0.3, 0.4)
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
    united_stages: Sequence[tuple[int, int, float]] = UNITED_STAGES
    united_crowds: Sequence[tuple[int, int, int]] = UNITED_CROWDS
    large: int = 1
    large_raters: int = 1_000
    large_items: int = 1_500
    large_shares: Sequence[float] = LARGE_SHARES

    @property
    def steps(self) -> int:
        """How often ``run`` calls back."""
        each = 2 + len(self.stages) + len(self.united_stages) + len(self.balances)
        return self.trials * each + len(self.crowds) + len(self.united_crowds) + self.large * len(World)

    @classmethod
    def quick(cls, seed: int = 1) -> "Plan":
        """Seconds instead of minutes: small, and with wide intervals."""
        return cls(
            2,
            60,
            90,
            seed,
            (0.3,),
            STAGES[1:3],
            (0.2,),
            CROWDS[1:4],
            UNITED_STAGES[:1],
            UNITED_CROWDS[:1],
            large_raters=150,
            large_items=150,
            large_shares=(0.3,),
        )


def run(plan: Plan, advance: Callable[[str], None]) -> Report:
    """Measure; ``advance`` is called after each step with what comes next."""
    report = Report(
        Stage(plan.raters, plan.items, VOTES_EACH),
        [Cell(None, 0.0), *(Cell(attack, share) for attack in VOTERS for share in plan.shares)],
        [Stage(*size) for size in plan.stages],
        [Stage(*size) for size in plan.united_stages],
        [Balance(smaller) for smaller in plan.balances],
        [Crowd(*size) for size in plan.crowds],
        [Crowd(*size) for size in plan.united_crowds],
        [
            Large(world, Stage(plan.large_raters, plan.large_items, 0.0), _large_cells(plan))
            for world in World
        ],
    )
    for trial in range(plan.trials):
        for half in _attacked(plan, trial, report):
            advance(f"community {trial + 1} of {plan.trials}, {half}")
        for world, stages in ((World.DIVIDED, report.stages), (World.UNITED, report.united)):
            for stage in stages:
                several = max(1, STAGE_ITEMS // stage.items)
                for number in range(trial * several, (trial + 1) * several):
                    _grown(plan, number, stage, world, report)
                advance(f"community {trial + 1} of {plan.trials}, of {stage.raters} raters, {world}")
        for balance in report.balances:
            _unequal(plan, trial, balance)
            advance(f"community {trial + 1} of {plan.trials}, smaller camp {balance.smaller:.0%}")
    for crowd in report.crowds:
        _published(plan, crowd, World.DIVIDED)
        advance(f"{crowd.ratings} ratings of ordinary notes")
    for crowd in report.united_crowds:
        _published(plan, crowd, World.UNITED)
        advance(f"{crowd.ratings} ratings of ordinary notes, {World.UNITED}")
    for trial in range(plan.large):
        for large in report.large:
            _large(plan, trial, large, report)
            advance(f"large community {trial + 1} of {plan.large}, {large.world}")
    return report


def _large_cells(plan: Plan) -> list[Cell]:
    """Every attack by every share, rushed and not; who is careless is in no hurry."""
    attacks = [
        Cell(attack, share, rushed)
        for attack in VOTERS
        for share in plan.large_shares
        for rushed in (False, True)
        if not (rushed and attack is Attack.CARELESS)
    ]
    return [Cell(None, 0.0), *attacks]


def _large(plan: Plan, trial: int, large: Large, report: Report) -> None:
    """One large community of a world under every attack. Only its own honest votes tell how the axis test fares where
    there are no camps: whoever organises is one."""
    world, place = large.world, list(World).index(large.world)

    def made(careless: float = 0.0) -> Community:
        dice = _dice(plan, 5, trial, place)
        return large_community(dice, world, plan.large_raters, plan.large_items, careless=careless)

    base = made()
    past = past_of(base)
    large.stage.began(past)
    report.tested(world, past)
    for cell in large.cells:
        here, before = base, past
        if cell.attack is Attack.CARELESS:
            here = made(cell.share)
            before = past_of(here)
        number = list(Attack).index(cell.attack) if cell.attack else 0
        dice = _dice(plan, 6, trial, place, number)
        struck = strike(dice, here, cell.attack, cell.share, SINCE, rushed=cell.rushed)
        review = _measure(struck, before, cell.measured)
        if cell.attack is None or world is not World.UNITED:
            report.tested(world, review)


def _attacked(plan: Plan, trial: int, report: Report) -> Iterator[str]:
    """One community under every attack; half of the cells at a time."""
    base = community(_dice(plan, 0, trial), plan.raters, plan.items)
    past = past_of(base)
    report.stage.began(past)
    report.tested(World.DIVIDED, past)
    for place, cell in enumerate(report.cells):
        here, before = base, past
        if cell.attack is Attack.CARELESS:
            # Who is careless has always been so.
            here = community(_dice(plan, 0, trial), plan.raters, plan.items, careless=cell.share)
            before = past_of(here)
        number = list(Attack).index(cell.attack) if cell.attack else 0
        struck = strike(_dice(plan, 1, trial, number), here, cell.attack, cell.share, SINCE)
        report.tested(World.DIVIDED, _measure(struck, before, cell.measured))
        if place == len(report.cells) // 2:
            yield "first attacks"
    yield "the other attacks"


def _grown(plan: Plan, number: int, stage: Stage, world: World, report: Report) -> None:
    """One community of this size, left in peace and under a pile-on, rushed and not."""
    dice = _dice(plan, 2, number, stage.raters, stage.items)
    here = community(dice, stage.raters, stage.items, each=stage.each, united=world is World.UNITED)
    past = past_of(here)
    stage.began(past)
    report.tested(world, past)
    report.tested(world, _measure(strike(dice, here, None, 0.0, SINCE), past, stage.quiet))
    for rushed, measured in ((False, stage.attacked), (True, stage.rushed)):
        struck = strike(dice, here, Attack.PILE_ON, GROWTH_SHARE, SINCE, rushed=rushed)
        review = _measure(struck, past, measured)
        if world is not World.UNITED:
            report.tested(world, review)


def _unequal(plan: Plan, trial: int, balance: Balance) -> None:
    """One community whose camps differ in size, left in peace."""
    dice = _dice(plan, 4, trial, round(100 * balance.smaller))
    here = community(dice, plan.raters, plan.items, first_camp=balance.smaller)
    content = here.content
    looked_at = content.should_go | ((content.truth == Truth.DIVISIVE) & (content.owner == -1))
    struck = Struck(here, looked_at & (content.opened >= SINCE))
    _measure(struck, past_of(here), balance.measured)


def _published(plan: Plan, crowd: Crowd, world: World) -> None:
    """Communities that only rate ordinary notes."""
    for trial in range(max(1, plan.trials * CROWD_NOTES // crowd.notes)):
        crowds.add(crowd, world, _dice(plan, 3, trial, crowd.raters))


def past_of(here: Community) -> Review:
    """Our method after the honest votes that were given before the attack on content opened before it."""
    review = Review(here.people, here.content)
    review.hear(here.votes.where(is_past(here)))
    return review


def is_past(here: Community) -> BoolArray:
    return (here.votes.at < SINCE) & (here.content.opened[here.votes.item] < SINCE)


def _measure(struck: Struck, past: Review, measured: dict[Method, Measured]) -> Review:
    here = struck.community
    review = past.fork(here.people)
    review.hear(here.votes.where(~is_past(here)))
    stay, go = sides_of(struck)
    for method, outcome in (
        (Method.MAJORITY, majority(here)),
        (Method.BAYES, bayes(here)),
        (Method.OURS, review.outcome),
    ):
        measured[method].add(outcome, stay, go, struck.targets)
    return review


def sides_of(struck: Struck) -> tuple[BoolArray, BoolArray]:
    """The content that must stay and that should go, among which wrong outcomes are counted.

    What is attacked is looked at; where the attack is on the other kind, all of this kind.
    """
    content, targets = struck.community.content, struck.targets
    late = content.opened >= SINCE
    stay, go = content.must_stay & late, content.should_go & late
    stay = stay & targets if (stay & targets).any() else stay
    go = go & targets if (go & targets).any() else go
    return stay, go


def _dice(plan: Plan, *place: int) -> np.random.Generator:
    """A generator for one place in the plan: no place depends on what was drawn in another."""
    return np.random.default_rng([plan.seed, *place])
