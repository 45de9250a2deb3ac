"""The known outcome of a request after review, and the Tier 1 threshold that earlier outcomes suggest.

The precision of a threshold is the share of upheld outcomes among the scores above it. A few outcomes prove little,
so Wilson's lower bound of that share (Wilson 1927), at 95 %, must reach the desired precision.
"""

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits, texts
from app.core.errors import Invalid
from app.core.models import Action
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _
from app.core.thresholds.post_scores import ids_of, joined_ids
from app.core.vocabulary import IN_REVIEW, ActionState, ActionTier, Verb


class Outcome(StrEnum):
    """``unreviewed``: acted on by score, but not reviewed yet. Whether it was right is unknown.

    ``lapsed``: raters were asked, and the time ran out without consensus. That is unknown too.
    """

    OVERTURNED = "overturned"
    UPHELD = "upheld"
    DISMISSED = "dismissed"
    OPEN = "open"
    UNREVIEWED = "unreviewed"
    LAPSED = "lapsed"


RIGHT = frozenset({Outcome.UPHELD})
WRONG = frozenset({Outcome.OVERTURNED, Outcome.DISMISSED})

_CODES = dict(enumerate(Outcome, start=1))
HIGHEST_CODE = max(_CODES)
_NUMBERS = {outcome: number for number, outcome in _CODES.items()}


def from_code(code: int | None) -> Outcome | None:
    """The outcome for a number from ``code_of_request``; None when no action was ever opened."""
    return None if code is None else _CODES[code]


def code(action: Any = Action) -> sa.Case[int]:
    """SQL expression: the outcome of one action as a number. A Tier 2 action that stands was upheld by raters."""
    state, decided_by_people = (
        action.action_state,
        sa.or_(
            action.action_tier == ActionTier.CONSENSUS,
            # A flag is reviewed before anything happens, in either tier.
            action.decided_verb == Verb.FLAG.value,
        ),
    )
    return sa.case(
        # Before the overturned ones: an action that lapsed was undone on the platform without any judgement.
        (action.lapsed_at.is_not(None), _NUMBERS[Outcome.LAPSED]),
        (state.in_((ActionState.OVERTURNED, ActionState.SCAN_EXEMPT)), _NUMBERS[Outcome.OVERTURNED]),
        (state == ActionState.CONFIRMED, _NUMBERS[Outcome.UPHELD]),
        (state == ActionState.DISMISSED, _NUMBERS[Outcome.DISMISSED]),
        (state.in_(IN_REVIEW), _NUMBERS[Outcome.OPEN]),
        (decided_by_people, _NUMBERS[Outcome.UPHELD]),
        else_=_NUMBERS[Outcome.UNREVIEWED],
    )


def opened_by_service() -> sa.ColumnElement[bool]:
    """SQL condition: routing opened the action, or a moderator reopened it.

    Excludes actions that an integration recorded, actions that undo another, and dismissals that were reopened:
    there the later action has the outcome.
    """
    return sa.and_(
        Action.action_tier.is_not(None), Action.restores_id.is_(None), Action.reopened_at.is_(None)
    )


def code_of_request(request_id: Any) -> sa.ScalarSelect[int]:
    """SQL: a request's outcome as a number, NULL without an action. Of several, an overturned one counts first."""
    return (
        sa.select(sa.func.min(code()))
        .where(Action.request_id == request_id, opened_by_service())
        .scalar_subquery()
    )


def codes_since(session: Session, community_id: uuid.UUID, since: datetime) -> dict[bytes, int]:
    """As ``code_of_request`` for the requests with an action opened since this moment, by the bytes of their ids.

    All of them at once: looked up one by one, those of 90 days would be several blocks each.
    """
    number = code()
    rows = session.execute(
        sa.select(number, joined_ids(session, Action.request_id))
        .where(Action.community_id == community_id, Action.created_at >= since, opened_by_service())
        .group_by(number)
    )
    codes: dict[bytes, int] = {}
    for outcome, ids in sorted(rows, key=lambda row: row[0], reverse=True):
        codes |= dict.fromkeys(ids_of(ids).tolist(), outcome)
    return codes


MOST_OUTCOMES = 10_000
"""The number of known outcomes to use, the newest."""
LEAST_PRECISION, MOST_PRECISION = 0.5, 0.995
_Z = 1.96
_STEP = 0.0001
"""Scores have four decimals, and routing is strictly greater: a threshold just below a score excludes the next
lower one.
"""


@dataclass(frozen=True)
class Suggestion:
    """``tier1`` None: the outcomes do not prove the desired precision at any threshold.

    ``above``: the known outcomes above the threshold, ``upheld`` of them right; ``bound``: the lower bound of their
    share, 0.0 to 1.0. Without a threshold these three describe all known outcomes. ``needed``: how many outcomes,
    all upheld, would be the least proof.
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
    """The lowest Tier 1 threshold at which the known outcomes prove ``precision``.

    Known outcomes were decided by people: upheld (confirmed, or decided for by raters or a moderator), overturned
    or dismissed. Reviews that ended because the time ran out are not known.

    Raises:
        Invalid: ``precision`` is not from 0.5 to 0.995, or ``category`` is not a category's name.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.category_name(category, "category")
    if not LEAST_PRECISION <= precision <= MOST_PRECISION:
        raise Invalid.field(
            "precision",
            _(
                "must be a number from %(least)s to %(most)s",
                least=texts.short(LEAST_PRECISION),
                most=texts.short(MOST_PRECISION),
            ),
            precision,
        )
    rows = session.execute(
        sa.select(Action.score, code())
        .where(
            Action.community_id == community_id,
            Action.category == category,
            Action.score.is_not(None),
            opened_by_service(),
        )
        .order_by(Action.created_at.desc(), Action.id)
        .limit(MOST_OUTCOMES)
    )
    read = [(score or 0.0, from_code(code)) for score, code in rows]
    known = [(score, outcome in RIGHT) for score, outcome in read if outcome in RIGHT | WRONG]
    return lowest(category, precision, sorted(known, reverse=True))


def lower_bound(successes: int, total: int) -> float:
    """Wilson's lower bound of a share at 95 %, 0.0 to 1.0; 0.0 for a total of 0."""
    if total == 0:
        return 0.0
    share, square = successes / total, _Z * _Z
    spread = _Z * math.sqrt((share * (1 - share) + square / (4 * total)) / total)
    return max(0.0, (share + square / (2 * total) - spread) / (1 + square / total))


def lowest(category: str, precision: float, known: Sequence[tuple[float, bool]]) -> Suggestion:
    """The suggestion for known outcomes: (score, whether it was upheld), highest score first."""
    needed = math.ceil(_Z * _Z * precision / (1 - precision))
    upheld = sum(is_right for _, is_right in known)
    best = Suggestion(
        category, precision, None, len(known), len(known), upheld, lower_bound(upheld, len(known)), needed
    )
    right = 0
    for count, (score, is_right) in enumerate(known, start=1):
        right += is_right
        if count < len(known) and known[count][0] == score:
            continue  # A threshold cannot separate equal scores.
        bound = lower_bound(right, count)
        if bound >= precision:
            tier1 = max(0.0, round(score - _STEP, 4))
            best = Suggestion(category, precision, tier1, len(known), count, right, bound, needed)
    return best
