"""Ratings as arrays: validated and sorted once, so that the same ratings give the same result bit for bit."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from app.core.scoring.blocks import (
    LARGE,
    BoolArray,
    FloatArray,
    IndexArray,
    IntArray,
    at_once,
    blocks,
    count,
    each_block,
)

__all__ = ["BoolArray", "FloatArray", "IndexArray", "IntArray", "Ratings", "ratings", "whole_numbers"]


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

    @cached_property
    def per_note(self) -> IntArray:
        """The number of ratings of each note."""
        return count(self.note, len(self.note_ids))

    @cached_property
    def per_rater(self) -> IntArray:
        """The number of ratings by each rater."""
        return count(self.rater, len(self.rater_ids))

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
    note_column, rater_column = _numbers(note_ids, "note_ids"), _numbers(rater_ids, "rater_ids")
    level = _levels(values)
    if len(rater_column) != len(note_column):
        raise ValueError(f"rater_ids: {len(rater_column)} of them, but {len(note_column)} note_ids")
    if len(level) != len(note_column):
        raise ValueError(f"values: {len(level)} of them, but {len(note_column)} note_ids")
    large = len(level) >= LARGE
    (notes, note), (raters, rater) = at_once(
        partial(_ranked, note_column), partial(_ranked, rater_column), large=large
    )
    # One integer per rating sorts faster than three columns: note, rater, level, valid. Their bits stand beside each
    # other: a remainder would take longer to find.
    bits = len(raters).bit_length()
    flags = None if valid is None else _flags(valid, len(level))
    packed = np.empty(len(level), np.int64)

    def pack(part: slice) -> None:
        here = note[part].astype(np.int64)
        here <<= bits
        here |= rater[part]
        here <<= 3
        here |= level[part] << 1
        here |= 1 if flags is None else flags[part]
        packed[part] = here

    each_block(len(packed), pack)
    packed.sort()
    return _unpacked(packed, notes, raters, bits)


def _unpacked(packed: IntArray, notes: IntArray, raters: IntArray, bits: int) -> Ratings:
    size = len(packed)
    note, rater = np.empty(size, np.int32), np.empty(size, np.int32)
    level, valid = np.empty(size, np.int8), np.empty(size, np.bool_)

    def unpack(part: slice) -> None:
        flags = packed[part]
        pair = flags >> 3
        before = packed[part.start - 1] >> 3 if part.start else -1
        twice = np.flatnonzero(np.diff(pair, prepend=before) == 0)
        if len(twice):
            row, column = divmod(int(pair[twice[0]]), 1 << bits)
            what = f"note {notes[row]}, rater {raters[column]}"
            raise ValueError(f"note_ids, rater_ids: more than one rating of {what}")
        note[part] = pair >> bits
        rater[part] = pair & ((1 << bits) - 1)
        level[part] = (flags >> 1) & 3
        valid[part] = flags & 1

    each_block(size, unpack)
    return Ratings(notes, raters, note, rater, level, valid)


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


def _numbers(values: npt.ArrayLike, name: str) -> IntArray | IndexArray:
    """As ``whole_numbers``; but short ones stay short, for a million take memory."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == np.int32:
        return values
    return whole_numbers(values, name)


def _levels(values: npt.ArrayLike) -> npt.NDArray[np.int8]:
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError("values: must be one-dimensional")
    if column.size == 0:
        return np.zeros(0, np.int8)
    if column.dtype.kind not in "fiu":
        raise ValueError("values: must be numbers")
    levels = np.empty(len(column), np.int8)
    for part in blocks(len(column)):
        here = column[part]
        if not np.all((here == 0) | (here == 0.5) | (here == 1)):
            raise ValueError("values: must be 0, 0.5 or 1")
        levels[part] = here * 2
    return levels


def _flags(valid: npt.ArrayLike, count: int) -> BoolArray:
    column = np.asarray(valid)
    if column.shape != (count,):
        raise ValueError(f"valid: must have one entry per rating, {count}")
    if count and column.dtype != np.bool_:
        raise ValueError("valid: must be true or false")
    return column.astype(np.bool_)


def _ranked(column: IntArray | IndexArray) -> tuple[IntArray, IndexArray]:
    """The distinct ids, ascending, and the index of each entry among them."""
    if column.size == 0:
        return column.astype(np.int64), column.astype(np.int32)
    low, high = int(column.min()), int(column.max())
    if high - low < 4 * column.size + 1024:
        # Ids that are close together, like row numbers: a lookup table is several times faster than a sort.
        present = np.zeros(high - low + 1, np.bool_)
        for part in blocks(len(column)):
            present[column[part] - low] = True
        rank = np.cumsum(present, dtype=np.int32) - np.int32(1)
        ranks = np.empty(len(column), np.int32)
        for part in blocks(len(column)):
            ranks[part] = rank[column[part] - low]
        return np.flatnonzero(present) + low, ranks
    distinct, place = np.unique(column, return_inverse=True)
    return distinct.astype(np.int64), place.astype(np.int32)
