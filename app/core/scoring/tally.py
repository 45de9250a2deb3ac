"""The sums of all notes at once: the same numbers as ``Sums.plus`` over every rating (docs/develop/consensus.md)."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from app.core.scoring.arrays import BoolArray, FloatArray, IntArray, Ratings
from app.core.scoring.blocks import LARGE, at_once
from app.core.scoring.model import Model
from app.core.scoring.sums import ANY, CORRELATED, NEGATIVE, POSITIVE, SOLVED, VOLUME, WIDTH
from app.core.scoring.verdict import Regime

_UNKNOWN, _NEGATIVE, _POSITIVE, _NO_SIDE = range(4)


@dataclass(frozen=True, eq=False)
class RaterArrays:
    """Every rater's parameters, parallel to ``Ratings.rater_ids``. A rater that is not kept has 0 and 0."""

    intercept: FloatArray
    factor: FloatArray
    kept: BoolArray
    volume: BoolArray
    correlated: BoolArray

    @classmethod
    def blank(cls, count: int, *, kept: bool) -> "RaterArrays":
        """``count`` raters without a viewpoint, all kept or none."""
        nobody = np.zeros(count, np.bool_)
        return cls(np.zeros(count), np.zeros(count), np.full(count, kept), nobody, nobody)


def tally(ratings: Ratings, raters: RaterArrays, model: Model) -> FloatArray:
    """The sums of every note, ``(notes, WIDTH)``."""
    rows = np.zeros((len(ratings.note_ids), WIDTH))
    if not len(ratings):
        return rows
    weight, intercept, factor = _rater_terms(raters, model)
    counts, rows[:, SOLVED.start + 1 : SOLVED.stop] = at_once(
        partial(_count, ratings, _classes(raters, model)),
        partial(_sums, ratings, weight, intercept, factor, model.mu),
        large=len(ratings) >= LARGE,
    )
    rows[:, ANY] = counts.sum(axis=1)
    rows[:, NEGATIVE], rows[:, POSITIVE] = counts[:, _NEGATIVE], counts[:, _POSITIVE]
    counted = counts[:, 1:] if model.regime is Regime.FULL else counts
    rows[:, SOLVED.start] = counted.sum(axis=(1, 2))
    for part, members in ((VOLUME, raters.volume), (CORRELATED, raters.correlated)):
        if members.any():
            rows[:, part] = _part(ratings, members & raters.kept, intercept, factor, model.mu)
    return rows


def _rater_terms(
    raters: RaterArrays, model: Model
) -> tuple[FloatArray | None, FloatArray, FloatArray | None]:
    """Each rater's weight (None: all 1), intercept and factor (None: all 0) in the sums."""
    if model.regime is Regime.COLD:
        return None, np.zeros(len(raters.kept)), None
    factor = np.where(raters.kept, raters.factor, 0.0) if model.axis else None
    if model.regime is Regime.WARM:
        return None, np.where(raters.kept, raters.intercept, model.mean_intercept), factor
    return raters.kept.astype(np.float64), raters.intercept, factor


def _classes(raters: RaterArrays, model: Model) -> IntArray:
    side = np.where(raters.factor < 0, _NEGATIVE, _POSITIVE) if model.axis else _NO_SIDE
    return np.where(raters.kept, side, _UNKNOWN).astype(np.int64)


def _count(ratings: Ratings, classes: IntArray) -> IntArray:
    """The number of raters of each class per note and level: ``(notes, 4, 3)``."""
    cell = ratings.note.astype(np.int64) * 12
    cell += (classes * 3)[ratings.rater]
    cell += ratings.level
    size = len(ratings.note_ids)
    return np.bincount(cell, minlength=size * 12).reshape(size, 4, 3)


def _sums(
    ratings: Ratings, weight: FloatArray | None, intercept: FloatArray, factor: FloatArray | None, mu: float
) -> FloatArray:
    """S_f, S_ff, S_y, S_yf of every note, ``(notes, 4)``. Ratings are sorted by note, so each note is one run."""
    start = np.searchsorted(ratings.note, np.arange(len(ratings.note_ids), dtype=np.int32))
    y = ratings.value
    y -= (mu + intercept)[ratings.rater]
    if weight is not None:
        y *= weight[ratings.rater]
    sums = np.zeros((len(ratings.note_ids), 4))
    sums[:, 2] = np.add.reduceat(y, start)
    if factor is not None:
        factors = factor[ratings.rater]
        sums[:, 0] = np.add.reduceat(factors, start)
        sums[:, 3] = np.add.reduceat(np.multiply(y, factors, out=y), start)
        sums[:, 1] = np.add.reduceat(np.multiply(factors, factors, out=factors), start)
    return sums


def _part(
    ratings: Ratings, members: BoolArray, intercept: FloatArray, factor: FloatArray | None, mu: float
) -> FloatArray:
    """n, S_f, S_ff, S_y, S_yf of every note over the ratings of ``members`` only, ``(notes, 5)``."""
    chosen = np.flatnonzero(members[ratings.rater])
    note, rater = ratings.note[chosen], ratings.rater[chosen]
    y = ratings.level[chosen] * 0.5 - mu - intercept[rater]
    f = np.zeros(len(chosen)) if factor is None else factor[rater]
    size = len(ratings.note_ids)
    columns = [np.bincount(note, weights, size) for weights in (None, f, f * f, y, y * f)]
    return np.column_stack(columns).astype(np.float64)
