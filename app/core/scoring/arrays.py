"""Ratings as arrays: validated and sorted once, so that the same ratings give the same result bit for bit."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings sorted by note, then rater. ``note`` and ``rater`` index ``note_ids`` and ``rater_ids`` (ascending).

    ``level`` is 0, 1 or 2 for the values 0, 0.5 and 1; ``valid`` whether the rating may count for its rater's
    helpfulness. All four have one entry per rating.
    """

    note_ids: IntArray
    rater_ids: IntArray
    note: npt.NDArray[np.int32]
    rater: npt.NDArray[np.int32]
    level: npt.NDArray[np.int8]
    valid: BoolArray

    def __len__(self) -> int:
        return len(self.note)

    def select_notes(self, chosen: BoolArray) -> "Ratings":
        """The ratings of these notes only (one flag per note), with all raters."""
        keep = chosen[self.note]
        place = (np.cumsum(chosen) - 1).astype(np.int32)
        return Ratings(
            self.note_ids[chosen],
            self.rater_ids,
            place[self.note[keep]],
            self.rater[keep],
            self.level[keep],
            self.valid[keep],
        )

    @property
    def value(self) -> FloatArray:
        halves: FloatArray = np.multiply(self.level, 0.5, dtype=np.float64)
        return halves


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
    notes, note = _ranked(note_column)
    raters, rater = _ranked(rater_column)
    # One integer per rating sorts faster than three columns: note, rater, level, valid.
    packed = (note * len(raters) + rater) << 3
    packed |= level << 1
    packed |= 1 if valid is None else _flags(valid, len(level))
    packed.sort()
    pair = packed >> 3
    if np.any(pair[1:] == pair[:-1]):
        first = pair[1:][pair[1:] == pair[:-1]][0]
        twice = f"note {notes[first // len(raters)]}, rater {raters[first % len(raters)]}"
        raise ValueError(f"note_ids, rater_ids: more than one rating of {twice}")
    by_note, by_rater = np.divmod(pair, max(1, len(raters)))
    return Ratings(
        notes,
        raters,
        by_note.astype(np.int32),
        by_rater.astype(np.int32),
        ((packed >> 1) & 3).astype(np.int8),
        (packed & 1).astype(np.bool_),
    )


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


def _levels(values: npt.ArrayLike) -> IntArray:
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError("values: must be one-dimensional")
    if column.size == 0:
        return np.zeros(0, np.int64)
    if column.dtype.kind not in "fiu":
        raise ValueError("values: must be numbers")
    if not np.all((column == 0) | (column == 0.5) | (column == 1)):
        raise ValueError("values: must be 0, 0.5 or 1")
    doubled: IntArray = (column * 2).astype(np.int64)
    return doubled


def _flags(valid: npt.ArrayLike, count: int) -> BoolArray:
    column = np.asarray(valid)
    if column.shape != (count,):
        raise ValueError(f"valid: must have one entry per rating, {count}")
    if count and column.dtype != np.bool_:
        raise ValueError("valid: must be true or false")
    return column.astype(np.bool_)


def _ranked(column: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct ids, ascending, and the index of each entry among them."""
    if column.size == 0:
        return column, column
    low, high = int(column.min()), int(column.max())
    if high - low < 4 * column.size + 1024:
        # Ids that are close together, like row numbers: a lookup table is several times faster than a sort.
        present = np.zeros(high - low + 1, np.bool_)
        present[column - low] = True
        rank = np.cumsum(present) - 1
        return np.flatnonzero(present) + low, rank[column - low]
    distinct, rank = np.unique(column, return_inverse=True)
    return distinct, rank
