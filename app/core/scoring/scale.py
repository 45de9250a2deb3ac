"""The one score scale of all regimes, and what a rating counts on it (SCORING: 1.1, 1.5, 2.1)."""

from app.core.vocabulary import HelpfulnessLevel

VALUES = {
    HelpfulnessLevel.HELPFUL: 1.0,
    HelpfulnessLevel.SOMEWHAT_HELPFUL: 0.5,
    HelpfulnessLevel.NOT_HELPFUL: 0.0,
}
"""What a level counts (SCORING: 1.1)."""

HELPFUL_AT = 0.40
NOT_HELPFUL_AT = -0.05
INERTIA = 0.01
GRAVE_MARGIN = 0.10
"""Added to the helpful threshold when the note would delete or silence (SCORING: 2.4)."""
MIN_RATINGS = 5
"""Ratings of any kind that a status needs."""
