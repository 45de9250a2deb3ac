"""From an index to candidates with their features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching import features
from app.core.factcheck.matching.index import Found, Index
from app.core.factcheck.matching.rarity import rarities
from app.core.factcheck.matching.terms import Terms

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
"""Words of a post from which the part that makes the claim is looked at alone, too."""
AROUND = 8
"""Words before and after that part."""


@dataclass(frozen=True)
class Candidates:
    """The items that share the most and rarest words with a post, best first, and one row of features for each."""

    post: Terms
    found: Sequence[Found]
    rarity: Mapping[str, float]
    features: NDArray[np.float64]

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
        return Candidates(part, self.found, self.rarity, _features(part, self.found, self.rarity))


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
    near: Sequence[int] = (),
) -> Candidates:
    """Search the index with all words of the post. Items that are known to be in another language are left out.

    ``near``: the numbers of the items that are nearest to the post by their meaning, nearest first, if that is known.
    """
    words = sorted(post.distinct | post.signed)
    postings = index.postings(words)
    counts = {word: sum(map(len, parts)) for word, parts in postings.items()}
    rarity = rarities(words, counts, index.size, background)
    sums = np.zeros(index.size)
    for word in sorted(postings):
        for numbers in postings[word]:
            sums[numbers] += rarity[word]
    by_words, near = _best(sums, MOST + SPARE), near[:NEAR_MOST]
    best = fused(by_words, near)
    items = {
        one.number: one
        for one in index.items(best)
        if language is None or one.language is None or one.language == language
    }
    # What words alone find stays, whatever is near by meaning.
    kept = {*[number for number in by_words if number in items][:MOST], *near}
    found = [items[number] for number in best if number in items and number in kept]
    others = frozenset().union(*(one.candidate.both for one in found)) - rarity.keys()
    rarity |= rarities(others, index.counts(others), index.size, background)
    return Candidates(post, found, rarity, _features(post, found, rarity))


def fused(by_words: Sequence[int], by_meaning: Sequence[int]) -> list[int]:
    """One order of two (reciprocal rank fusion, Cormack et al. 2009): early in both is best; equal ones by words."""
    scores: dict[int, float] = {}
    for numbers in (by_words, by_meaning):
        for place, number in enumerate(numbers):
            scores[number] = scores.get(number, 0.0) + 1.0 / (RANK_OFFSET + place)
    return sorted(scores, key=lambda number: -scores[number])


def _best(sums: NDArray[np.float64], most: int) -> list[int]:
    """The places of the largest sums above 0, the largest first, the smaller place before the larger."""
    places = np.flatnonzero(sums)
    if len(places) > most:
        least = np.partition(sums[places], len(places) - most)[len(places) - most]
        places = places[sums[places] >= least]
    order = np.lexsort((places, -sums[places]))[:most]
    return [int(place) for place in places[order]]
