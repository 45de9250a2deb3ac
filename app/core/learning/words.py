"""The words that count most in a model, for people to read.

They come from the community's own posts. Only words that several authors used are named, so that none of them tells
what one person wrote.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.classify.features import named_features
from app.core.learning.logistic import Linear

MOST_TEXTS = 2_000
MOST_WORDS = 12
LEAST_AUTHORS = 3
LONGEST = 40
_CANDIDATES = 2_000
_PART = r"(?:[^\W\d_]+(?:'[^\W\d_]+)*|\[[a-z ]+\])"
_READABLE = re.compile(rf"{_PART}(?: {_PART})?")


@dataclass(frozen=True)
class Word:
    """One or two words, and how many authors used them."""

    text: str
    authors: int


@dataclass(frozen=True)
class Words:
    """The words that raise the score most, and those that lower it most."""

    raising: Sequence[Word]
    lowering: Sequence[Word]


def strongest(linear: Linear, posts: Sequence[tuple[str, str]]) -> Words:
    """The words with the largest weights among the newest of these posts, each a text and its author."""
    weights = {
        int(bucket): linear.scale * int(level)
        for bucket, level in zip(linear.buckets, linear.levels, strict=True)
    }
    largest = set(sorted(weights, key=lambda bucket: (-abs(weights[bucket]), bucket))[:_CANDIDATES])
    users: dict[int, set[str]] = {}
    names: dict[int, str] = {}
    for content, author in posts[-MOST_TEXTS:]:
        for bucket, name in named_features(content, largest).items():
            if _is_readable(name):
                users.setdefault(bucket, set()).add(author)
                names.setdefault(bucket, name)
    strengths: dict[str, tuple[float, int]] = {}
    for bucket, authors in users.items():
        if len(authors) >= LEAST_AUTHORS:
            # A word that many used explains more scores than a rare one with the same weight.
            strength = weights[bucket] * len(authors) ** 0.5
            before, most = strengths.get(names[bucket], (0.0, 0))
            # A short word is a word and a piece of a word at once.
            strengths[names[bucket]] = (before + strength, max(most, len(authors)))
    ranked = sorted(strengths, key=lambda name: (-strengths[name][0], name))
    return Words(
        [Word(name, strengths[name][1]) for name in ranked[:MOST_WORDS] if strengths[name][0] > 0],
        [Word(name, strengths[name][1]) for name in ranked[::-1][:MOST_WORDS] if strengths[name][0] < 0],
    )


def _is_readable(name: str) -> bool:
    """Whether a feature is words, and not a piece of one ("·ing") or signs."""
    return len(name) <= LONGEST and _READABLE.fullmatch(name) is not None
