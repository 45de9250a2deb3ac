"""The item page and the action history say what is to be undone, and what the platform answered."""

import csv
import io
import uuid

import pytest
import sqlalchemy as sa

from app.core.actions import acknowledgements, actions, undoing
from app.core.history.reason import Reason
from app.core.models import Action, HistoryEntry, Note, Request
from app.core.notes import explanations
from app.core.vocabulary import ActionType, ActionVerb, UndoState
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_other_verbs import decide
from tests.web.conftest import Visitor

WORDS = {
    ActionType.DELETE: ("Restore proposed", "Restored", "Cannot be restored"),
    ActionType.SILENCE: ("End of silence proposed", "Silence ended", "Silence cannot be ended"),
    ActionType.WARN: ("Revocation proposed", "Warning revoked", "Warning cannot be revoked"),
}


@pytest.fixture
def overturned(wiring: Wiring, cast: Cast, jobs: InlineEngine, kind: ActionType) -> uuid.UUID:
    """An action that was carried out and overturned."""
    action_id = factories.scored_action(wiring, cast)
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, act_as=kind)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        acknowledgements.acknowledge(session, factories.integration(cast), action)
        actions.overturn(session, factories.moderator(cast), action, reason=Reason("It was a joke"))
    return action_id


def answered(wiring: Wiring, cast: Cast, action_id: uuid.UUID, state: UndoState, why: str = "") -> None:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        undoing.answer(session, factories.integration(cast), action, state, reason=Reason(why))


@pytest.mark.parametrize("kind", list(WORDS))
def test_the_item_and_the_history_say_what_became_of_an_undo(
    moderator: Visitor, wiring: Wiring, cast: Cast, overturned: uuid.UUID, kind: ActionType
) -> None:
    proposed, done, impossible = WORDS[kind]
    for page in (f"/review/{overturned}", "/history"):
        assert proposed in moderator.get(page).text
    answered(wiring, cast, overturned, UndoState.IMPOSSIBLE, "It was purged")
    item, listed = (moderator.get(page).text for page in (f"/review/{overturned}", "/history"))
    assert item.count(impossible) == 2, "as the action's state, and in the timeline"
    assert impossible in listed
    assert "“It was purged”" in item
    answered(wiring, cast, overturned, UndoState.DONE)
    item, listed = (moderator.get(page).text for page in (f"/review/{overturned}", "/history"))
    assert done in item
    assert done in listed
    assert impossible in listed, "what was said first stays in the history"
    only = moderator.get("/history?state=action.undo_answered").text
    assert done in only
    assert "Overturned</span>" not in only.partition('id="history-rows"')[2]
    rows = list(csv.DictReader(io.StringIO(moderator.get("/history.csv").text)))
    said = [(row["undo_state"], row["reason"]) for row in rows if row["event"] == "action.undo_answered"]
    assert said == [("done", ""), ("impossible", "It was purged")]


@pytest.mark.parametrize("kind", [ActionType.DELETE])
def test_an_entry_about_an_answer_says_it_in_a_sentence(
    moderator: Visitor, wiring: Wiring, cast: Cast, overturned: uuid.UUID
) -> None:
    answered(wiring, cast, overturned, UndoState.DONE, "Ticket 7")
    with wiring.database.reading() as session:
        entry_id = session.scalars(
            sa.select(HistoryEntry.id).where(HistoryEntry.what == undoing.ANSWERED)
        ).one()
    entry = moderator.get(f"/history/{entry_id}").text
    assert "<h1>Restored</h1>" in entry
    assert "Ticket 7" in entry
    with wiring.database.reading() as session:
        action = session.get_one(Action, overturned)
        explained = explanations.explain(session, session.get_one(Note, action.note_id))
    assert (
        explained.afterwards
        == "A moderator overturned what had been decided. The platform restored the post."
    )


def test_the_form_says_what_a_warning_tells_without_a_text_and_the_item_what_was_told(
    moderator: Visitor, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id = factories.scored_action(wiring, cast)
    assert (
        "A warning without it says: “<bdi>Your post reads as an insult."
        in moderator.get(f"/review/{action_id}").text
    )
    decide(
        wiring,
        cast,
        jobs,
        action_id,
        ActionVerb.FORCE_PUBLISH,
        act_as=ActionType.WARN,
        author_text="Be <kind>.",
    )
    assert (
        'Text to the author: <span dir="auto">“Be &lt;kind&gt;.”'
        in moderator.get(f"/review/{action_id}").text
    )


def test_an_action_of_the_platforms_own_says_so_and_names_no_category(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        own, _ = acknowledgements.record_taken(
            session, factories.integration(cast), request, ActionType.DELETE, "Spam wave"
        )
        own_id = own.id
    page = moderator.get(f"/review/{own_id}").text
    assert "The platform took this action on its own." in page
    assert "Possible no category" not in page
    assert "None are set for this category" not in page
