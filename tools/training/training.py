"""The whole training of the shipped model: from labelled texts to the files of weights and of words.

The words say which ones exist, and which ones a disguise may stand for.
"""

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy

from app.core.classify.corpus import Example
from app.core.classify.features import BUCKETS
from app.core.classify.normalise import plain_text
from app.core.classify.vocabulary import KNOWN_BITS, ShippedWords, Vocabulary, known_places
from tools.training.calibrating import all_points, shifts_of
from tools.training.curves import THRESHOLDS, RuleScores, curves_of
from tools.training.examples import CATEGORIES
from tools.training.fitting import Floats, fit_all, matrix_of
from tools.training.packing import packed, zipped
from tools.training.reserved import reserved_logits

FEWEST = 3
"""How many texts have a word that counts as one that people use."""
RARE = 15
SLIP = 100
"""A word of fewer texts than `RARE` is a slip if it is one edit from a word of so many times more texts."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


class TooFew(Exception):
    """A category has no example of one of its two labels."""


def train(
    given: Sequence[Example], own: Sequence[Example], say: Callable[[str], None]
) -> tuple[bytes, bytes]:
    """Train on the given examples and on ``own``, those of the corpus. The same examples give the same bytes.

    Return the file of weights and the file of words.

    Raises:
        TooFew: a category cannot be learned from these examples.
    """
    examples = [*given, *own]
    say(f"Reading the features of {len(examples):,} texts, {len(examples) - len(given):,} of them our own …")
    matrix = matrix_of([example.text for example in examples])
    logits = reserved_logits(matrix, examples, say)
    rules = RuleScores(examples)
    say("Scoring ordinary talk by the rules …")
    points = all_points(examples, logits, rules)
    say("Fitting on everything …")
    models = fit_all(matrix, examples, np.ones(len(examples), np.bool_))
    missing = [category for category in CATEGORIES if category not in models]
    if missing:
        raise TooFew(f"no model of {', '.join(missing)}: it needs texts with label 1 and texts with label 0")
    curves = curves_of(examples, logits, points, rules, say)
    facts = {
        "examples": len(given),
        "own": len(examples) - len(given),
        "digest": _digest(given),
        "shifts": shifts_of(examples, logits, points),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    words = packed_words(given, own, {category: model.weights for category, model in models.items()})
    return packed(models, points, curves, THRESHOLDS, facts), words


def _digest(examples: Sequence[Example]) -> str:
    """12 digits that name the data."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(
            f"{example.source}\0{example.text}\0{sorted(example.labels.items())}\n".encode(errors="replace")
        )
    return digest.hexdigest()[:12]


def packed_words(given: Sequence[Example], own: Sequence[Example], weights: Mapping[str, Floats]) -> bytes:
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
    lines = Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _counted(examples: Sequence[Example]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update(set(_WORD.findall(plain_text(example.text))))
    return counts
