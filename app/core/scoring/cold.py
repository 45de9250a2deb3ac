"""The cold regime: a Bayesian average, for communities too small to tell viewpoints apart (SCORING: 2.1)."""

import math
from collections.abc import Sequence

from app.core.scoring.scale import HELPFUL_AT, INERTIA, NOT_HELPFUL_AT
from app.core.scoring.verdict import Verdict
from app.core.vocabulary import NoteStatus

PRIOR_WEIGHT = 2.0
PRIOR_MEAN = 0.5
OFFSET = 0.35
"""mu + mean i_u of the full model: puts all regimes on one scale."""
RESIDUAL_VARIANCE = 0.10
"""Mean squared error of a rating under the fitted model (SCORING: 2.4)."""


class ColdScorer:
    """``i = (C m + sum r) / (C + n) - 0.35``; a status needs ``min_ratings`` ratings."""

    def __init__(self, min_ratings: int = 5) -> None:
        self.min_ratings = min_ratings

    def score(
        self, ratings: Sequence[float], *, was: NoteStatus, helpful_at: float = HELPFUL_AT
    ) -> Verdict | None:
        count = len(ratings)
        if count == 0:
            return None
        intercept = (PRIOR_WEIGHT * PRIOR_MEAN + math.fsum(ratings)) / (PRIOR_WEIGHT + count) - OFFSET
        error = math.sqrt(RESIDUAL_VARIANCE / (PRIOR_WEIGHT + count))
        status, rule, distance = self._status(intercept, count, was, helpful_at)
        return Verdict(status, round(intercept, 6), round(_normal(distance / error), 4), rule)

    def _status(
        self, intercept: float, count: int, was: NoteStatus, helpful_at: float
    ) -> tuple[NoteStatus, str, float]:
        if count < self.min_ratings:
            return NoteStatus.NEEDS_MORE_RATINGS, f"fewer than {self.min_ratings} ratings", 0.0
        kept = was is NoteStatus.CURRENTLY_RATED_HELPFUL
        if _at_least(intercept, helpful_at - (INERTIA if kept else 0.0)):
            return NoteStatus.CURRENTLY_RATED_HELPFUL, "cold: intercept", intercept - helpful_at
        if _at_least(NOT_HELPFUL_AT, intercept):
            return NoteStatus.CURRENTLY_RATED_NOT_HELPFUL, "cold: intercept", NOT_HELPFUL_AT - intercept
        return NoteStatus.NEEDS_MORE_RATINGS, "cold: raters do not agree", 0.0


def _at_least(value: float, bound: float) -> bool:
    """``value >= bound`` on the scale's own grain: 0.75 - 0.35 must count as 0.40."""
    return value >= bound - 1e-9


def _normal(z: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))
