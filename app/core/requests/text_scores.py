"""Scores of texts at once, by the scorers of a submission. Nothing is stored (docs/integrate/api.md)."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.classify import CATEGORIES, Classifier, Context
from app.core.classify.language import language_of
from app.core.errors import Invalid, Problem
from app.core.requests.scorings import Scoring, combined, score_text, scored_by, unscored
from app.core.thresholds.routing import CategoryRule

PROCESSOR_SECONDS = 2.0
"""Processor time that the texts of one call may take: a thousand ordinary posts, or some 300,000 characters."""
SECONDS = 10.0
"""After this time no further text of a call is begun: connected services are asked about one text after the other."""


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """The score of a category, 0.0 to 1.0, who gave it, and the passages that speak for it.

    ``passages`` are ``(start, end)`` in code points of the text, in order, ``end`` excluded.
    """

    category: str
    score: float
    scorer: str
    version: str
    passages: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores of a text, the highest first.

    ``failed``: the categories in which a scorer that must be heard did not answer, so that the score of another says
    only part. ``not_scored``: those, and all without a score. ``was_reached`` False: the time of the call was over
    before.
    """

    scores: Sequence[CategoryScore]
    not_scored: Sequence[str]
    failed: frozenset[str] = frozenset()
    was_reached: bool = True

    def score_of(self, category: str | None) -> float | None:
        """The score of a category, None if there is none."""
        return next((one.score for one in self.scores if one.category == category), None)


@dataclass(frozen=True)
class Scorers:
    """What texts are scored with: classifiers, and the thresholds of their community or of a new one."""

    classifiers: Sequence[Classifier]
    rules: Sequence[CategoryRule]

    @property
    def categories(self) -> frozenset[str]:
        """Every category that a text may have a score in."""
        scored = {name for classifier in self.classifiers for name in classifier.categories}
        return frozenset({*CATEGORIES, *scored, *(rule.name for rule in self.rules)})

    def known(self, categories: Sequence[str]) -> frozenset[str]:
        """The categories as a set; all if none are named.

        Raises:
            Invalid: one is not known here.
        """
        known = self.categories
        for place, name in enumerate(categories):
            if name not in known:
                msg = f"is none of {', '.join(sorted(known))}"
                raise Invalid(Problem("value_error", ("categories", place), msg, name))
        return frozenset(categories) or known


def check_not_blank(texts: Sequence[str]) -> None:
    """Raise Invalid with the places of the texts that hold nothing but white space, as a submission does."""
    blank = [place for place, text in enumerate(texts) if not text.strip()]
    if blank:
        raise Invalid(
            *(
                Problem("value_error", ("texts", place), "must not be blank", texts[place][:50])
                for place in blank
            )
        )


def score_texts(
    scorers: Scorers,
    texts: Sequence[str],
    context: Context,
    categories: frozenset[str],
    *,
    processor_seconds: float = PROCESSOR_SECONDS,
    seconds: float = SECONDS,
) -> Iterator[TextScores]:
    """Score texts in their order, in these categories. Call it outside of any transaction.

    ``context.language`` None: each text's own is looked for. Texts that the time of the call does not reach are not
    scored; the first always is.
    """
    begin, end = time.thread_time(), time.monotonic() + seconds
    is_over = False
    for text in texts:
        if is_over:
            yield TextScores((), sorted(categories), was_reached=False)
            continue
        language = context.language or language_of(text)
        scorings = score_text(scorers.classifiers, text, Context(context.community_id, language))
        yield _of_text(scorings, categories, unscored(scorings, scorers.rules) & categories)
        is_over = time.thread_time() - begin >= processor_seconds or time.monotonic() >= end


def _of_text(scorings: Sequence[Scoring], categories: frozenset[str], failed: frozenset[str]) -> TextScores:
    best = combined(scorings)
    passages = {
        (match.category, match.start, match.end)
        for scoring in scorings
        for match in scoring.result.matches
        if match.start < match.end
    }
    scores = []
    for category in categories & best.keys():
        score = best[category].score
        scoring = next(one for one in reversed(scorings) if _gave(one, category, score))
        spans = sorted((start, end) for name, start, end in passages if name == category)
        scores.append(CategoryScore(category, score, scoring.classifier, scoring.version, spans))
    scores.sort(key=lambda one: (-one.score, one.category))
    return TextScores(scores, sorted(failed | (categories - best.keys())), failed)


def _gave(scoring: Scoring, category: str, score: float) -> bool:
    value = scoring.scores.get(category)
    return value is not None and scored_by(scoring, category, value).score == score
