"""Sums and products over millions of ratings: in blocks that fit into the processor's cache, on two processors.

Up to ``LARGE`` ratings nothing is divided. The result never depends on how many processors there are.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from threading import Thread
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
Entries = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Half = Any
"""A ``csr_array`` or ``csc_array`` of either precision; SciPy's annotations do not know what they have in common."""

LARGE = 400_000
"""Ratings from which work is divided between two threads, and numbers of single precision are precise enough."""
BLOCK = 1 << 17
"""Ratings in a block: a few columns of them fit into the cache."""
CACHE = 1 << 20
"""Bytes that a processor's own cache holds."""

First = TypeVar("First")
Second = TypeVar("Second")


def blocks(size: int, block: int = BLOCK) -> Iterator[slice]:
    """Slices that cover ``size`` entries."""
    for start in range(0, size, block):
        yield slice(start, min(start + block, size))


def each_block(size: int, work: Callable[[slice], object]) -> None:
    """Call ``work`` for slices that cover ``size`` entries; of many entries, the second half in a thread of its own.

    ``work`` must neither need nor change what it does elsewhere.
    """
    middle = size // 2 if size >= LARGE else 0

    def between(start: int, end: int) -> None:
        for part in blocks(end - start):
            work(slice(start + part.start, start + part.stop))

    at_once(partial(between, middle, size), partial(between, 0, middle), large=middle > 0)


def count(places: IndexArray, size: int, chosen: BoolArray | None = None) -> IntArray:
    """How often each of 0 to ``size`` - 1 occurs; with ``chosen``, one flag per entry, only among these."""
    counts = np.zeros(size, np.int64)
    # At least as many entries as there are counts, or adding up the blocks would take longer than counting.
    for part in blocks(len(places), max(BLOCK, 4 * size)):
        here = places[part] if chosen is None else places[part][chosen[part]]
        counts += np.bincount(here, minlength=size)
    return counts


def at_once(
    first: Callable[[], First], second: Callable[[], Second], *, large: bool = True
) -> tuple[First, Second]:
    """Call both; ``large``: the second in a thread of its own. The inner loops of NumPy and SciPy run side by side."""
    waiting = begin(second, large=large)
    try:
        return first(), waiting()
    except BaseException:
        waiting()
        raise


def begin(work: Callable[[], First], *, large: bool = True) -> Callable[[], First]:
    """Call ``work``; ``large``: in a thread of its own. What is returned waits for the result, or raises its error."""
    if not large:
        result = work()
        return lambda: result
    results: list[First] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()

    def wait() -> First:
        thread.join()
        if errors:
            raise errors[0]
        return results[0]

    return wait


class Cells:
    """A sparse matrix of notes by raters; a large one in two halves, each of which a thread multiplies."""

    def __init__(
        self,
        entries: Entries,
        column: IndexArray,
        row: IndexArray,
        shape: tuple[int, int],
    ) -> None:
        self.entries, self.column, self.row, self.shape = entries, column, row, shape
        middle = int(np.searchsorted(row, len(column) // 2)) if len(column) >= LARGE else 0
        parts = [(0, middle), (middle, shape[0])] if 0 < middle < shape[0] else [(0, shape[0])]
        self.halves = [self._rows(sparse.csr_array, *part) for part in parts]
        self.transposed = [self._rows(sparse.csc_array, *part) for part in parts]

    def _rows(self, kind: Any, start: int, end: int) -> Half:
        """These rows, or as ``csc_array`` their transpose."""
        where, size = slice(self.row[start], self.row[end]), (end - start, self.shape[1])
        half = kind(size if kind is sparse.csr_array else size[::-1], dtype=self.entries.dtype)
        # Given to the constructor, half of an array would be copied.
        half.data, half.indices = self.entries[where], self.column[where]
        half.indptr = self.row[start : end + 1] - self.row[start]
        return half

    def with_entries(self, entries: Entries) -> "Cells":
        """The same cells with other entries."""
        return Cells(entries, self.column, self.row, self.shape)

    def each_row_block(self, work: Callable[[slice, slice], object]) -> None:
        """Call ``work`` with slices of rows and of their entries: whole rows, together about a block.

        As ``each_block``, it may do two at once.
        """
        starts = np.arange(0, len(self.column), BLOCK)
        rows = [*np.unique(np.searchsorted(self.row, starts)).tolist(), self.shape[0]]
        middle = len(rows) // 2 if len(self.column) >= LARGE else 0

        def between(rows: list[int]) -> None:
            for first, end in pairwise(rows):
                work(slice(first, end), slice(int(self.row[first]), int(self.row[end])))

        at_once(partial(between, rows[middle:]), partial(between, rows[: middle + 1]), large=middle > 0)

    def times(self, *columns: FloatArray, also: "tuple[Cells, FloatArray] | None" = None) -> list[FloatArray]:
        """The product with each column, which has an entry per rater: sums per note.

        ``also``: the last product is that of other entries in the same cells.
        """
        parts = [
            partial(self._products, half, columns, also and (also[0].halves[number], also[1]))
            for number, half in enumerate(self.halves)
        ]
        if len(parts) == 1:
            return parts[0]()
        return [np.concatenate(both) for both in zip(*at_once(*parts), strict=True)]

    def transposed_times(
        self, *columns: FloatArray, also: "tuple[Cells, FloatArray] | None" = None
    ) -> list[FloatArray]:
        """The transpose's product with each column, which has an entry per note: sums per rater."""
        parts = []
        end = 0
        for number, half in enumerate(self.transposed):
            start, end = end, end + half.shape[1]
            here = [column[start:end] for column in columns]
            other = also and (also[0].transposed[number], also[1][start:end])
            parts.append(partial(self._products, half, here, other))
        if len(parts) == 1:
            return parts[0]()
        return [one + other for one, other in zip(*at_once(*parts), strict=True)]

    def _products(
        self, half: Half, columns: Sequence[FloatArray], also: tuple[Half, FloatArray] | None
    ) -> list[FloatArray]:
        kind = self.entries.dtype
        cast = [column.astype(kind, copy=False) for column in columns]
        if len(cast) == 1 or (half.nnz >= LARGE // 4 and not _adds_up_in_cache(half, len(cast))):
            products = [np.asarray(half @ column, np.float64) for column in cast]
        else:
            products = list(np.asarray(half @ np.column_stack(cast), np.float64).T)
        if also:
            products.append(np.asarray(also[0] @ also[1].astype(kind, copy=False), np.float64))
        return products


def _adds_up_in_cache(half: Half, columns: int) -> bool:
    """Whether one product of all columns is faster than one of each.

    Sums per rater are: each rating adds to another row of the result, if all rows fit into the cache. Sums per note
    are not, for ratings of one note add to one row, each after the other.
    """
    return bool(half.format == "csc" and half.shape[0] * columns * half.dtype.itemsize <= CACHE)
