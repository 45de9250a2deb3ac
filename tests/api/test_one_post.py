"""Several submissions of one post: one item, one decision, and for each request its own answer and event."""

import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import clock
from app.core.actions import actions
from app.core.history.reason import Reason
from app.core.models import (
    Action,
    Event,
    HistoryEntry,
    Note,
    PostScores,
    Rating,
    Request,
    Score,
)
from app.core.models.notes import judged_by_itself
from app.core.notes import verdicts
from app.core.requests import observing
from app.core.requests.observing import Past
from app.core.requests.submitting import Submission
from app.core.vocabulary import ActionState, EventName, ReviewGroup
from app.wiring import Wiring
from tests import factories
from tests.api.conftest import HARMLESS, INSULT, SPAM, Api, submission
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.racing import at_once

MESSAGE = "m-1"
OTHER_INSULT = "What a stupid moron you are, nobody wants to read this rubbish of yours"


@pytest.fixture
def send(api: Api, jobs: InlineEngine) -> Callable[..., str]:
    """Submit a text of the message, run what follows, and return the UUID of the request."""

    def submit(request_id: str, content: str, *, runs: bool = True, **attributes: Any) -> str:
        sent = {"platform_message_id": MESSAGE, **attributes}
        created = api.submit(request_id, content, **sent)
        assert created.status_code == 201, created.text
        if runs:
            jobs.run_all()
        return str(created.json["data"]["id"])

    return submit


def read(api: Api, request_id: str) -> Any:
    return api.get(f"/requests/{request_id}").json["data"]["attributes"]


def items(api: Api) -> Any:
    return [row["attributes"] for row in api.get("/moderation-actions").json["data"]]


def told(wiring: Wiring) -> Counter[tuple[str, str]]:
    """The ``moderation.decision`` events, as (request_id, decision)."""
    with wiring.database.reading() as session:
        events = session.scalars(sa.select(Event).where(Event.name == EventName.DECISION)).all()
    return Counter((event.payload["request_id"], event.payload["decision"]) for event in events)


def decide(wiring: Wiring, jobs: InlineEngine, cast: Cast, *, acts: bool, reason: str = "Seen") -> None:
    """Decide the open review as a moderator, and run what follows."""
    with wiring.database.writing() as session:
        action = session.scalars(
            sa.select(Action).where(Action.action_state == ActionState.UNDER_REVIEW)
        ).one()
        note = session.get_one(Note, action.note_id)
        verb = verdicts.force_publish if acts else verdicts.dismiss
        verb(session, factories.moderator(cast), note, reason=Reason(reason))
    jobs.run_all()


@pytest.mark.both_databases
@pytest.mark.parametrize("acts", [True, False])
def test_what_waits_for_a_review_gets_its_decision_each_once(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str], acts: bool
) -> None:
    first = send("p-1", INSULT)
    flags = [send(f"p-{number}", INSULT) for number in (2, 3)]
    assert [read(api, name)["status"] for name in ("p-1", "p-2", "p-3")] == ["IN_PROGRESS"] * 3
    assert [read(api, name).get("duplicate_of") for name in ("p-1", "p-2", "p-3")] == [None, first, first]
    (item,) = items(api)
    assert item["request_id"] == "p-1"
    assert read(api, "p-2")["action_id"] == read(api, "p-1")["action_id"]
    assert read(api, "p-2")["note_id"] == read(api, "p-1")["note_id"] == item["note_id"]
    assert read(api, "p-3")["moderation_action"] == "community_review"
    decide(wiring, jobs, cast, acts=acts)
    word = "hide" if acts else "none"
    assert told(wiring) == {(name, word): 1 for name in ("p-1", "p-2", "p-3")}
    rows = {name: read(api, name) for name in ("p-1", "p-2", "p-3")}
    for row in rows.values():
        assert (row["status"], row["decision"], row["tier"]) == ("COMPLETED", word, 2)
        assert row["action_id"] == rows["p-1"]["action_id"]
    times = [rows[name]["decided_at"] for name in ("p-1", "p-2", "p-3")]
    assert times == sorted(set(times)), "a poll from the last one seen misses none"
    polled = api.get("/requests?status=decided&since=2020-01-01T00:00:00Z").json["data"]
    assert [row["attributes"]["request_id"] for row in polled] == ["p-1", "p-2", "p-3"]
    done = api.get("/requests?filter[completed_at__gte]=2020-01-01T00:00:00Z").json["data"]
    assert len(done) == 3
    assert len(items(api)) == 1
    with wiring.database.reading() as session:
        scored = set(session.scalars(sa.select(Score.request_id)))
        counted = list(session.scalars(sa.select(PostScores.request_id)))
        itself = list(session.scalars(sa.select(Request.id).where(judged_by_itself())))
    assert scored == set(counted) == set(itself) == {uuid.UUID(first)}, "the post is scored and counted once"
    analysis = api.get(f"/api/v2/community-servers/{cast.community_id}/scoring-analysis").json
    assert analysis["consensus"]["decided_in_review"] == 1
    assert len(counted) == 1
    assert flags


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("text", "status", "decision"),
    [(SPAM, "COMPLETED", "hide"), (HARMLESS, "COMPLETED", None), (INSULT, "IN_PROGRESS", None)],
)
def test_a_submission_of_a_post_that_was_scored_has_its_outcome_at_once(
    api: Api, wiring: Wiring, send: Callable[..., str], text: str, status: str, decision: str | None
) -> None:
    first = send("p-1", text)
    send("p-2", text)
    row, former = read(api, "p-2"), read(api, "p-1")
    assert (row["duplicate_of"], row["status"], row.get("decision")) == (first, status, decision)
    assert row.get("action_id") == former.get("action_id")
    assert len(items(api)) == (0 if text == HARMLESS else 1)
    assert told(wiring) == ({("p-1", decision): 1, ("p-2", decision): 1} if decision else {})


@pytest.mark.parametrize("order", [("p-1", "p-2", "p-3"), ("p-3", "p-2", "p-1"), ("p-2", "p-1", "p-3")])
@pytest.mark.parametrize("text", [SPAM, HARMLESS, INSULT])
def test_the_order_of_the_jobs_does_not_matter(
    api: Api,
    wiring: Wiring,
    jobs: InlineEngine,
    send: Callable[..., str],
    order: tuple[str, ...],
    text: str,
) -> None:
    ids = {name: send(name, text, runs=False) for name in ("p-1", "p-2", "p-3")}
    for name in order:
        jobs.run_now("score_request", request_id=ids[name])
    jobs.run_all()
    assert len({read(api, name)["status"] for name in ids}) == 1
    assert len(items(api)) == (0 if text == HARMLESS else 1)
    if items(api):
        assert items(api)[0]["request_id"] == "p-1"
    assert told(wiring) == ({(name, "hide"): 1 for name in ids} if text == SPAM else {})


@pytest.mark.both_databases
def test_two_that_are_submitted_at_once_have_one_owner(
    app: Flask, api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast
) -> None:
    def sends(name: str) -> Callable[[], Any]:
        body = submission(name, INSULT, platform_message_id=MESSAGE)
        return lambda: app.test_client().post("/api/public/v1/requests", json=body, headers=cast.headers)

    names = [f"p-{number}" for number in range(12)]
    answers = at_once(*(sends(name) for name in names))
    assert {answer.status_code for answer in answers} == {201}
    jobs.run_all()
    assert len(items(api)) == 1
    assert {read(api, name)["status"] for name in names} == {"IN_PROGRESS"}
    decide(wiring, jobs, cast, acts=True)
    assert told(wiring) == {(name, "hide"): 1 for name in names}


@pytest.mark.both_databases
def test_two_without_a_relation_are_told_apart_when_they_are_scored(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    """As if neither transaction had seen the other."""
    ids = [uuid.UUID(send(name, INSULT, runs=False)) for name in ("p-1", "p-2", "p-3")]
    with wiring.database.writing() as session:
        session.execute(sa.update(Request).values(duplicate_of=None))
    for place in (1, 0, 2):
        jobs.run_now("score_request", request_id=str(ids[place]))
    jobs.run_all()
    assert [item["request_id"] for item in items(api)] == ["p-1"]
    assert [read(api, name).get("duplicate_of") for name in ("p-1", "p-2", "p-3")] == [
        None,
        str(ids[0]),
        str(ids[0]),
    ]
    decide(wiring, jobs, cast, acts=False)
    assert told(wiring) == {(name, "none"): 1 for name in ("p-1", "p-2", "p-3")}


@pytest.mark.both_databases
def test_an_edit_during_a_review_joins_it_and_its_text_is_reviewed(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    first = send("p-1", INSULT)
    (item,) = items(api)
    edit = send("p-2", OTHER_INSULT)
    row = read(api, "p-2")
    assert (row["edit_of"], row.get("duplicate_of"), row["status"]) == (first, None, "IN_PROGRESS")
    assert row["note_id"] == item["note_id"]
    assert len(items(api)) == 1
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        note = session.get_one(Note, action.note_id)
        assert str(action.newest_request_id) == edit
        assert (note.version, note.ratings_count) == (2, 0)
        assert "action.edited" in set(session.scalars(sa.select(HistoryEntry.what)))
        assert session.scalar(sa.select(sa.func.count()).select_from(PostScores)) == 1
    flag = send("p-3", OTHER_INSULT)
    assert read(api, "p-3")["duplicate_of"] == edit
    assert read(api, "p-3")["status"] == "IN_PROGRESS"
    decide(wiring, jobs, cast, acts=True)
    assert told(wiring) == {(name, "hide"): 1 for name in ("p-1", "p-2", "p-3")}
    assert flag


@pytest.mark.both_databases
def test_a_harmless_edit_joins_the_review_too_and_text_that_is_changed_back_is_reviewed_again(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    first = send("p-1", INSULT)
    send("p-2", HARMLESS)
    assert read(api, "p-2")["status"] == "IN_PROGRESS"
    back = send("p-3", INSULT)
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert str(action.newest_request_id) == back
        assert session.get_one(Note, action.note_id).version == 3
    assert read(api, "p-3")["duplicate_of"] == first
    decide(wiring, jobs, cast, acts=False)
    assert told(wiring) == {(name, "none"): 1 for name in ("p-1", "p-2", "p-3")}


@pytest.mark.both_databases
def test_an_edit_that_a_score_decides_ends_the_review_with_its_decision(
    api: Api, wiring: Wiring, send: Callable[..., str]
) -> None:
    send("p-1", INSULT)
    send("p-2", INSULT)
    send("p-3", SPAM)
    assert told(wiring) == {(name, "hide"): 1 for name in ("p-1", "p-2", "p-3")}
    by_request = {item["request_id"]: item["action_state"] for item in items(api)}
    assert by_request == {"p-1": "dismissed", "p-3": "proposed"}
    assert {read(api, name)["action_id"] for name in ("p-1", "p-2", "p-3")} == {read(api, "p-3")["action_id"]}


@pytest.mark.both_databases
def test_an_edit_of_a_closed_post_is_decided_by_itself(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    send("p-1", INSULT)
    decide(wiring, jobs, cast, acts=True)
    send("p-2", OTHER_INSULT)
    assert read(api, "p-2")["status"] == "IN_PROGRESS"
    assert {item["request_id"] for item in items(api)} == {"p-1", "p-2"}
    send("p-3", HARMLESS)
    assert read(api, "p-3")["status"] == "IN_PROGRESS", "the review that is open is that of p-2"
    decide(wiring, jobs, cast, acts=False)
    assert told(wiring) == {("p-1", "hide"): 1, ("p-2", "none"): 1, ("p-3", "none"): 1}


LONG = " ".join(f"The {word} stands at the harbour since many years and nobody minds it." for word in (
    "lighthouse", "crane", "warehouse", "chapel", "market", "ferry", "bakery", "school", "library", "mill",
))  # fmt: skip


@pytest.mark.both_databases
def test_a_word_exchanged_for_a_worse_one_is_an_edit_and_another_word_is_not(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    first = send("p-1", LONG)
    send("p-2", f"{LONG} Indeed.")
    assert (read(api, "p-2")["duplicate_of"], read(api, "p-2")["status"]) == (first, "COMPLETED")
    send("p-3", f"{LONG} {INSULT}.")
    row = read(api, "p-3")
    assert (row.get("duplicate_of"), row["edit_of"], row["status"]) == (None, first, "IN_PROGRESS")
    assert [item["request_id"] for item in items(api)] == ["p-3"]
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(PostScores)) <= 2


@pytest.mark.both_databases
def test_when_the_owner_is_withdrawn_the_next_one_has_the_item(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    send("p-1", INSULT)
    heir = send("p-2", INSULT)
    send("p-3", INSULT)
    assert api.delete("/requests/p-1").status_code == 204
    jobs.run_all()
    states = {item["request_id"]: item["action_state"] for item in items(api)}
    assert states == {"p-1": "dismissed", "p-2": "under_review"}
    assert "duplicate_of" not in read(api, "p-2")
    assert read(api, "p-3")["duplicate_of"] == heir
    assert read(api, "p-3")["status"] == "IN_PROGRESS"
    decide(wiring, jobs, cast, acts=True)
    assert told(wiring) == {("p-1", "none"): 1, ("p-2", "hide"): 1, ("p-3", "hide"): 1}


@pytest.mark.both_databases
def test_when_the_owner_is_withdrawn_before_it_is_scored_the_next_one_is_scored(
    api: Api, wiring: Wiring, jobs: InlineEngine, send: Callable[..., str]
) -> None:
    first = send("p-1", SPAM, runs=False)
    second = send("p-2", SPAM, runs=False)
    third = send("p-3", SPAM, runs=False)
    jobs.run_now("score_request", request_id=second)
    jobs.run_now("score_request", request_id=third)
    assert api.delete("/requests/p-1").status_code == 204
    jobs.run_all()
    assert told(wiring) == {("p-2", "hide"): 1, ("p-3", "hide"): 1}
    assert [item["request_id"] for item in items(api)] == ["p-2"]
    assert first


@pytest.mark.both_databases
def test_when_the_edit_under_review_is_withdrawn_the_text_before_it_is_reviewed(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    send("p-1", INSULT)
    send("p-2", OTHER_INSULT)
    assert api.delete("/requests/p-2").status_code == 204
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Action)).one().newest_request_id is None
    decide(wiring, jobs, cast, acts=True)
    assert told(wiring) == {("p-1", "hide"): 1}


@pytest.mark.both_databases
def test_a_post_that_people_restored_is_not_hidden_for_its_duplicate(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    send("p-1", SPAM)
    action_id = read(api, "p-1")["action_id"]
    api.patch(f"/moderation-actions/{action_id}", json={"action_state": "applied"})
    with wiring.database.writing() as session:
        action = session.get_one(Action, uuid.UUID(action_id))
        actions.overturn(session, factories.moderator(cast), action, reason=Reason("Wrong"))
    send("p-2", SPAM)
    row = read(api, "p-2")
    assert (row["status"], row.get("decision")) == ("COMPLETED", None), "the unhide is on its way"
    (unhide,) = [
        item
        for item in api.get("/moderation-actions").json["data"]
        if item["attributes"]["action_type"] == "unhide"
    ]
    api.patch(f"/moderation-actions/{unhide['id']}", json={"action_state": "applied"})
    send("p-3", SPAM)
    assert read(api, "p-3").get("decision") is None
    assert told(wiring) == {("p-1", "hide"): 1}


@pytest.mark.both_databases
def test_a_duplicate_is_sent_to_staff_with_its_post(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    send("p-1", INSULT)
    send("p-2", INSULT)
    assert api.patch("/requests/p-2", json={"escalated": True}).status_code == 200
    (item,) = items(api)
    assert (item["request_id"], item["review_group"]) == ("p-1", ReviewGroup.STAFF)


@pytest.mark.both_databases
def test_a_duplicate_of_a_post_without_action_opens_a_review_of_the_post(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast, send: Callable[..., str]
) -> None:
    first = send("p-1", HARMLESS)
    second = send("p-2", HARMLESS)
    assert api.patch("/requests/p-2", json={"escalated": True}).status_code == 200
    jobs.run_all()
    assert [item["request_id"] for item in items(api)] == ["p-1"]
    assert [read(api, name)["status"] for name in ("p-1", "p-2")] == ["IN_PROGRESS"] * 2
    decide(wiring, jobs, cast, acts=True)
    assert told(wiring) == {("p-1", "hide"): 1, ("p-2", "hide"): 1}
    assert api.patch("/requests/p-2", json={"escalated": True}).status_code == 409
    listed = api.get(f"/requests?filter[duplicate_of]={first}").json["data"]
    assert [row["id"] for row in listed] == [second]
    assert api.get("/requests?filter[duplicate_of]=nothing").status_code == 422


@pytest.mark.both_databases
def test_a_post_that_was_only_observed_is_judged_when_it_is_submitted(
    api: Api, wiring: Wiring, cast: Cast, send: Callable[..., str]
) -> None:
    at = clock.now() - timedelta(days=2)
    past = Submission("p-1", "import", INSULT, platform_message_id=MESSAGE, platform_timestamp=at)
    with wiring.database.writing() as session:
        observing.store(session, factories.integration(cast), cast.community_id, [Past(past, [])])
    send("p-2", INSULT)
    assert read(api, "p-2")["status"] == "IN_PROGRESS"
    assert [item["request_id"] for item in items(api)] == ["p-2"]


@pytest.mark.both_databases
def test_who_submitted_the_post_again_does_not_judge_it(
    api: Api, wiring: Wiring, cast: Cast, send: Callable[..., str]
) -> None:
    send("p-1", INSULT)
    send("p-2", INSULT, requested_by="rater-0")
    with wiring.database.reading() as session:
        action_id = session.scalars(sa.select(Action.id)).one()
    factories.rate(wiring, cast, action_id, "HH")
    with wiring.database.reading() as session:
        excluded = list(session.scalars(sa.select(Rating.exclusion_reason).order_by(Rating.created_at)))
    assert excluded == ["submitter", None]


@pytest.mark.both_databases
def test_what_is_reported_as_done_for_a_duplicate_is_its_posts(
    api: Api, wiring: Wiring, send: Callable[..., str]
) -> None:
    send("p-1", SPAM)
    send("p-2", SPAM)
    body = {"action_type": "hide", "request_id": "p-2", "community_server_id": "forum-1"}
    answer = api.post("/moderation-actions", json=body)
    assert answer.status_code == 200, "the open proposal is acknowledged"
    assert [(item["request_id"], item["action_state"]) for item in items(api)] == [("p-1", "applied")]
    assert {read(api, name)["standing"] for name in ("p-1", "p-2")} == {"hidden"}


@pytest.mark.both_databases
def test_a_batch_with_one_post_several_times_has_one_item(
    api: Api, wiring: Wiring, jobs: InlineEngine, cast: Cast
) -> None:
    bodies = [submission(f"p-{number}", INSULT, platform_message_id=MESSAGE)["data"] for number in range(4)]
    rows = api.post("/requests/batch", json={"data": bodies}).json["data"]
    assert {row["attributes"].get("duplicate_of") for row in rows} == {None, rows[0]["id"]}
    jobs.run_all()
    assert len(items(api)) == 1
    decide(wiring, jobs, cast, acts=False)
    assert told(wiring) == {(f"p-{number}", "none"): 1 for number in range(4)}
