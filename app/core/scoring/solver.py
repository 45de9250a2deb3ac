"""The fit: alternating exact half-steps, and steps along what leaves predictions unchanged (docs/develop/consensus.md).

Minimises, over mu, i_u, f_u, i_n and f_n,

    sum (r - mu - i_u - i_n - f_u f_n)^2
        + rho_mu mu^2 + rho_iu sum i_u^2 + rho_in sum i_n^2 + rho_fu sum f_u^2 + rho_fn sum f_n^2.

A rating graph that falls into components is fitted component by component, each with its own mu and sign, in the
same passes: everything below that is "per part" has one entry per component. The ridges are common to all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from app.core.scoring.acceleration import Acceleration
from app.core.scoring.arrays import FloatArray, IntArray
from app.core.scoring.blocks import Cells
from app.core.scoring.matrix import Matrix

INTERCEPT_RIDGE = 0.15
FACTOR_RIDGE = 0.03
TOLERANCE = 1e-5
ACCELERATED_TOLERANCE = 2 * TOLERANCE
"""For large communities, whose passes come closer to the solution: scores that changed by this much in the last pass
are as exact as scores that changed by half of it in a plain one (measured: 0.000004 from the solution).
"""
AT_MOST = 300
ADDITIVE_SWEEPS = 4
POWER_ITERATIONS = 8
_START_SPREAD = 0.4
_AXIS_SPREAD = 0.3
_NOTHING = 1e-100
_GOLDEN = 0.6180339887498949

Start = tuple[FloatArray, FloatArray, FloatArray]
"""mu per part, i_u and f_u."""


@dataclass(frozen=True)
class Ridges:
    """Ridges in pseudo-ratings; ``mu`` is per rating, so a part of N ratings has ``mu * N``."""

    note_intercept: float
    note_factor: float
    rater_intercept: float
    rater_factor: float
    mu: float = INTERCEPT_RIDGE

    @classmethod
    def from_counts(cls, ratings: float, notes: int, raters: int, at_least: float = 0.0) -> "Ridges":
        """The ridges of the objective: ``R_n = N/M``, or ``at_least`` that much, and ``R_u = N/U``."""
        per_note, per_rater = max(ratings / notes, at_least), ratings / raters
        return cls(
            INTERCEPT_RIDGE * per_note,
            FACTOR_RIDGE * per_note,
            INTERCEPT_RIDGE * per_rater,
            FACTOR_RIDGE * per_rater,
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution. ``mu`` has one entry per part; ``error`` is the sum of squared residuals."""

    mu: FloatArray
    note_intercept: FloatArray
    note_factor: FloatArray
    rater_intercept: FloatArray
    rater_factor: FloatArray
    error: float
    passes: int


def half_step(
    n: FloatArray,
    s: FloatArray,
    ss: FloatArray,
    y: FloatArray,
    yf: FloatArray,
    rho_intercept: float,
    rho_factor: float,
    *,
    factored: bool = True,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Intercepts, factors, and the intercepts' variance per unit of residual variance.

    Minimises ``sum (y - i - f x)^2 + rho_intercept i^2 + rho_factor f^2`` for each entry, from ``n`` terms with
    ``s = sum x``, ``ss = sum x^2``, ``y = sum y`` and ``yf = sum y x``. Without ``factored``, f stays 0.
    """
    a = n + rho_intercept
    if not factored:
        return y / a, np.zeros_like(y), 1.0 / a
    d = ss + rho_factor
    det = a * d - s * s
    return (d * y - s * yf) / det, (a * yf - s * y) / det, d / det


def fit(
    matrix: Matrix,
    ridges: Ridges,
    *,
    factored: bool = True,
    start: Start | None = None,
    tolerance: float | None = None,
) -> Fit:
    """Fit the parameters. ``start``: that of an earlier fit; ``factored`` False: all f are 0.

    Stops when no note's score changes by ``tolerance`` in a pass, or after ``AT_MOST`` passes.
    """
    faster = Acceleration() if matrix.is_large and factored else None
    if tolerance is None:
        tolerance = TOLERANCE if faster is None else ACCELERATED_TOLERANCE
    search = _Search(matrix, ridges, factored)
    if start is None:
        search.start()
    else:
        search.mu, search.rater_intercept, search.rater_factor = (array.copy() for array in start)
        search.solve_notes()
    passes = 0
    change = np.inf
    while change >= tolerance and passes < AT_MOST:
        before, last = search.note_intercept, change
        began = search.raters() if faster else None
        search.solve_raters()
        search.rebalance()
        if faster and began is not None:
            search.put_raters(faster.next(began, search.raters()))
        search.solve_notes()
        change = float(np.max(np.abs(search.note_intercept - before)))
        if faster and change > last:
            faster.forget()
        passes += 1
    error = search.error()
    search.orient()
    return Fit(
        search.mu,
        search.note_intercept,
        search.note_factor,
        search.rater_intercept,
        search.rater_factor,
        error,
        passes,
    )


def started(additive: Fit, direction: FloatArray) -> Start:
    """A start at an additive fit of one part, with factors along this direction of its raters."""
    spread = float(np.linalg.norm(direction)) / sqrt(len(direction))
    return additive.mu, additive.rater_intercept, direction * (_AXIS_SPREAD / max(spread, _NOTHING))


class _Search:
    """The parameters during the optimisation."""

    def __init__(self, matrix: Matrix, ridges: Ridges, factored: bool) -> None:
        self.matrix, self.ridges, self.factored = matrix, ridges, factored
        notes, raters = matrix.pattern.shape
        self.mu: FloatArray = np.zeros(matrix.parts)
        self.note_intercept: FloatArray = np.zeros(notes)
        self.note_factor: FloatArray = np.zeros(notes)
        self.rater_intercept: FloatArray = np.zeros(raters)
        self.rater_factor: FloatArray = np.zeros(raters)
        self.notes_per_part = self._per_part(np.ones(notes), matrix.note_part)
        self.raters_per_part = self._per_part(np.ones(raters), matrix.rater_part)
        self.rho_mu = ridges.mu * self._per_part(matrix.note_counts, matrix.note_part)

    def _per_part(self, values: FloatArray, part: IntArray) -> FloatArray:
        if self.matrix.parts == 1:
            return np.array([values.sum()])
        return np.bincount(part, values, self.matrix.parts).astype(np.float64)

    def start(self) -> None:
        """Four additive sweeps, then the strongest direction of their residuals, by power iteration."""
        factored, self.factored = self.factored, False
        for _ in range(ADDITIVE_SWEEPS):
            self.solve_notes()
            self.solve_raters()
            self._split_level()
        self.solve_notes()
        self.factored = factored
        if factored:
            self.rater_factor = self._strongest_direction()
            self.solve_notes()

    def _strongest_direction(self) -> FloatArray:
        matrix, ridges = self.matrix, self.ridges
        residuals = matrix.pattern.with_entries(matrix.residuals(self._level(), self.note_intercept))
        note_scale = 1.0 / (matrix.note_counts + ridges.note_intercept)
        rater_scale = 1.0 / np.sqrt(matrix.rater_counts + ridges.rater_intercept)
        # Any fixed vector works that is not orthogonal to the direction.
        vector = (np.arange(1, len(rater_scale) + 1) * _GOLDEN) % 1.0 - 0.5
        for _ in range(POWER_ITERATIONS):
            other = note_scale * residuals.times(rater_scale * vector)[0]
            vector = rater_scale * residuals.transposed_times(other)[0]
            vector /= self._norms(vector)[matrix.rater_part]
        direction = rater_scale * vector
        spread = self._norms(direction) / np.sqrt(self.raters_per_part)
        return direction * (_START_SPREAD / spread)[matrix.rater_part]

    def _norms(self, vector: FloatArray) -> FloatArray:
        """Length per part; 1 for a part where it is almost 0, which then stays without factors."""
        square = self._per_part(vector * vector, self.matrix.rater_part)
        return np.sqrt(np.where(square > 1e-200, square, 1.0))

    def raters(self) -> FloatArray:
        """The raters' parameters as one vector: mu, i_u, f_u. The notes' follow from them."""
        return np.concatenate([self.mu, self.rater_intercept, self.rater_factor])

    def put_raters(self, vector: FloatArray) -> None:
        parts, raters = len(self.mu), len(self.rater_intercept)
        self.mu, self.rater_intercept, self.rater_factor = np.split(vector, [parts, parts + raters])

    def _level(self) -> FloatArray:
        return self.rater_intercept + self.mu[self.matrix.rater_part]

    def solve_notes(self) -> None:
        matrix = self.matrix
        sums = self._sums(Cells.times, self._level(), self.rater_factor, matrix.note_counts)
        self.terms = (matrix.note_counts, sums[0], sums[1], matrix.note_sums - sums[2], sums[3])
        self.note_intercept, self.note_factor, _ = half_step(
            *self.terms, self.ridges.note_intercept, self.ridges.note_factor, factored=self.factored
        )

    def solve_raters(self) -> None:
        matrix = self.matrix
        sums = self._sums(Cells.transposed_times, self.note_intercept, self.note_factor, matrix.rater_counts)
        base = self.mu[matrix.rater_part]
        y = matrix.rater_sums - sums[2] - base * matrix.rater_counts
        terms = (matrix.rater_counts, sums[0], sums[1], y, sums[3] - base * sums[0])
        self.rater_intercept, self.rater_factor, _ = half_step(
            *terms, self.ridges.rater_intercept, self.ridges.rater_factor, factored=self.factored
        )

    def _sums(
        self,
        times: Callable[..., list[FloatArray]],
        level: FloatArray,
        factor: FloatArray,
        counts: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """With the other side's ``factor`` x and ``level`` l: sum x, sum x^2, sum l and sum (r - l) x."""
        matrix = self.matrix
        # Sums of single precision are more exact of numbers around 0.
        middle = float(level.mean()) if matrix.is_large else 0.0
        level = level - middle
        if not self.factored:
            none = np.zeros(len(counts))
            return none, none, times(matrix.pattern, level)[0] + middle * counts, none
        columns = (factor, factor * factor, level, level * factor)
        total, squares, levels, both, valued = times(matrix.pattern, *columns, also=(matrix.valued, factor))
        return total, squares, levels + middle * counts, valued - both - middle * total

    def rebalance(self) -> None:
        """Minimise exactly along the four directions that do not change any prediction."""
        if self.factored:
            notes, raters, ridges = self.matrix.note_part, self.matrix.rater_part, self.ridges
            shift = self._shift(
                self.note_intercept,
                self.note_factor,
                notes,
                ridges.note_intercept,
                self.rater_factor,
                raters,
                ridges.rater_factor,
                self.raters_per_part,
            )
            self.rater_factor = self.rater_factor + shift[raters]
            self.note_intercept = self.note_intercept - shift[notes] * self.note_factor
            shift = self._shift(
                self.rater_intercept,
                self.rater_factor,
                raters,
                ridges.rater_intercept,
                self.note_factor,
                notes,
                ridges.note_factor,
                self.notes_per_part,
            )
            self.note_factor = self.note_factor + shift[notes]
            self.rater_intercept = self.rater_intercept - shift[raters] * self.rater_factor
            stretch = self._stretch()
            self.rater_factor = self.rater_factor * stretch[raters]
            self.note_factor = self.note_factor / stretch[notes]
        self._split_level()

    def _shift(
        self,
        intercept: FloatArray,
        factor: FloatArray,
        part: IntArray,
        rho_intercept: float,
        other_factor: FloatArray,
        other_part: IntArray,
        other_rho: float,
        others: FloatArray,
    ) -> FloatArray:
        """The t to add to the other side's factors and, times the own factor, to subtract from the intercepts."""
        along = rho_intercept * self._per_part(intercept * factor, part)
        along -= other_rho * self._per_part(other_factor, other_part)
        return along / (other_rho * others + rho_intercept * self._per_part(factor * factor, part))

    def _stretch(self) -> FloatArray:
        notes = self.ridges.note_factor * self._per_part(self.note_factor**2, self.matrix.note_part)
        raters = self.ridges.rater_factor * self._per_part(self.rater_factor**2, self.matrix.rater_part)
        both_positive = (notes > 1e-200) & (raters > 1e-200)
        quotient: FloatArray = np.divide(notes, raters, out=np.ones_like(notes), where=both_positive)
        return quotient**0.25

    def _split_level(self) -> None:
        """Distribute mu + mean i_u + mean i_n over the three in the way that minimises the ridge terms."""
        notes, raters = self.matrix.note_part, self.matrix.rater_part
        rater_mean = self._per_part(self.rater_intercept, raters) / self.raters_per_part
        note_mean = self._per_part(self.note_intercept, notes) / self.notes_per_part
        total = self.mu + rater_mean + note_mean
        to_mu = 1.0 / self.rho_mu
        to_raters = 1.0 / (self.ridges.rater_intercept * self.raters_per_part)
        to_notes = 1.0 / (self.ridges.note_intercept * self.notes_per_part)
        unit = total / (to_mu + to_raters + to_notes)
        self.mu = unit * to_mu
        self.rater_intercept = self.rater_intercept + (unit * to_raters - rater_mean)[raters]
        self.note_intercept = self.note_intercept + (unit * to_notes - note_mean)[notes]

    def orient(self) -> None:
        """Choose signs so that at least half of a part's rater factors are negative (docs/develop/consensus.md)."""
        sign = self._per_part(np.sign(self.rater_factor), self.matrix.rater_part)
        turn = np.where(sign > 0, -1.0, 1.0)
        self.rater_factor = self.rater_factor * turn[self.matrix.rater_part]
        self.note_factor = self.note_factor * turn[self.matrix.note_part]

    def error(self) -> float:
        """Sum of squared residuals, from the sums of the last note half-step."""
        matrix, level = self.matrix, self._level()
        n, s, ss, y, yf = self.terms
        i, f = self.note_intercept, self.note_factor
        before = matrix.squares + level @ (matrix.rater_counts * level - 2.0 * matrix.rater_sums)
        return max(0.0, float(before + i @ (n * i - 2.0 * y) + f @ (f * ss - 2.0 * yf + 2.0 * i * s)))
