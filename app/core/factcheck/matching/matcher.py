"""Matches a post with the fact-checks of an index: ranks them, and says which one is sure enough to be shown."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching import features, terms
from app.core.factcheck.matching.features import Background, Candidate, contradicts
from app.core.factcheck.matching.terms import Terms
from app.core.factcheck.matching.weights import (
    LinearWeights,
    Weights,
    rarities,
    shipped_meaning,
)

MOST = 40
"""Candidates that are compared closely; the right one is among them for 96 of 100 posts that have one."""
SPARE = 10
"""More are asked for, in case some are gone or in another language."""
NEAR_MOST = 20
"""More candidates, at most, because their meaning is near to the post's."""
RANK_OFFSET = 60
"""How little the first places of a ranking count more than later ones when two rankings are made one."""
ALIKE = 0.6
"""The share of common words from which two claims say the same: several publishers check one claim."""
LONG = 45
"""Words of a post from which the part that makes the claim is compared alone, too."""
AROUND = 8
"""Words before and after that part."""
_POST_IN_BOTH = features.NAMES.index("post_in_both")


@dataclass(frozen=True)
class Found:
    """An item of an index. ``language`` is a primary language subtag, None where it is unknown.

    ``read`` gives its words: of the items that are found, some are left out before their words are needed.
    """

    number: int
    read: Callable[[], Candidate]
    language: str | None = None

    @cached_property
    def candidate(self) -> Candidate:
        return self.read()


class Index(Protocol):
    """A full-text search over fact-checks, which it knows by numbers."""

    def best(self, post: Terms, background: NDArray[np.uint8], most: int) -> Sequence[int]:
        """The numbers of the items that share the most and rarest words with a post, best first."""
        ...

    def items(self, numbers: Sequence[int]) -> Sequence[Found]:
        """The items with these numbers, in any order; numbers of items that are gone are left out."""
        ...


class Near(Protocol):
    """How near the items are to a post by their meaning."""

    @property
    def numbers(self) -> Sequence[int]:
        """The items that are nearest to it, nearest first."""
        ...

    @property
    def background(self) -> Background | None:
        """How near all items are to it; None where they are too few to say what near means."""
        ...

    def cosines(self, numbers: Collection[int]) -> Mapping[int, float]:
        """How near each of these items is; items without a vector are left out. Ask only for what ``items`` gave."""
        ...


@dataclass(frozen=True)
class Candidates:
    """The items that share the most and rarest words with a post, best first, and one row of features for each.

    ``meaning`` has more features of each, if it is known how near they are by their meaning.
    """

    post: Terms
    found: Sequence[Found]
    rarity: Mapping[str, float]
    features: NDArray[np.float64]
    meaning: NDArray[np.float64] | None = None

    def rivals(self, first: int) -> NDArray[np.bool_]:
        """Which candidates compete with this one: itself, and those that do not just say the same once more."""
        one = self.found[first].candidate.claim
        return np.array(
            [
                place == first or not _are_alike(one, other.candidate.claim)
                for place, other in enumerate(self.found)
            ]
        )

    def around(self, place: int) -> "Candidates":
        """The same candidates for only that part of a long post which has most of this candidate's words."""
        _, start, end = features.best_window(self.post, self.found[place].candidate.claim, self.rarity)
        part = self.post.part(start - AROUND, end + 1 + AROUND)
        of_part = _features(part, self.found, self.rarity)
        # The vector is the whole post's; how near it is does not change.
        return replace(self, post=part, features=of_part)


def _are_alike(one: Terms, other: Terms) -> bool:
    both = len(one.distinct | other.distinct)
    return (
        bool(both)
        and len(one.distinct & other.distinct) / both >= ALIKE
        and bool(one.negated_at) == bool(other.negated_at)
        and not features.numbers_differ(one, other)
    )


def _features(post: Terms, found: Sequence[Found], rarity: Mapping[str, float]) -> NDArray[np.float64]:
    return features.matrix(post, [one.candidate for one in found], rarity)


def find(
    post: Terms,
    index: Index,
    background: NDArray[np.uint8],
    language: str | None = None,
    near: Near | None = None,
) -> Candidates:
    """Search the index with all words of the post. Items that are known to be in another language are left out.

    ``near``: how near the items are to the post by their meaning, if that is known.
    """
    by_words = index.best(post, background, MOST + SPARE)
    by_meaning = [] if near is None else near.numbers[:NEAR_MOST]
    best = fused(by_words, by_meaning)
    items = {
        one.number: one
        for one in index.items(best)
        if language is None or one.language is None or one.language == language
    }
    # What words alone find stays, whatever is near by meaning.
    kept = {*[number for number in by_words if number in items][:MOST], *by_meaning}
    found = [items[number] for number in best if number in items and number in kept]
    words = (post.distinct | post.signed).union(*(one.candidate.both for one in found))
    rarity = rarities(words, background)
    of_words = _features(post, found, rarity)
    return Candidates(post, found, rarity, of_words, _meaning(found, of_words, near))


def _meaning(
    found: Sequence[Found], of_words: NDArray[np.float64], near: Near | None
) -> NDArray[np.float64] | None:
    if near is None or near.background is None or not found:
        return None
    cosines = near.cosines([one.number for one in found])
    if cosines.keys() != {one.number for one in found}:
        # Beside one that is new and has no vector yet, the others would look better than they are.
        return None
    ordered = np.array([cosines[one.number] for one in found])
    return features.meaning_matrix(ordered, near.background, of_words[:, _POST_IN_BOTH])


def fused(by_words: Sequence[int], by_meaning: Sequence[int]) -> list[int]:
    """One order of two (reciprocal rank fusion, Cormack et al. 2009): early in both is best; equal ones by words."""
    scores: dict[int, float] = {}
    for numbers in (by_words, by_meaning):
        for place, number in enumerate(numbers):
            scores[number] = scores.get(number, 0.0) + 1.0 / (RANK_OFFSET + place)
    return sorted(scores, key=lambda number: -scores[number])


PASSAGE = 1_200
"""Characters of a long post that are matched at once: a claim takes a few sentences, not a whole article."""
OVERLAP = 300
PASSAGES = 60


@dataclass(frozen=True)
class Ranked:
    """An item with its probability to be the right one, 0.0 to 1.0."""

    number: int
    score: float


@dataclass(frozen=True)
class Outcome:
    """The best items, best first. ``shown``: the first one, if it is sure enough and the post says the same.

    A post that denies the claim, or names other numbers, does not say the same.
    """

    ranked: tuple[Ranked, ...] = ()
    shown: Ranked | None = None


def match(
    text: str,
    index: Index,
    weights: Weights,
    language: str | None = None,
    most: int = 10,
    near: Near | None = None,
) -> Outcome:
    """Match a post. ``language`` is its primary language subtag; items known to be in another one are left out.

    ``near``: how near the items are to it by their meaning, if that is known.
    """
    best: dict[int, float] = {}
    first: tuple[float, Outcome] = (-1.0, Outcome())
    for passage in _passages(text):
        outcome = _match(passage, index, weights, language, near)
        for ranked in outcome.ranked:
            best[ranked.number] = max(ranked.score, best.get(ranked.number, 0.0))
        if outcome.ranked:
            # Of two passages, one that makes the claim tells more than one that denies it.
            sure = outcome.ranked[0].score + (1.0 if outcome.shown is not None else 0.0)
            first = max(first, (sure, outcome), key=lambda pair: pair[0])
    chosen = first[1]
    if chosen.ranked:
        best[chosen.ranked[0].number] = max(best.values())
    # Equal scores keep the order of the passages.
    order = sorted(best, key=lambda number: (-best[number], number != chosen.ranked[0].number))
    return Outcome(
        tuple(Ranked(number, round(best[number], 4)) for number in order[:most]),
        chosen.shown,
    )


def _passages(text: str) -> Iterator[str]:
    if len(text) <= PASSAGE:
        yield text
        return
    for number, start in enumerate(range(0, len(text) - OVERLAP, PASSAGE - OVERLAP)):
        if number == PASSAGES:
            return
        yield text[start : start + PASSAGE]


def _match(text: str, index: Index, weights: Weights, language: str | None, near: Near | None) -> Outcome:
    """Where words are sure, or it is not known how near the items are by their meaning, words alone decide."""
    post = terms.read(text)
    found = find(post, index, weights.background, language, near)
    if not found.found:
        return Outcome()
    outcome, first = _outcome(found, weights)
    part = found.around(first) if len(post.words) > LONG else None
    if part is not None:
        of_part, _ = _outcome(part, weights)
        outcome = max(outcome, of_part, key=_sureness)
    if outcome.shown is not None or found.meaning is None:
        return outcome
    outcome = _by_meaning(found, weights, shipped_meaning())
    return (
        outcome
        if part is None
        else max(outcome, _by_meaning(part, weights, shipped_meaning()), key=_sureness)
    )


def _sureness(outcome: Outcome) -> tuple[bool, float]:
    return outcome.shown is not None, outcome.ranked[0].score


def _outcome(found: Candidates, weights: Weights) -> tuple[Outcome, int]:
    """The outcome, and the place of the first candidate."""
    scaled = weights.scaled(found.features)
    scores = scaled @ weights.ranking
    first = int(np.argmax(scores))
    likely = weights.probability(scaled[first], scores[found.rivals(first)])
    is_shown = likely >= weights.bar and not contradicts(found.features[first])
    return _ordered(found, scores, likely, is_shown=is_shown), first


def _by_meaning(found: Candidates, words: Weights, weights: LinearWeights) -> Outcome:
    """The outcome by words and meaning. An item is shown only if it is also the nearest of all to the post."""
    assert found.meaning is not None  # noqa: S101 - its callers checked; narrows the type
    scaled = np.hstack([words.scaled(found.features), weights.scaled(found.meaning)])
    scores = scaled @ weights.ranking
    first = int(np.argmax(scores))
    likely = weights.probability(scaled[first], scores[found.rivals(first)])
    is_shown = (
        likely >= weights.bar
        and features.is_nearest(found.meaning[first])
        and not contradicts(found.features[first])
    )
    return _ordered(found, scores, likely, is_shown=is_shown)


def _ordered(found: Candidates, scores: NDArray[np.float64], likely: float, *, is_shown: bool) -> Outcome:
    """All candidates, best first: the others share the first one's probability by their distance from it."""
    order = np.argsort(-scores, kind="stable")
    ranked = tuple(
        Ranked(found.found[place].number, likely * float(np.exp(scores[place] - scores[order[0]])))
        for place in order
    )
    return Outcome(ranked, Ranked(ranked[0].number, round(likely, 4)) if is_shown else None)
