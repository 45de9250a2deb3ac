"""How rare words are: counted among the fact-checks, with ordinary posts as the starting point.

A community with twenty fact-checks has too few to say that "people" is common and "seawater" is not. The shipped
figures of ordinary posts (one byte for each of 65,536 hashed words) say it until the fact-checks are many.
"""

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
_USUAL = [PRIOR * 2.0 ** (-step / STEPS) for step in range(256)]
"""For each value of a byte, how many of ``PRIOR`` posts contain the word."""


def bucket(word: str) -> int:
    """The place of a word among the shipped figures."""
    return zlib.crc32(word.encode()) % BUCKETS


def rarities(
    words: Iterable[str], counts: Mapping[str, int], items: int, background: NDArray[np.uint8]
) -> dict[str, float]:
    """For each word its rarity, 0.0 to 1.0. ``counts`` are the numbers of items that contain it, of ``items``."""
    rarest = math.log((items + PRIOR) / LEAST)
    steps, found = background.tobytes(), {}
    for word in words:
        often = counts.get(word, 0) + _USUAL[steps[bucket(word)]] + LEAST
        found[word] = max(0.0, math.log((items + PRIOR) / often) / rarest)
    return found


def measured(counts: Mapping[str, int], posts: int) -> NDArray[np.uint8]:
    """The figures to ship: from the number of posts that contain each word."""
    sums = np.zeros(BUCKETS)
    for word, count in counts.items():
        sums[bucket(word)] += count
    return np.clip(np.rint(STEPS * np.log2(posts / np.maximum(sums, 0.3))), 0, 255).astype(np.uint8)
