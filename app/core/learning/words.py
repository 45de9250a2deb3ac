"""The words that count most in a model, for people to read.

They come from the community's own posts. Only words that several authors used are named, so that none of them tells
what one person wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.classify.features import named_features
from app.core.learning.logistic import Linear

MOST_TEXTS = 2_000
MOST_WORDS = 12
LEAST_AUTHORS = 3
LONGEST = 40
_CANDIDATES = 2_000


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
        for bucket, name in named_features(content).items():
            if bucket in largest and _is_readable(name):
                users.setdefault(bucket, set()).add(author)
                names.setdefault(bucket, name)
    shared = [bucket for bucket in users if len(users[bucket]) >= LEAST_AUTHORS]
    # A word that many used explains more scores than a rare one with the same weight.
    shared.sort(key=lambda bucket: (-weights[bucket] * len(users[bucket]) ** 0.5, names[bucket]))
    words = {bucket: Word(names[bucket], len(users[bucket])) for bucket in shared}
    return Words(
        [words[bucket] for bucket in shared[:MOST_WORDS] if weights[bucket] > 0],
        [words[bucket] for bucket in shared[::-1][:MOST_WORDS] if weights[bucket] < 0],
    )


def _is_readable(name: str) -> bool:
    """Whether a feature is words, and not a piece of one ("·ing") or signs."""
    return "·" not in name and len(name) <= LONGEST and any(letter.isalpha() for letter in name)
