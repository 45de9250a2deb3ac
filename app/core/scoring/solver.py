"""The fit: alternating exact half-steps, and steps along what leaves predictions unchanged (docs/develop/consensus.md).

Minimises, over mu, i_u, f_u, i_n and f_n,

    sum (r - mu - i_u - i_n - f_u f_n)^2
        + rho_mu mu^2 + rho_iu sum i_u^2 + rho_in sum i_n^2 + rho_fu sum f_u^2 + rho_fn sum f_n^2.

A rating graph that falls into components is fitted component by component, each with its own mu and sign, in the
same passes: everything below that is "per part" has one entry per component. The ridges are common to all.
"""

from dataclasses import dataclass

import numpy as np

from app.core.scoring.arrays import Cells, FloatArray, IndexArray, Matrix

INTERCEPT_RIDGE = 0.15
FACTOR_RIDGE = 0.03
TOLERANCE = 1e-5
AT_MOST = 300
ADDITIVE_SWEEPS = 4
POWER_ITERATIONS = 8
_START_SPREAD = 0.4
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
    tolerance: float = TOLERANCE,
) -> Fit:
    """Fit the parameters. ``start``: that of an earlier fit; ``factored`` False: all f are 0.

    Stops when no note's score changes by ``tolerance`` in a pass, or after ``AT_MOST`` passes.
    """
    search = _Search(matrix, ridges, factored)
    notes, raters = search.notes, search.raters
    if start is None:
        search.start()
    else:
        search.mu, raters.intercept, raters.factor = start
        search.solve(notes, raters)
    passes, change = 0, np.inf
    while change >= tolerance and passes < AT_MOST:
        before = notes.intercept
        search.solve(raters, notes)
        search.rebalance()
        search.solve(notes, raters)
        change = float(np.max(np.abs(notes.intercept - before)))
        passes += 1
    error = search.error()
    search.orient()
    return Fit(search.mu, notes.intercept, notes.factor, raters.intercept, raters.factor, error, passes)


class _Side:
    """The notes or the raters during the optimisation.

    ``cells`` and ``pattern`` are the matrix with a row for each of them; ``part`` is the component of each, ``size``
    their number in each component.
    """

    def __init__(
        self,
        cells: Cells,
        pattern: Cells,
        part: IndexArray,
        parts: int,
        rho_intercept: float,
        rho_factor: float,
    ) -> None:
        self.cells, self.pattern, self.part, self.parts = cells, pattern, part, parts
        self.rho_intercept, self.rho_factor = rho_intercept, rho_factor
        self.counts: FloatArray = pattern @ np.ones(pattern.shape[1])
        self.sums: FloatArray = cells @ np.ones(pattern.shape[1])
        self.size = self.per_part(np.ones(len(part)))
        self.intercept: FloatArray = np.zeros(len(part))
        self.factor: FloatArray = np.zeros(len(part))

    def per_part(self, values: FloatArray) -> FloatArray:
        return np.bincount(self.part, values, self.parts).astype(np.float64, copy=False)


class _Search:
    """The parameters during the optimisation."""

    def __init__(self, matrix: Matrix, ridges: Ridges, factored: bool) -> None:
        self.matrix, self.factored = matrix, factored
        self.notes = _Side(
            matrix.values,
            matrix.pattern,
            matrix.note_part,
            matrix.parts,
            ridges.note_intercept,
            ridges.note_factor,
        )
        self.raters = _Side(
            matrix.values.T,
            matrix.pattern.T,
            matrix.rater_part,
            matrix.parts,
            ridges.rater_intercept,
            ridges.rater_factor,
        )
        self.mu: FloatArray = np.zeros(matrix.parts)
        self.rho_mu = ridges.mu * self.notes.per_part(self.notes.counts)

    def start(self) -> None:
        """Four additive sweeps, then the strongest direction of their residuals, by power iteration."""
        factored, self.factored = self.factored, False
        for _ in range(ADDITIVE_SWEEPS):
            self.solve(self.notes, self.raters)
            self.solve(self.raters, self.notes)
            self._split_level()
        self.solve(self.notes, self.raters)
        self.factored = factored
        if factored:
            self.raters.factor = self._strongest_direction()
            self.solve(self.notes, self.raters)

    def _strongest_direction(self) -> FloatArray:
        notes, raters = self.notes, self.raters
        residuals = self.matrix.residuals(self._level(raters), notes.intercept)
        note_scale = 1.0 / (notes.counts + notes.rho_intercept)
        rater_scale = 1.0 / np.sqrt(raters.counts + raters.rho_intercept)
        # Any fixed vector works that is not orthogonal to the direction.
        vector = (np.arange(1, len(rater_scale) + 1) * _GOLDEN) % 1.0 - 0.5
        for _ in range(POWER_ITERATIONS):
            other = note_scale * (residuals @ (rater_scale * vector))
            vector = rater_scale * (residuals.T @ other)
            vector /= self._norms(vector)[raters.part]
        direction = rater_scale * vector
        spread = self._norms(direction) / np.sqrt(raters.size)
        return direction * (_START_SPREAD / spread)[raters.part]

    def _norms(self, vector: FloatArray) -> FloatArray:
        """Length per part; 1 for a part where it is almost 0, which then stays without factors."""
        square = self.raters.per_part(vector * vector)
        return np.sqrt(np.where(square > 1e-200, square, 1.0))

    def _level(self, side: _Side) -> FloatArray:
        return side.intercept + self.mu[side.part]

    def solve(self, side: _Side, other: _Side) -> None:
        """The half-step of one side, with the other side's parameters as they are."""
        level, x = self._level(other), other.factor
        if self.factored:
            s, ss, levels, both = (side.pattern @ np.column_stack([x, x * x, level, level * x])).T
            yf = side.cells @ x - both
        else:
            s = ss = yf = np.zeros(len(side.counts))
            levels = side.pattern @ level
        self.terms = (side.counts, s, ss, side.sums - levels, yf)
        side.intercept, side.factor, _ = half_step(
            *self.terms, side.rho_intercept, side.rho_factor, factored=self.factored
        )

    def rebalance(self) -> None:
        """Minimise exactly along the four directions that do not change any prediction."""
        if self.factored:
            self._shift(self.notes, self.raters)
            self._shift(self.raters, self.notes)
            stretch = self._stretch()
            self.raters.factor = self.raters.factor * stretch[self.raters.part]
            self.notes.factor = self.notes.factor / stretch[self.notes.part]
        self._split_level()

    def _shift(self, side: _Side, other: _Side) -> None:
        """Add t to the other side's factors, and subtract t times the own factor from the intercepts."""
        along = side.rho_intercept * side.per_part(side.intercept * side.factor)
        along -= other.rho_factor * other.per_part(other.factor)
        t = along / (other.rho_factor * other.size + side.rho_intercept * side.per_part(side.factor**2))
        other.factor = other.factor + t[other.part]
        side.intercept = side.intercept - t[side.part] * side.factor

    def _stretch(self) -> FloatArray:
        notes, raters = (
            side.rho_factor * side.per_part(side.factor**2) for side in (self.notes, self.raters)
        )
        both_positive = (notes > 1e-200) & (raters > 1e-200)
        quotient: FloatArray = np.divide(notes, raters, out=np.ones_like(notes), where=both_positive)
        return quotient**0.25

    def _split_level(self) -> None:
        """Distribute mu + mean i_u + mean i_n over the three in the way that minimises the ridge terms."""
        sides = (self.notes, self.raters)
        means = [side.per_part(side.intercept) / side.size for side in sides]
        shares = [1.0 / (side.rho_intercept * side.size) for side in sides]
        unit = (self.mu + means[0] + means[1]) / (1.0 / self.rho_mu + shares[0] + shares[1])
        self.mu = unit / self.rho_mu
        for side, mean, share in zip(sides, means, shares, strict=True):
            side.intercept = side.intercept + (unit * share - mean)[side.part]

    def orient(self) -> None:
        """Choose signs so that at least half of a part's rater factors are negative (docs/develop/consensus.md)."""
        sign = self.raters.per_part(np.sign(self.raters.factor))
        turn = np.where(sign > 0, -1.0, 1.0)
        for side in (self.notes, self.raters):
            side.factor = side.factor * turn[side.part]

    def error(self) -> float:
        """Sum of squared residuals, from the sums of the last note half-step."""
        level, raters = self._level(self.raters), self.raters
        n, s, ss, y, yf = self.terms
        i, f = self.notes.intercept, self.notes.factor
        values = self.matrix.values.data
        before = values @ values + level @ (raters.counts * level - 2.0 * raters.sums)
        return max(0.0, float(before + i @ (n * i - 2.0 * y) + f @ (f * ss - 2.0 * yf + 2.0 * i * s)))
