"""Ratings as a sparse matrix of notes by raters, and the filter of which ratings enter a fit (docs/consensus.md).

All sums of the solver are products of one pattern matrix with a few columns. The products with its transpose
scatter instead of gathering and cost the same, so no second copy is stored.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from app.core.scoring.arrays import BoolArray, FloatArray, IntArray, Ratings

Sparse = sparse.csr_array[np.float64]
Either = sparse.csr_array[np.float64] | sparse.csc_array[np.float64]
IndexArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Matrix:
    """The ratings used in a fit.

    ``notes`` and ``raters`` are indexes into ``Ratings.note_ids`` and ``Ratings.rater_ids``; each has at least one
    rating here. ``note_part`` and ``rater_part`` number the connected components that they belong to; there are
    ``parts`` components.
    """

    notes: IntArray
    raters: IntArray
    pattern: Sparse
    valued: Sparse
    note_counts: FloatArray
    rater_counts: FloatArray
    note_sums: FloatArray
    rater_sums: FloatArray
    squares: float
    note_part: IntArray
    rater_part: IntArray
    parts: int

    @classmethod
    def from_ratings(cls, ratings: Ratings, chosen: BoolArray) -> "Matrix":
        """The matrix of the ``chosen`` ratings (one flag per rating), of which there must be at least one."""
        note, rater, level = ratings.note[chosen], ratings.rater[chosen], ratings.level[chosen]
        note_counts = np.bincount(note, minlength=len(ratings.note_ids))
        rater_counts = np.bincount(rater, minlength=len(ratings.rater_ids))
        notes, raters = np.flatnonzero(note_counts), np.flatnonzero(rater_counts)
        place = np.zeros(len(rater_counts), np.int32)
        place[raters] = np.arange(len(raters), dtype=np.int32)
        column = place[rater]
        row = np.concatenate([[0], np.cumsum(note_counts[notes])]).astype(np.int32)
        shape = (len(notes), len(raters))
        pattern = sparse.csr_array((np.ones(len(column)), column, row), shape=shape)
        valued = sparse.csr_array((np.multiply(level, 0.5, dtype=np.float64), column, row), shape=shape)
        parts, part = _components(column, row, shape)
        return cls(
            notes,
            raters,
            pattern,
            valued,
            note_counts[notes].astype(np.float64),
            rater_counts[raters].astype(np.float64),
            times(valued, np.ones(shape[1])),
            times(valued.T, np.ones(shape[0])),
            float(np.square(valued.data).sum()),
            part[: shape[0]],
            part[shape[0] :],
            parts,
        )

    def __len__(self) -> int:
        return len(self.pattern.data)

    def with_entries(self, entries: FloatArray) -> Sparse:
        """A matrix with the same pattern and other ``entries``, one per rating, sorted by note then rater."""
        return sparse.csr_array(
            (entries, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape
        )

    def residuals(self, level: FloatArray, note_intercept: FloatArray) -> FloatArray:
        """The residuals of the additive model, ``r - level[rater] - note_intercept[note]``, one per rating."""
        left: FloatArray = self.valued.data - level[self.pattern.indices]
        left -= np.repeat(note_intercept, np.diff(self.pattern.indptr))
        return left


def times(matrix: Either, dense: FloatArray) -> FloatArray:
    """The matrix product with one column or several."""
    return np.asarray(matrix @ dense, np.float64)


def eligible(ratings: Ratings, per_note: int, per_rater: int) -> BoolArray:
    """Which ratings stay after three passes over notes, raters, notes, not iterated further (docs/consensus.md)."""
    stays = _often_enough(ratings.note, None, len(ratings.note_ids), per_note)[ratings.note]
    stays &= _often_enough(ratings.rater, stays, len(ratings.rater_ids), per_rater)[ratings.rater]
    stays &= _often_enough(ratings.note, stays, len(ratings.note_ids), per_note)[ratings.note]
    return stays


def _often_enough(column: IndexArray, stays: BoolArray | None, size: int, least: int) -> BoolArray:
    counted = column if stays is None else column[stays]
    return np.bincount(counted, minlength=size) >= least


def _components(column: IndexArray, row: IndexArray, shape: tuple[int, int]) -> tuple[int, IntArray]:
    """The number of connected components, and the component of each note, then of each rater."""
    notes, raters = shape
    ends = np.concatenate([row, np.full(raters, row[-1], np.int32)])
    graph = sparse.csr_array(
        (np.ones(len(column), np.int8), column + np.int32(notes), ends), shape=(notes + raters,) * 2
    )
    count, part = connected_components(graph, directed=False)
    return int(count), part.astype(np.int64)
