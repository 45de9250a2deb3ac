"""Which item to show a rater first: where one more rating helps most, given who has rated (docs/design-system.md).

Pure: values in, order out. What goes into the order never reaches a page; raters see only which card comes first.
"""

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

PATIENCE = timedelta(days=14)
"""An item rises with its age for as long as its review may last (docs/consensus.md)."""
SIDES = 0.30
AGE = 0.50
SPREAD = 0.15
"""What each consideration weighs against 1, the weight of being one rating from enough.

``SPREAD`` is less than a step from one rating to the next of five, so it decides only among items that are about
equally near; ``SIDES`` is more than such a step, because a note needs both sides as much as it needs five.
"""


@dataclass(frozen=True)
class Candidate:
    """An item that waits.

    ``ratings`` is how many rated its rationale, ``needed`` how many the community asks for, ``since`` when it began
    to wait. ``below`` and ``above`` count the raters whose viewpoint is known, by the sign of their factor; ``counts``
    is False where the rating of the one who is asked would not count (docs/consensus.md).
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
    """The candidates' ids, best first. ``factor`` is the rater's own viewpoint; None or 0.0 where there is none."""
    ranked = sorted(candidates, key=lambda one: (not one.counts, -worth(one, rater_id, factor, now), one.id))
    return [one.id for one in ranked]


def worth(one: Candidate, rater_id: uuid.UUID, factor: float | None, now: datetime) -> float:
    """How much this rater's rating would help: about 0 to 2, more is better.

    Four parts: nearness to enough ratings, viewpoints that are missing, age, and a little of chance that is this
    rater's own and always the same, so that not everybody who comes at once gets the same first card.
    """
    age = max(0.0, (now - one.since) / PATIENCE)
    return (
        nearness(one.ratings, one.needed)
        + SIDES * _missing_side(one, factor)
        + AGE * min(1.0, age)
        + SPREAD * _chance(rater_id, one.id)
    )


def nearness(ratings: int, needed: int) -> float:
    """How near one more rating brings an item to enough: 1 for the last that is missing.

    Items that have enough and are still undecided divide their raters; each further rating helps them less, and the
    first already less than it helps an item that lacks two.
    """
    with_this = ratings + 1
    return with_this / needed if with_this <= needed else (needed / with_this) ** 2


def _missing_side(one: Candidate, factor: float | None) -> float:
    """-1 to 1: above 0 where those who rated stand mostly on the other side of this rater's viewpoint."""
    if not factor:
        return 0.0
    same, other = (one.below, one.above) if factor < 0 else (one.above, one.below)
    return (other - same) / (other + same + 1)


def _chance(rater_id: uuid.UUID, item_id: uuid.UUID) -> float:
    """0 to 1, evenly spread: the same each time for the same rater and item."""
    digest = hashlib.sha256(rater_id.bytes + item_id.bytes).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
