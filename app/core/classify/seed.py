"""The shipped model ``builtin.seed``: a hashed linear model that works without a download (docs/run/model-card.md).

It was trained on public posts and on sentences written for this project; ``python -m tools.training seed`` makes the
file of weights from the same data again. It is a starter: what it finds goes to people, never straight to an action.
"""

import functools
import time
from importlib import resources
from pathlib import Path

from app.core.classify import SHIPPED_MODEL, Context, Result
from app.core.classify.features import FEATURES_VERSION, MAX_CHARS
from app.core.classify.language import ENGLISH
from app.core.classify.linear import PER_LANGUAGE, Curve, Weights, read_weights
from app.core.classify.reading import see

CODE_VERSION = 2
"""Increase it with any change to this module that could change a score of an unchanged file."""


def shipped_file() -> Path:
    """The file of weights in this package."""
    return Path(str(resources.files("app.core.classify"))) / "weights" / "seed.npz"


@functools.cache
def _shipped() -> Weights:
    """Read once for the whole process."""
    return read_weights(shipped_file().read_bytes())


class SeedClassifier:
    """The shipped model as a `Classifier`. The file is read once, on first use, and shared by all threads.

    Its scores reach people (Tier 2) only, and none is above 0.95. A sentence in a language that it was
    not trained on is scored in the categories of ``EVERYWHERE`` alone; one whose language is unknown as English.
    """

    name = SHIPPED_MODEL
    tier1_categories: frozenset[str] = frozenset()
    languages: frozenset[str] | None = frozenset({ENGLISH, *PER_LANGUAGE})
    cost = 1
    local = True
    calibrated = True
    max_chars = MAX_CHARS

    def __init__(self, content: bytes | None = None) -> None:
        self._content = content

    @functools.cached_property
    def _weights(self) -> Weights:
        return _shipped() if self._content is None else read_weights(self._content)

    def load(self) -> Weights:
        """Return the weights. Call it at start-up, so that the first text need not wait."""
        return self._weights

    @property
    def version(self) -> str:
        """``<code version>.<features version>+<12 digits of the file's digest>``."""
        return f"{CODE_VERSION}.{FEATURES_VERSION}+{self.load().digest[:12]}"

    @property
    def categories(self) -> frozenset[str]:
        return frozenset(self.load().categories)

    def curve(self, category: str) -> Curve | None:
        """What a threshold of this category means for the shipped classifiers, None for one that it does not score."""
        return self.load().curves.get(category)

    def score(self, texts: list[str], context: Context) -> list[Result]:
        """Return one result per text, in order. Only the first `MAX_CHARS` characters of a text count."""
        weights = self.load()
        model = f"{self.name} {self.version}"
        results = []
        for text in texts:
            started = time.perf_counter()
            scores = weights.scores(see(text[:MAX_CHARS]), context.primary_language)
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            results.append(Result(scores=scores, model=model, ms=elapsed))
        return results
