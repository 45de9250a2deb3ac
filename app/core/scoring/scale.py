"""The one score scale of all regimes, and the value of a rating on it (docs/develop/consensus.md)."""

from typing import TypeVar

from app.core.scoring.arrays import FloatArray
from app.core.vocabulary import HelpfulnessLevel

VALUES = {
    HelpfulnessLevel.HELPFUL: 1.0,
    HelpfulnessLevel.SOMEWHAT_HELPFUL: 0.5,
    HelpfulnessLevel.NOT_HELPFUL: 0.0,
}
"""The value of each rating level (docs/develop/consensus.md)."""

OFFSET = 0.35
"""mu + mean i_u of a large community: puts all regimes on one scale (docs/develop/consensus.md)."""
HELPFUL_AT = 0.40
NOT_HELPFUL_AT = -0.05
FACTOR_SLOPE = 0.8
"""How much lower the not-helpful threshold is for a note that one viewpoint likes (docs/develop/consensus.md)."""
INERTIA = 0.01
GRAVE_MARGIN = 0.10
"""Added to the helpful threshold when the note would delete or silence (docs/develop/consensus.md)."""
MIN_RATINGS = 5
"""Ratings of any kind that a status needs."""
BLIND_RATINGS, BLIND_MARGIN = 8, 0.05
"""Where no camps were found: the ratings that an acting note needs, and the amount added to its helpful threshold.
There no rule about sides protects it, and the first few raters may all have the same opinion.
"""


Factor = TypeVar("Factor", float, FloatArray)


def not_helpful_at(factor: Factor) -> Factor:
    """The score, or array, at or below which a note with this factor is not helpful (docs/develop/consensus.md)."""
    return NOT_HELPFUL_AT - FACTOR_SLOPE * abs(factor)


def shown(score: float) -> int:
    """The score as the API's ``helpfulness_score``, a whole number from 0 to 100 (docs/develop/consensus.md)."""
    return round(100 * min(1.0, max(0.0, score + OFFSET)))
