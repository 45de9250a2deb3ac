"""The whole training: from labelled texts to the content of the file of weights."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from app.commands.training.calibrating import all_points, shifts_of
from app.commands.training.curves import THRESHOLDS, RuleScores, curves_of
from app.commands.training.examples import CATEGORIES
from app.commands.training.fitting import fit_all, matrix_of
from app.commands.training.packing import packed
from app.commands.training.reserved import reserved_logits
from app.commands.training.words import packed_words
from app.core.classify.corpus import Example


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
