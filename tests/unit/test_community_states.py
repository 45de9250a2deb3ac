"""Pausing and archiving: what is being scored, what integrations may still do, which reviews end."""

import uuid
from dataclasses import replace

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements
from app.core.communities import settings as community_settings
from app.core.errors import Forbidden
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Action, Community, Decision, Hold, Request
from app.core.people import accounts, keys
from app.core.permissions import Actor
from app.core.requests import scoring, submitting
from app.core.review import holds
from app.core.upkeep import community_revisions
from app.core.vocabulary import ActionState, ActionTier, ActionVerb, RequestStatus
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person


def actor(wiring: Wiring, cast: Cast, person: Person) -> Actor:
    """This person as the dashboard would act for them now."""
    with wiring.database.reading() as session:
        who = accounts.actor_for(accounts.get(session, person.account_id), person.profile_id)
        closed = session.get_one(Community, cast.community_id).archived_at is not None
    return replace(who, archived=frozenset({cast.community_id} if closed else ()))


def action_of(wiring: Wiring, request_id: uuid.UUID) -> Action | None:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Action).where(Action.request_id == request_id)).first()


def test_a_pause_reaches_even_what_is_being_scored_and_says_why_it_was_not_acted_on(
    wiring: Wiring, cast: Cast
) -> None:
    operator = actor(wiring, cast, cast.operator)
    request_id = factories.submit(wiring, cast, factories.SPAM)
    with wiring.database.writing() as session:
        request = scoring.start(session, request_id)
    assert request is not None
    scorings = scoring.classify(wiring.classifiers, request)
    with wiring.database.writing() as session:
        with pytest.raises(Forbidden):
            community_revisions.pause(session, actor(wiring, cast, cast.moderator), cast.community_id, "No")
        community_revisions.pause(session, operator, cast.community_id, "A rule went wild")
    with wiring.database.writing() as session:
        scoring.record_scores(session, request_id, scorings)
    held = action_of(wiring, request_id)
    assert held is not None
    assert (held.action_state, held.action_tier) == (ActionState.UNDER_REVIEW, ActionTier.CONSENSUS)
    assert held.evidence is not None
    assert held.evidence["details"]["held_back"]["why"] == scoring.PAUSED
    assert held.evidence["details"]["threshold"] == 0.95
    with wiring.database.writing() as session:
        community_revisions.resume(session, operator, cast.community_id, "Mended")
    acts = factories.scored_action(wiring, cast, factories.SPAM, "post-2")
    with wiring.database.reading() as session:
        action = session.get_one(Action, acts)
        assert action.action_state is ActionState.PROPOSED
        assert "held_back" not in (action.evidence or {})["details"]
        assert history.verify(session, cast.community_id)[1] is None


def test_an_archived_community_ends_its_reviews_can_be_read_and_takes_nothing_until_it_is_opened_again(
    wiring: Wiring, cast: Cast
) -> None:
    waiting = factories.scored_action(wiring, cast, request_id="post-1")
    decided = factories.scored_action(wiring, cast, request_id="post-2")
    unscored = factories.submit(wiring, cast, request_id="post-3")
    admin, moderator = (actor(wiring, cast, one) for one in (cast.admin, cast.moderator))
    with wiring.database.writing() as session:
        action = session.get_one(Action, decided)
        holds.hold(
            session, moderator, ActionVerb.FORCE_PUBLISH, action=action, reason=Reason("Clear"), seconds=600
        )
    with wiring.database.writing() as session:
        with pytest.raises(Forbidden):
            community_revisions.archive(session, actor(wiring, cast, cast.operator), cast.community_id, "No")
        community_revisions.archive(session, admin, cast.community_id, "The forum closes")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        assert session.get_one(Action, waiting).action_state is ActionState.DISMISSED
        assert session.get_one(Action, decided).action_state is ActionState.PROPOSED
        assert session.scalars(sa.select(Hold)).all() == []
        assert session.get_one(Request, unscored).status is RequestStatus.COMPLETED
        assert session.scalar(sa.select(sa.func.count()).select_from(Decision)) == 2
        key = keys.authenticate(session, cast.adapter_key)
        assert key is not None
        assert key.archived == {cast.community_id}
    closed = replace(factories.integration(cast), archived=key.archived)
    late = submitting.Submission("late", "ann", "Hello")
    with wiring.database.writing() as session:
        with pytest.raises(Forbidden, match="archived"):
            submitting.submit(session, closed, cast.community_id, late)
        with pytest.raises(Forbidden, match="archived"):
            submitting.withdraw(session, closed, session.get_one(Request, unscored))
        assert submitting.find(session, closed, "post-1").request_id == "post-1"
    admin = actor(wiring, cast, cast.admin)
    with wiring.database.writing() as session:
        community_revisions.unarchive(session, admin, cast.community_id, "It opens again")
        assert submitting.submit(session, factories.integration(cast), cast.community_id, late).new


@pytest.mark.parametrize("is_archived", [True, False])
def test_a_second_look_that_was_to_open_does_not_open_in_an_archived_community(
    wiring: Wiring, cast: Cast, is_archived: bool
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    factories.rate(wiring, cast, action_id, "N")
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
        session.get_one(Community, cast.community_id).archived_at = clock.now() if is_archived else None
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        state = session.get_one(Action, action_id).action_state
    assert state is (ActionState.APPLIED if is_archived else ActionState.RETRO_REVIEW)


def test_ratings_open_no_second_look_where_that_is_switched_off(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"second_look": False}
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    factories.rate(wiring, cast, action_id, "N")
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        acknowledgements.acknowledge(session, factories.integration(cast), action)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    factories.rate(wiring, cast, action_id, "N", first=1)
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.APPLIED
        assert community_settings.read(session, cast.community_id).second_look is False
