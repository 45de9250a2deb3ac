"""Are there camps at all? (SCORING: 2.1, axis test)

Without the test the factor of a community without camps fits noise, and the rules about sides block notes that
everybody agrees on.
"""

from dataclasses import astuple

import numpy as np

from app.core.scoring.arrays import FloatArray
from app.core.scoring.matrix import Matrix, Sparse, times
from app.core.scoring.solver import Ridges, fit

LEAST = 1.06
"""A top singular value this many times what chance gives is a camp. Where none were, it stayed below 1.05."""
ENOUGH_RATINGS, ENOUGH_EACH = 600, 8
"""With fewer in all, or per rater, the test finds too few camps that are there, so they are taken to be there: where
nobody asks for both sides, one camp alone can decide."""
FLIPS = 5
MANY_RATINGS = 200_000
"""From here on one sign flip says what the mean of five would: they differ by a few thousandths."""
STEPS = 12
RIDGE_SHARE = 1e-6
"""What is left of the ridges in the additive fit. A ridge leaves a part of every mean in the residuals, and where
notes have hundreds of ratings each that part alone would pass for an axis."""
NOTHING_LEFT = 1e-3
"""Root mean square of residuals that are no disagreement."""


def axis_ratio(matrix: Matrix, ridges: Ridges) -> float | None:
    """Top singular value of what the additive model leaves, over its mean under fixed random sign flips.

    Residuals are scaled by ``1/sqrt((c_n + mean c_n)(c_u + mean c_u))``: with less than the mean added, a few ratings
    of notes and raters with hardly any others have a larger singular value than the camps of all (Qin, Rohe 2013).
    None below ``ENOUGH_RATINGS`` or ``ENOUGH_EACH``; 0.0 where the additive model leaves nothing. Looking at a part
    of many ratings instead would be faster but blinder: of 1.5 million, 200,000 no longer show camps that all of them
    show clearly.
    """
    if len(matrix) < max(ENOUGH_RATINGS, ENOUGH_EACH * len(matrix.raters)):
        return None
    light = Ridges(*(RIDGE_SHARE * rho for rho in astuple(ridges)))
    additive = fit(matrix, light, factored=False)
    if additive.error < NOTHING_LEFT**2 * len(matrix):
        return 0.0
    level = additive.rater_intercept + additive.mu[matrix.rater_part]
    left = matrix.with_entries(matrix.residuals(level, additive.note_intercept))
    note_scale = 1.0 / np.sqrt(matrix.note_counts + matrix.note_counts.mean())
    rater_scale = 1.0 / np.sqrt(matrix.rater_counts + matrix.rater_counts.mean())
    left.data *= rater_scale[left.indices]
    left.data *= np.repeat(note_scale, np.diff(left.indptr))
    found = _top_singular_value(left)
    residuals = left.data
    flips = FLIPS if len(matrix) < MANY_RATINGS else 1
    chance = 0.0
    for flip in range(flips):
        left.data = residuals * _signs(len(residuals), flip)
        chance += _top_singular_value(left) / flips
    return found / chance


def has_camps(ratio: float | None) -> bool:
    return ratio is None or ratio >= LEAST


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
