"""Posts that say nearly the same as one that was matched before, found by MinHash (Broder 1997).

A repetition with some other words gets the same match without a search. Two posts whose sets of words and pairs are
alike share some of their smallest hashes, so candidates are found by a few lookups; whether they are alike enough is
then computed exactly.
"""

import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching.terms import Terms
from app.core.factcheck.search import Match

ALIKE = 0.7
"""The share of common words and pairs from which two posts say nearly the same: in twelve words, one other word."""
LEAST_WORDS = 6
"""Distinct words below which posts are not compared: one other word could be what matters."""
KEPT = 2_000
_HASHES = 64
_BANDS = 16
_RANDOM = np.random.default_rng(1997)
_FACTORS = _RANDOM.integers(1, 1 << 63, _HASHES, np.uint64) * np.uint64(2) + np.uint64(1)
_ADDENDS = _RANDOM.integers(0, 1 << 63, _HASHES, np.uint64)

Context = tuple[object, ...]
"""What two posts must have in common beside their words: community, state of its datasets, language."""
_Band = tuple[Context, int, bytes]


@dataclass(frozen=True)
class _Kept:
    """A matched post. ``needed``: the words that it shares with the claim, without which the match says nothing."""

    shingles: frozenset[object]
    against: object
    needed: frozenset[str]
    match: Match
    bands: tuple[_Band, ...]


class NearEqual:
    """The newest posts that matched a fact-check. Shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._bands: dict[_Band, set[int]] = {}
        self._next = 0

    def find(self, context: Context, post: Terms) -> Match | None:
        """The match of a kept post that says nearly the same; None if there is none.

        It has all words that the kept post shares with the claim, the same numbers, and denies the same.
        """
        if not self._kept or len(post.distinct) < LEAST_WORDS:
            return None
        shingles, against = _shingles(post), _against(post)
        bands = list(_bands(context, shingles))
        with self._lock:
            places = {place for band in bands for place in self._bands.get(band, ())}
            candidates = [self._kept[place] for place in sorted(places, reverse=True)]
        for kept in candidates:
            if kept.against == against and kept.needed <= post.distinct:
                common = len(shingles & kept.shingles)
                if common >= ALIKE * (len(shingles) + len(kept.shingles) - common):
                    return kept.match
        return None

    def keep(self, context: Context, post: Terms, claim: Terms, match: Match) -> None:
        """Keep a post that was matched by a search; ``claim`` is that of the fact-check."""
        if len(post.distinct) < LEAST_WORDS:
            return
        shingles = _shingles(post)
        bands = tuple(_bands(context, shingles))
        kept = _Kept(shingles, _against(post), post.distinct & claim.distinct, match, bands)
        with self._lock:
            self._kept[self._next] = kept
            for band in bands:
                self._bands.setdefault(band, set()).add(self._next)
            self._next += 1
            while len(self._kept) > KEPT:
                self._forget_oldest()

    def _forget_oldest(self) -> None:
        place, oldest = self._kept.popitem(last=False)
        for band in oldest.bands:
            self._bands[band].discard(place)
            if not self._bands[band]:
                del self._bands[band]


def _shingles(post: Terms) -> frozenset[object]:
    return post.distinct | post.pairs


def _against(post: Terms) -> object:
    """What a post denies, and its numbers: a small edit there changes what it says."""
    words = post.words
    denied = [words[place : place + 1] for place in (*post.negated_at, *post.denied_at)]
    return sorted(denied), len(post.negated_at), post.numbers, post.signed


def _bands(context: Context, shingles: frozenset[object]) -> Iterator[_Band]:
    hashed = np.array([zlib.crc32(repr(one).encode()) for one in shingles], dtype=np.uint64)
    smallest: NDArray[np.uint64] = (
        (_FACTORS[:, None] * hashed[None, :] + _ADDENDS[:, None]) >> np.uint64(32)
    ).min(axis=1)
    for number, band in enumerate(smallest.reshape(_BANDS, -1)):
        yield context, number, band.tobytes()
