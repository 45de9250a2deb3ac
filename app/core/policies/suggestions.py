"""A Tier 1 threshold for a wished precision, from what people made of earlier scores.

The precision of a threshold is the share of what scored above it that people upheld. Few outcomes prove little, so what
must reach the wish is Wilson's lower bound of that share (Wilson 1927), at 95 %.
"""

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.errors import Invalid
from app.core.models import Action
from app.core.permissions import Actor, Permission, require
from app.core.policies import outcomes

MOST_OUTCOMES = 10_000
"""Known outcomes that are looked at, the newest."""
LEAST_PRECISION, MOST_PRECISION = 0.5, 0.995
_Z = 1.96
_STEP = 0.0001
"""Scores have four decimals, and routing is strictly greater: just below a score is above the next lower one."""


@dataclass(frozen=True)
class Suggestion:
    """``tier1`` None: outcomes do not prove the wished precision at any threshold.

    ``above`` outcomes are known above the threshold, of which ``upheld`` were right; ``bound`` is the lower bound of
    their share, 0.0 to 1.0. Without a threshold all three speak of all known outcomes. ``needed``: how many outcomes,
    all upheld, would prove it at the least.
    """

    category: str
    precision: float
    tier1: float | None
    known: int
    above: int
    upheld: int
    bound: float
    needed: int


def suggest(
    session: Session, actor: Actor, community_id: uuid.UUID, category: str, precision: float
) -> Suggestion:
    """The lowest Tier 1 at which the known outcomes would have held ``precision``.

    Known are outcomes by people: upheld (confirmed, or decided for by raters or a moderator) against overturned and
    dismissed. Reviews that ended because the time ran out are not known.

    Raises:
        Invalid: a precision that is no number from 0.5 to 0.995, or no category's name.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.category_name(category, "category")
    if not LEAST_PRECISION <= precision <= MOST_PRECISION:
        raise Invalid.field(
            "precision", f"must be a number from {LEAST_PRECISION:g} to {MOST_PRECISION:g}", precision
        )
    rows = session.execute(
        sa.select(Action.score, outcomes.code())
        .where(
            Action.community_id == community_id,
            Action.category == category,
            Action.score.is_not(None),
            outcomes.of_service(),
        )
        .order_by(Action.created_at.desc(), Action.id)
        .limit(MOST_OUTCOMES)
    )
    read = [(score or 0.0, outcomes.from_code(code)) for score, code in rows]
    known = [(score, one in outcomes.RIGHT) for score, one in read if one in outcomes.RIGHT | outcomes.WRONG]
    return lowest(category, precision, sorted(known, reverse=True))


def lower_bound(right: int, of: int) -> float:
    """Wilson's lower bound of a share at 95 %, 0.0 to 1.0; 0.0 of nothing."""
    if of == 0:
        return 0.0
    share, square = right / of, _Z * _Z
    spread = _Z * math.sqrt((share * (1 - share) + square / (4 * of)) / of)
    return max(0.0, (share + square / (2 * of) - spread) / (1 + square / of))


def lowest(category: str, precision: float, known: Sequence[tuple[float, bool]]) -> Suggestion:
    """The suggestion of known outcomes: scores with whether people upheld them, the highest first."""
    needed = math.ceil(_Z * _Z * precision / (1 - precision))
    upheld = sum(is_right for _, is_right in known)
    best = Suggestion(
        category, precision, None, len(known), len(known), upheld, lower_bound(upheld, len(known)), needed
    )
    right = 0
    for count, (score, is_right) in enumerate(known, start=1):
        right += is_right
        if count < len(known) and known[count][0] == score:
            continue  # A threshold cannot tell equal scores apart.
        bound = lower_bound(right, count)
        if bound >= precision:
            tier1 = max(0.0, round(score - _STEP, 4))
            best = Suggestion(category, precision, tier1, len(known), count, right, bound, needed)
    return best
