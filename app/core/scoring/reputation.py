"""What a fit says about raters: who is kept, who rates most, and who rates alike (docs/develop/consensus.md)."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from app.core.scoring.arrays import BoolArray, Cells, FloatArray, IntArray, Matrix, Ratings
from app.core.scoring.model import Facts
from app.core.scoring.rules import GRAIN
from app.core.scoring.solver import Fit
from app.core.scoring.verdict import HELPFUL_AT, not_helpful_at

HELPFULNESS = 0.66
AUTHOR_SCORE = 0.05
AUTHOR_PENALTY = 5.0
VOLUME_QUANTILE, VOLUME_RATERS = 0.999, 1000
"""The top 0.1 % of raters; with fewer than a thousand raters there are none."""
_HELPFUL, _OPEN, _NOT_HELPFUL = 1, 0, -1
EQUAL_RATINGS = 25
SHARE = 0.60
LIFT = 3.0
GROUP = 5
HASHES = 12
RATINGS_AT_ONCE = 1_000_000


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
    expected = status[ratings.note]
    counts = (expected != _OPEN) & (ratings.level != 1) & ratings.valid
    agrees = counts & ((ratings.level == 2) == (expected == _HELPFUL))
    valid = np.bincount(ratings.rater[counts], minlength=size)
    agreeing = np.bincount(ratings.rater[agrees], minlength=size)
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
    note = _places(ratings.note_ids, np.fromiter(facts.authors, np.int64))
    rater = _places(ratings.rater_ids, np.fromiter(facts.authors.values(), np.int64))
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


def correlated(ratings: Ratings) -> BoolArray:
    """Which raters belong to a group that rates the same notes in the same way, one flag per entry of ``rater_ids``.

    The reference looks for quasi-cliques: at least 5 raters with at least 25 notes, most of which each of them rates in
    the group's way, grown from pairs with more than 50 equal ratings. Growing them is slow, and in a small community,
    where everybody rates everything, it takes a camp for a clique. Here two raters are alike if

    - they gave at least 25 equal ratings (same note, same value),
    - which are at least 60 % of all the ratings the two gave,
    - and at least three times as many as two raters of their activity would share if each chose notes in proportion to
      the notes' number of ratings, so that rating what everybody rates does not count against anyone;

    and raters are correlated if they belong to a group of at least 5 linked by likeness. Raters with fewer than 25
    ratings are never correlated.

    To find alike raters without comparing all pairs, each gets twelve min-hashes of their ratings (Broder 1997), and
    only neighbours in the orders of two hashes at a time are compared: a pair with 60 % in common is compared with
    probability 0.98, one with 10 % with 0.11.
    """
    counts = ratings.per_rater
    active = np.flatnonzero(counts >= EQUAL_RATINGS)
    flags = np.zeros(len(counts), np.bool_)
    if len(active) < GROUP:
        return flags
    cells = _cells(ratings, active)
    first, second = _candidates(cells)
    alike = _alike(cells, first, second, _popularity(ratings)[active])
    first, second = first[alike], second[alike]
    links = sparse.csr_array((np.ones(len(first)), (first, second)), shape=(len(active),) * 2)
    _, group = connected_components(links, directed=False)
    flags[active] = np.bincount(group)[group] >= GROUP
    return flags


def _cells(ratings: Ratings, active: IntArray) -> Cells:
    """Raters by (note, value): 1 where the active rater gave that value to that note."""
    place = np.full(len(ratings.rater_ids), -1, np.int32)
    place[active] = np.arange(len(active), dtype=np.int32)
    rater = place[ratings.rater]
    is_active = rater >= 0
    cell = ratings.note * np.int32(3) + ratings.level
    by_cell = sparse.coo_array(
        (np.ones(np.count_nonzero(is_active), np.float32), (rater[is_active], cell[is_active])),
        shape=(len(active), 3 * len(ratings.note_ids)),
    )
    return by_cell.tocsr()


def _popularity(ratings: Ratings) -> FloatArray:
    """Per rater: the share of all ratings that belong to the notes they rated."""
    share = ratings.per_note / len(ratings)
    shares: FloatArray = np.bincount(ratings.rater, share[ratings.note]).astype(np.float64)
    return shares


def _candidates(cells: Cells) -> tuple[IntArray, IntArray]:
    """Pairs of raters to compare, each pair once."""
    hashes = np.empty((HASHES, cells.shape[0]), np.uint32)
    columns = np.arange(cells.shape[1], dtype=np.uint64) + np.uint64(1)
    for number in range(HASHES):
        table = _mix(columns + np.uint64(number << 40))
        hashes[number] = np.minimum.reduceat(table[cells.indices], cells.indptr[:-1])
    pairs = []
    for number in range(HASHES):
        key = hashes[number].astype(np.uint64) << np.uint64(32) | hashes[(number + 1) % HASHES]
        order = np.argsort(key, kind="stable")
        next_to = np.flatnonzero(key[order[1:]] == key[order[:-1]])
        pairs.append(np.sort(np.stack([order[next_to], order[next_to + 1]]), axis=0))
    both = np.unique(np.concatenate(pairs, axis=1), axis=1)
    return both[0], both[1]


def _mix(numbers: "np.typing.NDArray[np.uint64]") -> "np.typing.NDArray[np.uint32]":
    with np.errstate(over="ignore"):
        z = numbers * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return (z >> np.uint64(32)).astype(np.uint32)


def _alike(cells: Cells, first: IntArray, second: IntArray, popularity: FloatArray) -> BoolArray:
    rating_counts = np.diff(cells.indptr)
    alike = np.zeros(len(first), np.bool_)
    # Compare blocks of pairs with a limited number of ratings: a few very active raters must not use all the
    # memory.
    block = np.cumsum(rating_counts[first] + rating_counts[second]) // RATINGS_AT_ONCE
    for pairs in np.split(np.arange(len(first)), np.flatnonzero(np.diff(block)) + 1):
        a, b = first[pairs], second[pairs]
        equal: FloatArray = np.asarray(cells[a].multiply(cells[b]).sum(axis=1), np.float64)
        chance = np.maximum(rating_counts[a] * popularity[b], rating_counts[b] * popularity[a])
        alike[pairs] = (
            (equal >= EQUAL_RATINGS)
            & (equal >= SHARE * (rating_counts[a] + rating_counts[b] - equal))
            & (equal >= LIFT * chance)
        )
    return alike
