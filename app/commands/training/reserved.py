"""Scores of every example by a model that has not seen its source, or its template.

Examples are held out by source, and sentences of the own corpus by template: within a source texts resemble each
other, so holding out single rows would flatter the model. The German set is the only one in German, so its rows are
divided among the parts.
"""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from app.commands.training.examples import CATEGORIES
from app.commands.training.fitting import Floats, fit_all
from app.core.classify.corpus import Example

PARTS: tuple[frozenset[str], ...] = (
    frozenset({"wikitalk", "wikitalk_rated", "toxigen_demo"}),
    frozenset({"goemotions", "openai_moderation"}),
    frozenset({"ubuntu_irc", "stackoverflow", "presidio"}),
    frozenset({"polis", "davidson", "youtube"}),
    frozenset({"sms", "edos", "madlibs"}),
)
"""The sources that are held out together. Others (and unknown sources) are divided by text or template."""


def parts_of(examples: Sequence[Example]) -> NDArray[np.int64]:
    """The number of the part in which each example is held out."""
    return np.array([_part(example) for example in examples], np.int64)


def _part(example: Example) -> int:
    for number, sources in enumerate(PARTS):
        if example.source in sources:
            return number
    return zlib.crc32((example.template or example.text).encode("utf-8", "replace")) % len(PARTS)


def reserved_logits(
    matrix: "sp.csr_matrix[np.float64]", examples: Sequence[Example], say: Callable[[str], None]
) -> dict[str, Floats]:
    """By category, the logit of each example by the model that was fitted without its part."""
    parts = parts_of(examples)
    logits = {category: np.full(len(examples), np.nan) for category in CATEGORIES}
    for number in range(len(PARTS)):
        held = parts == number
        if not held.any():
            continue
        say(f"Fitting without part {number + 1} of {len(PARTS)} …")
        for category, model in fit_all(matrix, examples, ~held).items():
            logits[category][held] = model.logits(matrix[held])
    return logits
