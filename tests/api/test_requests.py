"""Requests: submitted once, listed, polled, patched, withdrawn (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from app.core.communities import communities
from app.core.models import Action, Community, Event, HistoryEntry, Note, Request
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, EventName, KeyTemplate, RequestStatus, ReviewGroup
from app.jobs import upkeep
from app.wiring import Wiring
from tests import clocks
from tests.api.conftest import INSULT, Api, acting, problem_of, submission
from tests.api.test_notes import made
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.racing import at_once


def test_a_submission_is_created_pending_with_every_value_as_given(api: Api, cast: Cast) -> None:
    given = {
        "platform_channel_id": " channel\u00a0 ",
        "platform_author_id": "e\u0301",
        "platform_timestamp": "2026-01-31T13:00:00.5+01:00",
        "metadata": {"nested": [1, 2.5, None, {"ü": True}]},
        "similarity_score": 1,
        "dataset_name": "d" * 100,
        "dataset_item_id": "i" * 36,
    }
    answer = api.submit("post-1", "  text\n\twith spaces  ", **given)
    assert answer.status_code == 201
    shown = answer.json["data"]
    assert shown["attributes"]["status"] == "pending"
    assert shown["attributes"]["content"] == "  text\n\twith spaces  "
    assert shown["attributes"]["community_server_id"] == str(cast.community_id)
    assert shown["attributes"]["platform_timestamp"] == "2026-01-31T12:00:00.500000Z"
    for name in given.keys() - {"platform_timestamp"}:
        assert shown["attributes"][name] == given[name], name
    assert answer.headers["Location"].endswith(f"/api/public/v1/requests/{shown['id']}")
    read = api.get(answer.headers["Location"].removeprefix("http://localhost"))
    assert read.json["data"]["attributes"] == shown["attributes"] | {"status": "PENDING"}


@pytest.mark.both_databases
def test_the_same_request_id_again_answers_200_with_the_stored_record(api: Api, jobs: InlineEngine) -> None:
    first = api.submit("post-1")
    again = api.submit("post-1")
    assert again.status_code == 200
    assert again.json["data"] == first.json["data"]
    assert again.json["meta"] == {"duplicate": True, "content_differs": False}
    jobs.run_all()
    differing = api.submit("post-1", "something else")
    assert differing.status_code == 200
    assert differing.json["meta"] == {"duplicate": True, "content_differs": True}
    assert differing.json["data"]["attributes"]["content"] == first.json["data"]["attributes"]["content"]
    assert differing.json["data"]["attributes"]["status"] == "completed"


def test_a_duplicate_is_409_with_its_location_where_the_operator_chose_so(api: Api, wiring: Wiring) -> None:
    wiring.settings = wiring.settings.model_copy(update={"duplicate_request_status": 409})
    first = api.submit("post-1")
    again = api.submit("post-1")
    assert again.status_code == 409
    assert again.headers["Location"] == first.headers["Location"]


@pytest.mark.both_databases
def test_fifty_simultaneous_duplicates_give_one_201_and_forty_nine_200(api: Api, app: Flask) -> None:
    callers = [Api(app.test_client(), api.headers) for _ in range(50)]
    answers = at_once(*(partial(caller.submit, "the-one") for caller in callers))
    assert sorted(answer.status_code for answer in answers) == [200] * 49 + [201]
    assert len({answer.json["data"]["id"] for answer in answers}) == 1


def test_a_missing_attribute_is_named(api: Api) -> None:
    for missing in ("request_id", "requested_by", "community_server_id", "original_message_content"):
        body = submission("post-1")
        del body["data"]["attributes"][missing]
        answer = api.post("/requests", json=body)
        assert answer.status_code == 422
        (item,) = answer.json["detail"]
        assert item["type"] == "missing"
        assert item["loc"] == ["body", "data", "attributes", missing]


INVALID = {
    "request_id": ["", "x" * 256, "a\x00b", 5, None, "\ud800", ["a"]],
    "requested_by": ["", "x" * 256, "a\x00b", True],
    "community_server_id": ["", "x" * 256, "a\x00b", 7],
    "original_message_content": ["", " \n\t ", "x" * 50_001, "a\x00b", "a\ud800", {}],
    "platform_message_id": ["", "x" * 256, "\x00", 12],
    "platform_timestamp": [
        1767225600,
        0.5,
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-02-30T12:00:00Z",
        "now",
    ],
    "metadata": [[], "text", {"a": "\x00"}, {"\x00": 1}, {"a": "\ud800"}, {"a": "x" * 70_000}],
    "similarity_score": [-0.1, 1.1, "0.5", True],
    "dataset_name": ["x" * 101, "", "\x00"],
    "dataset_item_id": ["x" * 37, 4],
    "status": ["PENDING"],
    "created_at": ["2026-01-31T12:00:00Z"],
}


def test_an_invalid_attribute_is_422_at_its_place_and_stores_nothing(api: Api, wiring: Wiring) -> None:
    for name, value in [(name, value) for name, values in INVALID.items() for value in values]:
        body = submission("post-1")
        body["data"]["attributes"][name] = value
        answer = api.post("/requests", json=body)
        assert problem_of(answer)["loc"][:4] == ["body", "data", "attributes", name], (name, value)
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Request.id))) == 0


def test_foreign_and_unknown_communities_look_the_same(api: Api, cast: Cast) -> None:
    foreign = api.submit("a", community_server_id=str(cast.other_community_id))
    unknown = api.submit("a", community_server_id=str(uuid.uuid4()))
    by_name = api.submit("a", community_server_id="forum-2")
    assert foreign.status_code == unknown.status_code == by_name.status_code == 404
    assert foreign.json == unknown.json == by_name.json


def test_a_key_that_may_opens_an_unknown_community_but_never_for_a_uuid(api: Api, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        text = keys.mint(session, SYSTEM, "Everywhere", KeyTemplate.ADAPTER, None).text
    opener = Api(api.client, {"Authorization": f"Bearer {text}", "X-Adapter-Platform": "discourse"})
    answer = opener.post(
        "/requests",
        json=submission("a", community_server_id="new-forum"),
        headers={"X-Adapter-Scope": "new-forum"},
    )
    assert answer.status_code == 201
    with wiring.database.reading() as session:
        opened = communities.find(session, "discourse", "new-forum")
        assert opened is not None
        assert answer.json["data"]["attributes"]["community_server_id"] == str(opened.id)
    assert opener.submit("a", community_server_id=str(uuid.uuid4())).status_code == 404


def test_a_key_that_opened_a_community_for_itself_acts_in_it_at_once(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    opener = api.with_key(wiring, [cast.community_id], may_open_communities=True)
    body = submission("a", community_server_id="guild-9")
    opened = opener.post("/requests", json=body, headers={"X-Adapter-Platform": "discord"})
    assert opened.status_code == 201
    assert opener.get("/requests/a").status_code == 200


def test_a_slip_in_the_community_of_a_submission_opens_none(api: Api, wiring: Wiring) -> None:
    opener = api.with_key(wiring)
    slip = submission("a", community_server_id="forum-l")
    unnamed = opener.post("/requests", json=slip)
    assert (unnamed.status_code, unnamed.json["detail"]) == (
        404,
        "community server not found; to open it, name its platform in X-Adapter-Platform",
    )
    for scope in ("forum-1", "harbour-forum", "forum-3"):
        headers = {"X-Adapter-Platform": "discourse", "X-Adapter-Scope": scope}
        elsewhere = opener.post("/requests", json=slip, headers=headers)
        assert elsewhere.status_code == 400, scope
        assert "X-Adapter-Scope names another community" in elsewhere.json["detail"]
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Community.id))) == 2
    known = opener.post("/requests", json=submission("a"), headers={"X-Adapter-Scope": "forum-1"})
    assert known.status_code == 201
    named = opener.post("/requests", json=slip, headers={"X-Adapter-Platform": "discourse"})
    assert named.status_code == 201


def test_a_request_is_read_by_either_id_and_only_by_its_own_integration(api: Api, foreign_api: Api) -> None:
    created = api.submit("päth id/1?").json["data"]
    plain = api.submit("post 2 ü").json["data"]
    assert api.get(f"/requests/{created['id']}").json["data"]["id"] == created["id"]
    assert api.get(f"/requests/{quote('post 2 ü')}").json["data"]["id"] == plain["id"]
    unknown = api.get(f"/requests/{uuid.uuid4()}")
    for method in ("GET", "DELETE"):
        answer = foreign_api.call(method, f"/requests/{created['id']}")
        assert answer.status_code == 404
        assert answer.json == unknown.json
    patched = foreign_api.patch(
        f"/requests/{created['id']}", json={"data": {"attributes": {"escalated": True}}}
    )
    assert (patched.status_code, patched.json) == (404, unknown.json)
    assert api.get("/requests/%00").status_code == 404
    assert api.get("/requests/" + "x" * 300).status_code == 404


@pytest.mark.parametrize(
    "request_id", ["/r/forum/1", "https://f.example//t/1/?a=b", "a/\nb/", "t/1/ai-notes"]
)
def test_an_id_with_slashes_is_an_id_too(api: Api, request_id: str) -> None:
    created = api.submit(request_id)
    path = f"/requests/{quote(request_id, safe='')}"
    for answer in (api.get(path), api.patch(path, json={}), api.get(f"/api/v2{path}")):
        assert answer.status_code == 200
        assert answer.json["data"]["id"] == created.json["data"]["id"]
    drafted = api.post(f"{path}/ai-notes")
    assert drafted.status_code == 201
    assert drafted.json["data"]["attributes"]["request_id"] == created.json["data"]["id"]
    assert api.delete(path).status_code == 204


def test_nothing_is_posted_to_an_id_that_ends_as_the_path_of_ai_notes(api: Api, wiring: Wiring) -> None:
    api.submit("t/1")
    api.submit("t/1/ai-notes")
    answer = api.post(f"/requests/{quote('t/1/ai-notes', safe='')}")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "PATCH", "DELETE"}
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Note)).all() == []
    path = f"/requests/{quote('t/1', safe='')}/ai-notes"
    assert api.post(f"{path}?x=%2F").status_code == 201
    for method in ("GET", "PATCH", "DELETE"):
        refused = api.call(method, path)
        assert (refused.status_code, set(refused.headers["Allow"].split(", "))) == (405, {"OPTIONS", "POST"})
    assert api.post(f"/requests/{quote('t/1/ai-notes', safe='')}/ai-notes").status_code == 201
    assert api.get("/requests/t%2F1/%61i-notes").status_code == 405, "the same path, written otherwise"


def test_one_string_in_two_communities_needs_the_scope(api: Api, wiring: Wiring, cast: Cast) -> None:
    wide = api.with_key(wiring, [cast.community_id, cast.other_community_id])
    wide.submit("same")
    away = wide.submit("same", community_server_id="forum-2").json["data"]["id"]
    assert wide.get("/requests/same").status_code == 400
    assert wide.get("/requests/same", headers={"X-Adapter-Scope": "forum-2"}).json["data"]["id"] == away


def test_a_repeated_withdrawal_reaches_no_other_community(api: Api, wiring: Wiring, cast: Cast) -> None:
    wide = api.with_key(wiring, [cast.community_id, cast.other_community_id])
    ours = wide.submit("same").json["data"]["id"]
    away = wide.submit("same", community_server_id="forum-2").json["data"]["id"]
    scope = {"X-Adapter-Scope": "forum-2"}
    answers = [wide.call("DELETE", "/requests/same", headers=scope).status_code for _ in range(2)]
    assert answers == [204, 404]
    assert wide.get("/requests/same", headers=scope).status_code == 404
    assert wide.get("/requests/same").json["data"]["id"] == ours
    assert wide.get(f"/requests/{ours}", headers=scope).status_code == 200, "a UUID is never two"
    assert wide.get(f"/requests/{away}", headers=scope).status_code == 404


def test_what_is_not_known_yet_is_left_out(api: Api, jobs: InlineEngine) -> None:
    api.submit("queued", INSULT)
    fresh = api.get("/requests/queued").json["data"]["attributes"]
    assert fresh["note_id"] is None
    assert not {"decided_at", "decision", "tier", "action_id", "note_status", "metadata"} & fresh.keys()
    jobs.run_all()
    queued = api.get("/requests/queued").json["data"]["attributes"]
    assert queued["status"] == "IN_PROGRESS"
    assert queued["moderation_action"] == "community_review"
    assert not {"decided_at", "decision", "recommended_action"} & queued.keys()


def test_patch_retries_only_what_failed(api: Api, wiring: Wiring, jobs: InlineEngine) -> None:
    api.submit("post-1")
    refused = api.patch("/requests/post-1", json={"data": {"attributes": {"status": "PENDING"}}})
    assert problem_of(refused)["type"] == "illegal_move"
    assert problem_of(refused)["loc"] == ["body", "data", "attributes", "status"]
    with wiring.database.writing() as session:
        session.execute(
            sa.update(Request).values(status=RequestStatus.FAILED, failure="the classifier was down")
        )
    assert api.patch("/requests/post-1", json={"status": "COMPLETED"}).status_code == 422
    retried = api.patch("/requests/post-1", json={"status": "pending"})
    assert retried.status_code == 200
    assert retried.json["data"]["attributes"]["status"] == "PENDING"
    jobs.run_all()
    assert api.get("/requests/post-1").json["data"]["attributes"]["status"] == "COMPLETED"


def test_patch_sends_a_request_to_staff(api: Api, wiring: Wiring, jobs: InlineEngine) -> None:
    created = api.submit("post-1").json["data"]
    jobs.run_all()
    body = {"data": {"type": "requests", "id": created["id"], "attributes": {"escalated": True}}}
    answer = api.patch("/requests/post-1", json=body)
    assert answer.status_code == 200
    assert answer.json["data"]["attributes"]["status"] == "IN_PROGRESS"
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert (action.action_state, action.review_group) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
    body["data"]["id"] = str(uuid.uuid4())
    assert api.patch("/requests/post-1", json=body).status_code == 409


def test_patch_links_a_note_of_this_request_or_of_none(api: Api) -> None:
    api.submit("post-1")
    api.submit("other")
    of_none, of_other = made(api), made(api, author_id="writer-2", request_id="other")
    of_this = made(api, author_id="writer-3", request_id="post-1")
    for note_id in (of_none, of_this, of_none):
        linked = api.patch("/requests/post-1", json={"note_id": note_id})
        assert linked.json["data"]["attributes"]["note_id"] == note_id
    wrapped = {"data": {"type": "requests", "attributes": {"note_id": of_other}}}
    refused = api.patch("/requests/post-1", json=wrapped)
    assert refused.status_code == 422
    (problem,) = refused.json["detail"]
    assert problem["loc"] == ["body", "data", "attributes", "note_id"]
    assert problem["input"] == of_other
    assert api.get("/requests/post-1").json["data"]["attributes"]["note_id"] == of_none
    assert api.patch("/requests/post-1", json={"note_id": str(uuid.uuid4())}).status_code == 404
    assert api.patch("/requests/post-1", json={"note_id": "none"}).status_code == 422
    taken = api.patch("/requests/post-1", json={"note_id": None})
    assert (taken.status_code, taken.json["detail"][0]["loc"]) == (422, ["body", "note_id"])


def test_an_id_that_is_submitted_again_is_a_new_request_with_an_event_of_its_own(
    api: Api, wiring: Wiring, decide: Callable[..., None]
) -> None:
    decide("post-1")
    assert api.delete("/requests/post-1").status_code == 204
    decide("post-1")
    with wiring.database.reading() as session:
        sent = session.scalars(sa.select(Event).where(Event.name == EventName.DECISION)).all()
    assert [event.payload["request_id"] for event in sent] == ["post-1", "post-1"]
    assert len({event.payload["event_id"] for event in sent}) == 2


def test_a_withdrawn_request_is_gone_leaves_history_and_frees_its_id(api: Api, wiring: Wiring) -> None:
    created = api.submit("post-1").json["data"]
    assert api.delete(f"/requests/{created['id']}").status_code == 204
    assert api.get("/requests/post-1").status_code == 404
    assert api.delete("/requests/post-1").status_code == 404
    with wiring.database.reading() as session:
        assert "request.withdrawn" in set(session.scalars(sa.select(HistoryEntry.what)))
    assert api.submit("post-1").json["data"]["id"] != created["id"]


def test_history_names_the_key_and_the_asserted_user(api: Api, wiring: Wiring) -> None:
    api.submit("post-1")
    api.call("DELETE", "/requests/post-1", headers=acting("7", Username="Ada"))
    with wiring.database.reading() as session:
        entry = _last_entry(session)
        assert entry.key_id is not None
        assert entry.profile_id is not None
        assert entry.text.actor_name == "Ada via Forum adapter"


def _last_entry(session: Session) -> HistoryEntry:
    statement = sa.select(HistoryEntry).where(HistoryEntry.what == "request.withdrawn")
    return session.scalars(statement.options(sa.orm.joinedload(HistoryEntry.text))).one()


def test_content_is_null_once_the_community_keeps_it_no_longer(
    api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    api.submit("post-1", metadata={"title": "Harbour"})
    jobs.run_all()
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"content_retention_days": 30}
    clocks.advance(days=31)
    upkeep.remove_content(wiring)
    read = api.get("/requests/post-1").json["data"]
    assert read["attributes"]["content"] is None
    assert "metadata" not in read["attributes"]
    assert api.get("/requests").json["data"] == [read]
    again = api.submit("post-1")
    assert again.json["data"]["attributes"]["content"] is None
    assert again.json["meta"] == {"duplicate": True, "content_differs": False}
    document = api.get("/openapi.json").json
    content = document["components"]["schemas"]["RequestAttributes"]["properties"]["content"]
    assert {"type": "null"} in content["anyOf"]


def test_a_submission_of_the_same_post_is_the_duplicate_of_the_first(api: Api) -> None:
    def submitted(request_id: str, text: str, message: str | None = "m-1") -> Any:
        sent = {} if message is None else {"platform_message_id": message}
        created = api.submit(request_id, text, **sent)
        assert created.status_code == 201
        read = api.get(f"/requests/{request_id}").json["data"]["attributes"]
        assert read.get("duplicate_of") == created.json["data"]["attributes"].get("duplicate_of")
        return created.json["data"]

    def duplicate_of(row: Any) -> object:
        return row["attributes"].get("duplicate_of")

    text, other = "The old pier opens at eight in the morning", "Everything about the harbour festival"
    first, flag = submitted("d-1", text), submitted("d-2", text)
    assert (duplicate_of(first), duplicate_of(flag)) == (None, first["id"])
    assert duplicate_of(submitted("d-3", f"{text}!")) == first["id"], "a typo mended"
    edit = submitted("d-4", other)
    again = submitted("d-5", other)
    assert (duplicate_of(edit), duplicate_of(again)) == (None, edit["id"])
    assert again["attributes"]["edit_of"] == edit["attributes"]["edit_of"] == first["id"]
    assert duplicate_of(submitted("d-6", text)) == first["id"], "changed back"
    assert duplicate_of(submitted("d-7", text, "m-2")) is None
    assert duplicate_of(submitted("d-8", text, None)) is None, "the same words elsewhere are another post"
    api.delete("/requests/d-1")
    rows = {name: api.get(f"/requests/{name}").json["data"] for name in ("d-2", "d-3", "d-4", "d-6")}
    assert "duplicate_of" not in rows["d-2"]["attributes"], "the next one is the first now"
    assert {duplicate_of(rows[name]) for name in ("d-3", "d-6")} == {flag["id"]}
    assert rows["d-4"]["attributes"]["edit_of"] == flag["id"]


def test_another_text_of_a_message_is_an_edit_of_the_first(api: Api) -> None:
    def edit_of(request_id: str, text: str) -> object:
        created = api.submit(request_id, text, platform_message_id="m-1").json["data"]
        read = api.get(f"/requests/{request_id}").json["data"]
        assert read["attributes"].get("edit_of") == created["attributes"].get("edit_of")
        return created["attributes"].get("edit_of")

    first = api.submit("e-1", "The old pier opens at eight in the morning", platform_message_id="m-1")
    assert "edit_of" not in first.json["data"]["attributes"]
    first_id = first.json["data"]["id"]
    assert edit_of("e-2", "The old pier opens at eight in the morning") is None, "sent again"
    assert edit_of("e-3", "The old pier opens at eight in the morning!") is None, "a typo mended"
    assert edit_of("e-4", "Everything about the harbour festival, with a map") == first_id
    assert edit_of("e-5", "Everything about the harbour festival, with a map.") == first_id
    assert edit_of("e-6", "The old pier opens at eight in the morning") is None, "changed back"
    other = api.submit("e-7", "Everything about the harbour festival", platform_message_id="m-2")
    assert "edit_of" not in other.json["data"]["attributes"]
    api.delete("/requests/e-1")
    assert edit_of("e-8", "Another text again, of another day") not in (None, first_id), (
        "a post withdrawn counts no more"
    )
