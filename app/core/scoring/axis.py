"""Are there camps at all? The test of one fit, and what a community remembers of earlier tests.

Without this test, the factor of a community without camps would fit noise, and the rules about sides would block
notes that everybody agrees on. A test that overlooks camps is worse: it switches off the rules about sides for
everybody. So the test statistic is judged by its own spread, and the verdict "no camps" needs evidence from many
ratings.
"""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, fields
from math import isfinite, log, sqrt
from typing import Any

import numpy as np

from app.core.scoring.arrays import Cells, FloatArray, Matrix, with_entries
from app.core.scoring.solver import Ridges, fit

ENOUGH_RATINGS, ENOUGH_EACH = 600, 8
"""With fewer ratings in total, or per rater, the test overlooks too many camps. Camps are then presumed."""
FOUND_AT = 3.0
"""A top singular value this many standard deviations above chance is a camp: chance reaches it once in 300 tests."""
EVEN_AT, AT_LEAST = 2.5, -1.0
"""A test result of ``EVEN_AT`` is evidence for neither side. A test with a share ``g`` of new ratings adds
``log(1 + g) (EVEN_AT - z)`` to the evidence against camps; z is at least ``AT_LEAST``, so that no single test
counts for more.
"""
GONE_AT = 0.5
"""Evidence at which camps are given up. Camps that were found start this much below zero. If every test is at
chance level, z = 0, presumed camps are given up after 22 % more ratings, and found ones after 49 %.
"""
SHRUNK = 0.80
"""A community that lost more than a fifth of its ratings counts new ratings from the remaining number."""
FEW_FLIPS, MOST_FLIPS, RATINGS_FLIPPED = 4, 16, 400_000
"""Random sign flips: enough to reach 400,000 ratings, within these bounds. A clear case needs only the fewest."""
CLEAR_AT = 3 * FOUND_AT
USUAL_SPREAD, USUAL_WEIGHT = 0.22, 8
"""Relative standard deviation of the top singular value under flips, times the square root of the smaller side of
the matrix: 0.17 to 0.27 for matrices of 40 to 33,000. A few flips estimate their own spread only roughly, so this
value is weighted like 8 more flips.
"""
STEPS = 12
RIDGE_SHARE = 1e-6
"""The share of the ridges used in the additive fit. A ridge leaves a part of every mean in the residuals, and where
notes have hundreds of ratings each, that part alone would look like an axis.
"""
NOTHING_LEFT = 1e-3
"""Root mean square of residuals below which there is no disagreement."""


@dataclass(frozen=True)
class AxisTest:
    """One test: the top singular value over its mean under random signs, and the same in standard deviations.

    ``ratings`` is the number of ratings in the test.
    """

    ratio: float
    z: float
    ratings: int

    @property
    def separation(self) -> float:
        """How well the axis separates the camps, 0.0 to 1.0.

        The squared cosine between the found and the true axis, in a matrix with as many rows as columns
        (Benaych-Georges, Nadakuditi 2012).
        """
        above = max(self.ratio, 1.0)
        return 1.0 - (above + sqrt(above * above - 1.0)) ** -2


@dataclass(frozen=True)
class Camps:
    """The result of a community's tests so far. The default is a community that was never tested.

    ``found``: whether there are camps, or they are presumed. ``against``: the evidence against them, up to
    ``GONE_AT``; below zero after they were found. ``ratings``: how many ratings the evidence includes, so that no
    rating counts twice.
    """

    found: bool = True
    against: float = 0.0
    ratings: int = ENOUGH_RATINGS

    def with_test(self, test: AxisTest | None) -> "Camps":
        """The result including one more test; None, a test that could not be made, changes nothing."""
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
        """Parse the JSON of ``to_json``; None: a community never tested. Raises ValueError for anything else."""
        if stored is None:
            return cls()
        if set(stored) != {field.name for field in fields(cls)}:
            raise ValueError(f"camps: {', '.join(sorted(stored))}")
        camps = cls(bool(stored["found"]), float(stored["against"]), int(stored["ratings"]))
        if not (isfinite(camps.against) and camps.ratings >= 1):
            raise ValueError("camps: against must be a number, ratings at least 1")
        return camps


def axis_test(matrix: Matrix, ridges: Ridges) -> AxisTest | None:
    """Compare the top singular value of the additive model's residuals with the same under fixed random sign flips.

    Residuals are scaled by ``1/sqrt((c_n + mean c_n)(c_u + mean c_u))``: with less than the mean added, a few
    ratings of notes and raters with almost no others have a larger singular value than the camps of all (Qin, Rohe
    2013). None below ``ENOUGH_RATINGS`` or ``ENOUGH_EACH``; a ratio of 0.0 where the additive model leaves no
    residuals. Testing a sample of many ratings would be faster but weaker: of 1.5 million, a sample of 200,000 no
    longer shows camps that all of them show clearly.
    """
    size = len(matrix)
    if size < max(ENOUGH_RATINGS, ENOUGH_EACH * len(matrix.raters)):
        return None
    light = Ridges(*(RIDGE_SHARE * rho for rho in astuple(ridges)))
    additive = fit(matrix, light, factored=False)
    if additive.error < NOTHING_LEFT**2 * size:
        return AxisTest(0.0, AT_LEAST, size)
    level = additive.rater_intercept + additive.mu[matrix.rater_part]
    residuals = matrix.residuals(level, additive.note_intercept)
    scale = np.repeat(_scale(matrix.note_counts), np.diff(residuals.indptr))
    scaled = with_entries(residuals, residuals.data * scale * _scale(matrix.rater_counts)[residuals.indices])

    def flipped(flip: int) -> float:
        return _strongest(with_entries(scaled, scaled.data * _signs(size, flip)))

    observed, usual = _strongest(scaled), USUAL_SPREAD / sqrt(min(scaled.shape))
    chance = [flipped(flip) for flip in range(FEW_FLIPS)]
    ratio, z = _compared(observed, chance, usual)
    if z < CLEAR_AT:
        flips = min(MOST_FLIPS, max(FEW_FLIPS, RATINGS_FLIPPED // size))
        chance += [flipped(flip) for flip in range(FEW_FLIPS, flips)]
        ratio, z = _compared(observed, chance, usual)
    return AxisTest(ratio, z, size)


def _compared(observed: float, chance: list[float], usual: float) -> tuple[float, float]:
    """The ratio of what was observed to chance, and the same in standard deviations of chance.

    The flips' relative standard deviation is shrunk towards the ``usual`` one.
    """
    mean, weight = float(np.mean(chance)), len(chance) - 1
    measured = float(np.var(chance, ddof=1)) / mean**2
    spread = sqrt((USUAL_WEIGHT * usual**2 + weight * measured) / (USUAL_WEIGHT + weight))
    ratio = observed / mean
    return ratio, (ratio - 1.0) / spread


def _scale(counts: FloatArray) -> FloatArray:
    scale: FloatArray = 1.0 / np.sqrt(counts + counts.mean())
    return scale


def _signs(size: int, flip: int) -> FloatArray:
    """Fixed pseudo-random signs: the top bit of splitmix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        z = np.arange(1, size + 1, dtype=np.uint64) + np.uint64(flip << 40)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.where(z >> np.uint64(63), 1.0, -1.0)


def _strongest(matrix: Cells) -> float:
    """The largest singular value.

    Golub-Kahan bidiagonalisation with full reorthogonalisation; ``STEPS`` steps are accurate to about 1 %.
    """
    notes, raters = matrix.shape
    steps = min(STEPS, notes, raters)
    right, left = np.zeros((steps, raters)), np.zeros((steps, notes))
    diagonal, above = np.zeros(steps), np.zeros(steps)
    vector: FloatArray = np.arange(1, raters + 1, dtype=np.float64) * 0.6180339887498949 % 1.0 - 0.5
    vector *= 1.0 / float(np.linalg.norm(vector))
    for step in range(steps):
        right[step] = vector
        other = matrix @ vector
        other -= left[:step].T @ (left[:step] @ other)
        diagonal[step] = np.linalg.norm(other)
        if diagonal[step] < 1e-12:
            break
        left[step] = other / diagonal[step]
        vector = matrix.T @ left[step]
        vector -= right[: step + 1].T @ (right[: step + 1] @ vector)
        above[step] = float(np.linalg.norm(vector))
        if above[step] < 1e-12:
            break
        vector *= 1.0 / above[step]
    return float(np.linalg.norm(np.diag(diagonal) + np.diag(above[:-1], 1), 2))
