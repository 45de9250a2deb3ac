"""Ratings as arrays, validated and sorted once, and as a sparse matrix of notes by raters.

The same ratings in any order give the same result bit for bit. All sums of the solver are products of the matrix.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
Cells = Any
"""A SciPy ``csr_array`` of floats; SciPy's annotations do not cover its products."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings sorted by note, then rater. ``note`` and ``rater`` index ``note_ids`` and ``rater_ids`` (ascending).

    ``level`` is 0, 1 or 2 for the values 0, 0.5 and 1; ``valid`` whether the rating may count for its rater's
    helpfulness. All four have one entry per rating.
    """

    note_ids: IntArray
    rater_ids: IntArray
    note: IndexArray
    rater: IndexArray
    level: npt.NDArray[np.int8]
    valid: BoolArray

    def __len__(self) -> int:
        return len(self.note)

    @property
    def per_note(self) -> IntArray:
        """The number of ratings of each note."""
        return np.bincount(self.note, minlength=len(self.note_ids))

    @property
    def per_rater(self) -> IntArray:
        """The number of ratings by each rater."""
        return np.bincount(self.rater, minlength=len(self.rater_ids))

    def eligible(self, per_note: int, per_rater: int) -> BoolArray:
        """Which ratings stay after three passes over notes, raters, notes; no more (docs/develop/consensus.md)."""
        stays = np.ones(len(self), np.bool_)
        for places, size, least in (
            (self.note, len(self.note_ids), per_note),
            (self.rater, len(self.rater_ids), per_rater),
            (self.note, len(self.note_ids), per_note),
        ):
            enough = np.bincount(places[stays], minlength=size) >= least
            stays &= enough[places]
        return stays


def ratings(
    note_ids: npt.ArrayLike,
    rater_ids: npt.ArrayLike,
    values: npt.ArrayLike,
    valid: npt.ArrayLike | None = None,
) -> Ratings:
    """Validate and sort ratings. Raises ValueError naming the invalid argument."""
    note_column, rater_column = whole_numbers(note_ids, "note_ids"), whole_numbers(rater_ids, "rater_ids")
    level = _levels(values)
    if len(rater_column) != len(note_column):
        raise ValueError(f"rater_ids: {len(rater_column)} of them, but {len(note_column)} note_ids")
    if len(level) != len(note_column):
        raise ValueError(f"values: {len(level)} of them, but {len(note_column)} note_ids")
    flags = np.ones(len(level), np.bool_) if valid is None else _flags(valid, len(level))
    notes, note = np.unique(note_column, return_inverse=True)
    raters, rater = np.unique(rater_column, return_inverse=True)
    order = np.lexsort((rater, note))
    note, rater = note[order], rater[order]
    twice = np.flatnonzero((np.diff(note) == 0) & (np.diff(rater) == 0))
    if len(twice):
        what = f"note {notes[note[twice[0]]]}, rater {raters[rater[twice[0]]]}"
        raise ValueError(f"note_ids, rater_ids: more than one rating of {what}")
    return Ratings(notes, raters, note.astype(np.int32), rater.astype(np.int32), level[order], flags[order])


def whole_numbers(values: npt.ArrayLike, name: str) -> IntArray:
    """Convert to one-dimensional int64. Raises ValueError naming ``name``."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"{name}: must be one-dimensional")
    if column.size == 0:
        return np.zeros(0, np.int64)
    if column.dtype.kind not in "iu" or (column.dtype.kind == "u" and column.max() > np.iinfo(np.int64).max):
        raise ValueError(f"{name}: must be whole numbers of at most 64 bits")
    return column.astype(np.int64, copy=False)


def _levels(values: npt.ArrayLike) -> npt.NDArray[np.int8]:
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError("values: must be one-dimensional")
    if column.size and column.dtype.kind not in "fiu":
        raise ValueError("values: must be numbers")
    if not np.isin(column, (0, 0.5, 1)).all():
        raise ValueError("values: must be 0, 0.5 or 1")
    return (column * 2).astype(np.int8)


def _flags(valid: npt.ArrayLike, count: int) -> BoolArray:
    column = np.asarray(valid)
    if column.shape != (count,):
        raise ValueError(f"valid: must have one entry per rating, {count}")
    if count and column.dtype != np.bool_:
        raise ValueError("valid: must be true or false")
    return column.astype(np.bool_)


@dataclass(frozen=True, eq=False)
class Matrix:
    """The ratings used in a fit.

    ``notes`` and ``raters`` are ascending indexes into ``Ratings.note_ids`` and ``Ratings.rater_ids``; each has at
    least one rating here. ``values`` has the ratings' values, ``pattern`` ones in the same cells. ``note_part`` and
    ``rater_part`` number the connected components that they belong to; there are ``parts`` components.
    """

    notes: IntArray
    raters: IntArray
    values: Cells
    pattern: Cells
    note_counts: FloatArray
    rater_counts: FloatArray
    note_part: IndexArray
    rater_part: IndexArray
    parts: int

    @classmethod
    def from_ratings(cls, ratings: Ratings, chosen: BoolArray) -> "Matrix":
        """The matrix of the ``chosen`` ratings (one flag per rating), of which there must be at least one."""
        notes, row = np.unique(ratings.note[chosen], return_inverse=True)
        raters, column = np.unique(ratings.rater[chosen], return_inverse=True)
        shape = (len(notes), len(raters))
        note_counts = np.bincount(row)
        ends = np.concatenate([[0], np.cumsum(note_counts)]).astype(np.int32)
        columns = column.astype(np.int32)
        values = sparse.csr_array((ratings.level[chosen] * 0.5, columns, ends), shape=shape)
        pattern = with_entries(values, np.ones(values.nnz))
        # Notes and raters as one graph: raters are numbered after the notes.
        ends = np.concatenate([ends, np.full(len(raters), ends[-1])])
        graph = sparse.csr_array(
            (pattern.data, columns + np.int32(len(notes)), ends), shape=(sum(shape),) * 2
        )
        parts, part = connected_components(graph, directed=False)
        return cls(
            notes.astype(np.int64),
            raters.astype(np.int64),
            values,
            pattern,
            note_counts.astype(np.float64),
            np.bincount(column).astype(np.float64),
            part[: shape[0]],
            part[shape[0] :],
            int(parts),
        )

    def __len__(self) -> int:
        return int(self.pattern.nnz)

    def residuals(self, level: FloatArray, note_intercept: FloatArray) -> Cells:
        """The residuals of the additive model, ``r - level[rater] - note_intercept[note]``, in the same cells."""
        by_note = np.repeat(note_intercept, np.diff(self.values.indptr))
        return with_entries(self.values, self.values.data - level[self.values.indices] - by_note)


def with_entries(cells: Cells, entries: FloatArray) -> Cells:
    """The same cells with other entries."""
    return sparse.csr_array((entries, cells.indices, cells.indptr), shape=cells.shape)
