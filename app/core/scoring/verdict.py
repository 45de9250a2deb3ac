"""The result of scoring one note."""

from dataclasses import dataclass
from enum import StrEnum

from app.core.scoring.scale import HELPFUL_AT, shown
from app.core.vocabulary import NoteStatus


class Regime(StrEnum):
    """How much of the model a community has enough ratings for (docs/develop/consensus.md)."""

    COLD = "cold"
    WARM = "warm"
    FULL = "full"

    @property
    def rank(self) -> int:
        return list(Regime).index(self)


@dataclass(frozen=True)
class Verdict:
    """The result of scoring one note.

    ``intercept`` is the note's score, about -1 to 1 (0.40 is a predicted helpfulness of 0.75); ``factor`` how much
    it appeals to only one viewpoint (0 where viewpoints are not separated); ``confidence`` the probability, 0.0 to
    1.0, that the note is truly beyond the bound that decided its status or, while it needs more ratings, beyond the
    helpful ``threshold``; ``rule`` the code of the deciding rule (``rules.RULES``); ``ratings`` the number of
    ratings of any kind.
    """

    status: NoteStatus
    intercept: float
    confidence: float
    rule: str
    factor: float = 0.0
    regime: Regime = Regime.COLD
    threshold: float = HELPFUL_AT
    ratings: int = 0

    @property
    def is_divisive(self) -> bool:
        """Whether it is not helpful because its score depends too much on the viewpoint."""
        return self.rule.endswith(":divisive")

    @property
    def shown(self) -> int:
        """The API's ``helpfulness_score``, a whole number from 0 to 100 (docs/develop/consensus.md)."""
        return shown(self.intercept)
