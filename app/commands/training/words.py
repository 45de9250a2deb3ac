"""The words that come with the service: which ones exist, and which ones a disguise may stand for."""

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources

import numpy as np

from app.commands.training.packing import zipped
from app.core.classify.corpus import Example
from app.core.classify.features import BUCKETS
from app.core.classify.normalise import plain_text
from app.core.classify.vocabulary import KNOWN_BITS, ShippedWords, Vocabulary, known_places

FEWEST = 3
"""How many texts have a word that counts as one that people use."""
RARE = 15
SLIP = 100
"""A word of fewer texts than `RARE` is a slip if it is one edit from a word of so many times more texts."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def packed_words(
    given: Sequence[Example], own: Sequence[Example], weights: Mapping[str, "np.typing.NDArray[np.float64]"]
) -> bytes:
    """The file of words: those of ``own`` in clear, the weightiest first, and two bits for each word in use.

    ``weights``: by category, the weight of each bucket. No word of the given texts is in the file, only their bits.
    """
    listed = {*_counted(own), *common_words()}
    counts = _counted([*given, *own])
    meant = Vocabulary((), ShippedWords(tuple(sorted(listed, key=lambda word: (-counts[word], word))), b""))
    known = np.zeros(KNOWN_BITS, np.bool_)
    for word, count in counts.items():
        right = meant.misspelt(word) if count < RARE and word not in listed else None
        is_slip = right is not None and counts[right] >= SLIP * count and not word.startswith(right)
        if word in listed or (count >= FEWEST and not is_slip):
            known[list(known_places(word))] = True
    heaviest = np.max(np.stack(list(weights.values())), axis=0)

    def order(word: str) -> tuple[float, str]:
        return -float(heaviest[zlib.crc32(f"w {word}".encode()) % BUCKETS]), word

    words = sorted((word for word in listed if len(word) >= 2), key=order)
    return zipped(
        {
            "listed": np.frombuffer("\n".join(words).encode(), np.uint8),
            "known": np.packbits(known),
        }
    )


def common_words() -> frozenset[str]:
    """The words of common_words.txt."""
    lines = (
        resources.files("app.commands.training")
        .joinpath("common_words.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _counted(examples: Sequence[Example]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update(set(_WORD.findall(plain_text(example.text))))
    return counts
