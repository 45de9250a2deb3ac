"""Undoing overturned actions that are no hide, and what authors are told: over HTTP, as an integration meets it."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.adapters.webhook_sender import HttpSender
from app.core.actions import author_texts
from app.core.models import Action, HistoryEntry
from app.core.outbound import AllowList
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.vocabulary import ActionType, ActionVerb, KeyTemplate, Verb
from app.jobs.dispatcher import Dispatcher
from app.wiring import Wiring
from tests import factories
from tests.api.conftest import Api, acting, problem_of
from tests.browser.receiver import Receiver, listening
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_other_verbs import decide

PATH = "/moderation-actions"
EVENTS = [
    "moderation.decision",
    "moderation_action.created",
    "moderation_action.applied",
    "moderation_action.overturned",
    "note.status_changed",
]
UNDO = {ActionType.DELETE: "restore", ActionType.SILENCE: "unsilence", ActionType.WARN: "retract"}
STANDING = {ActionType.DELETE: "deleted", ActionType.SILENCE: "silenced", ActionType.WARN: "warned"}


@pytest.fixture
def receiver(api: Api, wiring: Wiring) -> Iterator[Receiver]:
    """An integration's endpoint on a real socket, registered for events by the names of the specification."""
    wiring.allow = AllowList.parse("127.0.0.1")
    with listening() as receiver:
        body = {
            "url": receiver.url,
            "secret": receiver.secret,
            "platform_community_server_id": "forum-1",
            "events": EVENTS,
        }
        assert api.post("/webhooks/register", json=body).status_code == 201
        sender = HttpSender(wiring.allow)
        dispatcher = Dispatcher(wiring.database, sender, wiring.sealer, (10, 30), wiring.wake, "test")
        dispatcher.start()
        yield receiver
        dispatcher.stop(10)
        assert receiver.refused == []


@pytest.fixture
def proposed(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> Callable[..., uuid.UUID]:
    """Let a moderator decide what is done to a post: ``proposed(ActionType.DELETE)``."""

    def propose(kind: ActionType, request_id: str = "post-1", **more: Any) -> uuid.UUID:
        action_id = factories.scored_action(wiring, cast, request_id=request_id)
        act_as = None if kind is ActionType.HIDE else kind
        decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, act_as=act_as, **more)
        return action_id

    return propose


@pytest.fixture
def overturned(api: Api, proposed: Callable[..., uuid.UUID]) -> Callable[..., str]:
    """The id of an action of this kind that was carried out and then overturned."""

    def overturn(kind: ActionType, request_id: str = "post-1") -> str:
        action_id = str(proposed(kind, request_id))
        for state in ("applied", "overturned"):
            assert api.patch(f"{PATH}/{action_id}", json={"action_state": state}).status_code == 200
        return action_id

    return overturn


def shown(api: Api, action_id: str) -> Any:
    return api.get(f"{PATH}/{action_id}").json["data"]["attributes"]


def undo_of(api: Api, action_id: str) -> tuple[Any, Any]:
    attributes = shown(api, action_id)
    return attributes["undo"], attributes["undo_state"]


def standing_of(api: Api, action_id: str) -> Any:
    request_id = shown(api, action_id)["request_id"]
    return api.get(f"/requests/{request_id}").json["data"]["attributes"]["standing"]


def waiting(api: Api, **query: str) -> list[str]:
    answer = api.get(PATH, query_string={"filter[undo_state]": "proposed", **query})
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in answer.json["data"]]


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", list(UNDO))
def test_an_overturned_action_is_undone_by_the_platform_that_says_so(
    api: Api, overturned: Callable[..., str], receiver: Receiver, wiring: Wiring, kind: ActionType
) -> None:
    action_id = overturned(kind)
    told = receiver.wait("moderation_action.overturned")["data"]
    assert (told["id"], told["undo"], told["undo_state"]) == (action_id, UNDO[kind], "proposed")
    assert "undo" not in receiver.wait("moderation_action.applied")["data"]
    assert undo_of(api, action_id) == (UNDO[kind], "proposed")
    assert waiting(api) == [action_id]
    assert standing_of(api, action_id) == STANDING[kind], "it stands until the platform has undone it"
    before = shown(api, action_id)["updated_at"]
    for _ in range(2):
        answer = api.patch(f"{PATH}/{action_id}", json={"undo_state": "done", "reason": "Ticket 7"})
        assert answer.status_code == 200, answer.text
        attributes = answer.json["data"]["attributes"]
        assert (attributes["undo"], attributes["undo_state"]) == (UNDO[kind], "done")
        assert attributes["action_state"] == "overturned"
        assert attributes["updated_at"] > before
    assert waiting(api) == []
    assert standing_of(api, action_id) == "up"
    with wiring.database.reading() as session:
        entry = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.what == "action.undo_answered")
            .options(joinedload(HistoryEntry.text))
        ).one()
    assert (entry.before, entry.after) == (
        {"undo_state": "proposed"},
        {"undo": UNDO[kind], "undo_state": "done"},
    )
    assert (entry.actor_kind, entry.text.reason) == ("key", "Ticket 7")


def test_a_hide_keeps_its_unhide_and_has_nothing_else_to_undo(
    api: Api, overturned: Callable[..., str], receiver: Receiver
) -> None:
    action_id = overturned(ActionType.HIDE)
    told = receiver.wait("moderation_action.overturned")["data"]
    assert (told["undo"], told["undo_state"]) == (None, None)
    assert undo_of(api, action_id) == (None, None)
    assert waiting(api) == []
    proposals = api.get(f"{PATH}?filter[action_state]=proposed").json["data"]
    assert [row["attributes"]["action_type"] for row in proposals] == ["unhide"]
    refused = api.patch(f"{PATH}/{action_id}", json={"undo_state": "done"})
    assert (problem_of(refused)["type"], problem_of(refused)["loc"]) == (
        "illegal_move",
        ["body", "undo_state"],
    )


def test_what_was_impossible_can_be_done_later_and_what_is_done_stays_done(
    api: Api, overturned: Callable[..., str]
) -> None:
    action_id = overturned(ActionType.DELETE)
    for state, status in (("impossible", 200), ("done", 200), ("impossible", 422)):
        answer = api.patch(f"{PATH}/{action_id}", json={"undo_state": state})
        assert answer.status_code == status, state
    assert problem_of(answer)["msg"] == "cannot move from done to impossible"
    assert undo_of(api, action_id) == ("restore", "done")


def test_the_list_says_what_is_to_be_undone_and_combines_with_the_other_filters(
    api: Api, overturned: Callable[..., str]
) -> None:
    deleted, warned = overturned(ActionType.DELETE, "post-1"), overturned(ActionType.WARN, "post-2")
    hidden = overturned(ActionType.HIDE, "post-3")
    assert waiting(api) == [warned, deleted]
    assert waiting(api, limit="1") == [warned]
    assert waiting(api, **{"filter[action_state]": "overturned"}) == [warned, deleted]
    assert waiting(api, **{"filter[action_state]": "applied"}) == []
    api.patch(f"{PATH}/{warned}", json={"undo_state": "impossible"})
    assert waiting(api) == [deleted]
    for state, found in (("impossible", [warned]), ("done", [])):
        answer = api.get(f"{PATH}?filter[undo_state]={state}")
        assert [row["id"] for row in answer.json["data"]] == found
    assert hidden not in waiting(api)
    refused = api.get(f"{PATH}?filter[undo_state]=later")
    assert problem_of(refused)["loc"] == ["query", "filter[undo_state]"]
    assert api.get(f"{PATH}?undo_state=proposed").json["meta"]["count"] == 4, "it has no unbracketed form"


def test_a_bad_answer_is_refused_by_field_and_changes_nothing(
    api: Api, foreign_api: Api, wiring: Wiring, cast: Cast, overturned: Callable[..., str]
) -> None:
    action_id = overturned(ActionType.SILENCE)
    for body, kind, name in (
        ({"undo_state": "proposed"}, "literal_error", "undo_state"),
        ({"undo_state": 1}, "literal_error", "undo_state"),
        ({"undo_state": None}, "missing", "action_state"),
        ({"undo_state": "done", "category": "spam"}, "value_error", "category"),
        ({"undo_state": "done", "platform_action_id": "7"}, "value_error", "platform_action_id"),
        ({"undo_state": "done", "action_state": None}, "enum", "action_state"),
        ({"undo_state": "done", "action_state": "applied", "undo": "x"}, "extra_forbidden", "undo"),
    ):
        problem = problem_of(api.patch(f"{PATH}/{action_id}", json=body))
        assert (problem["type"], problem["loc"][-1]) == (kind, name), body
    assert foreign_api.patch(f"{PATH}/{action_id}", json={"undo_state": "done"}).status_code == 404
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Reader", KeyTemplate.READ_ONLY, [cast.community_id])
    reader = Api(api.client, {"Authorization": f"Bearer {key.text}"})
    assert reader.patch(f"{PATH}/{action_id}", json={"undo_state": "done"}).status_code == 403
    assert undo_of(api, action_id) == ("unsilence", "proposed")
    member = acting("7", Moderator="false")
    answered = api.call("PATCH", f"{PATH}/{action_id}", json={"undo_state": "done"}, headers=member)
    assert answered.status_code == 200, "it is the integration's answer, whoever acts"


def test_staff_may_overturn_and_say_at_once_that_it_is_undone(
    api: Api, proposed: Callable[..., uuid.UUID]
) -> None:
    action_id = str(proposed(ActionType.DELETE))
    api.patch(f"{PATH}/{action_id}", json={"action_state": "applied"})
    body = {"action_state": "overturned", "undo_state": "done", "reason": "It was a joke"}
    attributes = api.patch(f"{PATH}/{action_id}", json=body).json["data"]["attributes"]
    assert (attributes["action_state"], attributes["undo_state"]) == ("overturned", "done")
    assert attributes["overturned_reason"] == "It was a joke"


def test_a_platform_that_deleted_before_it_heard_of_the_dismissal_is_asked_to_restore(
    api: Api, wiring: Wiring, proposed: Callable[..., uuid.UUID]
) -> None:
    action_id = str(proposed(ActionType.DELETE))
    for state in ("dismissed", "applied"):
        answer = api.patch(f"{PATH}/{action_id}", json={"action_state": state})
    assert answer.json["data"]["attributes"]["action_state"] == "overturned"
    assert undo_of(api, action_id) == ("restore", "proposed")


def test_what_the_platform_did_on_its_own_is_undone_too_but_its_reason_is_no_text_to_the_author(
    api: Api, receiver: Receiver
) -> None:
    api.submit("own", "A pear tree grows by the pond.")
    taken = {"action_type": "warn", "request_id": "own", "community_server_id": "forum-1", "reason": "Rule 3"}
    created = api.post(PATH, json=taken).json["data"]
    assert (created["attributes"]["reason"], created["attributes"]["author_text"]) == ("Rule 3", None)
    assert created["attributes"]["category"] is None
    api.patch(f"{PATH}/{created['id']}", json={"action_state": "overturned"})
    assert receiver.wait("moderation_action.overturned")["data"]["undo"] == "retract"


@pytest.mark.both_databases
def test_a_page_of_what_is_to_be_undone_costs_the_same_for_one_row_and_for_many(
    api: Api, wiring: Wiring, overturned: Callable[..., str], counting: Callable[[], Any]
) -> None:
    overturned(ActionType.DELETE, "post-1")
    waiting(api)
    with counting() as few:
        assert len(waiting(api)) == 1
    for number in range(2, 6):
        overturned(ActionType.DELETE, f"post-{number}")
    with counting() as more:
        assert len(waiting(api)) == 5
    assert few.count == more.count, more.statements


def test_a_warning_says_what_for_in_the_action_and_in_shape_a_never_in_shape_b(
    api: Api, proposed: Callable[..., uuid.UUID], receiver: Receiver
) -> None:
    action_id = str(proposed(ActionType.WARN, author_text="Ünkind words, please: none.", category="hate"))
    attributes = shown(api, action_id)
    told = receiver.wait("moderation_action.created")["data"]
    for said in (attributes, told):
        assert (said["category"], said["author_text"]) == ("hate", "Ünkind words, please: none.")
    assert attributes["reason"] == attributes["author_text"]
    assert attributes["classifier_evidence"]["category"] == "toxicity", "the score's category stays"
    decision = receiver.wait("moderation.decision")
    assert decision["decision"] == "notify"
    assert not {"author_text", "category"} & decision.keys()
    assert "nkind" not in str(decision)


def test_members_who_decide_send_the_communitys_own_text(
    api: Api, wiring: Wiring, cast: Cast, receiver: Receiver
) -> None:
    draft = CategoryDraft("toxicity", 0.5, tier2_action=Verb.NOTIFY, author_text="Moin! Bitte freundlich.")
    with wiring.database.writing() as session:
        threshold_sets.set_category(session, SYSTEM, cast.community_id, draft, "In our words")
    action_id = factories.scored_action(wiring, cast)
    assert shown(api, str(action_id))["author_text"] is None, "nothing is said before the decision"
    factories.rate(wiring, cast, action_id, "HHHHHH")
    told = receiver.wait("moderation_action.created")["data"]
    assert (told["category"], told["author_text"]) == ("toxicity", "Moin! Bitte freundlich.")
    found = api.get("/community-servers/lookup?platform=discourse&platform_community_server_id=forum-1")
    texts = {one["name"]: one["author_text"] for one in found.json["data"]["attributes"]["categories"]}
    assert (texts["toxicity"], texts["spam"]) == ("Moin! Bitte freundlich.", None)


def test_a_rationale_says_that_it_is_one_and_can_be_left_out(
    api: Api, wiring: Wiring, cast: Cast, receiver: Receiver
) -> None:
    action_id = factories.scored_action(wiring, cast)
    attributes = {
        "summary": "The pier is open.",
        "classification": "NOT_MISLEADING",
        "community_server_id": "forum-1",
        "request_id": "post-1",
        "author_id": "ann",
    }
    written = api.post("/notes", json={"data": {"type": "notes", "attributes": attributes}}).json["data"]
    assert written["attributes"]["kind"] == "note"
    with wiring.database.reading() as session:
        rationale_id = str(session.get_one(Action, action_id).note_id)
    assert api.get(f"/notes/{rationale_id}").json["data"]["attributes"]["kind"] == "rationale"
    for query, found in (
        ("", {written["id"], rationale_id}),
        ("filter[kind]=note", {written["id"]}),
        ("filter[kind]=rationale", {rationale_id}),
        ("filter[kind]=rationale&filter[classification]=NOT_MISLEADING&filter[author_id]=ann", set()),
    ):
        assert {row["id"] for row in api.get(f"/notes?{query}").json["data"]} == found, query
    refused = api.get("/notes?filter[kind]=question")
    assert problem_of(refused)["loc"] == ["query", "filter[kind]"]
    for note_id in (written["id"], rationale_id):
        assert api.post(f"/notes/{note_id}/force-publish", json={"reason": "Seen"}).status_code == 200
    wanted = {written["id"]: "note", rationale_id: "rationale"}
    told: dict[str, str] = {}
    while told != wanted:
        receiver.wait("note.status_changed")
        told = {one["data"]["id"]: one["data"]["kind"] for one in receiver.named("note.status_changed")}
        assert told.items() <= wanted.items()


@pytest.mark.both_databases
def test_the_texts_of_several_warnings_cost_what_one_costs(
    wiring: Wiring, cast: Cast, counting: Callable[[], Any]
) -> None:
    counts = []
    for several in (["post-1"], ["post-2", "post-3", "post-4"]):
        ids = [factories.scored_action(wiring, cast, request_id=request_id) for request_id in several]
        with wiring.database.writing() as session:
            warnings = [session.get_one(Action, action_id) for action_id in ids]
            for action in warnings:
                action.action_type = ActionType.WARN
            session.flush()
            with counting() as queries:
                author_texts.add(session, warnings)
            assert all(action.author_text for action in warnings)
            counts.append(queries.count)
    assert counts[0] == counts[1] <= 2, "the community's settings and its texts"
