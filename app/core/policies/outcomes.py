"""What people made of what was sent to them: the known outcome of a request, for figures about thresholds."""

from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.core.models import Action
from app.core.vocabulary import IN_REVIEW, ActionState, ActionTier, Verb


class Outcome(StrEnum):
    """``unreviewed``: acted on by a score, and nobody has looked yet. That is unknown, not right.

    ``lapsed``: people were asked, and the time ran out without consensus. That is unknown too.
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
_NUMBERS = {outcome: number for number, outcome in _CODES.items()}


def from_code(code: int | None) -> Outcome | None:
    """The outcome that ``code_of_request`` answered; None when no action was ever opened."""
    return None if code is None else _CODES[code]


def code(action: Any = Action) -> sa.Case[int]:
    """The outcome of one action as a number. A Tier 2 action that stands was wanted by people."""
    state, by_people = (
        action.action_state,
        sa.or_(
            action.action_tier == ActionTier.CONSENSUS,
            # A flag is reviewed before anything happens, whatever its tier.
            action.decided_verb == Verb.FLAG.value,
        ),
    )
    return sa.case(
        # Before the overturned ones: what the platform did before it heard of the lapse was undone by no judgement.
        (action.lapsed_at.is_not(None), _NUMBERS[Outcome.LAPSED]),
        (state.in_((ActionState.OVERTURNED, ActionState.SCAN_EXEMPT)), _NUMBERS[Outcome.OVERTURNED]),
        (state == ActionState.CONFIRMED, _NUMBERS[Outcome.UPHELD]),
        (state == ActionState.DISMISSED, _NUMBERS[Outcome.DISMISSED]),
        (state.in_(IN_REVIEW), _NUMBERS[Outcome.OPEN]),
        (by_people, _NUMBERS[Outcome.UPHELD]),
        else_=_NUMBERS[Outcome.UNREVIEWED],
    )


def of_service(action: Any = Action) -> sa.ColumnElement[bool]:
    """Actions that routing opened or a moderator reopened, not those that an integration recorded or that undo another.

    Nor a dismissal that was reopened: what people make of the post is what comes of the later action.
    """
    return sa.and_(
        action.action_tier.is_not(None), action.restores_id.is_(None), action.reopened_at.is_(None)
    )


def code_of_request(request_id: Any) -> sa.ScalarSelect[int]:
    """The outcome of a request as a number, NULL when it has no action; of several actions an overturned one counts."""
    return (
        sa.select(sa.func.min(code())).where(Action.request_id == request_id, of_service()).scalar_subquery()
    )
