"""Blending the score of the other classifiers with the community's own model, and judging which is better.

The blend is ``sigmoid(a·logit(base) + b·own + c)``, where ``own`` is the output of the community's model. ``a`` and
``b`` are never negative, so a higher base or a higher own output never lowers the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST, MOST = 0.01, 0.99
"""Base scores outside of this range count as its ends: a score of 0 is no certainty."""
PARTS = 5
BINS = 10
DRAWS, SURE = 300, 0.95
"""Of so many random draws of the labels, this share must agree. Of few labels it asks for more of a difference."""
LEAST_RISE = 0.05
"""``a`` below this: from its least to its most, the base would move the score by no more than a tenth."""
_PRIOR = np.array([1.0, 0.5, 0.0])
_LOOSE = np.array([0.5, 0.5, 2.0])
"""Where a, b and c are expected to be without any labels, and how far from it: a few labels must not turn the base."""


@dataclass(frozen=True)
class Blend:
    """The three numbers of a blend."""

    a: float
    b: float
    c: float

    @property
    def rises(self) -> bool:
        """Whether the score rises with the base. Otherwise it would overrule every other classifier."""
        return self.a >= LEAST_RISE

    def scores(self, base: Floats, own: Floats) -> Floats:
        """The blended scores, 0.0 to 1.0."""
        return sigmoid(self.a * logit(base) + self.b * own + self.c)

    def score(self, base: float, own: float) -> float:
        return float(self.scores(np.array([base]), np.array([own]))[0])


@dataclass(frozen=True)
class Bin:
    """One bar of the reliability chart: posts scored from ``start`` on, their mean score, and the share acted on."""

    start: float
    count: int
    predicted: float
    observed: float


def sigmoid(values: Floats) -> Floats:
    result: Floats = np.exp(-np.logaddexp(0.0, -values))
    return result


def logit(scores: Floats) -> Floats:
    kept = np.clip(scores, LEAST, MOST)
    result: Floats = np.log(kept / (1.0 - kept))
    return result


def fit(base: Floats, own: Floats, labels: Floats) -> Blend:
    """Fit the blend to labelled posts, held near "the base as it is" where the labels say little."""
    columns = np.stack([logit(base), own, np.ones(len(base))], axis=1)
    signs = 2.0 * labels - 1.0

    def loss(numbers: Floats) -> tuple[float, Floats]:
        margins = signs * (columns @ numbers)
        off = (numbers - _PRIOR) / _LOOSE
        slopes = -signs * np.exp(-np.logaddexp(0.0, margins))
        value = float(np.logaddexp(0.0, -margins).sum() + 0.5 * off @ off)
        return value, columns.T @ slopes + off / _LOOSE

    from scipy.optimize import minimize  # only when training: it is a fifth of the time that a start takes

    found = minimize(
        loss, _PRIOR.copy(), jac=True, method="L-BFGS-B", bounds=[(0.0, None), (0.0, None), (None, None)]
    )
    a, b, c = (round(float(number), 6) for number in found.x)
    return Blend(a, b, c)


def cross_fitted(base: Floats, own: Floats, labels: Floats) -> Floats:
    """Scores of blends that were fitted without the post they score, so that they can be judged by its label."""
    scores = np.empty(len(labels))
    part = np.arange(len(labels)) % PARTS
    for number in range(PARTS):
        held = part == number
        if held.any():
            blend = fit(base[~held], own[~held], labels[~held])
            scores[held] = blend.scores(base[held], own[held])
    return scores


def average_precision(labels: Floats, scores: Floats) -> float:
    """The mean share of right posts among those scored at least as high as each right post; 0.0 without any.

    Posts with the same score count together, so their order in the input does not matter.
    """
    total = labels.sum()
    if total == 0:
        return 0.0
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(labels[order])[ends]
    gained = np.diff(hits, prepend=0.0)
    return float(np.sum(gained / total * hits / (ends + 1)))


def surely_more_precise(labels: Floats, before: Floats, after: Floats) -> bool:
    """Whether the average precision of ``after`` is higher than of ``before`` by more than chance.

    The labels are drawn again and again with replacement: in nearly all draws it must be higher. The draws are fixed,
    so that the same scores always give the same answer.
    """
    dice = np.random.default_rng(7)
    higher = 0
    for _ in range(DRAWS):
        drawn = dice.integers(0, len(labels), len(labels))
        gain = average_precision(labels[drawn], after[drawn]) - average_precision(
            labels[drawn], before[drawn]
        )
        higher += gain > 0
    return higher >= SURE * DRAWS


def brier(labels: Floats, scores: Floats) -> float:
    """The mean squared distance between score and outcome: 0.0 is perfect, 0.25 is what always saying 0.5 gives."""
    return float(np.mean((scores - labels) ** 2)) if len(labels) else 0.0


def reliability(labels: Floats, scores: Floats) -> Sequence[Bin]:
    """For each tenth of the scale: how many posts, their mean score, and the share that was acted on."""
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    found = []
    for number in range(BINS):
        inside = place == number
        count = int(inside.sum())
        predicted = float(scores[inside].mean()) if count else 0.0
        observed = float(labels[inside].mean()) if count else 0.0
        found.append(Bin(number / BINS, count, round(predicted, 4), round(observed, 4)))
    return found
