"""The known outcome of a request after review, for statistics about thresholds."""

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Action
from app.core.policies.post_scores import ids_of, joined_ids
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


def opened_by_service(action: Any = Action) -> sa.ColumnElement[bool]:
    """SQL condition: routing opened the action, or a moderator reopened it.

    Excludes actions that an integration recorded, actions that undo another, and dismissals that were reopened:
    there the later action has the outcome.
    """
    return sa.and_(
        action.action_tier.is_not(None), action.restores_id.is_(None), action.reopened_at.is_(None)
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
