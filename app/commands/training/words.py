"""The words that come with the service: which ones exist, and which ones a disguise may stand for."""

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from app.commands.training.examples import Example
from app.commands.training.packing import zipped
from app.core.classify.features import BUCKETS
from app.core.classify.normalise import plain_text
from app.core.classify.vocabulary import KNOWN_BITS

FEWEST = 3
"""In how many texts a word stands before it counts as one that people use."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def packed_words(
    given: Sequence[Example], own: Sequence[Example], weights: Mapping[str, "np.typing.NDArray[np.float64]"]
) -> bytes:
    """The file of words: those of ``own`` in clear, the weightiest first, and one bit for each word in use.

    ``weights``: by category, the weight of each bucket. No word of the given texts is in the file, only their bits.
    """
    listed = set(_counted(own))
    counts = _counted([*given, *own])
    known = np.zeros(KNOWN_BITS, np.bool_)
    for word, count in counts.items():
        if count >= FEWEST or word in listed:
            known[zlib.crc32(word.encode()) % KNOWN_BITS] = True
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


def _counted(examples: Sequence[Example]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update(set(_WORD.findall(plain_text(example.text))))
    return counts
