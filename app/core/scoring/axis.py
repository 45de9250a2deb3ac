"""Are there camps at all? The test of one fit, and what a community remembers of the tests before (decision 0028).

Without the test the factor of a community without camps fits noise, and the rules about sides block notes that
everybody agrees on. A test that overlooks camps is worse: it switches the rules about sides off for everybody. So the
figure is judged by its own spread, and the verdict "no camps" takes evidence from many ratings.
"""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, fields
from math import isfinite, log, sqrt
from typing import Any

import numpy as np

from app.core.scoring.arrays import FloatArray
from app.core.scoring.matrix import Matrix, Sparse, times
from app.core.scoring.solver import Fit, Ridges, fit

ENOUGH_RATINGS, ENOUGH_EACH = 600, 8
"""With fewer ratings in all, or per rater, the test finds too few camps that are there. Camps are presumed then."""
FOUND_AT = 3.0
"""A top singular value this many standard deviations above chance is a camp: chance gets there once in 300 tests."""
EVEN_AT, AT_LEAST = 2.5, -1.0
"""A test at ``EVEN_AT`` says nothing either way. One that looked at a share ``g`` of new ratings adds
``log(1 + g) (EVEN_AT - z)`` to the evidence against camps, z being at least ``AT_LEAST``: no single test says more."""
GONE_AT = 0.5
"""Evidence at which camps are given up. Camps that were found start this much below zero. If every test stands at
chance level, z = 0, presumed camps are given up after 22 % more ratings, and found ones after 49 %."""
SHRUNK = 0.80
"""A community that lost more than a fifth of its ratings starts to count new ratings from what is left."""
FEW_FLIPS, MOST_FLIPS, RATINGS_FLIPPED = 4, 16, 400_000
"""Random sign flips: as many as make 400,000 ratings, within these bounds; a clear case needs only the fewest."""
CLEAR_AT = 3 * FOUND_AT
USUAL_SPREAD, USUAL_WEIGHT = 0.22, 8
"""Relative standard deviation of the top singular value under flips, times the square root of the smaller side of the
matrix: 0.17 to 0.27 for matrices of 40 to 33,000. A few flips tell their own spread only roughly, so this counts
beside them as much as 8 more flips."""
STEPS = 12
RIDGE_SHARE = 1e-6
"""What is left of the ridges in the additive fit. A ridge leaves a part of every mean in the residuals, and where
notes have hundreds of ratings each that part alone would pass for an axis."""
NOTHING_LEFT = 1e-3
"""Root mean square of residuals that are no disagreement."""


@dataclass(frozen=True)
class AxisTest:
    """One test: the top singular value over its mean under random signs, and the same in standard deviations.

    ``ratings`` is how many ratings the test looked at.
    """

    ratio: float
    z: float
    ratings: int

    @property
    def separation(self) -> float:
        """How well the axis tells the camps apart, 0.0 to 1.0: the squared cosine between what is found and what is
        there, in a matrix with as many rows as columns (Benaych-Georges, Nadakuditi 2012)."""
        above = max(self.ratio, 1.0)
        return 1.0 - (above + sqrt(above * above - 1.0)) ** -2


@dataclass(frozen=True)
class Camps:
    """What a community's tests have said so far. The default is a community that was never tested.

    ``found``: whether camps are there, or presumed. ``against``: the evidence against them, up to ``GONE_AT``; below
    zero once they were found.
    ``ratings``: how many ratings the evidence has looked at, so that ratings looked at twice do not count twice.
    """

    found: bool = True
    against: float = 0.0
    ratings: int = ENOUGH_RATINGS

    def after(self, test: AxisTest | None) -> "Camps":
        """With one more test; None, a test that could not be made, changes nothing."""
        if test is None:
            return self
        if test.z >= FOUND_AT:
            return Camps(True, -GONE_AT, test.ratings)
        before = self.ratings if test.ratings >= SHRUNK * self.ratings else test.ratings
        new = max(0.0, log(test.ratings / before))
        against = self.against + new * (EVEN_AT - max(test.z, AT_LEAST))
        found = against < GONE_AT if self.found else against <= 0.0
        return Camps(found, min(max(against, -GONE_AT), GONE_AT), max(before, test.ratings))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> "Camps":
        """None stands for a community that was never tested. Raises ValueError for anything ``to_json`` never gave."""
        if stored is None:
            return cls()
        if set(stored) != {one.name for one in fields(cls)}:
            raise ValueError(f"camps: {', '.join(sorted(stored))}")
        camps = cls(bool(stored["found"]), float(stored["against"]), int(stored["ratings"]))
        if not (isfinite(camps.against) and camps.ratings >= 1):
            raise ValueError("camps: against must be a number, ratings at least 1")
        return camps


def axis_test(matrix: Matrix, ridges: Ridges) -> AxisTest | None:
    """Compare the top singular value of what the additive model leaves with the same under fixed random sign flips.

    Residuals are scaled by ``1/sqrt((c_n + mean c_n)(c_u + mean c_u))``: with less than the mean added, a few ratings
    of notes and raters with hardly any others have a larger singular value than the camps of all (Qin, Rohe 2013).
    None below ``ENOUGH_RATINGS`` or ``ENOUGH_EACH``; a ratio of 0.0 where the additive model leaves nothing. Looking
    at a part of many ratings instead would be faster but blinder: of 1.5 million, 200,000 no longer show camps that
    all of them show clearly.
    """
    size = len(matrix)
    if size < max(ENOUGH_RATINGS, ENOUGH_EACH * len(matrix.raters)):
        return None
    light = Ridges(*(RIDGE_SHARE * rho for rho in astuple(ridges)))
    additive = fit(matrix, light, factored=False)
    if additive.error < NOTHING_LEFT**2 * size:
        return AxisTest(0.0, AT_LEAST, size)
    left = _scaled_residuals(matrix, additive)
    found, residuals = _top_singular_value(left), left.data
    flips = min(MOST_FLIPS, max(FEW_FLIPS, RATINGS_FLIPPED // size))
    usual = USUAL_SPREAD / sqrt(min(matrix.pattern.shape))
    chance: list[float] = []
    ratio = z = 0.0
    while len(chance) < flips and not (len(chance) == FEW_FLIPS and z >= CLEAR_AT):
        left.data = residuals * _signs(size, len(chance))
        chance.append(_top_singular_value(left))
        ratio = found / float(np.mean(chance))
        z = (ratio - 1.0) / _spread(np.array(chance), usual)
    return AxisTest(ratio, z, size)


def _scaled_residuals(matrix: Matrix, additive: Fit) -> Sparse:
    level = additive.rater_intercept + additive.mu[matrix.rater_part]
    left = matrix.with_entries(matrix.residuals(level, additive.note_intercept))
    note_scale = 1.0 / np.sqrt(matrix.note_counts + matrix.note_counts.mean())
    rater_scale = 1.0 / np.sqrt(matrix.rater_counts + matrix.rater_counts.mean())
    left.data *= rater_scale[left.indices]
    left.data *= np.repeat(note_scale, np.diff(left.indptr))
    return left


def _spread(chance: FloatArray, usual: float) -> float:
    """Relative standard deviation of the flips' figures, drawn towards the usual one."""
    own = float(np.var(chance, ddof=1)) / float(np.mean(chance)) ** 2 if len(chance) > 1 else 0.0
    weight = len(chance) - 1
    return sqrt((USUAL_WEIGHT * usual**2 + weight * own) / (USUAL_WEIGHT + weight))


def _signs(count: int, flip: int) -> FloatArray:
    """Fixed signs without pattern, one per rating: the top bit of splitmix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(flip << 40)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.where(z >> np.uint64(63), 1.0, -1.0)


def _top_singular_value(matrix: Sparse) -> float:
    """By Golub-Kahan bidiagonalisation with full reorthogonalisation; ``STEPS`` steps give it to about 1 %."""
    notes, raters = matrix.shape
    steps = min(STEPS, notes, raters)
    right, left = np.zeros((steps, raters)), np.zeros((steps, notes))
    diagonal, above = np.zeros(steps), np.zeros(steps)
    vector: FloatArray = np.arange(1, raters + 1, dtype=np.float64) * 0.6180339887498949 % 1.0 - 0.5
    vector *= 1.0 / float(np.linalg.norm(vector))
    for step in range(steps):
        right[step] = vector
        other = times(matrix, vector)
        other -= left[:step].T @ (left[:step] @ other)
        diagonal[step] = np.linalg.norm(other)
        if diagonal[step] < 1e-12:
            break
        left[step] = other / diagonal[step]
        vector = times(matrix.T, left[step])
        vector -= right[: step + 1].T @ (right[: step + 1] @ vector)
        above[step] = float(np.linalg.norm(vector))
        if above[step] < 1e-12:
            break
        vector *= 1.0 / above[step]
    return float(np.linalg.svd(np.diag(diagonal) + np.diag(above[:-1], 1), compute_uv=False)[0])
