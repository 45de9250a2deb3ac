"""How rare words are in ordinary posts: one byte for each of 65,536 hashed words, part of the shipped weights."""

import math
import zlib
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

BUCKETS = 1 << 16
STEPS = 12.0
"""A byte of the shipped figures is so many times the binary logarithm of "one post in …"."""
PRIOR = 2_000.0
"""The ordinary posts weigh as much as so many fact-checks."""
LEAST = 0.5
_USUAL = [PRIOR * 2.0 ** (-step / STEPS) + LEAST for step in range(256)]
"""For each value of a byte, how many of ``PRIOR`` posts contain the word."""
_RARITY = [max(0.0, math.log(PRIOR / usual) / math.log(PRIOR / LEAST)) for usual in _USUAL]


def bucket(word: str) -> int:
    """The place of a word among the shipped figures."""
    return zlib.crc32(word.encode()) % BUCKETS


def rarities(words: Iterable[str], background: NDArray[np.uint8]) -> dict[str, float]:
    """For each word (a stem) its rarity, 0.0 to 1.0."""
    steps = background.tobytes()
    return {word: _RARITY[steps[bucket(word)]] for word in words}


def weight(word: str, count: int, items: int, background: NDArray[np.uint8]) -> float:
    """What sharing a word says in a search (inverse document frequency); ``count`` of the ``items`` contain it."""
    return math.log((items + PRIOR) / (count + _USUAL[background[bucket(word)]]))


def measured(counts: Mapping[str, int], posts: int) -> NDArray[np.uint8]:
    """The figures to ship: from the number of posts that contain each word."""
    sums = np.zeros(BUCKETS)
    for word, count in counts.items():
        sums[bucket(word)] += count
    return np.clip(np.rint(STEPS * np.log2(posts / np.maximum(sums, 0.3))), 0, 255).astype(np.uint8)
