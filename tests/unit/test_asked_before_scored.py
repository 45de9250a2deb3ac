"""A post about which staff were asked before it was scored has one item, whatever its score leads to."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.actions import actions
from app.core.models import Action, Decision, Request, Score
from app.core.requests import submitting
from app.core.vocabulary import ActionState, ActionTier, RequestStatus, ReviewGroup
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.both_databases
CALM = "The ferry leaves at nine tomorrow, from the pier beside the market"


def ask_and_score(wiring: Wiring, jobs: InlineEngine, cast: Cast, text: str) -> uuid.UUID:
    request_id = factories.submit(wiring, cast, text, "p-1")
    with wiring.database.writing() as session:
        submitting.escalate(session, factories.integration(cast), session.get_one(Request, request_id))
    jobs.run_all()
    return request_id


@pytest.mark.parametrize("text", [factories.REVIEWED, CALM], ids=["reviewed", "calm"])
def test_the_review_goes_on_unless_a_score_acts_alone(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, text: str
) -> None:
    request_id = ask_and_score(wiring, jobs, cast, text)
    with wiring.database.reading() as session:
        request = session.get_one(Request, request_id)
        assert (request.status, request.scored_at is not None) == (RequestStatus.IN_PROGRESS, True)
        assert session.scalar(sa.select(sa.func.count()).select_from(Score)), "moderators see the scores"
        (action,) = session.scalars(sa.select(Action)).all()
        assert (action.action_state, action.review_group) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
        assert session.scalars(sa.select(Decision)).all() == []


def test_a_score_that_acts_alone_decides_the_post_and_ends_the_review(
    wiring: Wiring, jobs: InlineEngine, cast: Cast
) -> None:
    request_id = ask_and_score(wiring, jobs, cast, factories.SPAM)
    with wiring.database.reading() as session:
        assert session.get_one(Request, request_id).status is RequestStatus.COMPLETED
        latest = actions.live_for(session, request_id)
        assert latest is not None
        assert latest.action_tier is ActionTier.IMMEDIATE
        assert latest.action_state is ActionState.PROPOSED
        states = session.scalars(sa.select(Action.action_state).where(Action.id != latest.id)).all()
        assert states == [ActionState.DISMISSED]
        (decision,) = session.scalars(sa.select(Decision)).all()
        assert decision.action_id == latest.id
