"""Ratings as a sparse matrix of notes by raters, and which of them enter a fit (docs/develop/consensus.md).

All sums of the solver are products of one pattern matrix with a few columns. The products with its transpose
scatter instead of gathering and cost the same, so no second copy is stored.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from app.core.scoring.arrays import Ratings
from app.core.scoring.blocks import (
    LARGE,
    BoolArray,
    Cells,
    Entries,
    FloatArray,
    IndexArray,
    IntArray,
    at_once,
    blocks,
    count,
    each_block,
)

STEPS_AWAY = 5
"""Steps within which all raters are looked for, before components are searched for in the slower way."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """The ratings used in a fit.

    ``notes`` and ``raters`` are indexes into ``Ratings.note_ids`` and ``Ratings.rater_ids``; each has at least one
    rating here. Raters are in ascending order; of a large matrix those with most ratings come first, so that the
    numbers that are needed most stand together. ``note_part`` and ``rater_part`` number the connected components
    that they belong to; there are ``parts`` components.
    """

    notes: IntArray
    raters: IntArray
    pattern: Cells
    valued: Cells
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
        size = int(np.count_nonzero(chosen))
        note_counts, rater_counts = at_once(
            partial(count, ratings.note, len(ratings.note_ids), chosen),
            partial(count, ratings.rater, len(ratings.rater_ids), chosen),
            large=size >= LARGE,
        )
        notes, raters = np.flatnonzero(note_counts), np.flatnonzero(rater_counts)
        if size >= LARGE:
            raters = raters[np.argsort(-rater_counts[raters], kind="stable")]
        place = np.zeros(len(rater_counts), np.int32)
        place[raters] = np.arange(len(raters), dtype=np.int32)
        column, value = _chosen(ratings, chosen, place, size)
        row = np.concatenate([[0], np.cumsum(note_counts[notes])]).astype(np.int32)
        shape = (len(notes), len(raters))
        valued = Cells(value, column, row, shape)
        pattern = valued.with_entries(np.ones_like(value))
        parts, part = _components(pattern)
        return cls(
            notes,
            raters,
            pattern,
            valued,
            note_counts[notes].astype(np.float64),
            rater_counts[raters].astype(np.float64),
            valued.times(np.ones(shape[1]))[0],
            valued.transposed_times(np.ones(shape[0]))[0],
            _squares(value),
            part[: shape[0]],
            part[shape[0] :],
            parts,
        )

    def __len__(self) -> int:
        return len(self.pattern.column)

    @property
    def is_large(self) -> bool:
        return len(self) >= LARGE

    def residuals(self, level: FloatArray, note_intercept: FloatArray) -> Entries:
        """The residuals of the additive model, ``r - level[rater] - note_intercept[note]``, one per rating."""
        left: Entries = np.empty_like(self.valued.entries)

        def subtract(rows: slice, part: slice) -> None:
            here = self.valued.entries[part] - level[self.pattern.column[part]]
            here -= np.repeat(note_intercept[rows], np.diff(self.pattern.row[rows.start : rows.stop + 1]))
            left[part] = here

        self.pattern.each_row_block(subtract)
        return left


def _squares(value: Entries) -> float:
    return float(sum(np.square(value[part]).sum(dtype=np.float64) for part in blocks(len(value))))


def _chosen(ratings: Ratings, chosen: BoolArray, place: IndexArray, size: int) -> tuple[IndexArray, Entries]:
    """Of the ``chosen`` ratings, ``size`` in number: the ``place`` of their raters, and their values."""
    column = np.empty(size, np.int32)
    value: Entries = np.empty(size, np.float32) if size >= LARGE else np.empty(size, np.float64)
    middle = len(ratings) // 2

    def fill(part: slice, end: int) -> None:
        for inner in blocks(part.stop - part.start):
            here = slice(part.start + inner.start, part.start + inner.stop)
            rater = ratings.rater[here][chosen[here]]
            start, end = end, end + len(rater)
            column[start:end] = place[rater]
            value[start:end] = ratings.level[here][chosen[here]]

    before_middle = int(np.count_nonzero(chosen[:middle]))
    at_once(
        partial(fill, slice(middle, len(ratings)), before_middle),
        partial(fill, slice(0, middle), 0),
        large=size >= LARGE,
    )
    value *= 0.5
    return column, value


def eligible(ratings: Ratings, per_note: int, per_rater: int) -> BoolArray:
    """Which ratings stay after three passes over notes, raters, notes; no more (docs/develop/consensus.md)."""
    stays = np.ones(len(ratings), np.bool_)
    for column, size, least in (
        (ratings.note, len(ratings.note_ids), per_note),
        (ratings.rater, len(ratings.rater_ids), per_rater),
        (ratings.note, len(ratings.note_ids), per_note),
    ):
        each_block(len(ratings), partial(_leave_out, stays, column, count(column, size, stays) >= least))
    return stays


def _leave_out(stays: BoolArray, column: IndexArray, enough: BoolArray, part: slice) -> None:
    stays[part] &= enough[column[part]]


def _components(pattern: Cells) -> tuple[int, IntArray]:
    """The number of connected components, and the component of each note, then of each rater."""
    notes, raters = pattern.shape
    if _is_connected(pattern):
        return 1, np.zeros(notes + raters, np.int64)
    ends = np.concatenate([pattern.row, np.full(raters, pattern.row[-1], np.int32)])
    graph = sparse.csr_array(
        (np.ones(len(pattern.column), np.int8), pattern.column + np.int32(notes), ends),
        shape=(notes + raters,) * 2,
    )
    number, part = connected_components(graph, directed=False)
    return int(number), part.astype(np.int64)


def _is_connected(pattern: Cells) -> bool:
    """Whether a few steps from one rater lead to everybody: most ratings are so, and this is quickly seen."""
    reached = np.zeros(pattern.shape[1])
    reached[0] = 1.0
    for _ in range(STEPS_AWAY):
        notes = pattern.times(reached)[0] > 0
        if notes.all():  # Then all raters are reached too, because each has rated a note.
            return True
        reached = (pattern.transposed_times(notes.astype(np.float64))[0] > 0).astype(np.float64)
    return False
