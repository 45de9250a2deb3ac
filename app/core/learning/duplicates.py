"""Near-duplicates: texts that share most of their features, found by MinHash (Broder 1997).

Somebody who posts one text a hundred times with small changes must not count as a hundred decisions.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

ALIKE = 0.7
"""The share of common features from which two texts are near-duplicates."""
BANDS, ROWS = 12, 3
"""Two texts are compared if they agree in all rows of a band; texts as similar as ``ALIKE`` almost surely do."""
_PRIME = (1 << 31) - 1


def clusters(rows: sp.csr_matrix) -> NDArray[np.int64]:
    """A number for each row; near-duplicates have the same one. The same rows always give the same numbers."""
    count = rows.shape[0]
    parents = list(range(count))

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    signatures = _signatures(rows)
    sizes = np.diff(rows.indptr)
    for band in range(BANDS):
        keys = signatures[:, band * ROWS : (band + 1) * ROWS]
        first: dict[bytes, int] = {}
        for row in range(count):
            other = first.setdefault(keys[row].tobytes(), row)
            # A text without features is like no other.
            if other == row or sizes[row] == 0 or root(other) == root(row):
                continue
            if float(np.mean(signatures[other] == signatures[row])) >= ALIKE:
                parents[max(root(other), root(row))] = min(root(other), root(row))
    return np.array([root(row) for row in range(count)], dtype=np.int64)


def _signatures(rows: sp.csr_matrix) -> NDArray[np.int64]:
    """For each row the smallest value of its features under each of several fixed shuffles."""
    dice = np.random.default_rng(7)
    shuffles = dice.integers(1, _PRIME, size=(BANDS * ROWS, 2))
    found = np.full((rows.shape[0], len(shuffles)), -1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if not len(filled):
        return found
    features, starts = rows.indices.astype(np.int64), rows.indptr[filled]
    for number, (factor, shift) in enumerate(shuffles):
        found[filled, number] = np.minimum.reduceat((features * factor + shift) % _PRIME, starts)
    return found
