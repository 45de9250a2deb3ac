"""The item page, the rater's side."""

from collections.abc import Callable
from typing import Any

import pytest

from app.core import clock
from app.core.actions import acknowledgements
from app.core.factcheck import items
from app.core.factcheck.items import Item
from app.core.history.reason import Reason
from app.core.models import Action, Note, Request
from app.core.notes import verdicts
from app.core.people import accounts
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import ActionType, HelpfulnessLevel, Role
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visit, Visitor

YES, NO, UNSURE = (HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL, HelpfulnessLevel.SOMEWHAT_HELPFUL)


def test_an_answer_can_be_given_and_changed(rater: Visitor, cast: Cast, stage: Stage) -> None:
    action_id = stage.post()
    page = f"/review/{action_id}"
    assert 'name="answer" value="yes"' in rater.get(page).text
    assert rater.post(f"{page}/answer", answer="yes").location == page
    assert stage.own_rating(action_id, cast.rater) is YES
    assert "Change answer" in rater.get(page).text
    reply = rater.post(f"{page}/answer", HTMX, answer="no")
    assert "You said <strong>No</strong>" in reply.text
    assert "1 of 5 ratings. 4 more needed." in reply.text
    assert stage.own_rating(action_id, cast.rater) is NO


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
def test_a_missing_answer_is_named(rater: Visitor, stage: Stage, headers: dict[str, str]) -> None:
    action_id = stage.post()
    reply = rater.post(f"/review/{action_id}/answer", headers)
    assert reply.status_code == 422
    assert "Choose an answer." in reply.text


def test_tallies_appear_with_the_decision(rater: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    stage.rate(action_id, YES, YES, YES, YES)
    rater.post(f"/review/{action_id}/answer", answer="yes")
    text = rater.get(f"/review/{action_id}").text
    assert "5 said Yes, 0 said No, 0 were not sure." in text
    assert "Waiting for platform" in text


def test_a_split_stays_hidden_after_ones_answer_while_undecided(rater: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    stage.rate(action_id, YES, YES, NO, NO, UNSURE)
    rater.post(f"/review/{action_id}/answer", answer="yes")
    text = rater.get(f"/review/{action_id}").text
    assert "said No" not in text
    assert "6 ratings. A majority is not enough" in text


def test_a_locked_item_takes_no_answers(rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        verdicts.dismiss(session, factories.moderator(cast), note, reason=Reason("Not a breach"))
    text = rater.get(f"/review/{action_id}").text
    assert "This is decided, so answers are not needed any more." in text
    assert 'name="answer" value="yes"' not in text
    reply = rater.post(f"/review/{action_id}/answer", HTMX, answer="yes")
    assert reply.status_code == 409
    assert "not needed any more" in reply.text
    assert stage.own_rating(action_id, cast.rater) is None


def test_what_moderators_wrote_inside_is_not_shown(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        verdicts.dismiss(
            session,
            factories.moderator(cast),
            note,
            reason=Reason("inner reason", comment="an internal comment"),
        )
    text = rater.get(f"/review/{action_id}").text
    assert "inner reason" not in text
    assert "an internal comment" not in text
    assert "Moderator" not in text
    assert "Decided: no action" in text


@pytest.mark.parametrize(
    ("verb", "action_type", "words"),
    [
        ("hide", ActionType.HIDE, "Should this post be hidden?"),
        ("delete", ActionType.DELETE, "Should this post be deleted?"),
        ("flag", ActionType.WARN, "Should this post be flagged?"),
        ("notify", ActionType.WARN, "Should the author of this post get a notice?"),
        ("warn", ActionType.WARN, "Should the author of this post be warned?"),
        ("silence", ActionType.SILENCE, "Should the author of this post be silenced?"),
    ],
)
def test_the_question_follows_what_would_be_done(
    rater: Visitor, stage: Stage, wiring: Wiring, verb: str, action_type: ActionType, words: str
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.decided_verb, action.action_type = verb, action_type
    assert words in rater.get(f"/review/{action_id}").text


def test_a_withdrawn_submission_is_gone(rater: Visitor, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        request.withdrawn_at = clock.now()
    assert rater.get(f"/review/{action_id}").status_code == 404


def test_switching_to_another_community_leaves_the_item(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        account = accounts.get(session, cast.rater.account_id)
        accounts.give_role(session, SYSTEM, account, cast.other_community_id, Role.RATER)
    assert rater.get(f"/review/{action_id}?community=harbour-forum").status_code == 200
    left = rater.get(f"/review/{action_id}?community=mountain-forum")
    assert left.status_code == 303
    assert left.location == "/?community=mountain-forum"
    assert rater.get(left.location).location == "/help-needed?community=mountain-forum"
    assert rater.get("/help-needed").location == "/welcome", "they are new there"
    assert "Mountain forum" in rater.get("/help-needed").text


def test_more_notes_cost_no_more_queries(
    rater: Visitor, stage: Stage, wiring: Wiring, statements: Callable[[], Any]
) -> None:
    action_id = stage.post()
    stage.note(action_id, 0)
    with statements() as for_one:
        rater.get(f"/review/{action_id}")
    for number in range(1, 10):
        stage.note(action_id, number)
    with statements() as for_ten:
        rater.get(f"/review/{action_id}")
    assert len(for_ten) == len(for_one)


def test_an_action_that_nobody_is_asked_about_has_no_question(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        taken, _made = acknowledgements.record_taken(session, _adapter(cast), request, ActionType.WARN, None)
        taken_id = taken.id
    assert "nothing to answer" in rater.get(f"/review/{taken_id}").text
    assert rater.post(f"/review/{taken_id}/answer", answer="yes").status_code == 404


def _adapter(cast: Cast) -> Actor:
    return Actor(kind="key", name="Adapter", communities=frozenset({cast.community_id}))


def test_people_are_asked_with_the_fact_check_in_view(
    visit: Visit, rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    claim = "Drinking seawater every morning cures diabetes within two weeks"
    url = "https://checks.example.org/sea"
    with wiring.database.writing() as session:
        items.keep(session, [Item("checks", "sea-1", claim, "Pants on Fire", url, "Example Checks")])
    action_id = stage.post(f"My aunt says: {claim}!")
    plain_id = stage.post("This is about something else.")
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        similarity = session.get_one(Request, action.request_id).similarity_score
    assert similarity is not None
    for person in (cast.rater, cast.moderator):
        text = visit(person).get(f"/review/{action_id}").text
        assert "Fact-check of this claim" in text
        assert f'<blockquote dir="auto">{claim}</blockquote>' in text
        assert "<bdi>Example Checks</bdi> rated it <strong><bdi>Pants on Fire</bdi></strong>" in text
        assert f'href="{url}"' in text
        assert "Fact-check of this claim" not in visit(person).get(f"/review/{plain_id}").text
    blind = rater.get(f"/review/{action_id}").text
    assert str(round(similarity, 2)) not in blind
