"""From logits to scores: in every category, 0.55 is where the same share of ordinary talk goes to people.

The usual calibration fits the shares of a training set. Ours are far from any community's: half of some sets is
abuse. So the points are quantiles of ordinary talk that the model had not seen, and the shipped rules count with it.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.core.classify.corpus import Example
from app.core.classify.linear import PER_LANGUAGE
from tools.training.examples import CATEGORIES
from tools.training.fitting import Floats

ORDINARY = ("goemotions", "wikitalk", "wikitalk_rated", "ubuntu_irc", "stackoverflow", "polis", "sms")
"""Sources of ordinary talk; each counts the same, whatever its size."""
MAY_HOLD_ADDRESSES = "ubuntu_irc"
POINT = 0.55
"""The threshold of every category of a new community (`app.core.thresholds.drafts.DEFAULTS`)."""
ASKED = 0.0027
"""The share of ordinary talk that scores above `POINT`, in each category; about 1.5 % in one or another."""
SURE = 0.0005
"""The share of ordinary talk that scores above 0.9, in each category."""
FAINT: Mapping[str, float] = {"hate": 0.6, "threat": 0.6}
"""What a score below 0.5 counts. Few posts are labelled for these, and what is a little like them is often neither:
unreduced, it would outdo the better score for toxicity where people look for the highest one."""
STEP = 0.01
ASKED_ELSEWHERE = 0.01
"""The share of harmless posts in another language than English that scores above `POINT`, by category."""
FEWEST = 100
HIGHEST = 0.95
"""No score is higher: the model never acts alone, and must not outdo a rule that is sure enough to."""
BELOW = ((0.02, 0.6), (0.05, 0.25), (0.1, 0.1), (0.2, 0.04))
"""Lower points: a score, and the share of ordinary talk above it."""


def is_ordinary(examples: Sequence[Example]) -> NDArray[np.bool_]:
    """Harmless posts from sources of ordinary talk, in English or unknown languages."""
    return np.array([e.source in ORDINARY and not any(e.labels.values()) for e in examples], np.bool_)


def source_weights(examples: Sequence[Example], chosen: NDArray[np.bool_]) -> Floats:
    """Weights of the chosen examples, 0 for the others: each source counts the same. They add up to 1."""
    sources = np.array([example.source for example in examples])
    weights = np.zeros(len(examples))
    for source in np.unique(sources[chosen]):
        rows = chosen & (sources == source)
        weights[rows] = 1.0 / rows.sum()
    return np.asarray(weights / weights.sum(), np.float64)


def points_of(
    category: str, logits: Floats, weights: Floats, bottom: float, ruled: Floats | None = None
) -> Floats:
    """The points between which scores are interpolated: logits in the first row, scores in the second.

    ``ruled``: the scores by the shipped rules. Posts that these raise are part of the share, of which the model keeps
    at least half.
    """
    together = logits if ruled is None else np.where(ruled > POINT, np.inf, logits)
    asked = min(_exceeded_by(together, weights, ASKED), _exceeded_by(logits, weights, ASKED / 2))
    sums = [*(_exceeded_by(logits, weights, share) for _, share in BELOW), asked]
    sums.append(max(_exceeded_by(logits, weights, SURE), asked + 0.5))
    sums = [min(bottom, sums[0] - 1.0), *sums, sums[-1] + 2 * max(sums[-1] - sums[-2], 0.5)]
    scores = [0.0, *(score for score, _ in BELOW), POINT, 0.9, HIGHEST]
    for place in range(1, len(sums)):  # Few examples can make two quantiles equal; points must differ.
        sums[place] = max(sums[place], sums[place - 1] + 2 * STEP)
    half = float(np.interp(0.5, scores, sums))
    faint = FAINT.get(category, 1.0)
    below = [(total, faint * score) for total, score in zip(sums, scores, strict=True) if total < half]
    above = [(total, score) for total, score in zip(sums, scores, strict=True) if total > half + STEP]
    middle = [(half, faint * 0.5), (half + STEP, float(np.interp(half + STEP, sums, scores)))]
    return np.array([*below, *middle, *above], np.float64).T


def shifts_of(
    examples: Sequence[Example], logits: Mapping[str, Floats], points: Mapping[str, Floats]
) -> dict[str, dict[str, float]]:
    """By language and category, what is added to a logit so that `ASKED_ELSEWHERE` of harmless posts reach `POINT`.

    Too few posts in a language: no shift.
    """
    shifts: dict[str, dict[str, float]] = {}
    for language, categories in PER_LANGUAGE.items():
        for category in sorted(categories & set(points)):
            rows = np.array(
                [e.language == language and e.labels.get(category) == 0 and not e.template for e in examples]
            )
            rows &= ~np.isnan(logits[category])
            if rows.sum() >= FEWEST:
                weights = np.full(int(rows.sum()), 1.0 / rows.sum())
                asked = float(np.interp(POINT, points[category][1], points[category][0]))
                shift = asked - _exceeded_by(logits[category][rows], weights, ASKED_ELSEWHERE)
                shifts.setdefault(language, {})[category] = round(shift, 4)
    return shifts


def _exceeded_by(logits: Floats, weights: Floats, share: float) -> float:
    """The logit that this share of the weight exceeds."""
    order = np.argsort(-logits, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), share))
    return float(logits[order[min(place, len(order) - 1)]])


def all_points(
    examples: Sequence[Example],
    logits: Mapping[str, Floats],
    ruled: Callable[[str, NDArray[np.bool_]], Floats],
) -> dict[str, Floats]:
    """The points of every category, from reserved logits.

    ``ruled``: gives a category's scores of the chosen examples by the shipped rules.
    """
    ordinary = is_ordinary(examples)
    points = {}
    for category in CATEGORIES:
        if np.isnan(logits[category]).all():
            continue
        rows = ordinary & ~np.isnan(logits[category])
        if category == "pii":
            rows &= np.array([example.source != MAY_HOLD_ADDRESSES for example in examples])
        if not rows.any():
            rows = ~np.isnan(logits[category])
        weights = source_weights(examples, rows)[rows]
        bottom = float(np.nanmin(logits[category]))
        points[category] = points_of(
            category, logits[category][rows], weights, bottom, ruled(category, rows)[rows]
        )
    return points
