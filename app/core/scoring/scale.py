"""The one score scale of all regimes, and what a rating counts on it (SCORING: 1.1, 1.5, 2.1)."""

from collections.abc import Sequence
from typing import Protocol

from app.core.scoring.verdict import Verdict
from app.core.vocabulary import HelpfulnessLevel, NoteStatus

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


class NoteScorer(Protocol):
    """Decides a note's status from its ratings."""

    def score(
        self, ratings: Sequence[float], *, was: NoteStatus, helpful_at: float = HELPFUL_AT
    ) -> Verdict | None:
        """``ratings`` are 0, 0.5 or 1. None while the note is unrated."""
        ...
