"""The shipped model ``builtin.seed``: a hashed linear model that works without a download (docs/model-card.md).

It was trained on public posts and on sentences written for this project; ``python -m app train-seed`` makes the file
of weights from the same data again. It is a starter: what it finds goes to people, never straight to an action.
"""

import functools
import hashlib
import io
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.classify import Context, Result
from app.core.classify.features import BUCKETS, FEATURES_VERSION, MAX_CHARS, chunks, vectorise

CODE_VERSION = 1
"""Increase it with any change to this module that could change a score of an unchanged file."""
PER_LANGUAGE: Mapping[str, frozenset[str]] = {"de": frozenset({"toxicity", "hate"})}
"""The categories that the model scores in a language other than English; the training data label no others."""
ENGLISH = "en"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """What a threshold means, as shares 0.0 to 1.0 measured on posts whose source the model had not seen.

    ``caught``: of abusive posts; ``raised``: of ordinary talk. Both by the shipped rules and the model together, for
    scores above each of ``thresholds``. ``posts``: the number of abusive posts it was measured on.
    """

    thresholds: Floats
    caught: Floats
    raised: Floats
    posts: int = 0

    def shares_at(self, threshold: float) -> tuple[float, float]:
        """(caught, raised) at a threshold, interpolated."""
        return (
            float(np.interp(threshold, self.thresholds, self.caught)),
            float(np.interp(threshold, self.thresholds, self.raised)),
        )


@dataclass(frozen=True, eq=False)
class Weights:
    """The content of a file of weights.

    ``matrix`` has a row per bucket and a column per category, in whole steps of ``scales``. A category's score is
    interpolated between ``points``: the first row holds sums, the second scores, both in increasing order.
    ``shifts`` are added to the sums of texts in another language than English, by language and category.
    """

    categories: Sequence[str]
    matrix: NDArray[np.int8]
    scales: Floats
    constants: Floats
    points: Floats
    curves: Mapping[str, Curve]
    shifts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def sums(self, text: str) -> Floats:
        """The sum of the weights per category; of a long text, the largest of its parts."""
        parts = [self._sum(part) for part in chunks(text)]
        return np.asarray(np.maximum.reduce(parts), np.float64)

    def _sum(self, text: str) -> Floats:
        buckets, values = vectorise(text)
        return np.asarray((values @ self.matrix[buckets]) * self.scales + self.constants, np.float64)

    def scores(self, text: str, language: str = ENGLISH) -> dict[str, float]:
        sums = self.sums(text)
        shifts = self.shifts.get(language, {})
        return {
            category: round(float(np.interp(total + shifts.get(category, 0.0), points[0], points[1])), 6)
            for category, total, points in zip(self.categories, sums, self.points, strict=True)
        }


def read_weights(content: bytes) -> Weights:
    """Read a file of weights.

    Raises:
        ValueError: it is no such file, or was made for other features than this code's.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        facts = json.loads(bytes(arrays["facts"]))
        if facts["features"] != FEATURES_VERSION:
            raise ValueError(f"the weights are for features {facts['features']}, not {FEATURES_VERSION}")
        categories = tuple(facts["categories"])
        matrix = np.zeros((BUCKETS, len(categories)), np.int8)
        kept = np.unpackbits(arrays["kept"], axis=1).astype(bool)
        start = 0
        for column, places in enumerate(kept):
            count = int(places.sum())
            matrix[places, column] = arrays["weights"][start : start + count]
            start += count
        curves = {
            category: Curve(
                arrays["thresholds"],
                arrays["caught"][column],
                arrays["raised"][column],
                int(facts["measured"][category]),
            )
            for column, category in enumerate(categories)
        }
        return Weights(
            categories=categories,
            matrix=matrix,
            scales=arrays["scales"],
            constants=arrays["constants"],
            points=arrays["points"],
            curves=curves,
            shifts=facts.get("shifts", {}),
            facts=facts,
            digest=hashlib.sha256(content).hexdigest(),
        )


def shipped_file() -> Path:
    """The file of weights in this package."""
    return Path(str(resources.files("app.core.classify"))) / "weights" / "seed.npz"


@functools.cache
def _shipped() -> Weights:
    """Read once for the whole process."""
    return read_weights(shipped_file().read_bytes())


class SeedClassifier:
    """The shipped model as a `Classifier`. The file is read once, on first use, and shared by all threads.

    Its scores reach people (Tier 2) only (decision 0035), and none is above 0.95. A text in a language that it was
    not trained on is not scored; one whose language is unknown is scored as English.
    """

    name = "builtin.seed"
    tier1_categories: frozenset[str] = frozenset()
    languages: frozenset[str] | None = frozenset({ENGLISH, *PER_LANGUAGE})
    cost = 1
    local = True
    calibrated = True
    max_chars = MAX_CHARS

    def __init__(self, content: bytes | None = None) -> None:
        self._content = content
        self._lock = threading.Lock()
        self._weights: Weights | None = None

    def load(self) -> Weights:
        """Return the weights. Call it at start-up, so that the first text need not wait."""
        weights = self._weights
        if weights is None:
            with self._lock:
                if self._weights is None:
                    self._weights = _shipped() if self._content is None else read_weights(self._content)
                weights = self._weights
        return weights

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
        language = context.primary_language or ENGLISH
        scored = PER_LANGUAGE.get(language, self.categories if language == ENGLISH else frozenset())
        results = []
        for text in texts:
            started = time.perf_counter()
            scores: Mapping[str, float] = {}
            if scored:
                every = weights.scores(text, language)
                scores = {category: every[category] for category in weights.categories if category in scored}
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            results.append(Result(scores=scores, model=model, ms=elapsed))
        return results
