"""What a score means: the scale that all regimes share, the verdict on a note, and the codes of the status rules.

A code is ``regime:slug``, or ``regime:slug@version`` for rules that were added or changed since codes have versions.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from app.core.scoring.arrays import FloatArray
from app.core.texts import lazy_gettext
from app.core.vocabulary import HelpfulnessLevel, NoteStatus

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


_SENTENCES = {
    "few-ratings": lazy_gettext("It has fewer ratings than a status needs."),
    "few-counted": lazy_gettext("It has fewer than 5 ratings from raters whose ratings count."),
    "undecided": lazy_gettext(
        "Its score is neither high enough to be helpful nor low enough to be not helpful."
    ),
    "helpful": lazy_gettext("Its score reached the helpful threshold, and nothing spoke against it."),
    "not-helpful": lazy_gettext("Its score fell to where notes are not helpful."),
    "not-even-with-help": lazy_gettext(
        "Even one more helpful rating, from a rater who gives few, would not lift its score."
    ),
    "both-sides-against": lazy_gettext("Raters on both sides found it not helpful."),
    "not-misleading-rejected": lazy_gettext("It says the content is not misleading, and its score is low."),
    "inertia": lazy_gettext("It was helpful before, and its score is still within 0.01 of the threshold."),
    "divisive": lazy_gettext(
        "Its score is high enough, but how raters see it depends too much on their viewpoint."
    ),
    "low-score": lazy_gettext("Its score is too far below the helpful threshold."),
    "one-sided": lazy_gettext("Fewer than 4 more raters on one of the sides found it helpful than not."),
    "unbalanced": lazy_gettext("Too small a share of its ratings comes from one of the sides."),
    "high-volume": lazy_gettext("Without the few raters who rate most, its score would not be high enough."),
    "correlated": lazy_gettext(
        "Without raters who rate the same notes the same way, its score would not be high enough."
    ),
    "no-camps": (
        lazy_gettext(
            "Raters here show no camps, so a note that acts on a post needs 8 ratings and a score 5 points above the "
            "threshold."
        )
    ),
    "kept": lazy_gettext(
        "It was helpful before, and stays so while it waits for ratings from more viewpoints."
    ),
    "both-sides-for": lazy_gettext("Raters on both sides found it helpful."),
}
_WARM = {
    "one-sided": lazy_gettext("Fewer than 2 more raters on one of the sides found it helpful than not."),
    "unbalanced": lazy_gettext(
        "Too small a share of its ratings comes from one of the sides, given how clearly the sides differ."
    ),
}
NEEDS_NO_RATINGS = frozenset({"few-ratings", "few-counted"})
SLUGS = list(_SENTENCES)
NUMBER = {slug: number for number, slug in enumerate(SLUGS)}

_VERSIONS = {(regime, slug): 1 for regime in Regime for slug in ("no-camps", "both-sides-for")} | {
    (Regime.WARM, slug): 2 for slug in ("unbalanced", "both-sides-for")
}
"""Versions of rules whose codes carry one. A rule that changes its condition gets the next version, so that a
stored status with the old code is still explained by the old sentence.
"""


def code(regime: Regime, slug: str) -> str:
    """The code of a rule: regime, slug and, for versioned rules, the version."""
    version = _VERSIONS.get((regime, slug))
    return f"{regime}:{slug}" if version is None else f"{regime}:{slug}@{version}"


_EARLIER = {
    "warm:unbalanced": _SENTENCES["unbalanced"],
    "warm:both-sides-for@1": _SENTENCES["both-sides-for"],
}
RULES = {
    code(regime, slug): _WARM.get(slug, sentence) if regime is Regime.WARM else sentence
    for regime in Regime
    for slug, sentence in _SENTENCES.items()
} | _EARLIER
"""Every rule code that a stored status can have, with one plain sentence each."""


def slug_of(rule: str) -> str:
    """The slug of a rule code, without regime and version."""
    return rule.partition(":")[2].partition("@")[0]
