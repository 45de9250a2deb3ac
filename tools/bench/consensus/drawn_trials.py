"""The same communities and attacks, decided by everyone, by panels when needed, and by panels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tools.bench.consensus.attacks import Attack, Struck, strike
from tools.bench.consensus.drawn import ANSWERING, MOST_AGAINST, Asked, Drawable, DrawnReview, Who
from tools.bench.consensus.methods import Outcome
from tools.bench.consensus.population import (
    NOISY_SURPRISE,
    RIPE_SHARE,
    RIPE_VOTES,
    SURPRISE,
    Community,
    Truth,
    World,
    community,
    large_community,
)
from tools.bench.consensus.results import Measured, Stage, Tally
from tools.bench.consensus.review import Review
from tools.bench.consensus.trials import SINCE, STAGE_ITEMS, is_past, past_of, sides_of

SILENT = 0.5
"""Share of people who never answer, in the rows that say so."""


@dataclass
class DrawnCell:
    """A row: an attack by a share of the raters; ``half_silent``: half of the people never answer when drawn.

    ``only_drawn``: the organised say nothing about what they attack unless they are drawn for it.
    ``apart`` has the same as ``measured``, community by community; ``unopposed`` is about panels without the rule
    about those who say no, and ``alone`` about first panels, among content that divides the camps; ``confirmed`` is
    about the same content where a second panel confirms. ``undecided`` counts content that nobody decided or a panel
    left to moderators, and ``took`` the ratings of each piece of content that was decided.
    """

    attack: Attack | None
    share: float = 0.0
    rushed: bool = False
    half_silent: bool = False
    only_drawn: bool = False
    measured: dict[Who, Measured] = field(default_factory=lambda: {who: Measured() for who in Who})
    asked: dict[Who, Asked] = field(default_factory=lambda: {who: Asked() for who in Who})
    apart: dict[Who, list[Measured]] = field(default_factory=lambda: {who: [] for who in Who})
    unopposed: Measured = field(default_factory=Measured)
    alone: Measured = field(default_factory=Measured)
    confirmed: Measured = field(default_factory=Measured)
    undecided: dict[Who, Tally] = field(default_factory=lambda: {who: Tally() for who in Who})
    took: dict[Who, list[int]] = field(default_factory=lambda: {who: [] for who in Who})

    def add(self, who: Who, review: Review, struck: Struck) -> None:
        """Count what became of one community."""
        stay, go = sides_of(struck)
        one = Measured()
        for measured in (one, self.measured[who]):
            measured.add(review.outcome, stay, go, struck.targets)
        self.apart[who].append(one)
        looked_at = review.outcome[stay | go]
        is_decided = (looked_at == Outcome.ACT) | (looked_at == Outcome.KEEP)
        self.undecided[who].add(~is_decided)
        self.took[who] += review.took[stay | go][is_decided].tolist()
        if isinstance(review, DrawnReview):
            self.asked[who].add(review.asked)
            if who is Who.PANEL:
                self.unopposed.add(review.unopposed, stay, go, struck.targets)
                dividing = stay & (struck.community.content.truth == Truth.DIVISIVE)
                self.alone.add(review.alone, dividing, go, struck.targets)
                self.confirmed.add(review.outcome, dividing, go, struck.targets)


def _few() -> list[DrawnCell]:
    return [DrawnCell(None), *(DrawnCell(Attack.PILE_ON, 0.3, rushed) for rushed in (False, True))]


def _all() -> list[DrawnCell]:
    return [
        *_few(),
        DrawnCell(Attack.PILE_ON, 0.4, rushed=True),
        DrawnCell(Attack.FALSE_RECORD, 0.3, rushed=True),
        DrawnCell(Attack.AGED_SYBILS, 0.3, rushed=True),
        DrawnCell(Attack.NEUTRAL, 0.1),
        DrawnCell(Attack.NEUTRAL, 0.2),
        DrawnCell(Attack.PROTECT, 0.1),
        DrawnCell(Attack.PROTECT, 0.2),
        DrawnCell(None, half_silent=True),
        DrawnCell(Attack.PILE_ON, 0.3, rushed=True, half_silent=True),
    ]


def _brigades() -> list[DrawnCell]:
    """The full regime: those who organise come first as well as later, and in several shares."""
    rushed = [
        *((Attack.PILE_ON, share) for share in (0.1, 0.3, 0.4)),
        *((Attack.FALSE_RECORD, share) for share in (0.1, 0.2, 0.3)),
        *((Attack.AGED_SYBILS, share) for share in (0.3, 0.4)),
    ]
    later = [(attack, 0.3) for attack in (Attack.PILE_ON, Attack.FALSE_RECORD, Attack.AGED_SYBILS)]
    later += [(attack, share) for attack in (Attack.NEUTRAL, Attack.PROTECT) for share in (0.1, 0.2)]
    return [
        DrawnCell(None),
        *(DrawnCell(attack, share) for attack, share in later),
        *(DrawnCell(attack, share, rushed=True) for attack, share in rushed),
        *(DrawnCell(Attack.FALSE_RECORD, share, only_drawn=True) for share in (0.1, 0.3)),
        DrawnCell(None, half_silent=True),
        DrawnCell(Attack.PILE_ON, 0.3, rushed=True, half_silent=True),
    ]


def _quiet() -> list[DrawnCell]:
    """Those who organise say nothing about what they attack until they are drawn for it."""
    attacks = [(attack, share) for attack in (Attack.PILE_ON, Attack.FALSE_RECORD) for share in (0.1, 0.3)]
    return [
        DrawnCell(None),
        *(DrawnCell(attack, share, only_drawn=True) for attack, share in attacks),
        DrawnCell(Attack.NEUTRAL, 0.1),
        DrawnCell(Attack.PROTECT, 0.1),
    ]


@dataclass
class DrawnStage:
    """Communities of one size and world under its attacks; ``large`` ones rate ordinary notes too.

    ``ripe`` ones rate them so much that they are in the full regime. ``quiet``: panels decide everything, and answers
    are noisier.
    """

    stage: Stage
    cells: Sequence[DrawnCell]
    trials: int
    large: World | None = None
    ripe: bool = False
    quiet: bool = False


@dataclass(frozen=True)
class DrawnPlan:
    """How much to simulate; the same plan gives the same report.

    ``full``: so many communities of the full regime, and no others. ``quiet``: so many large ones, and four times as
    many small ones, attacked by people who keep quiet until they are drawn, and no others.
    """

    trials: int = 5
    seed: int = 1
    large: int = 1
    full: int = 0
    quiet: int = 0
    confirmed: bool = True
    most_against: int = MOST_AGAINST
    full_raters: int = 1_000
    full_items: int = 900

    def stages(self) -> list[DrawnStage]:
        if self.quiet:
            small, large = Stage(200, 240, 25.0), Stage(400, 600, 0.0)
            return [
                DrawnStage(small, _quiet(), 4 * self.quiet, quiet=True),
                DrawnStage(large, _quiet(), self.quiet, World.DIVIDED, ripe=True, quiet=True),
            ]
        if self.full:
            size = Stage(self.full_raters, self.full_items, 0.0)
            return [DrawnStage(size, _brigades(), self.full, World.DIVIDED, ripe=True)]
        return [
            *(
                DrawnStage(Stage(raters, items, each), cells, self.trials * max(1, STAGE_ITEMS // items))
                for raters, items, each, cells in (
                    (20, 30, 10.0, _few()),
                    (30, 66, 11.0, _few()),
                    (200, 240, 25.0, _all()),
                )
            ),
            DrawnStage(Stage(1_000, 1_500, 0.0), _all(), self.large, World.DIVIDED),
        ]


def run(plan: DrawnPlan, advance: Callable[[str], None]) -> list[DrawnStage]:
    """Measure; ``advance`` is called after each community."""
    stages = plan.stages()
    for place, stage in enumerate(stages):
        for trial in range(stage.trials):
            _trial(plan, place, trial, stage)
            advance(f"community {trial + 1} of {stage.trials}, of {stage.stage.raters} raters")
    return stages


def _trial(plan: DrawnPlan, place: int, trial: int, stage: DrawnStage) -> None:
    base = _made(np.random.default_rng([plan.seed, 7, place, trial]), stage)
    past = past_of(base)
    stage.stage.began(past)
    for number, cell in enumerate(stage.cells):
        seeds = [plan.seed, 8, place, trial, number]
        struck = strike(
            np.random.default_rng(seeds),
            base,
            cell.attack,
            cell.share,
            SINCE,
            rushed=cell.rushed,
            volunteering=not cell.only_drawn,
        )
        here = struck.community
        # Who pretends has always done so.
        before = past_of(here) if cell.attack is Attack.FALSE_RECORD else past
        for who in (Who.PANEL,) if stage.quiet else Who:
            dice = np.random.default_rng([*seeds, list(Who).index(who)])
            answers = np.full(len(here.people), ANSWERING)
            if cell.half_silent:
                answers[dice.random(len(answers)) < SILENT] = 0.0
            review: Review
            if who is Who.EVERYONE:
                review = before.fork(here.people)
            else:
                drawable = Drawable(
                    struck, answers, dice, most_against=plan.most_against, confirmed=plan.confirmed
                )
                review = DrawnReview.after(before, here.people, who, drawable)
            review.hear(here.votes.where(~is_past(here)))
            cell.add(who, review, struck)


def _made(dice: np.random.Generator, stage: DrawnStage) -> Community:
    size, surprise = stage.stage, NOISY_SURPRISE if stage.quiet else SURPRISE
    if stage.large is not None and stage.ripe:
        return large_community(
            dice,
            stage.large,
            size.raters,
            size.items,
            notes_share=RIPE_SHARE,
            note_votes=RIPE_VOTES,
            surprise=surprise,
        )
    if stage.large is not None:
        return large_community(dice, stage.large, size.raters, size.items)
    return community(dice, size.raters, size.items, each=size.each, surprise=surprise)
