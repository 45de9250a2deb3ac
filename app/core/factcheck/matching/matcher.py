"""Matches a post with the fact-checks of an index: ranks them, and says which one is sure enough to be shown."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching import candidates, meaning, terms
from app.core.factcheck.matching.candidates import Candidates, Index, Near
from app.core.factcheck.matching.features import contradicts
from app.core.factcheck.matching.weights import MeaningWeights, Weights, probability, shipped_meaning

PASSAGE = 1_200
"""Characters of a long post that are matched at once: a claim takes a few sentences, not a whole article."""
OVERLAP = 300
PASSAGES = 60


@dataclass(frozen=True)
class Ranked:
    """An item with its probability to be the right one, 0.0 to 1.0."""

    number: int
    score: float


@dataclass(frozen=True)
class Outcome:
    """The best items, best first. ``shown``: the first one, if it is sure enough and the post says the same.

    A post that denies the claim, or names other numbers, does not say the same.
    """

    ranked: tuple[Ranked, ...] = ()
    shown: Ranked | None = None


def match(
    text: str,
    index: Index,
    weights: Weights,
    language: str | None = None,
    most: int = 10,
    near: Near | None = None,
) -> Outcome:
    """Match a post. ``language`` is its primary language subtag; items known to be in another one are left out.

    ``near``: how near the items are to it by their meaning, if that is known.
    """
    best: dict[int, float] = {}
    first: tuple[float, Outcome] = (-1.0, Outcome())
    for passage in _passages(text):
        outcome = _match(passage, index, weights, language, near)
        for ranked in outcome.ranked:
            best[ranked.number] = max(ranked.score, best.get(ranked.number, 0.0))
        if outcome.ranked:
            # Of two passages, one that makes the claim tells more than one that denies it.
            sure = outcome.ranked[0].score + (1.0 if outcome.shown is not None else 0.0)
            first = max(first, (sure, outcome), key=lambda pair: pair[0])
    chosen = first[1]
    if chosen.ranked:
        best[chosen.ranked[0].number] = max(best.values())
    # Equal scores keep the order of the passages.
    order = sorted(best, key=lambda number: (-best[number], number != chosen.ranked[0].number))
    return Outcome(
        tuple(Ranked(number, round(best[number], 4)) for number in order[:most]),
        chosen.shown,
    )


def _passages(text: str) -> Iterator[str]:
    if len(text) <= PASSAGE:
        yield text
        return
    for number, start in enumerate(range(0, len(text) - OVERLAP, PASSAGE - OVERLAP)):
        if number == PASSAGES:
            return
        yield text[start : start + PASSAGE]


def _match(text: str, index: Index, weights: Weights, language: str | None, near: Near | None) -> Outcome:
    """Where words are sure, or it is not known how near the items are by their meaning, words alone decide."""
    post = terms.read(text)
    found = candidates.find(post, index, weights.background, language, near)
    if not found.found:
        return Outcome()
    outcome, first = _outcome(found, weights)
    part = found.around(first) if len(post.words) > candidates.LONG else None
    if part is not None:
        of_part, _ = _outcome(part, weights)
        outcome = max(outcome, of_part, key=_sureness)
    if outcome.shown is not None or found.meaning is None:
        return outcome
    outcome = _by_meaning(found, weights, shipped_meaning())
    return (
        outcome
        if part is None
        else max(outcome, _by_meaning(part, weights, shipped_meaning()), key=_sureness)
    )


def _sureness(outcome: Outcome) -> tuple[bool, float]:
    return outcome.shown is not None, outcome.ranked[0].score


def _outcome(found: Candidates, weights: Weights) -> tuple[Outcome, int]:
    """The outcome, and the place of the first candidate."""
    scaled = weights.scaled(found.features)
    scores = scaled @ weights.ranking
    first = int(np.argmax(scores))
    likely = weights.probability(scaled[first], scores[found.rivals(first)])
    is_shown = likely >= weights.bar and not contradicts(found.features[first])
    return _ordered(found, scores, likely, is_shown=is_shown), first


def _by_meaning(found: Candidates, words: Weights, weights: MeaningWeights) -> Outcome:
    """The outcome by words and meaning. An item is shown only if it is also the nearest of all to the post."""
    assert found.meaning is not None  # noqa: S101 - its callers looked; narrows the type
    scaled = np.hstack([words.scaled(found.features), weights.scaled(found.meaning)])
    scores = scaled @ weights.ranking
    first = int(np.argmax(scores))
    likely = probability(weights.showing, scaled[first], scores[found.rivals(first)])
    is_shown = (
        likely >= weights.bar
        and meaning.is_nearest(found.meaning[first])
        and not contradicts(found.features[first])
    )
    return _ordered(found, scores, likely, is_shown=is_shown)


def _ordered(found: Candidates, scores: NDArray[np.float64], likely: float, *, is_shown: bool) -> Outcome:
    """All candidates, best first: the others share the first one's probability by their distance from it."""
    order = np.argsort(-scores, kind="stable")
    ranked = tuple(
        Ranked(found.found[place].number, likely * float(np.exp(scores[place] - scores[order[0]])))
        for place in order
    )
    return Outcome(ranked, Ranked(ranked[0].number, round(likely, 4)) if is_shown else None)
