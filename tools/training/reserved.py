"""Scores of every example by a model that has not seen it, read as the service reads a post.

Examples are divided by their text, and sentences of the own corpus by template: those of one template resemble each
other, so holding out single sentences would flatter the model. Near-duplicates within the public sets were removed.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from app.core.classify import Context
from app.core.classify.corpus import Example
from app.core.classify.seed import SeedClassifier
from tools.training.examples import CATEGORIES
from tools.training.fitting import Floats, Linear, fit_all
from tools.training.packing import packed

PARTS = 3
"""Each part is scored by a model that was fitted on the others."""
WIDEST = 50.0
"""Logits between this and its negative are told apart."""


def parts_of(examples: Sequence[Example]) -> NDArray[np.int64]:
    """The number of the part in which each example is held out."""
    texts = ((example.template or example.text).encode("utf-8", "replace") for example in examples)
    return np.array([zlib.crc32(text) % PARTS for text in texts], np.int64)


def reserved_logits(
    matrix: "sp.csr_matrix[np.float64]", examples: Sequence[Example], say: Callable[[str], None]
) -> dict[str, Floats]:
    """By category, the logit of each example by the model that was fitted without its part; NaN for not scored."""
    parts = parts_of(examples)
    logits = {category: np.full(len(examples), np.nan) for category in CATEGORIES}
    for number in range(PARTS):
        held = np.flatnonzero(parts == number)
        models = fit_all(matrix, examples, parts != number)
        if not held.size or not models:
            continue
        say(f"Scoring part {number + 1} of {PARTS} …")
        for row, found in zip(held, _as_served(models, [examples[int(row)] for row in held]), strict=True):
            for category, logit in found.items():
                logits[category][row] = logit
    return logits


def _as_served(models: Mapping[str, Linear], examples: Iterable[Example]) -> Iterable[dict[str, float]]:
    """The logits of examples in the languages, readings and windows that the service scores."""
    straight = np.array([[-WIDEST, WIDEST], [0.0, 1.0]])
    nothing = np.zeros(1)
    content = packed(
        models, dict.fromkeys(models, straight), dict.fromkeys(models, (nothing, nothing, 0)), nothing, {}
    )
    classifier = SeedClassifier(content)
    for example in examples:
        (result,) = classifier.score([example.text], Context(language=example.language))
        yield {category: WIDEST * (2 * score - 1) for category, score in result.scores.items()}
