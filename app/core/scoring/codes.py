"""The codes of the status rules, a sentence for each, and their versions.

A code is ``regime:slug``, or ``regime:slug@version`` for rules that were added or changed since codes have
versions.
"""

from app.core.scoring.scale import BLIND_MARGIN, BLIND_RATINGS
from app.core.scoring.verdict import Regime

_SENTENCES = {
    "few-ratings": "It has fewer ratings than a status needs.",
    "few-counted": "It has fewer than 5 ratings from raters whose ratings count.",
    "undecided": "Its score is neither high enough to be helpful nor low enough to be not helpful.",
    "helpful": "Its score reached the helpful threshold, and nothing spoke against it.",
    "not-helpful": "Its score fell to where notes are not helpful.",
    "not-even-with-help": "Even one more helpful rating, from whoever gives few, would not lift its score.",
    "both-sides-against": "Raters on both sides found it not helpful.",
    "not-misleading-rejected": "It says the content is not misleading, and its score is low.",
    "inertia": "It was helpful before, and its score is still within 0.01 of the threshold.",
    "divisive": "Its score is high enough, but how raters see it depends too much on their viewpoint.",
    "low-score": "Its score is too far below the helpful threshold.",
    "one-sided": "Fewer than 4 more raters on one of the sides found it helpful than not.",
    "unbalanced": "Too small a share of its ratings comes from one of the sides.",
    "high-volume": "Without the few raters who rate most, its score would not be high enough.",
    "correlated": "Without raters who rate the same notes the same way, its score would not be high enough.",
    "no-camps": (
        f"Raters here show no camps, so a note that acts on a post needs {BLIND_RATINGS} ratings and a score "
        f"{round(100 * BLIND_MARGIN)} points above the threshold."
    ),
    "kept": "It was helpful before, and stays so while it waits for ratings from more viewpoints.",
    "both-sides-for": "Raters on both sides found it helpful.",
}
_WARM = {
    "one-sided": "Fewer than 2 more raters on one of the sides found it helpful than not.",
    "unbalanced": "Too small a share of its ratings comes from one of the sides, given how well they are told apart.",
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


def _code(regime: Regime, slug: str) -> str:
    version = _VERSIONS.get((regime, slug))
    return f"{regime}:{slug}" if version is None else f"{regime}:{slug}@{version}"


_EARLIER = {
    "warm:unbalanced": _SENTENCES["unbalanced"],
    "warm:both-sides-for@1": _SENTENCES["both-sides-for"],
}
RULES = {
    _code(regime, slug): _WARM.get(slug, sentence) if regime is Regime.WARM else sentence
    for regime in Regime
    for slug, sentence in _SENTENCES.items()
} | _EARLIER
"""Every rule code that a stored status can have, with one plain sentence each."""


def code(regime: Regime, number: int) -> str:
    """The rule code for a number in ``Judged.rule``: regime, slug and, for versioned rules, the version."""
    return _code(regime, SLUGS[number])


def slug_of(rule: str) -> str:
    """The slug of a rule code, without regime and version."""
    return rule.partition(":")[2].partition("@")[0]


def codes(regime: Regime) -> list[str]:
    """The rule codes of a regime, indexed by the numbers in ``Judged.rule``."""
    return [code(regime, number) for number in range(len(SLUGS))]
