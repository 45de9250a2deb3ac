"""Scoring of content by category: the classifier protocol, its results, and the names of categories.

Classifiers score content 0.0–1.0 per category; routing compares the combined scores with the community's thresholds
(docs/integrate/api.md). ``rulepack.RulePackClassifier`` is the built-in default; any object with the attributes of
`Classifier` can be used beside it.
"""

import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from app.core.texts import lazy_gettext

CATEGORIES: Mapping[str, str] = {
    "toxicity": lazy_gettext("Insults, harassment or abuse aimed at a person"),
    "hate": lazy_gettext(
        "Attacks on people for what they are: origin, religion, gender, orientation, disability"
    ),
    "threat": lazy_gettext("Announcing or wishing violence or harm to someone"),
    "sexual": lazy_gettext("Sexual offers, explicit sexual material or requests for it"),
    "self_harm": lazy_gettext("Someone speaking of hurting or killing themselves"),
    "spam": lazy_gettext("Unwanted advertising or repeated promotion"),
    "pii": lazy_gettext("Private details of a person: address, phone number, bank card, identity number"),
    "misinformation": lazy_gettext("Well-known false claims about health, science or public events"),
}
"""All shipped categories, with the description shown to raters. Operators may add their own names."""


COMMUNITY_RULES = "community.rules"
"""The community's own rules: their score always counts as their author wrote it."""
COMMUNITY_MODEL = "community"
"""The model that learns from the community's decisions: its score replaces those of the others, except of the rules."""
FACT_CHECKS = "builtin.factcheck"
"""The published fact-checks that a community uses: they score whatever rules are in force or tried."""
SHIPPED_MODEL = "builtin.seed"
"""The shipped model: where it is sure, a service may be left out that is asked only where it is not."""

NOTABLE = 0.1
"""Lists of what was found in a text leave out scores up to this: a model gives every text a small one."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a classifier may know about the origin of a text. Immutable.

    ``language`` is a BCP 47 tag ("en", "pt-BR"), usually as `language.detect` found it; None when unknown. ``facts``:
    what is known of the post beside its text (`facts`), which rules may ask.
    """

    community_id: uuid.UUID | None = None
    language: str | None = None
    facts: Mapping[str, int] = field(default_factory=dict, hash=False, compare=False)

    @property
    def primary_language(self) -> str | None:
        """The primary subtag in lower case: "pt" for "pt-BR" or "PT_br"."""
        return self.language.lower().replace("_", "-").split("-")[0] if self.language else None


@dataclass(frozen=True, slots=True)
class Match:
    """One passage of a text that raised a score.

    ``start`` and ``end`` are offsets into the submitted text, in code points, ``0 <= start < end``:
    ``text[start:end]`` is the passage to highlight. ``weight`` (0.0–1.0) is how much it counted. ``quoted``: the
    passage lies wholly in a quotation (`reading`). ``facts``: the facts that the rule asked, with their values; a rule
    that asks no words has no passage, so that ``start`` and ``end`` are 0.
    """

    rule: str
    category: str
    start: int
    end: int
    weight: float
    quoted: bool = False
    facts: tuple[tuple[str, int], ...] = ()

    def stored(self) -> dict[str, Any]:
        """The match as it is stored with a score, without ``facts`` where the rule asked none."""
        row = asdict(self)
        if not self.facts:
            del row["facts"]
        return row


@dataclass(frozen=True, slots=True)
class Retryable:
    """The classifier could not answer now; ``after`` is the delay it asked for, in seconds, or None."""

    after: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Permanent:
    """The classifier will never score this text; asking again is pointless."""

    reason: str


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """The rules needed too much time for this text; ``rule`` used the most, ``milliseconds``."""

    rule: str
    milliseconds: int


@dataclass(frozen=True, slots=True)
class FactCheck:
    """The published fact-check whose claim a text makes. ``similarity`` is the probability of the match, 0.0 to 1.0."""

    dataset_name: str
    item_id: str
    claim: str
    rating: str
    publisher: str
    url: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Result:
    """One classifier's result for one text.

    ``scores`` maps category to 0.0–1.0; an absent category was *not scored*, which differs from 0.0. ``model``
    names the model that answered; ``ms`` is its time in milliseconds. With ``error`` set, ``scores`` is partial.
    ``unrouted`` are scores under the names of the model's maker that no category of ours corresponds to: they are
    stored and lead to nothing. ``fact_check`` is what a matcher of fact-checks found. ``calibrated`` False: these
    scores must not act without review, even if the classifier's may.

    Raises:
        ValueError: a score is not a number from 0.0 to 1.0. Invalid output of a remote model must not be routed.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    matches: tuple[Match, ...] = ()
    model: str = ""
    ms: float = 0.0
    error: Retryable | Permanent | OutOfTime | None = None
    unrouted: Mapping[str, float] = field(default_factory=dict)
    calibrated: bool = True
    fact_check: FactCheck | None = None

    def __post_init__(self) -> None:
        for category, score in (*self.scores.items(), *self.unrouted.items()):
            if not (math.isfinite(score) and 0.0 <= score <= 1.0):
                raise ValueError(f"the score of {category} is {score!r}, not a number from 0.0 to 1.0")


class Classifier(Protocol):
    """Scores texts.

    ``version`` changes whenever the output could change. ``categories`` are those it can score;
    ``tier1_categories``, a subset, are those whose scores may act without review: scores of the others reach
    reviewers (Tier 2) at most. ``languages`` are primary BCP 47 subtags, None for any. ``cost`` orders classifiers,
    cheapest first. ``calibrated`` means that a score of 0.8 is right about eight times in ten. ``max_chars`` is the
    longest text to send, in code points.

    ``score`` returns one `Result` per text, in order, and reports failures in ``Result.error``; it never raises.
    Several threads call it at once.
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


def combine(results: Iterable[Result]) -> dict[str, float]:
    """Several classifiers' results as one score per category: the highest, rounded to 4 decimals (decision 0036).

    A category that no classifier scored is absent, which is not 0.0.
    """
    highest: dict[str, float] = {}
    for result in results:
        for category, score in result.scores.items():
            highest[category] = max(round(score, 4), highest.get(category, 0.0))
    return highest
