"""Training: labels in, a version out, with the figures that say whether it is better. Pure.

A model is fitted to the older 80 % of the labels; the newest 20 % fit the blend and judge it. Near-duplicates of the
newest labels are left out of the older ones, or the model would be praised for remembering. The version that is stored
is then fitted to all labels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from app.core.classify.features import vectorise
from app.core.learning import blend, duplicates, logistic, words
from app.core.learning.blend import Bin, Blend
from app.core.learning.labels import Label, Ordinary, capped
from app.core.learning.logistic import Linear
from app.core.learning.words import Words

Floats = NDArray[np.float64]

LEAST_LABELS = 200
LEAST_OF_A_KIND = 40
"""So many labels, and so many of posts acted on and of posts left alone, before anything is trained."""
NEWEST = 0.2
LEAST_NEWEST = 5
"""So many of each kind among the newest labels, or they cannot judge anything."""
GAIN = 0.01
"""By how much the average precision must be better: less is chance."""
ORDINARY_SHARE = 0.01
"""The share of ordinary posts that the blend may ask about beyond those that the others ask about."""


class Outcome(StrEnum):
    """What a training led to. Only a version that is ``BETTER`` may be put in force."""

    FEW_LABELS = "few_labels"
    ONE_SIDED = "one_sided"
    NOT_BETTER = "not_better"
    LESS_RELIABLE = "less_reliable"
    BETTER = "better"


@dataclass(frozen=True)
class Figures:
    """What the newest labels say: average precision and Brier score of the others (base) and of the blend (own)."""

    newest: int
    base_precision: float
    own_precision: float
    base_brier: float
    own_brier: float
    bins: Sequence[Bin]


@dataclass(frozen=True)
class Version:
    """A trained model with its blend, its figures and its words."""

    linear: Linear
    blend: Blend
    figures: Figures
    words: Words


@dataclass(frozen=True)
class Trained:
    """The result of a training. ``labels`` and ``positives`` are those after the caps; no version: too few."""

    outcome: Outcome
    labels: int
    positives: int
    version: Version | None = None


def train(
    labels: Sequence[Label], *, category: str = "", ordinary: Sequence[Ordinary] = (), threshold: float = 1.0
) -> Trained:
    """Train a version from labels, oldest first. The same input always gives the same version.

    ``threshold`` is the score above which people are asked; ``ordinary`` are posts that nobody was asked about.
    """
    rows = logistic.matrix([vectorise(label.content) for label in labels])
    clusters = duplicates.clusters(rows)
    kept = capped(labels, clusters)
    labels, rows, clusters = [labels[place] for place in kept], rows[kept], clusters[kept]
    acted = np.array([float(label.acted) for label in labels])
    positives = int(acted.sum())
    if len(labels) < LEAST_LABELS:
        return Trained(Outcome.FEW_LABELS, len(labels), positives)
    newest = np.arange(len(labels)) >= len(labels) - math.ceil(NEWEST * len(labels))
    older = ~newest & ~np.isin(clusters, clusters[newest])
    if min(positives, len(labels) - positives) < LEAST_OF_A_KIND or _is_one_sided(acted, newest, older):
        return Trained(Outcome.ONE_SIDED, len(labels), positives)
    numbers: dict[str, int] = {}
    authors = np.array([numbers.setdefault(label.author, len(numbers)) for label in labels])
    base = np.array([label.base for label in labels])
    own = logistic.fit(rows[older], acted[older], authors[older]).outputs(rows[newest])
    fitted = blend.fit(base[newest], own, acted[newest])
    linear = logistic.fit(rows, acted, authors)
    guarded = _guarded(fitted, linear, category, ordinary, threshold)
    # The version is judged as cautious as it will be used.
    scores = _shifted(blend.cross_fitted(base[newest], own, acted[newest]), guarded.c - fitted.c)
    figures = _figures(
        acted[newest], base[newest], np.array([label.rules for label in labels])[newest], scores
    )
    made = words.strongest(linear, [(label.content, label.author) for label in labels])
    return Trained(_judged(figures), len(labels), positives, Version(linear, guarded, figures, made))


def _is_one_sided(acted: Floats, newest: NDArray[np.bool_], older: NDArray[np.bool_]) -> bool:
    among = acted[newest].sum()
    return bool(min(among, newest.sum() - among) < LEAST_NEWEST or not 0 < acted[older].sum() < older.sum())


def _figures(acted: Floats, base: Floats, rules: Floats, scores: Floats) -> Figures:
    """Judge what would be routed: the community's rules count on both sides."""
    before, after = np.maximum(base, rules), np.maximum(scores, rules)
    return Figures(
        len(acted),
        round(blend.average_precision(acted, before), 4),
        round(blend.average_precision(acted, after), 4),
        round(blend.brier(acted, before), 4),
        round(blend.brier(acted, after), 4),
        blend.reliability(acted, after),
    )


def _judged(figures: Figures) -> Outcome:
    if figures.own_precision < figures.base_precision + GAIN:
        return Outcome.NOT_BETTER
    if figures.own_brier > figures.base_brier:
        return Outcome.LESS_RELIABLE
    return Outcome.BETTER


def _guarded(
    fitted: Blend, linear: Linear, category: str, ordinary: Sequence[Ordinary], threshold: float
) -> Blend:
    """The blend with ``c`` lowered until it leaves ordinary posts alone.

    Labels come only from posts that somebody was asked about; of all the others they say nothing.
    """
    if not ordinary or not 0.0 < threshold < 1.0:
        return fitted
    base = np.array([post.base.get(category, 0.0) for post in ordinary])
    rows: sp.csr_matrix = logistic.matrix([vectorise(post.content) for post in ordinary])
    heights = np.sort(fitted.a * blend.logit(base) + fitted.b * linear.outputs(rows))[::-1]
    allowed = int((base > threshold).sum()) + int(ORDINARY_SHARE * len(ordinary))
    if allowed >= len(ordinary):
        return fitted
    # A little less, or rounding would lift many equal posts over the threshold.
    most = math.log(threshold / (1.0 - threshold)) - float(heights[allowed]) - 1e-5
    return replace(fitted, c=round(min(fitted.c, most), 6))


def _shifted(scores: Floats, by: float) -> Floats:
    kept = np.clip(scores, 1e-9, 1.0 - 1e-9)
    return blend.sigmoid(np.log(kept / (1.0 - kept)) + by) if by else scores
