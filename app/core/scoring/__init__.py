"""Note scoring: pure, arrays in and verdicts out (SCORING.md). No ORM, clock or randomness in here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


@dataclass(frozen=True)
class Verdict:
    """What the ratings say of one note.

    ``intercept`` is the note's score, about -1 to 1 (0.40 is a predicted helpfulness of 0.75); ``confidence``
    the probability that it is truly beyond its threshold, 0.0 to 1.0; ``rule`` names what decided.
    """

    status: NoteStatus
    intercept: float
    confidence: float
    rule: str

    @property
    def shown(self) -> int:
        """The API's ``helpfulness_score``, a whole number from 0 to 100 (SCORING: 2.3)."""
        return round(100 * min(1.0, max(0.0, self.intercept + 0.35)))


class NoteScorer(Protocol):
    """Decides a note's status from its ratings."""

    def score(
        self, ratings: Sequence[float], *, was: NoteStatus, helpful_at: float = HELPFUL_AT
    ) -> Verdict | None:
        """``ratings`` are 0, 0.5 or 1. None while the note is unrated."""
        ...
