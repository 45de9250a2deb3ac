"""How much abuse a threshold catches and how much ordinary talk it raises, by the shipped rules and the model."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.core.classify import Context
from app.core.classify.corpus import Example
from app.core.classify.rulepack import RulePackClassifier
from tools.training.calibrating import is_ordinary, source_weights
from tools.training.fitting import Floats

THRESHOLDS = np.round(np.arange(0.05, 1.0, 0.05), 2)
PER_SOURCE = 1_000
"""The most abusive posts of a source that count."""


def curves_of(
    examples: Sequence[Example],
    logits: Mapping[str, Floats],
    points: Mapping[str, Floats],
    rules: "RuleScores",
    say: Callable[[str], None],
) -> dict[str, tuple[Floats, Floats, int]]:
    """Per category the shares of abusive posts and of ordinary talk that score above each of `THRESHOLDS`.

    The last value is the number of abusive posts.

    Each source counts the same. Sentences of the own corpus do not count, except in a category where nothing else is
    labelled.
    """
    sources = np.array([example.source for example in examples])
    ordinary = is_ordinary(examples)
    shares = {}
    for category in points:
        labelled = np.array([example.labels.get(category) == 1 for example in examples])
        real = labelled & np.array([not example.template for example in examples])
        abusive = _sample(real if real.any() else labelled, sources)
        say(f"Measuring {category} on {int(abusive.sum()):,} abusive posts …")
        scores = np.nan_to_num(np.interp(logits[category], points[category][0], points[category][1]))
        shares[category] = (
            _above(np.maximum(scores, rules(category, abusive)), abusive, examples),
            _above(np.maximum(scores, rules(category, ordinary)), ordinary, examples),
            int(abusive.sum()),
        )
    return shares


class RuleScores:
    """Scores of the shipped rules, computed once per example."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = examples
        self._classifier = RulePackClassifier()
        self._known: dict[int, Mapping[str, float]] = {}

    def __call__(self, category: str, chosen: NDArray[np.bool_]) -> Floats:
        """The category's score of the chosen examples, 0 for the others."""
        scores = np.zeros(len(self._examples))
        for row in map(int, np.flatnonzero(chosen)):
            if row not in self._known:
                example = self._examples[row]
                (result,) = self._classifier.score([example.text], Context(language=example.language))
                self._known[row] = result.scores
            scores[row] = self._known[row].get(category, 0.0)
        return scores


def _sample(chosen: NDArray[np.bool_], sources: NDArray[np.str_]) -> NDArray[np.bool_]:
    """At most `PER_SOURCE` of the chosen examples of each source, spread evenly over its rows."""
    sample = np.zeros(len(chosen), np.bool_)
    for source in np.unique(sources[chosen]):
        rows = np.flatnonzero(chosen & (sources == source))
        sample[rows[:: max(1, -(-len(rows) // PER_SOURCE))]] = True
    return sample


def _above(scores: Floats, chosen: NDArray[np.bool_], examples: Sequence[Example]) -> Floats:
    if not chosen.any():
        return np.zeros(len(THRESHOLDS))
    weights = source_weights(examples, chosen)
    return np.array([float(weights[scores > threshold].sum()) for threshold in THRESHOLDS])
