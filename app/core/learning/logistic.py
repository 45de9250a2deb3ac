"""The two regressions of a version, fitted by L-BFGS: a linear model of texts, and its blend with the other scores.

The model scores a text by the sum of the weights of its features (``classify.features``). Features that only one
author's posts have get no weight, so no model keeps the words of a single person. The blend is
``sigmoid(a·logit(base) + b·own + c)``, where ``own`` is the output of the model. ``a`` and ``b`` are never negative, so
a higher base or a higher own output never lowers the score.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from app.core.classify.features import BUCKETS, Vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTH = 3.0
"""How much the labels weigh against the penalty for large weights (the C of other libraries)."""
ROUNDS = 100
KEPT_WEIGHTS = 30_000
"""The largest weights that are stored, about 120 kB compressed."""
LEAST_AUTHORS = 2
_LEVELS = 127


@dataclass(frozen=True)
class Linear:
    """A linear model: increasing ``buckets`` and their weights as whole numbers times ``scale``.

    Its output for a text without any known feature is 0: the intercept belongs to the blend (`Blend`).
    """

    buckets: NDArray[np.int32]
    levels: NDArray[np.int8]
    scale: float

    def output(self, vector: Vector) -> float:
        """The model's output for the vector of a text; above 0 is more like the posts that were acted on."""
        found, values = vector
        if not len(found) or not len(self.buckets):
            return 0.0
        places = np.minimum(np.searchsorted(self.buckets, found), len(self.buckets) - 1)
        known = self.buckets[places] == found
        return float(self.scale * np.dot(self.levels[places[known]].astype(np.float64), values[known]))

    def outputs(self, matrix: sp.csr_matrix) -> Floats:
        """The outputs for the rows of a matrix of vectors."""
        weights = np.zeros(BUCKETS)
        weights[self.buckets] = self.scale * self.levels
        return np.asarray(matrix @ weights, dtype=np.float64)

    def to_bytes(self) -> bytes:
        """The arrays, compressed; no pickle, so reading them runs no code."""
        head = np.array([len(self.buckets)], "<i4").tobytes() + np.array([self.scale], "<f8").tobytes()
        gaps = np.diff(self.buckets, prepend=0).astype("<i4")
        return zlib.compress(head + gaps.tobytes() + self.levels.tobytes(), 9)

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Linear":
        """Read what ``to_bytes`` wrote.

        Raises:
            ValueError: the bytes are not of such a model.
        """
        try:
            raw = zlib.decompress(stored)
        except zlib.error:
            raise ValueError("these bytes are no model") from None
        count = int(np.frombuffer(raw, "<i4", 1)[0]) if len(raw) >= 12 else -1
        if count < 0 or len(raw) != 12 + 5 * count:
            raise ValueError("these bytes are no model")
        scale = float(np.frombuffer(raw, "<f8", 1, 4)[0])
        buckets = np.cumsum(np.frombuffer(raw, "<i4", count, 12)).astype(np.int32)
        return cls(buckets, np.frombuffer(raw, np.int8, count, 12 + 4 * count), scale)


def matrix(vectors: Sequence[Vector]) -> sp.csr_matrix:
    """The vectors of texts as the rows of a sparse matrix."""
    starts = np.concatenate([[0], np.cumsum([len(found) for found, _ in vectors])]).astype(np.int64)
    if not vectors:
        return sp.csr_matrix((0, BUCKETS))
    columns = np.concatenate([found for found, _ in vectors])
    values = np.concatenate([values for _, values in vectors])
    return sp.csr_matrix((values, columns, starts), shape=(len(vectors), BUCKETS))


def fit(rows: sp.csr_matrix, labels: Floats, authors: Ints) -> Linear:
    """Fit a model to labelled rows (1.0: acted on, 0.0: left alone). The same input gives the same bytes.

    ``authors`` numbers the author of each row.
    """
    columns = _shared_columns(rows, authors)
    if not len(columns):
        return Linear(np.empty(0, np.int32), np.empty(0, np.int8), 0.0)
    weights = _fitted(rows[:, columns].tocsr(), labels)
    if len(weights) > KEPT_WEIGHTS:
        largest = np.argsort(-np.abs(weights), kind="stable")[:KEPT_WEIGHTS]
        kept = np.sort(largest)
        columns, weights = columns[kept], weights[kept]
    scale = float(np.abs(weights).max()) / _LEVELS or 1.0
    levels = np.rint(weights / scale).astype(np.int8)
    return Linear(columns[levels != 0].astype(np.int32), levels[levels != 0], scale)


def _shared_columns(rows: sp.csr_matrix, authors: Ints) -> Ints:
    """The features that posts of at least ``LEAST_AUTHORS`` authors have."""
    owners = np.repeat(authors, np.diff(rows.indptr))
    count = int(authors.max(initial=0)) + 1
    pairs = np.sort(rows.indices.astype(np.int64) * count + owners)
    # Sorted once, and not hashed first as `np.unique` does, which takes four times as long.
    of_new_author = np.diff(pairs, prepend=-1) > 0
    found, counts = np.unique(pairs[of_new_author] // count, return_counts=True)
    columns: Ints = found[counts >= LEAST_AUTHORS]
    return columns


def _fitted(rows: sp.csr_matrix, labels: Floats) -> Floats:
    signs, transposed = 2.0 * labels - 1.0, rows.T.tocsr()

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights, intercept = parameters[:-1], parameters[-1]
        margins = signs * (rows @ weights + intercept)
        slopes = -STRENGTH * signs * np.exp(-np.logaddexp(0.0, margins))
        value = STRENGTH * np.logaddexp(0.0, -margins).sum() + 0.5 * float(weights @ weights)
        return float(value), np.concatenate([transposed @ slopes + weights, [slopes.sum()]])

    start = np.zeros(rows.shape[1] + 1)
    from scipy.optimize import minimize  # only when training: it is a fifth of the time that a start takes

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS, "gtol": 1e-4})
    fitted: Floats = np.asarray(found.x[:-1], dtype=np.float64)
    return fitted


LEAST, MOST = 0.01, 0.99
"""Base scores outside of this range count as its ends: a score of 0 is no certainty."""
PARTS = 5
BINS = 10
DRAWS, SURE = 300, 0.95
"""Random draws of the labels, and the share of them that must agree: few labels must differ by more."""
LEAST_RISE = 0.05
"""``a`` below this: from its least to its most, the base would move the score by no more than a tenth."""
_PRIOR = np.array([1.0, 0.5, 0.0])
_LOOSE = np.array([0.5, 0.5, 2.0])
"""Where a, b and c are expected to be without any labels, and how far from it: a few labels must not turn the base."""


@dataclass(frozen=True)
class Blend:
    """The three numbers of a blend."""

    a: float
    b: float
    c: float

    @property
    def rises(self) -> bool:
        """Whether the score rises with the base. Otherwise it would overrule every other classifier."""
        return self.a >= LEAST_RISE

    def scores(self, base: Floats, own: Floats) -> Floats:
        """The blended scores, 0.0 to 1.0."""
        return sigmoid(self.a * logit(base) + self.b * own + self.c)

    def score(self, base: float, own: float) -> float:
        return float(self.scores(np.array([base]), np.array([own]))[0])


@dataclass(frozen=True)
class Bin:
    """One bar of the reliability chart: posts scored from ``start`` on, their mean score, and the share acted on."""

    start: float
    count: int
    predicted: float
    observed: float


def sigmoid(values: Floats) -> Floats:
    result: Floats = np.exp(-np.logaddexp(0.0, -values))
    return result


def logit(scores: Floats) -> Floats:
    kept = np.clip(scores, LEAST, MOST)
    result: Floats = np.log(kept / (1.0 - kept))
    return result


def fit_blend(base: Floats, own: Floats, labels: Floats) -> Blend:
    """Fit the blend to labelled posts, held near "the base as it is" where the labels say little."""
    columns = np.stack([logit(base), own, np.ones(len(base))], axis=1)
    signs = 2.0 * labels - 1.0

    def loss(numbers: Floats) -> tuple[float, Floats]:
        margins = signs * (columns @ numbers)
        off = (numbers - _PRIOR) / _LOOSE
        slopes = -signs * np.exp(-np.logaddexp(0.0, margins))
        value = float(np.logaddexp(0.0, -margins).sum() + 0.5 * off @ off)
        return value, columns.T @ slopes + off / _LOOSE

    from scipy.optimize import minimize  # only when training: it is a fifth of the time that a start takes

    found = minimize(
        loss, _PRIOR.copy(), jac=True, method="L-BFGS-B", bounds=[(0.0, None), (0.0, None), (None, None)]
    )
    a, b, c = (round(float(number), 6) for number in found.x)
    return Blend(a, b, c)


def cross_fitted(base: Floats, own: Floats, labels: Floats) -> Floats:
    """Scores of blends that were fitted without the post they score, so that they can be judged by its label."""
    scores = np.empty(len(labels))
    part = np.arange(len(labels)) % PARTS
    for number in range(PARTS):
        held = part == number
        if held.any():
            blend = fit_blend(base[~held], own[~held], labels[~held])
            scores[held] = blend.scores(base[held], own[held])
    return scores


def average_precision(labels: Floats, scores: Floats) -> float:
    """The mean share of right posts among those scored at least as high as each right post; 0.0 without any.

    Posts with the same score count together, so their order in the input does not matter.
    """
    total = labels.sum()
    if total == 0:
        return 0.0
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(labels[order])[ends]
    gained = np.diff(hits, prepend=0.0)
    return float(np.sum(gained / total * hits / (ends + 1)))


def surely_more_precise(labels: Floats, before: Floats, after: Floats) -> bool:
    """Whether the average precision of ``after`` is higher than of ``before`` by more than chance.

    The labels are drawn again and again with replacement: in nearly all draws it must be higher. The draws are fixed,
    so that the same scores always give the same answer.
    """
    dice = np.random.default_rng(7)
    higher = 0
    for _ in range(DRAWS):
        drawn = dice.integers(0, len(labels), len(labels))
        gain = average_precision(labels[drawn], after[drawn]) - average_precision(
            labels[drawn], before[drawn]
        )
        higher += gain > 0
    return higher >= SURE * DRAWS


def brier(labels: Floats, scores: Floats) -> float:
    """The mean squared distance between score and outcome: 0.0 is perfect, 0.25 is what always saying 0.5 gives."""
    return float(np.mean((scores - labels) ** 2)) if len(labels) else 0.0


def reliability(labels: Floats, scores: Floats) -> Sequence[Bin]:
    """For each tenth of the scale: how many posts, their mean score, and the share that was acted on."""
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    found = []
    for number in range(BINS):
        inside = place == number
        count = int(inside.sum())
        predicted = float(scores[inside].mean()) if count else 0.0
        observed = float(labels[inside].mean()) if count else 0.0
        found.append(Bin(number / BINS, count, round(predicted, 4), round(observed, 4)))
    return found
