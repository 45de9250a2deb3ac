"""The shipped model of the matcher: a file of numbers, read once (docs/moderate/fact-checks.md).

It also says how rare words are in ordinary posts: one byte for each of 65,536 hashed words.
"""

import hashlib
import io
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching import features
from app.core.factcheck.matching.features import NAMES

Floats = NDArray[np.float64]

CODE_VERSION = 2
"""Changes with the code that reads words and computes features, because the weights fit only that code."""
FARTHEST = 5.0
"""A feature is clipped at this many standard deviations from its mean."""
BUCKETS = 1 << 16
STEPS = 12.0
"""A byte of the shipped figures is this many times the binary logarithm of "one post in …"."""
PRIOR = 2_000.0
"""The ordinary posts weigh as much as this many fact-checks."""
LEAST = 0.5
_USUAL = [PRIOR * 2.0 ** (-step / STEPS) + LEAST for step in range(256)]
"""For each value of a byte, how many of ``PRIOR`` posts contain the word."""
_RARITY = [max(0.0, math.log(PRIOR / usual) / math.log(PRIOR / LEAST)) for usual in _USUAL]


@dataclass(frozen=True)
class LinearWeights:
    """``ranking`` orders candidates; ``showing`` turns the first one into the probability that it is right.

    ``showing`` has a weight for each feature, three for how far the first is ahead of the others, and a constant.
    ``bar``: the probability from which the first one is shown. ``means`` and ``scales`` scale the features.
    """

    means: Floats
    scales: Floats
    ranking: Floats
    showing: Floats
    bar: float
    facts: Mapping[str, Any]
    digest: str

    def scaled(self, features: Floats) -> Floats:
        return np.clip((features - self.means) / self.scales, -FARTHEST, FARTHEST)

    def probability(self, first: Floats, scores: Floats) -> float:
        """The probability that the candidate with the highest score is right; ``first`` are its scaled features."""
        output = float(np.concatenate([first, ahead(scores)]) @ self.showing[:-1]) + float(self.showing[-1])
        return float(1 / (1 + np.exp(-output)))


@dataclass(frozen=True)
class Weights(LinearWeights):
    """The weights for words alone. ``background``: see ``rarities``."""

    background: NDArray[np.uint8]

    @property
    def version(self) -> str:
        return f"{CODE_VERSION}+{self.digest[:12]}"


def ahead(scores: Floats) -> Floats:
    """How good the highest score is, how far it is ahead of the second, and its share among all."""
    ordered = np.sort(scores)[::-1]
    margin = min(float(ordered[0] - ordered[1]), 6.0) if len(ordered) > 1 else 6.0
    share = 1.0 / float(np.exp(ordered - ordered[0]).sum())
    return np.array([ordered[0] / 5, margin / 3, share])


def read_weights(content: bytes) -> Weights:
    """Read a file of weights.

    Raises:
        ValueError: it was made for other features than this code's.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        facts = json.loads(bytes(arrays["facts"]))
        if facts["features"] != list(NAMES) or facts["code"] != CODE_VERSION:
            raise ValueError("the weights are for other features than this code's")
        return Weights(background=arrays["background"], **_of_both(arrays, facts, content))


def _of_both(arrays: Mapping[str, Any], facts: Mapping[str, Any], content: bytes) -> dict[str, Any]:
    """What weights of words and weights of meaning have in common."""
    return {
        "means": arrays["means"],
        "scales": arrays["scales"],
        "ranking": arrays["ranking"],
        "showing": arrays["showing"],
        "bar": float(facts["bar"]),
        "facts": facts,
        "digest": hashlib.sha256(content).hexdigest(),
    }


def shipped_file() -> Path:
    """The file of weights in this package."""
    return Path(str(resources.files("app.core.factcheck.matching"))) / "matcher.npz"


def read_meaning_weights(content: bytes, words: Weights) -> LinearWeights:
    """Read a file of weights for posts of which it is also known how near the items are by their meaning.

    ``ranking`` and ``showing`` begin with the features of words, scaled by ``words``; ``means`` and ``scales`` are
    those of meaning alone.

    Raises:
        ValueError: it was made for other features than this code's, or for other weights of words.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        facts = json.loads(bytes(arrays["facts"]))
        if facts["features"] != [*NAMES, *features.MEANING_NAMES] or facts["words"] != words.digest:
            raise ValueError("the weights are for other features or other weights of words")
        return LinearWeights(**_of_both(arrays, facts, content))


def meaning_file() -> Path:
    """The file of weights for meaning and words in this package."""
    return shipped_file().with_name("meaning.npz")


@cache
def shipped() -> Weights:
    """The shipped weights; read on first use and shared by all threads."""
    return read_weights(shipped_file().read_bytes())


@cache
def shipped_meaning() -> LinearWeights:
    """The shipped weights for meaning and words, read and shared like those."""
    return read_meaning_weights(meaning_file().read_bytes(), shipped())


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
