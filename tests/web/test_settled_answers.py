"""Decision 0030: in the dashboard an answer stands once its outcome could be seen; integrations may still rate."""

import uuid

import pytest

from app.core.actions import acknowledgements, actions
from app.core.history.reason import Reason
from app.core.models import Action, Note, Profile
from app.core.notes import ratings
from app.core.permissions import Actor
from app.core.raters import impact
from app.core.vocabulary import ActionState, HelpfulnessLevel, Role
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import state_of
from tests.web.conftest import HTMX, Stage, Visit, Visitor

YES, NO = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL


@pytest.fixture
def answered(visit: Visit, cast: Cast, wiring: Wiring, stage: Stage) -> uuid.UUID:
    """A post that the rater would not hide, and that the community hid: the note is not locked."""
    action_id = stage.post()
    visit(cast.rater).post(f"/review/{action_id}/answer", answer="no")
    stage.rate(action_id, *[YES] * 12)
    assert state_of(wiring, action_id) is ActionState.PROPOSED
    assert not stage.rationale(action_id).locked
    return action_id


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_once_the_tally_is_shown_an_answer_cannot_be_changed(
    rater: Visitor, cast: Cast, stage: Stage, answered: uuid.UUID, headers: dict[str, str]
) -> None:
    page = rater.get(f"/review/{answered}").text
    assert "12 said Yes, 1 said No" in page
    assert "Your answer stands as you gave it" in page
    for gone in ("Change answer", 'name="answer" value="yes"'):
        assert gone not in page
        assert gone not in rater.get("/me").text
    for path in (f"/review/{answered}/answer", f"/help-needed/{answered}"):
        refused = rater.post(path, headers, answer="yes")
        if headers:
            assert refused.status_code in {409, 422}
        said = refused.text if headers else rater.get(f"/review/{answered}").text
        assert "so answers stand as they were given" in said
        assert stage.own_rating(answered, cast.rater) is NO


def test_whoever_had_not_answered_is_told_that_it_was_decided(
    operator: Visitor, cast: Cast, stage: Stage, answered: uuid.UUID
) -> None:
    refused = operator.post(f"/review/{answered}/answer", HTMX, answer="yes")
    assert refused.status_code == 409
    assert "decided in the meantime" in refused.text
    assert stage.own_rating(answered, cast.operator) is None
    assert 'name="answer" value="yes"' not in operator.get(f"/review/{answered}").text


def test_an_integration_may_still_change_it_and_my_impact_judges_what_was_said_before(
    rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage, answered: uuid.UUID
) -> None:
    forum = factories.integration(cast, staff=False, profile_id=cast.rater.profile_id)
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, answered).note_id)
        ratings.rate(session, forum, note, session.get_one(Profile, cast.rater.profile_id), YES)
    assert stage.own_rating(answered, cast.rater) is YES
    assert state_of(wiring, answered) is ActionState.PROPOSED
    with wiring.database.reading() as session:
        reader = Actor(
            kind="account",
            name="Rater",
            account_id=cast.rater.account_id,
            profile_id=cast.rater.profile_id,
            roles={cast.community_id: Role.RATER},
            communities=frozenset({cast.community_id}),
        )
        found = impact.for_actor(session, reader, cast.community_id)
        assert (found.matched, found.mismatched) == (0, 1)
        own = ratings.by_rater(session, note.id, cast.rater.profile_id)
        assert own is not None
        assert own.blind_level is NO
    assert "Opposite view" in rater.get("/me").text


def test_in_a_second_look_earlier_answers_stand_and_others_are_asked(
    operator: Visitor, rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage, answered: uuid.UUID
) -> None:
    advance(60)
    with wiring.database.writing() as session:
        staff = factories.integration(cast)
        acknowledgements.acknowledge(session, staff, session.get_one(Action, answered))
        actions.open_second_look(
            session, staff, session.get_one(Action, answered), reason=Reason("An appeal")
        )
    page = rater.get(f"/review/{answered}").text
    assert "Your answer stands: you have been shown how the first review ended." in page
    assert "Change answer" not in page
    assert rater.post(f"/review/{answered}/answer", HTMX, answer="yes").status_code == 422
    assert stage.own_rating(answered, cast.rater) is NO
    assert 'name="answer" value="yes"' in operator.get(f"/review/{answered}").text
    operator.post(f"/review/{answered}/answer", answer="no")
    assert stage.own_rating(answered, cast.operator) is NO
