"""Ranks items for a rater: first where one more rating helps most, given who has rated (docs/design-system.md).

Pure: values in, order out. The ranking values never reach a page; raters see only which card comes first.
"""

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

PATIENCE = timedelta(days=14)
"""An item rises with age for as long as its review may last (docs/consensus.md)."""
SIDES = 0.30
AGE = 0.50
SPREAD = 0.15
"""The weight of each criterion, relative to 1 for being one rating from enough.

``SPREAD`` is less than the step from one rating to the next of five, so it decides only among items that are about
equally near; ``SIDES`` is more than such a step, because a note needs both sides as much as it needs five ratings.
"""


@dataclass(frozen=True)
class Candidate:
    """A waiting item.

    ``ratings`` is how many people rated its rationale, ``needed`` how many the community requires, ``since`` when
    it started to wait. ``below`` and ``above`` count the raters with a known viewpoint by the sign of their factor;
    ``counts`` is False where this rater's rating would not count (docs/consensus.md).
    """

    id: uuid.UUID
    ratings: int
    needed: int
    since: datetime
    below: int = 0
    above: int = 0
    counts: bool = True


def order(
    candidates: Iterable[Candidate], rater_id: uuid.UUID, factor: float | None, now: datetime
) -> Sequence[uuid.UUID]:
    """The candidates' ids, best first. ``factor`` is the rater's own; None or 0.0 if unknown."""
    ranked = sorted(
        candidates,
        key=lambda candidate: (not candidate.counts, -worth(candidate, rater_id, factor, now), candidate.id),
    )
    return [candidate.id for candidate in ranked]


def worth(candidate: Candidate, rater_id: uuid.UUID, factor: float | None, now: datetime) -> float:
    """How much this rater's rating would help: about 0 to 2, more is better.

    Four parts: nearness to enough ratings, missing viewpoints, age, and a small pseudo-random part that is constant
    per rater, so that simultaneous raters do not all get the same first card.
    """
    age = max(0.0, (now - candidate.since) / PATIENCE)
    return (
        nearness(candidate.ratings, candidate.needed)
        + SIDES * _missing_side(candidate, factor)
        + AGE * min(1.0, age)
        + SPREAD * _chance(rater_id, candidate.id)
    )


def nearness(ratings: int, needed: int) -> float:
    """How near one more rating brings an item to enough: 1 for the last missing one.

    Items with enough ratings that are still undecided divide their raters. Each further rating helps them less, and
    the first one already helps less than it helps an item that lacks two.
    """
    with_this = ratings + 1
    return with_this / needed if with_this <= needed else (needed / with_this) ** 2


def _missing_side(candidate: Candidate, factor: float | None) -> float:
    """-1 to 1: above 0 where the existing ratings are mostly from the other side of this rater's viewpoint."""
    if not factor:
        return 0.0
    same, other = (candidate.below, candidate.above) if factor < 0 else (candidate.above, candidate.below)
    return (other - same) / (other + same + 1)


def _chance(rater_id: uuid.UUID, item_id: uuid.UUID) -> float:
    """A pseudo-random number, 0 to 1, evenly distributed; always the same for the same rater and item."""
    digest = hashlib.sha256(rater_id.bytes + item_id.bytes).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
