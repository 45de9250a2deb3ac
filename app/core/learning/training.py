"""Training: labels in, a version out, with the figures that say whether it is better. Pure.

A model is fitted to the older 80 % of the labels; the newest 20 % fit the blend and judge it. Near-duplicates of the
newest labels are left out of the older ones, or the model would be praised for remembering. The version that is stored
is then fitted to all labels. Near-duplicates share most of their features, found by MinHash (Broder 1997).

The words that count most are named for people to read, from the community's own posts. Only words that several authors
used are named, so that none of them tells what one person wrote.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from app.core.classify import corpus
from app.core.classify.features import named_features, vectorise, vectors_of
from app.core.learning import logistic, sampling
from app.core.learning.labels import Label, Ordinary, capped
from app.core.learning.logistic import Bin, Blend, Linear

Floats = NDArray[np.float64]

LEAST_LABELS = sampling.ENOUGH_LABELS
LEAST_OF_A_KIND = 40
"""The least labels, and the least of posts acted on and of posts left alone, before anything is trained."""
NEWEST = 0.2
LEAST_NEWEST = 5
"""The least of each kind among the newest labels; with fewer they cannot judge a model."""
GAIN = 0.01
"""By how much the average precision must be better at least, however many labels judge it."""
ORDINARY_SHARE = 0.01
"""The share of ordinary posts, which the others do not ask about, that the blend may ask about."""
LEAST_ORDINARY = 100
"""With fewer ordinary posts known, the blend must leave the service's own sentences alone too."""
STAND_INS = 500


class Outcome(StrEnum):
    """What a training led to. Only a version that is ``BETTER`` may be put in force."""

    FEW_LABELS = "few_labels"
    ONE_SIDED = "one_sided"
    NOT_BETTER = "not_better"
    LESS_RELIABLE = "less_reliable"
    BETTER = "better"


@dataclass(frozen=True)
class Figures:
    """What the newest labels say: average precision and Brier score of the others (base) and of the blend (own).

    ``ordinary``: how many posts without an action it was checked with; ``more_a_day``: about how many of them a day
    it would ask about and the others alone would not, None if no such posts are known.
    """

    newest: int
    base_precision: float
    own_precision: float
    base_brier: float
    own_brier: float
    bins: Sequence[Bin]
    ordinary: int = 0
    more_a_day: float | None = None


@dataclass(frozen=True)
class Word:
    """One or two words, and how many authors used them."""

    text: str
    authors: int


@dataclass(frozen=True)
class Words:
    """The words that raise the score most, and those that lower it most."""

    raising: Sequence[Word]
    lowering: Sequence[Word]


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

    ``threshold`` is the score above which people are asked; ``ordinary`` are posts without an action.
    """
    rows = logistic.matrix([vectorise(label.content) for label in labels])
    alike = clusters(rows)
    kept = capped(labels, alike)
    labels, rows, alike = [labels[place] for place in kept], rows[kept], alike[kept]
    acted = np.array([float(label.acted) for label in labels])
    positives = int(acted.sum())
    if len(labels) < LEAST_LABELS:
        return Trained(Outcome.FEW_LABELS, len(labels), positives)
    newest = np.arange(len(labels)) >= len(labels) - math.ceil(NEWEST * len(labels))
    older = ~newest & ~np.isin(alike, alike[newest])
    if min(positives, len(labels) - positives) < LEAST_OF_A_KIND or _is_one_sided(acted, newest, older):
        return Trained(Outcome.ONE_SIDED, len(labels), positives)
    numbers: dict[str, int] = {}
    authors = np.array([numbers.setdefault(label.author, len(numbers)) for label in labels])
    base = np.array([label.base for label in labels])
    rules = np.array([label.rules for label in labels])
    own = logistic.fit(rows[older], acted[older], authors[older]).outputs(rows[newest])
    fitted = logistic.fit_blend(base[newest], own, acted[newest])
    linear = logistic.fit(rows, acted, authors)
    is_mistake = (acted[newest] == 0) & (np.maximum(base, rules)[newest] <= threshold)
    mistakes = _heights(fitted, base[newest][is_mistake], own[is_mistake])
    # What was learned from says nothing about new posts.
    learned = {label.content for label in labels}
    left_alone = [
        post for post in ordinary if post.base.get(category, 0.0) <= threshold and post.content not in learned
    ]
    others = _heights_of(fitted, linear, category, left_alone)
    known = np.concatenate([others, mistakes])
    guarded = _guarded(fitted, linear, category, known, threshold)
    # The version is judged as cautious as it will be used.
    scores = _shifted(logistic.cross_fitted(base[newest], own, acted[newest]), guarded.c - fitted.c)
    # The community's rules count on both sides: what would be routed is judged.
    before, after = np.maximum(base, rules)[newest], np.maximum(scores, rules[newest])
    figures = replace(
        _figures(acted[newest], before, after),
        ordinary=len(known),
        more_a_day=_more_a_day(left_alone, logistic.sigmoid(others + guarded.c) > threshold),
    )
    is_sure = guarded.rises and logistic.surely_more_precise(acted[newest], before, after)
    made = strongest(linear, [(label.content, label.author) for label in labels])
    outcome = _judged(figures, is_sure=is_sure)
    return Trained(outcome, len(labels), positives, Version(linear, guarded, figures, made))


def _is_one_sided(acted: Floats, newest: NDArray[np.bool_], older: NDArray[np.bool_]) -> bool:
    among = acted[newest].sum()
    return bool(min(among, newest.sum() - among) < LEAST_NEWEST or not 0 < acted[older].sum() < older.sum())


def _figures(acted: Floats, before: Floats, after: Floats) -> Figures:
    return Figures(
        len(acted),
        round(logistic.average_precision(acted, before), 4),
        round(logistic.average_precision(acted, after), 4),
        round(logistic.brier(acted, before), 4),
        round(logistic.brier(acted, after), 4),
        logistic.reliability(acted, after),
    )


def _judged(figures: Figures, *, is_sure: bool) -> Outcome:
    if not is_sure or figures.own_precision < figures.base_precision + GAIN:
        return Outcome.NOT_BETTER
    if figures.own_brier > figures.base_brier:
        return Outcome.LESS_RELIABLE
    return Outcome.BETTER


def _heights(fitted: Blend, base: Floats, own: Floats) -> Floats:
    """The blended scores before ``c`` and the sigmoid."""
    return fitted.a * logistic.logit(base) + fitted.b * own


def _heights_of(fitted: Blend, linear: Linear, category: str, posts: Sequence[Ordinary]) -> Floats:
    # As posts are scored: disguised words are undone, too, and the highest part counts.
    own = np.array([max(map(linear.output, vectors_of(post.content)), default=0.0) for post in posts])
    base = np.array([post.base.get(category, 0.0) for post in posts])
    return _heights(fitted, base, own)


def _guarded(fitted: Blend, linear: Linear, category: str, known: Floats, threshold: float) -> Blend:
    """The blend with ``c`` lowered until it leaves ordinary posts alone; ``known`` are the heights of some.

    Labels come only from posts that people were asked about; of all the others they say nothing. Where few are known,
    the service's own sentences stand in, each as high as the others may score a post that they leave alone.
    """
    if not 0.0 < threshold < 1.0:
        return fitted
    if len(known) < LEAST_ORDINARY:
        sentences = corpus.harmless(category, STAND_INS)
        talk = [Ordinary(sentence, {category: threshold}) for sentence in sentences]
        known = np.concatenate([known, _heights_of(fitted, linear, category, talk)])
    highest = float(np.sort(known)[::-1][int(ORDINARY_SHARE * len(known))])
    # A little less, or rounding would lift many equal posts over the threshold.
    most = math.log(threshold / (1.0 - threshold)) - highest - 1e-5
    return replace(fitted, c=round(min(fitted.c, most), 6))


def _more_a_day(posts: Sequence[Ordinary], asked: NDArray[np.bool_]) -> float | None:
    """How many of these posts a day would be asked about; None if their times are not known."""
    times = [post.scored_at for post in posts if post.scored_at is not None]
    if not times:
        return None
    days = max(1.0, (max(times) - min(times)).total_seconds() / 86_400)
    return round(float(asked.sum()) / days, 2)


def _shifted(scores: Floats, by: float) -> Floats:
    kept = np.clip(scores, 1e-9, 1.0 - 1e-9)
    return logistic.sigmoid(np.log(kept / (1.0 - kept)) + by) if by else scores


ALIKE = 0.7
"""The share of common features from which two texts are near-duplicates."""
BANDS, ROWS = 12, 3
"""Two texts are compared if they agree in all rows of a band; texts as similar as ``ALIKE`` almost surely do."""
_PRIME = (1 << 31) - 1


def clusters(rows: sp.csr_matrix) -> NDArray[np.int64]:
    """A number for each row; near-duplicates have the same one. The same rows always give the same numbers."""
    count = rows.shape[0]
    parents = list(range(count))

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    signatures = _signatures(rows)
    sizes = np.diff(rows.indptr)
    for band in range(BANDS):
        keys = signatures[:, band * ROWS : (band + 1) * ROWS]
        first: dict[bytes, int] = {}
        for row in range(count):
            other = first.setdefault(keys[row].tobytes(), row)
            # A text without features is like no other.
            if other == row or sizes[row] == 0 or root(other) == root(row):
                continue
            if float(np.mean(signatures[other] == signatures[row])) >= ALIKE:
                parents[max(root(other), root(row))] = min(root(other), root(row))
    return np.array([root(row) for row in range(count)], dtype=np.int64)


def _signatures(rows: sp.csr_matrix) -> NDArray[np.int64]:
    """For each row the smallest value of its features under each of several fixed shuffles."""
    dice = np.random.default_rng(7)
    shuffles = dice.integers(1, _PRIME, size=(BANDS * ROWS, 2))
    found = np.full((rows.shape[0], len(shuffles)), -1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if not len(filled):
        return found
    features, starts = rows.indices.astype(np.int64), rows.indptr[filled]
    for number, (factor, shift) in enumerate(shuffles):
        found[filled, number] = np.minimum.reduceat((features * factor + shift) % _PRIME, starts)
    return found


MOST_TEXTS = 2_000
MOST_WORDS = 12
LEAST_AUTHORS = 3
LONGEST = 40
_CANDIDATES = 2_000
_PART = r"(?:[^\W\d_]+(?:'[^\W\d_]+)*|\[[a-z ]+\])"
_READABLE = re.compile(rf"{_PART}(?: {_PART})?")


def strongest(linear: Linear, posts: Sequence[tuple[str, str]]) -> Words:
    """The words with the largest weights among the newest of these posts, each a text and its author."""
    weights = {
        int(bucket): linear.scale * int(level)
        for bucket, level in zip(linear.buckets, linear.levels, strict=True)
    }
    largest = set(sorted(weights, key=lambda bucket: (-abs(weights[bucket]), bucket))[:_CANDIDATES])
    users: dict[int, set[str]] = {}
    names: dict[int, str] = {}
    for content, author in posts[-MOST_TEXTS:]:
        for bucket, name in named_features(content).items():
            if bucket in largest and _is_readable(name):
                users.setdefault(bucket, set()).add(author)
                names.setdefault(bucket, name)
    strengths: dict[str, tuple[float, int]] = {}
    for bucket, authors in users.items():
        if len(authors) >= LEAST_AUTHORS:
            # A word that many used explains more scores than a rare one with the same weight.
            strength = weights[bucket] * len(authors) ** 0.5
            before, most = strengths.get(names[bucket], (0.0, 0))
            # A short word is a word and a piece of a word at once.
            strengths[names[bucket]] = (before + strength, max(most, len(authors)))
    ranked = sorted(strengths, key=lambda name: (-strengths[name][0], name))
    return Words(
        [Word(name, strengths[name][1]) for name in ranked[:MOST_WORDS] if strengths[name][0] > 0],
        [Word(name, strengths[name][1]) for name in ranked[::-1][:MOST_WORDS] if strengths[name][0] < 0],
    )


def _is_readable(name: str) -> bool:
    """Whether a feature is words, and not a piece of one ("·ing") or signs."""
    return len(name) <= LONGEST and _READABLE.fullmatch(name) is not None
