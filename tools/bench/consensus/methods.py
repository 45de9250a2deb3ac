"""Two plain ways to decide by votes, to compare with: a simple majority and a Bayesian average.

Both hear every vote before they decide, and count everybody's: more than a service could give them.
"""

from enum import IntEnum

import numpy as np

from app.core.scoring import BoolArray, FloatArray, IntArray
from tools.bench.consensus.population import Community

QUORUM = 5
BAYES_AT, BAYES_WEIGHT, BAYES_MEAN = 0.75, 2.0, 0.5
_GRAIN = 1e-9


class Outcome(IntEnum):
    """What votes made of a piece of content. ``STAFF``: a burst of new raters sent it to moderators."""

    OPEN = 0
    ACT = 1
    KEEP = 2
    STAFF = 3


def majority(community: Community) -> IntArray:
    """Act where more say yes than no, of at least five votes."""
    none, half, full = _counts(community)
    enough = none + half + full >= QUORUM
    return _outcomes(enough & (full > none), enough & (none > full))


def bayes(community: Community) -> IntArray:
    """Act where ``(C m + sum r) / (C + n)`` is at least 0.75, C = 2, m = 0.5, of at least five votes."""
    none, half, full = _counts(community)
    total = none + half + full
    mean = (BAYES_WEIGHT * BAYES_MEAN + full + 0.5 * half) / (BAYES_WEIGHT + total)
    enough = total >= QUORUM
    return _outcomes(enough & (mean >= BAYES_AT - _GRAIN), enough & (mean <= 1 - BAYES_AT + _GRAIN))


def _counts(community: Community) -> FloatArray:
    """Votes of each level, ``(3, content)``."""
    votes, size = community.votes, len(community.content)
    cells = np.bincount(votes.item * 3 + votes.level, minlength=3 * size)
    return cells.reshape(size, 3).T.astype(np.float64)


def _outcomes(act: BoolArray, keep: BoolArray) -> IntArray:
    return np.where(act, Outcome.ACT, np.where(keep, Outcome.KEEP, Outcome.OPEN)).astype(np.int64)
