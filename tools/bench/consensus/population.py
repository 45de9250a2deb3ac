"""Made-up communities: people on an axis of viewpoints, content whose truth is known, and honest votes.

What is assumed, so that it can be doubted:

- Two camps of equal size, give or take a twentieth; within a camp viewpoints spread, standard deviation 0.35 of the
  distance from the middle.
- How strongly somebody feels that content should be acted on: its quality (how bad it is for anybody), plus its slant
  times their viewpoint, plus how strict they are (sd 0.10), plus what nobody can predict (sd 0.28). Above 0.67 they
  say yes, below 0.33 no, between "not sure". One vote in thirty is a slip: any of the three.
- A few people vote a lot and some content draws many votes, both by a power law (Pareto, exponent 2).
- Content opens evenly over a month and is voted on with a mean delay of 18 hours.
- A large community also rates ordinary notes, which draw votes for as long as anybody comes by. How much divides its
  camps is part of its ``World``.
"""

from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from app.core.scoring import BoolArray, FloatArray, IntArray

LevelArray = npt.NDArray[np.int8]
NO, UNSURE, YES = 0, 1, 2
"""Votes, in the halves that ``VALUES`` makes of them: NOT_HELPFUL, SOMEWHAT_HELPFUL, HELPFUL."""

SPREAD, STRICTNESS, SURPRISE, SLIP = 0.35, 0.10, 0.28, 1 / 30
NOISY_SURPRISE = 0.36
"""``SURPRISE`` of communities whose answers are noisier."""
SURE_YES, SURE_NO = 0.67, 0.33
VOTES_EACH = 25.0
"""Mean number of people who would vote on one piece of content."""
HOURS = 30 * 24.0
HONEST_DELAY = 18.0
GRAVE_SHARE = 0.25
"""Share of content on which the action asked for cannot be taken back (delete, silence)."""
GOOD_AT, BAD_AT = 0.55, 0.40
"""A camp wants an action from the first expected vote on, and does not below the second (docs/develop/consensus.md)."""


class World(StrEnum):
    """How much divides a large community, in the words of the table."""

    DIVIDED = "two camps"
    MILD = "two mild camps"
    UNITED = "no camps"


LEAN = {World.DIVIDED: 0.28, World.MILD: 0.12, World.UNITED: 0.0}
"""Standard deviation of the slant of ordinary notes."""
_SHARES = {World.DIVIDED: (1 / 3, 1 / 3), World.MILD: (0.4, 0.1), World.UNITED: (0.4, 0.0)}
"""Shares of content under review that are bad and divisive; the rest is fine."""
NOTES_SHARE = 0.3
"""Share of a large community's content that is ordinary notes."""
NOTE_VOTES, POST_VOTES = 28.0, 14.0
"""Mean number of people who would vote on one of a large community's notes, and on one of its posts under review."""
RIPE_SHARE, RIPE_VOTES = 1 / 3, 60.0
"""The same two of a community that rates its notes so much that it is in the full regime when the attack begins."""


class Truth(IntEnum):
    """What should happen to content: act on what both camps call bad, keep what divides them or is fine."""

    FINE = 0
    DIVISIVE = 1
    BAD = 2
    BETWEEN = 3


_QUALITY = {Truth.BAD: (0.85, 0.12), Truth.DIVISIVE: (0.50, 0.10), Truth.FINE: (0.15, 0.12)}
_SLANT = {Truth.BAD: (0.0, 0.10), Truth.DIVISIVE: (0.36, 0.08), Truth.FINE: (0.0, 0.10)}
"""Mean and standard deviation; the slant of what is divisive falls to either side."""


@dataclass(frozen=True, eq=False)
class People:
    """One entry per person. ``camp`` is -1 or 1; ``first_seen`` in hours, minus infinity for those known for long."""

    camp: IntArray
    viewpoint: FloatArray
    strictness: FloatArray
    activity: FloatArray
    careless: BoolArray
    first_seen: FloatArray

    def __len__(self) -> int:
        return len(self.camp)

    def and_accounts(self, first_seen: FloatArray) -> "People":
        """With as many more accounts that are nobody."""
        count = len(first_seen)
        nothing, nobody = np.zeros(count), np.zeros(count, np.bool_)
        return People(
            np.concatenate([self.camp, np.zeros(count, np.int64)]),
            np.concatenate([self.viewpoint, nothing]),
            np.concatenate([self.strictness, nothing]),
            np.concatenate([self.activity, nothing]),
            np.concatenate([self.careless, nobody]),
            np.concatenate([self.first_seen, first_seen]),
        )


@dataclass(frozen=True, eq=False)
class Content:
    """One entry per piece of content. ``owner`` is the camp it comes from; ``opened`` in hours.

    ``reviewed``: whether it is under review, so that votes would have something done to it; ordinary notes are not.
    ``surprise``: the standard deviation of what nobody can predict of an answer.
    """

    quality: FloatArray
    slant: FloatArray
    truth: IntArray
    owner: IntArray
    grave: BoolArray
    opened: FloatArray
    reviewed: BoolArray
    surprise: float = SURPRISE

    def __len__(self) -> int:
        return len(self.quality)

    @property
    def must_stay(self) -> BoolArray:
        return np.asarray(self.reviewed & ((self.truth == Truth.FINE) | (self.truth == Truth.DIVISIVE)))

    @property
    def should_go(self) -> BoolArray:
        return np.asarray(self.reviewed & (self.truth == Truth.BAD))


@dataclass(frozen=True, eq=False)
class Votes:
    """One entry per vote, by time (hours): ``item`` and ``rater`` are places, ``level`` is 0, 1 or 2."""

    item: IntArray
    rater: IntArray
    level: LevelArray
    at: FloatArray

    def __len__(self) -> int:
        return len(self.item)

    @classmethod
    def none(cls) -> "Votes":
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, np.zeros(0, np.int8), np.zeros(0))

    def where(self, chosen: "BoolArray | IntArray | slice") -> "Votes":
        return Votes(self.item[chosen], self.rater[chosen], self.level[chosen], self.at[chosen])

    def joined(self, other: "Votes") -> "Votes":
        """Both, by time; who votes in ``other`` does not vote on the same content here."""
        width = int(max(self.rater.max(initial=0), other.rater.max(initial=0))) + 1
        twice = np.isin(self.item * width + self.rater, other.item * width + other.rater)
        return self.where(~twice).and_later(other).by_time()

    def and_later(self, later: "Votes") -> "Votes":
        """These, then those."""
        return Votes(
            np.concatenate([self.item, later.item]),
            np.concatenate([self.rater, later.rater]),
            np.concatenate([self.level, later.level]),
            np.concatenate([self.at, later.at]),
        )

    def by_time(self) -> "Votes":
        return self.where(np.argsort(self.at, kind="stable"))


@dataclass(frozen=True, eq=False)
class Community:
    """``votes`` are what everybody honestly thinks, before any attack."""

    people: People
    content: Content
    votes: Votes


def community(
    dice: np.random.Generator,
    raters: int,
    items: int,
    *,
    each: float = VOTES_EACH,
    careless: float = 0.0,
    first_camp: float = 0.5,
    united: bool = False,
    surprise: float = SURPRISE,
) -> Community:
    """A community with content under review: a third each bad for both camps, divisive and fine.

    ``each`` is how many votes content would draw on average, ``careless`` the share of people who vote at random,
    ``first_camp`` that of camp -1, give or take a twentieth. ``united``: nobody has a viewpoint and nothing divides; a
    third is bad, and two thirds fine.
    """
    people = _people(dice, raters, careless, first_camp)
    truth = dice.permutation(np.arange(items, dtype=np.int64) % 3)
    if united:
        people = replace(people, viewpoint=np.zeros(raters))
        truth[truth == Truth.DIVISIVE] = Truth.FINE
    quality, slant = _appeal(dice, truth)
    content = replace(_content(dice, quality, slant, truth), surprise=surprise)
    return Community(people, content, honest_votes(dice, people, content, each))


def large_community(
    dice: np.random.Generator,
    world: World,
    raters: int,
    items: int,
    *,
    careless: float = 0.0,
    notes_share: float = NOTES_SHARE,
    note_votes: float = NOTE_VOTES,
    surprise: float = SURPRISE,
) -> Community:
    """A community that rates ordinary notes, all opened in the first half of the month, beside content under review.

    ``notes_share`` of its content are notes, which draw ``note_votes`` votes on average.
    """
    people = _people(dice, raters, careless, 0.5)
    if world is World.UNITED:
        people = replace(people, viewpoint=np.zeros(raters))
    notes = round(notes_share * items)
    reviewed = np.arange(items) >= notes
    posts, (bad, divisive) = items - notes, _SHARES[world]
    sizes = [round(bad * posts), round(divisive * posts)]
    kinds = np.repeat([Truth.BAD, Truth.DIVISIVE, Truth.FINE], [*sizes, posts - sum(sizes)]).astype(np.int64)
    kinds = dice.permutation(kinds)
    quality, slant = _appeal(dice, kinds)
    quality = np.concatenate([dice.normal(0.5, 0.25, notes), quality])
    slant = np.concatenate([dice.normal(0.0, 1.0, notes) * LEAN[world], slant])
    truth = np.concatenate([truth_of(quality[:notes], slant[:notes]), kinds])
    order = np.argsort(dice.random(items) * np.where(reviewed, 1.0, 0.5), kind="stable")
    content = replace(_content(dice, quality[order], slant[order], truth[order]), reviewed=reviewed[order])
    content = replace(content, grave=content.grave & content.reviewed, surprise=surprise)
    of_notes = honest_votes(dice, people, content, note_votes)
    of_posts = honest_votes(dice, people, content, POST_VOTES)
    votes = of_notes.where(~content.reviewed[of_notes.item])
    return Community(people, content, votes.joined(of_posts.where(content.reviewed[of_posts.item])))


def crowd_with_notes(
    dice: np.random.Generator, raters: int, notes: int, ratings: int, *, lean: float = 0.28
) -> Community:
    """A community that rates ordinary notes of any quality (mean 0.5, sd 0.25) and slant (sd ``lean``).

    The truth of most of them lies between; about ``ratings`` ratings.
    """
    people = _people(dice, raters, 0.0, 0.5)
    quality, slant = dice.normal(0.5, 0.25, notes), dice.normal(0.0, 1.0, notes) * lean
    content = _content(dice, quality, slant, truth_of(quality, slant))
    nothing = np.zeros(notes, np.bool_)
    content = replace(content, grave=nothing, reviewed=nothing)
    return Community(people, content, honest_votes(dice, people, content, ratings / notes))


def expected(quality: FloatArray, slant: FloatArray, camp: int) -> FloatArray:
    """The mean vote, 0 to 1, of a camp's middle."""
    felt, spread = quality + slant * camp, float(np.hypot(STRICTNESS, SURPRISE))
    sure: FloatArray = 0.5 * (ndtr((felt - SURE_NO) / spread) + ndtr((felt - SURE_YES) / spread))
    return (1 - SLIP) * sure + SLIP * 0.5


def truth_of(quality: FloatArray, slant: FloatArray) -> IntArray:
    """Bad: both camps want it acted on; divisive: one does and the other does not; fine: neither does."""
    one, other = expected(quality, slant, -1), expected(quality, slant, 1)
    low, high = np.minimum(one, other), np.maximum(one, other)
    truth = np.full(len(quality), int(Truth.BETWEEN))
    truth[low >= GOOD_AT] = Truth.BAD
    truth[high < BAD_AT] = Truth.FINE
    truth[(low < BAD_AT) & (high >= GOOD_AT)] = Truth.DIVISIVE
    return truth.astype(np.int64)


def honest_votes(dice: np.random.Generator, people: People, content: Content, each: float) -> Votes:
    """What people say, about ``each`` votes on one piece of content."""
    drawn = _draws(dice, people, content, each)
    item, rater = np.nonzero(drawn)
    return _said(dice, people, content, item.astype(np.int64), rater.astype(np.int64))


def _people(dice: np.random.Generator, count: int, careless: float, first_camp: float) -> People:
    first = round(count * (first_camp + dice.uniform(-0.05, 0.05)))
    camp = dice.permutation(np.where(np.arange(count) < first, -1, 1)).astype(np.int64)
    return People(
        camp,
        (camp * np.maximum(0.0, dice.normal(1.0, SPREAD, count))).astype(np.float64),
        dice.normal(0.0, STRICTNESS, count),
        dice.pareto(2.0, count) + 1.0,
        dice.permutation(np.arange(count) < round(careless * count)),
        np.full(count, -np.inf),
    )


def _appeal(dice: np.random.Generator, truth: IntArray) -> tuple[FloatArray, FloatArray]:
    """Quality and slant of content of this truth, drawn until the camps' expected votes agree with it."""
    quality, slant = np.zeros(len(truth)), np.zeros(len(truth))
    wanting = np.arange(len(truth))
    while len(wanting):
        for kind in _QUALITY:
            of_kind = wanting[truth[wanting] == kind]
            quality[of_kind] = dice.normal(*_QUALITY[kind], len(of_kind))
            side = np.where(dice.random(len(of_kind)) < 0.5, -1.0, 1.0)
            slant[of_kind] = side * dice.normal(*_SLANT[kind], len(of_kind))
        wanting = wanting[truth_of(quality[wanting], slant[wanting]) != truth[wanting]]
    return quality, slant


def _content(dice: np.random.Generator, quality: FloatArray, slant: FloatArray, truth: IntArray) -> Content:
    count = len(truth)
    anybody = np.where(dice.random(count) < 0.5, -1, 1)
    # What one camp alone wants gone comes from the other.
    owner = np.where(truth == Truth.DIVISIVE, -np.sign(slant), anybody).astype(np.int64)
    opened = (np.arange(count) + dice.random(count)) * HOURS / count
    grave = dice.random(count) < GRAVE_SHARE
    return Content(quality, slant, truth, owner, grave, opened, np.ones(count, np.bool_))


def _draws(dice: np.random.Generator, people: People, content: Content, each: float) -> BoolArray:
    """Who votes on what, ``(content, people)``: by activity, without repetition (Gumbel's top k)."""
    popularity = dice.pareto(2.0, len(content)) + 1.0
    wanted = np.clip(popularity * each / popularity.mean(), 3, len(people)).astype(np.int64)
    shape = (len(content), len(people))
    keys = np.log(people.activity) + dice.gumbel(size=shape)
    rank = np.empty(shape, np.int64)
    np.put_along_axis(rank, np.argsort(-keys, axis=1), np.arange(len(people))[None, :], axis=1)
    return np.asarray(rank < wanted[:, None])


def levels(
    dice: np.random.Generator, people: People, content: Content, item: IntArray, rater: IntArray
) -> LevelArray:
    """What these people honestly think of these pieces of content."""
    felt = content.quality[item] + content.slant[item] * people.viewpoint[rater] + people.strictness[rater]
    felt = felt + dice.normal(0.0, content.surprise, len(item))
    level = np.where(felt > SURE_YES, YES, np.where(felt < SURE_NO, NO, UNSURE))
    anything = dice.integers(0, 3, len(item))
    level = np.where((dice.random(len(item)) < SLIP) | people.careless[rater], anything, level)
    return level.astype(np.int8)


def _said(
    dice: np.random.Generator, people: People, content: Content, item: IntArray, rater: IntArray
) -> Votes:
    level = levels(dice, people, content, item, rater)
    at = content.opened[item] + dice.exponential(HONEST_DELAY, len(item))
    return Votes(item, rater, level, at).by_time()
