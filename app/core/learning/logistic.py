"""A small linear model of texts: fitted by L-BFGS, pruned, and stored as plain arrays.

A model scores a text by the sum of the weights of its features (``classify.features``). Features that only one author's
posts have get no weight, so no model keeps the words of a single person.
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

    Its output for a text without any known feature is 0: the intercept belongs to the blend (``blend.Blend``).
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
