"""Scoring content by category: what a classifier is, what it answers, and the words for it.

Content is scored 0.0–1.0 per category by one or more classifiers; routing compares the combined scores with
the community's thresholds (docs/integration.md). ``rulepack.RulePackClassifier`` is the embedded
default; anything with the attributes of `Classifier` can stand beside it.
"""

import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

CATEGORIES: Mapping[str, str] = {
    "toxicity": "Insults, harassment or abuse aimed at a person",
    "hate": "Attacks on people for what they are: origin, religion, gender, orientation, disability",
    "threat": "Announcing or wishing violence or harm to someone",
    "sexual": "Sexual offers, explicit sexual material or requests for it",
    "self_harm": "Someone speaking of hurting or killing themselves",
    "spam": "Unwanted advertising or repeated promotion",
    "pii": "Private details of a person: address, phone number, bank card, identity number",
    "misinformation": "Well-known false claims about health, science or public events",
}
"""Every category we know, with the line shown to raters. Operators may add their own names beside these."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a classifier may know about where a text comes from. It carries no state.

    ``language`` is a BCP 47 tag ("en", "pt-BR") as the submitter gave it, or None when unknown.
    """

    community_id: uuid.UUID | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One place in a text that raised a score.

    ``start`` and ``end`` are offsets into the text as submitted, in code points, ``0 <= start < end``, so
    that ``text[start:end]`` is what to highlight. ``weight`` (0.0–1.0) is what this place counted.
    """

    rule: str
    category: str
    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class Retryable:
    """The classifier could not answer now; ``after`` is its wish in seconds, when it gave one."""

    after: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Permanent:
    """The classifier will never answer this text; asking again is pointless."""

    reason: str


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """The classifier's rules may not read a text for so long; ``rule`` took the most, in ``milliseconds``."""

    rule: str
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Result:
    """What one classifier says of one text.

    ``scores`` maps category to 0.0–1.0; a category that is absent was *not scored*, which is not the same
    as 0.0. ``model`` names what actually answered and ``ms`` is how long it took, in milliseconds. With
    ``error`` set, whatever ``scores`` holds is partial.

    Raises:
        ValueError: a score is not a number from 0.0 to 1.0. Nonsense from a remote model must not be routed.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    matches: tuple[Match, ...] = ()
    model: str = ""
    ms: float = 0.0
    error: Retryable | Permanent | OutOfTime | None = None

    def __post_init__(self) -> None:
        for category, score in self.scores.items():
            if not (math.isfinite(score) and 0.0 <= score <= 1.0):
                raise ValueError(f"the score of {category} is {score!r}, not a number from 0.0 to 1.0")


class Classifier(Protocol):
    """Something that scores texts.

    ``version`` changes whenever the output could. ``categories`` are those it can score;
    ``tier1_categories``, a part of them, are those whose scores may act alone: scores of the others reach
    reviewers (Tier 2) at most. ``languages`` are primary BCP 47 subtags, None for any. ``cost`` orders
    classifiers, cheapest first. ``calibrated`` says that a score of 0.8 means right about eight times in
    ten. ``max_chars`` is the longest text, in code points, to send at once.

    ``score`` answers one `Result` per text, in order, and reports failure in ``Result.error``, never by
    raising. It is called from several threads at once.
    """

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def categories(self) -> frozenset[str]: ...
    @property
    def tier1_categories(self) -> frozenset[str]: ...
    @property
    def languages(self) -> frozenset[str] | None: ...
    @property
    def cost(self) -> int: ...
    @property
    def local(self) -> bool: ...
    @property
    def calibrated(self) -> bool: ...
    @property
    def max_chars(self) -> int: ...

    def score(self, texts: list[str], context: Context) -> list[Result]: ...


Combination = Literal["max", "mean"]


def combine(results: Iterable[Result], how: Combination = "max") -> dict[str, float]:
    """One score per category out of several classifiers' results, rounded to 4 decimals.

    A classifier that did not score a category has no voice in it: absent is not 0.0, so it never lowers a
    mean.

    Raises:
        ValueError: ``how`` is neither "max" nor "mean".
    """
    if how not in ("max", "mean"):
        raise ValueError(f'scores combine by "max" or "mean", not {how!r}')
    voices: dict[str, list[float]] = {}
    for result in results:
        for category, score in result.scores.items():
            voices.setdefault(category, []).append(score)
    if how == "max":
        return {category: round(max(scores), 4) for category, scores in voices.items()}
    return {category: round(math.fsum(scores) / len(scores), 4) for category, scores in voices.items()}
