"""The loop in the core: submitted, scored, routed, rated, decided, told."""

import uuid

import sqlalchemy as sa

from app.core.communities import communities
from app.core.models import Action, Decision, Event, Note, Request
from app.core.notes import ratings
from app.core.people import profiles
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.vocabulary import ActionState, EventName, HelpfulnessLevel, NoteStatus, RequestStatus
from app.wiring import Wiring
from tests.cast import Cast
from tests.inline_engine import InlineEngine

SPAM = "Casino bonus! Buy 10,000 followers now, click here https://bit.ly/win limited offer"


def _submit(wiring: Wiring, cast: Cast, content: str, request_id: str = "post-1") -> uuid.UUID:
    integration = Actor(
        kind="key",
        name="Forum adapter",
        key_id=uuid.uuid4(),
        communities=frozenset({cast.community_id}),
        staff=True,
    )
    with wiring.database.writing() as session:
        receipt = submitting.submit(
            session, integration, cast.community_id, submitting.Submission(request_id, "user-1", content)
        )
        assert receipt.new
        return receipt.request.id


def test_consensus_of_five_raters_decides_a_queued_item_once(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    request_id = _submit(wiring, cast, "You are an idiot and everybody here knows it")
    jobs.run_all()
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert action.action_state is ActionState.UNDER_REVIEW
        note_id = action.note_id
    for number in range(6):
        with wiring.database.writing() as session:
            rater = profiles.ensure(session, "discourse", f"rater-{number}")
            who = Actor(kind="key", name="k", profile_id=rater.id, communities=frozenset({cast.community_id}))
            note = session.get_one(Note, note_id)
            ratings.rate(session, who, note, rater, HelpfulnessLevel.HELPFUL)
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert action.action_state is ActionState.PROPOSED
        note = session.get_one(Note, note_id)
        assert note.status is NoteStatus.CURRENTLY_RATED_HELPFUL
        assert note.ratings_count == 6
        decision = session.scalars(sa.select(Decision)).one()
        assert (decision.decision, decision.tier) == ("hide", 2)
        assert session.get_one(Request, request_id).status is RequestStatus.COMPLETED
        names = list(session.scalars(sa.select(Event.name)))
        assert names.count(EventName.DECISION) == 1
        assert names.count(EventName.ACTION_CREATED) == 1


def test_the_same_request_id_again_returns_the_stored_request(wiring: Wiring, cast: Cast) -> None:
    first = _submit(wiring, cast, "hello")
    with wiring.database.writing() as session:
        community = communities.get(session, SYSTEM, cast.community_id)
        receipt = submitting.submit(
            session, SYSTEM, community.id, submitting.Submission("post-1", "user-1", "hello again")
        )
    assert not receipt.new
    assert receipt.content_differs
    assert receipt.request.id == first
