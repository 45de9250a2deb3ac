"""How far raters agree with the notes' outcomes, and which raters are kept (docs/develop/consensus.md)."""

from dataclasses import dataclass

import numpy as np

from app.core.scoring.arrays import BoolArray, FloatArray, IntArray, Ratings
from app.core.scoring.blocks import blocks, count
from app.core.scoring.matrix import Matrix
from app.core.scoring.model import Facts
from app.core.scoring.rules import GRAIN
from app.core.scoring.scale import HELPFUL_AT, not_helpful_at
from app.core.scoring.solver import Fit

HELPFULNESS = 0.66
AUTHOR_SCORE = 0.05
AUTHOR_PENALTY = 5.0
VOLUME_QUANTILE, VOLUME_RATERS = 0.999, 1000
"""The top 0.1 % of raters; with fewer than a thousand raters there are none."""
_HELPFUL, _OPEN, _NOT_HELPFUL = 1, 0, -1


@dataclass(frozen=True, eq=False)
class Reputation:
    """One entry per rater: the number of ``valid`` ratings, the share that agrees, and whether they are kept."""

    valid: IntArray
    helpfulness: FloatArray
    kept: BoolArray


def reputation(ratings: Ratings, matrix: Matrix, first: Fit, facts: Facts) -> Reputation:
    """Compare every rating with its note's status after the first round (docs/develop/consensus.md).

    Somewhat-helpful ratings, and those that ``Facts.valid`` excludes, neither agree nor disagree. A rater is kept
    if they are in the first round, have at least one valid rating, at least 66 % of those agree, and, if they wrote
    notes that were scored, those are good enough.
    """
    status = np.zeros(len(ratings.note_ids), np.int8)
    status[matrix.notes] = _provisional(first)
    size = len(ratings.rater_ids)
    counts, agrees = np.empty(len(ratings), np.bool_), np.empty(len(ratings), np.bool_)
    for part in blocks(len(ratings)):
        expected, level = status[ratings.note[part]], ratings.level[part]
        counts[part] = (expected != _OPEN) & (level != 1) & ratings.valid[part]
        agrees[part] = counts[part] & ((level == 2) == (expected == _HELPFUL))
    valid = count(ratings.rater, size, counts)
    agreeing = count(ratings.rater, size, agrees)
    helpfulness = agreeing / np.maximum(valid, 1)
    fitted = np.zeros(size, np.bool_)
    fitted[matrix.raters] = True
    kept = fitted & (valid >= 1) & (helpfulness >= HELPFULNESS - GRAIN)
    kept &= ~_bad_authors(ratings, matrix, first, status, facts)
    return Reputation(valid, helpfulness, kept)


def high_volume(ratings: Ratings) -> BoolArray:
    """Raters with more ratings than the 99.9th percentile, one flag per rater."""
    counts = ratings.per_rater
    if len(counts) < VOLUME_RATERS:
        return np.zeros(len(counts), np.bool_)
    return np.asarray(counts > np.quantile(counts, VOLUME_QUANTILE))


def _provisional(first: Fit) -> IntArray:
    """Per note of the fit: helpful, not helpful, or open. The filter has ensured 5 ratings each."""
    low = not_helpful_at(first.note_factor)
    status = np.where(first.note_intercept >= HELPFUL_AT - GRAIN, _HELPFUL, _OPEN)
    return np.where(first.note_intercept <= low + GRAIN, _NOT_HELPFUL, status)


def _bad_authors(
    ratings: Ratings, matrix: Matrix, first: Fit, status: "np.typing.NDArray[np.int8]", facts: Facts
) -> BoolArray:
    """Raters whose own scored notes are too poor, one flag per rater."""
    bad = np.zeros(len(ratings.rater_ids), np.bool_)
    if not facts.authors:
        return bad
    score = np.full(len(ratings.note_ids), np.nan)
    score[matrix.notes] = first.note_intercept
    wrote = np.array(list(facts.authors.items()), np.int64)
    note, rater = _places(ratings.note_ids, wrote[:, 0]), _places(ratings.rater_ids, wrote[:, 1])
    scored = (note >= 0) & (rater >= 0)
    scored[scored] &= ~np.isnan(score[note[scored]])
    note, rater = note[scored], rater[scored]
    size = len(bad)
    written = np.bincount(rater, minlength=size)
    helpful = np.bincount(rater, status[note] == _HELPFUL, size)
    not_helpful = np.bincount(rater, status[note] == _NOT_HELPFUL, size)
    mean = np.bincount(rater, score[note], size) / np.maximum(written, 1)
    poor = (helpful < AUTHOR_PENALTY * not_helpful) | (mean < AUTHOR_SCORE - GRAIN)
    return np.asarray((written > 0) & poor)


def _places(ids: IntArray, searched: IntArray) -> IntArray:
    """The index of each of ``searched`` in the ascending ``ids``; -1 where it is missing."""
    if not len(ids):
        return np.full(len(searched), -1)
    place = np.minimum(np.searchsorted(ids, searched), len(ids) - 1)
    return np.where(ids[place] == searched, place, -1)
