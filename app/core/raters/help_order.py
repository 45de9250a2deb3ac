"""Ranks items for a rater: first where one more rating helps most, given who has rated (docs/develop/design-system.md).

Pure: values in, order out. The ranking values never reach a page; raters see only which card comes first.
"""

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

PATIENCE = timedelta(days=14)
"""An item rises with age for as long as its review may last (docs/develop/consensus.md)."""
SIDES = 0.30
AGE = 0.50
SPREAD = 0.15
"""The weight of each criterion, relative to 1 for being one rating from enough.

``SPREAD`` is less than the step from one rating to the next of five, so it decides only among items that are about
equally near; ``SIDES`` is more than such a step, because a note needs both sides as much as it needs five ratings.
"""
PRIOR = 2
"""The number of ratings that the prior of a score weighs as much as (docs/develop/consensus.md)."""


@dataclass(frozen=True)
class Candidate:
    """A waiting item, sample or note.

    ``ratings`` is how many people rated the note (of an item, its rationale), ``needed`` how many the community
    requires, ``since`` when it started to wait. ``below`` and ``above`` count the raters with a known viewpoint by the
    sign of their factor. ``counts`` is False where this rater's rating would not count (docs/develop/consensus.md),
    ``is_read`` where the post is in a language that the rater does not read. ``decides`` is ``may_decide``, for
    people's notes only.
    """

    id: uuid.UUID
    ratings: int
    needed: int
    since: datetime
    below: int = 0
    above: int = 0
    counts: bool = True
    is_read: bool = True
    decides: float = 0.0


def order(
    candidates: Iterable[Candidate], rater_id: uuid.UUID, factor: float | None, now: datetime
) -> Sequence[uuid.UUID]:
    """The candidates' ids, best first. ``factor`` is the rater's own; None or 0.0 if unknown."""
    ranked = sorted(
        candidates,
        key=lambda candidate: (
            not candidate.counts,
            not candidate.is_read,
            -worth(candidate, rater_id, factor, now),
            candidate.id,
        ),
    )
    return [candidate.id for candidate in ranked]


def worth(candidate: Candidate, rater_id: uuid.UUID, factor: float | None, now: datetime) -> float:
    """How much this rater's rating would help: about 0 to 2, more is better.

    Four parts: nearness to enough ratings or to a bar, missing viewpoints, age, and a small pseudo-random part that is
    constant per rater, so that simultaneous raters do not all get the same first card.
    """
    age = max(0.0, (now - candidate.since) / PATIENCE)
    return (
        max(nearness(candidate.ratings, candidate.needed), candidate.decides)
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


def may_decide(score: float | None, ratings: int, needed: int, bars: Sequence[float]) -> float:
    """How likely one more rating decides a note's status: 1 where its score is at one of the ``bars``, 0 where it is
    further from each than one rating can move it.

    One rating moves a score by at most 1 / (ratings + ``PRIOR`` + 1). Both bars count alike, so the order does not show
    on which side of a bar a score is. 0 before the last missing rating: until then no rating can decide.
    """
    if score is None or ratings + 1 < needed:
        return 0.0
    steps = ratings + PRIOR + 1
    return max(max(0.0, 1.0 - abs(score - bar) * steps) for bar in bars)


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
