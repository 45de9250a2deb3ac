"""The sums of a note's ratings: enough to compute its score without the ratings (docs/develop/consensus.md).

``Sums`` are one note's, changed by one rating at a time; ``tally`` computes the same numbers for all notes at once,
and ``solve`` the scores.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from app.core.scoring.arrays import BoolArray, FloatArray, IntArray, Ratings
from app.core.scoring.model import Model, Rater
from app.core.scoring.solver import half_step
from app.core.scoring.verdict import Regime

ANY = slice(0, 3)
"""Ratings of any kind: the number of 0, 0.5 and 1."""
SOLVED = slice(3, 8)
"""Over the ratings that count: n, S_f, S_ff, S_y, S_yf, with y = r - mu - i_u."""
NEGATIVE = slice(8, 11)
POSITIVE = slice(11, 14)
"""Per side: the number of 0, 0.5 and 1 among known raters."""
VOLUME = slice(14, 19)
CORRELATED = slice(19, 24)
"""The part of ``SOLVED`` from high-volume raters, and from correlated ones."""
WARM = slice(24, 29)
"""``SOLVED`` under ``Model.acting``, for ordinary notes in the full regime: what the warm model says of them."""
WIDTH = 29


@dataclass(frozen=True)
class Counts:
    """The number of raters per rating level."""

    not_helpful: int
    somewhat_helpful: int
    helpful: int

    @property
    def total(self) -> int:
        return self.not_helpful + self.somewhat_helpful + self.helpful

    @property
    def net(self) -> int:
        """Helpful minus not helpful."""
        return self.helpful - self.not_helpful


@dataclass(frozen=True)
class Sides:
    """The two viewpoints by the sign of the raters' factor; raters without a known viewpoint are on neither side."""

    negative: Counts
    positive: Counts


@dataclass(frozen=True)
class Sums:
    """One note's sums under one model. ``row`` has ``WIDTH`` numbers, laid out by the slices above."""

    row: tuple[float, ...]

    @classmethod
    def zero(cls) -> Self:
        return cls((0.0,) * WIDTH)

    @classmethod
    def from_list(cls, stored: "list[float] | FloatArray") -> Self:
        """Parse the list of ``to_list``. Raises ValueError for a wrong length."""
        if len(stored) != WIDTH:
            raise ValueError(f"sums: {len(stored)} numbers, not {WIDTH}")
        return cls(tuple(float(number) for number in stored))

    def to_list(self) -> list[float]:
        return list(self.row)

    def plus(self, model: Model, rater: Rater | None, value: float) -> Self:
        """The sums with one more rating; ``value`` is 0, 0.5 or 1."""
        added = _contribution(model, rater, value)
        return type(self)(tuple([a + b for a, b in zip(self.row, added, strict=True)]))

    def minus(self, model: Model, rater: Rater | None, value: float) -> Self:
        """The sums without one of its ratings. Raises ValueError if there is no such rating."""
        removed = _contribution(model, rater, value)
        row = tuple([a - b for a, b in zip(self.row, removed, strict=True)])
        if min(row[ANY]) < 0 or row[SOLVED.start] < 0:
            raise ValueError(f"value: the note has no rating of {value} to take away")
        return type(self)(row) if sum(row[ANY]) else self.zero()

    @property
    def counts(self) -> Counts:
        """Ratings of any kind, whether or not they count for the score."""
        return _counts(self.row[ANY])

    @property
    def counted(self) -> int:
        """The number of ratings that count for the score."""
        return round(self.row[SOLVED.start])

    @property
    def sides(self) -> Sides:
        return Sides(_counts(self.row[NEGATIVE]), _counts(self.row[POSITIVE]))

    def as_array(self) -> FloatArray:
        return np.array([self.row])


def _counts(part: tuple[float, ...]) -> Counts:
    return Counts(round(part[0]), round(part[1]), round(part[2]))


def _contribution(model: Model, rater: Rater | None, value: float) -> list[float]:
    if value not in (0.0, 0.5, 1.0):
        raise ValueError("value: must be 0, 0.5 or 1")
    if model.of_acting and rater is not None:
        rater = rater.for_acting()
    row = [0.0] * WIDTH
    level = int(2 * value)
    row[level] = 1.0
    if model.acting is not None:
        row[WARM] = _contribution(model.acting, rater, value)[SOLVED]
    known = rater is not None and rater.kept
    if model.regime is Regime.FULL and not known:
        return row
    intercept = factor = 0.0
    if known and rater is not None and model.regime is not Regime.COLD:
        intercept, factor = rater.intercept, rater.factor if model.axis else 0.0
    elif model.regime is Regime.WARM:
        intercept = model.mean_intercept
    y = value - model.mu - intercept
    solved = [1.0, factor, factor * factor, y, y * factor]
    row[SOLVED] = solved
    if known and model.axis:
        row[(NEGATIVE if factor < 0 else POSITIVE).start + level] = 1.0
    if known and rater is not None and rater.volume:
        row[VOLUME] = solved
    if known and rater is not None and rater.correlated:
        row[CORRELATED] = solved
    return row


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


_UNKNOWN, _NEGATIVE, _POSITIVE, _NO_SIDE = range(4)


def tally(ratings: Ratings, raters: RaterArrays, model: Model) -> FloatArray:
    """The sums of every note, ``(notes, WIDTH)``."""
    rows = np.zeros((len(ratings.note_ids), WIDTH))
    if not len(ratings):
        return rows
    counts = _counts_by_side(ratings, raters, model)
    rows[:, ANY] = counts.sum(axis=1)
    rows[:, NEGATIVE], rows[:, POSITIVE] = counts[:, _NEGATIVE], counts[:, _POSITIVE]
    intercept, factor = raters.intercept, np.zeros(len(raters.kept))
    if model.regime is Regime.COLD:
        intercept = factor
    elif model.axis:
        factor = np.where(raters.kept, raters.factor, 0.0)
    if model.regime is Regime.WARM:
        intercept = np.where(raters.kept, raters.intercept, model.mean_intercept)
    counted = raters.kept if model.regime is Regime.FULL else np.ones_like(raters.kept)
    for part, members in (
        (SOLVED, counted),
        (VOLUME, raters.volume & raters.kept),
        (CORRELATED, raters.correlated & raters.kept),
    ):
        if members.any():
            rows[:, part] = _solved(ratings, members, model.mu + intercept, factor)
    return rows


def _counts_by_side(ratings: Ratings, raters: RaterArrays, model: Model) -> IntArray:
    """The number of raters per note, side and level: ``(notes, 4, 3)``."""
    side = np.where(raters.factor < 0, _NEGATIVE, _POSITIVE) if model.axis else _NO_SIDE
    side = np.where(raters.kept, side, _UNKNOWN)
    size = len(ratings.note_ids)
    cell = 12 * ratings.note.astype(np.int64) + 3 * side[ratings.rater] + ratings.level
    return np.bincount(cell, minlength=12 * size).reshape(size, 4, 3)


def _solved(ratings: Ratings, members: BoolArray, level: FloatArray, factor: FloatArray) -> FloatArray:
    """n, S_f, S_ff, S_y, S_yf of every note over the ratings of ``members``, ``(notes, 5)``."""
    chosen = members[ratings.rater]
    note, rater = ratings.note[chosen], ratings.rater[chosen]
    y = ratings.level[chosen] * 0.5 - level[rater]
    f = factor[rater]
    size = len(ratings.note_ids)
    columns = [np.bincount(note, weights, size) for weights in (None, f, f * f, y, y * f)]
    return np.column_stack(columns).astype(np.float64)


def solve(sums: FloatArray, model: Model) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score, factor and the score's standard error (docs/develop/consensus.md) from ``(notes, 5)`` sums."""
    intercept, factor, variance = _half_step(sums, model, model.rho_intercept, model.rho_factor)
    return intercept + model.shift, factor, np.sqrt(model.mse * variance)


def _half_step(
    sums: FloatArray, model: Model, rho_intercept: float, rho_factor: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    n, s, ss, y, yf = sums.T
    return half_step(n, s, ss, y, yf, rho_intercept, rho_factor, factored=model.axis)


def upper_bound(sums: FloatArray, model: Model) -> FloatArray:
    """The highest score that one more helpful rating could give (docs/develop/consensus.md)."""
    highest, _, _ = _half_step(sums, model, model.rho_intercept_plain, model.rho_factor_plain)
    y = 1.0 - model.mu - model.low_intercept
    for f in (model.low_factor, 0.0, model.high_factor) if model.axis else (0.0,):
        more = sums + np.array([1.0, f, f * f, y, y * f])
        highest = np.maximum(
            highest, _half_step(more, model, model.rho_intercept_bound, model.rho_factor_bound)[0]
        )
    return highest


def side_means(rows: FloatArray, weight: float = 0.0) -> list[tuple[FloatArray, FloatArray]]:
    """Per side: the number of ratings, and their mean with ``weight`` ratings of 0.5 added."""
    sides = []
    for side in (NEGATIVE, POSITIVE):
        none, half, full = rows[:, side].T
        total = none + half + full
        sides.append((total, (full + 0.5 * half + 0.5 * weight) / np.maximum(total + weight, 1.0)))
    return sides


def known_raters(rows: FloatArray) -> FloatArray:
    """The number of a note's raters whose side is known."""
    known: FloatArray = rows[:, NEGATIVE].sum(axis=1) + rows[:, POSITIVE].sum(axis=1)
    return known
