"""Batches of submissions: each answered as if it had come alone (docs/integrate/api.md)."""

import io
import json
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import limits
from app.core.models import Community, Request
from app.throttle import Throttle
from app.wiring import Wiring
from tests.api.conftest import HARMLESS, INSULT, SPAM, Api, submission
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.racing import at_once


def batch(*submissions: dict[str, Any]) -> dict[str, Any]:
    return {"data": [one["data"] for one in submissions]}


def stored(wiring: Wiring) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Request)) or 0


@pytest.mark.both_databases
def test_posts_are_answered_in_their_order_and_scored_like_others(
    api: Api, jobs: InlineEngine, wiring: Wiring
) -> None:
    api.submit("known", "a text")
    answer = api.post(
        "/requests/batch",
        json=batch(
            submission("post-2", SPAM),
            submission("known", "another text"),
            submission("post-1", INSULT),
            submission("post-3", HARMLESS, requested_by=7),
        ),
    )
    assert answer.status_code == 200
    new, known, other, wrong = answer.json["data"]
    assert [new["attributes"]["request_id"], other["attributes"]["request_id"]] == ["post-2", "post-1"]
    assert new["attributes"]["status"] == "pending"
    assert "meta" not in new
    assert known["meta"] == {"duplicate": True, "content_differs": True}
    assert known["attributes"]["content"] == "a text"
    assert wrong["status"] == 422
    assert wrong["detail"][0]["loc"] == ["body", "data", 3, "attributes", "requested_by"]
    assert (
        new | {"attributes": new["attributes"] | {"status": "PENDING"}}
        == api.get("/requests/post-2").json["data"]
    )
    jobs.run_all()
    decided = api.get("/requests/post-2").json["data"]["attributes"]
    assert (decided["decision"], decided["status"]) == ("hide", "COMPLETED")
    assert api.get("/requests/post-1").json["data"]["attributes"]["moderation_action"] == "community_review"
    assert stored(wiring) == 3


@pytest.mark.both_databases
def test_a_batch_again_is_known_and_so_is_an_equal_post_within_one(
    api: Api, jobs: InlineEngine, wiring: Wiring
) -> None:
    sent = batch(*(submission(f"post-{number}") for number in range(5)), submission("post-0", "changed"))
    first = api.post("/requests/batch", json=sent).json["data"]
    assert ["meta" in one for one in first] == [False] * 5 + [True]
    assert first[5]["meta"] == {"duplicate": True, "content_differs": True}
    assert first[5]["id"] == first[0]["id"]
    again = api.post("/requests/batch", json=sent).json["data"]
    assert [one["id"] for one in again] == [one["id"] for one in first]
    assert all(one["meta"]["duplicate"] for one in again)
    assert stored(wiring) == 5
    assert jobs.run_all() == 5


@pytest.mark.both_databases
def test_batches_with_the_same_posts_in_another_order_race_for_each_once(
    app: Flask, api: Api, cast: Cast, wiring: Wiring
) -> None:
    posts = [submission(f"post-{number}") for number in range(40)]

    def sends(several: list[dict[str, Any]]) -> Any:
        return lambda: app.test_client().post(
            "/api/public/v1/requests/batch", json=batch(*several), headers=cast.headers
        )

    answers = at_once(sends(posts), sends(posts[::-1]), sends(posts[20:] + posts[:20]), sends(posts[::2]))
    assert [answer.status_code for answer in answers] == [200] * 4
    new = [row["id"] for answer in answers for row in answer.json["data"] if "meta" not in row]
    assert len(new) == len(set(new)) == 40
    assert stored(wiring) == 40


def test_an_edit_within_a_batch_is_one_as_it_would_be_alone(api: Api) -> None:
    same = {"platform_message_id": "message-1"}
    rows = api.post(
        "/requests/batch",
        json=batch(
            submission("b", "The first text of it", **same),
            submission("a", "Something else was said", **same),
        ),
    ).json["data"]
    assert "edit_of" not in rows[0]["attributes"]
    assert rows[1]["attributes"]["edit_of"] == rows[0]["id"]


def test_each_item_is_refused_as_it_would_be_alone(api: Api, wiring: Wiring) -> None:
    good = submission("good")
    wrong: list[Any] = [
        submission("post-1", " "),
        submission("post-1", "x" * (limits.CONTENT_MAX + 1)),
        submission("post-1", community_server_id="nowhere"),
        submission("post-1", metadata={"long": "x" * limits.METADATA_MAX_BYTES}),
        submission("post-1", unknown=True, reply_to="7"),
        submission("post-1", attachments=[{"url": "http://example.org/a.png", "kind": "image"}]),
        submission("post-1\0"),
        {"data": submission("post-1")["data"] | {"id": "1"}},
        {"data": submission("post-1")["data"] | {"type": "notes"}},
        {"data": {"type": "requests"}},
    ]
    alone = [api.post("/requests", json=one) for one in wrong]
    rows = api.post("/requests/batch", json=batch(good, *wrong)).json["data"]
    assert rows[0]["attributes"]["request_id"] == "good"
    for index, (one, row) in enumerate(zip(alone, rows[1:], strict=True), 1):
        assert row["status"] == one.status_code
        if one.status_code != 422:
            assert row["detail"] == one.json["detail"]
            continue
        assert [problem["loc"][:3] for problem in row["detail"]] == [["body", "data", index]] * len(
            row["detail"]
        )
        assert [problem | {"loc": problem["loc"][3:]} for problem in row["detail"]] == [
            problem | {"loc": problem["loc"][2:]} for problem in one.json["detail"]
        ]
    rows = api.post("/requests/batch", json={"data": ["text", None, 7, []]}).json["data"]
    assert [(row["status"], row["detail"][0]["loc"]) for row in rows] == [
        (422, ["body", "data", index]) for index in range(4)
    ]
    assert stored(wiring) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": {}},
        {"data": None},
        {"data": submission("post-1")["data"]},
        {"data": [submission(f"post-{number}")["data"] for number in range(limits.BATCH_MAX + 1)]},
        {"data": [], "included": []},
        [],
    ],
)
def test_what_is_no_list_of_at_most_a_hundred_is_refused_whole(api: Api, wiring: Wiring, body: Any) -> None:
    answer = api.post("/requests/batch", json=body)
    assert answer.status_code == 422
    assert answer.json["detail"][0]["loc"][0] == "body"
    assert stored(wiring) == 0


def test_an_empty_batch_is_answered_with_nothing(api: Api) -> None:
    assert api.post("/requests/batch", json={"data": []}).json["data"] == []


def test_a_batch_may_be_four_times_as_large_as_other_bodies(api: Api, wiring: Wiring) -> None:
    long = [submission(f"post-{number}", "x" * 49_900) for number in range(82)]
    assert 3.9 * limits.BODY_MAX_BYTES < len(json.dumps(batch(*long))) < limits.BATCH_MAX_BYTES
    answer = api.post("/requests/batch", json=batch(*long))
    assert answer.status_code == 200
    assert stored(wiring) == 82
    answer = api.post("/requests/batch", json=batch(*long, *long[:3]))
    assert answer.status_code == 413
    assert str(limits.BATCH_MAX_BYTES) in answer.json["detail"]
    chunked = api.post(
        "/requests/batch",
        input_stream=io.BytesIO(b" " * (limits.BATCH_MAX_BYTES + 1)),
        headers={"Content-Type": "application/json"},
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
    )
    assert chunked.status_code == 413
    assert (
        api.post("/requests", json=submission("post", "x", metadata={"a": "x" * 1_100_000})).status_code
        == 413
    )


@pytest.mark.parametrize(
    "raw",
    [b"[" * 100_000, b'{"data": ' + b"[" * 70 + b"]" * 70 + b"}", b'{"data": ["\xff"]}', b'{"data": [NaN]}'],
)
def test_what_is_no_json_of_ours_is_refused_whole(api: Api, raw: bytes) -> None:
    answer = api.post("/requests/batch", data=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


def test_each_post_counts_as_a_call_and_too_large_a_batch_stores_nothing(
    api: Api, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = Throttle(wiring.throttle._storage, {"key": "10 per minute"}, enabled=True)
    monkeypatch.setattr(wiring, "throttle", limited)
    answer = api.post("/requests/batch", json=batch(*(submission(f"post-{number}") for number in range(6))))
    assert answer.status_code == 200
    assert answer.headers["RateLimit"].startswith('"key";r=4;')
    answer = api.post("/requests/batch", json=batch(*(submission(f"late-{number}") for number in range(5))))
    assert answer.status_code == 429
    assert answer.headers["RateLimit"].startswith('"key";r=0;')
    assert stored(wiring) == 6


def test_a_batch_opens_a_community_as_a_submission_does(api: Api, wide: Api, wiring: Wiring) -> None:
    new = [submission(f"post-{name}", community_server_id=name) for name in ("b", "a", "b")]
    rows = wide.post("/requests/batch", json=batch(*new)).json["data"]
    assert [row["status"] for row in rows] == [404] * 3
    rows = wide.post("/requests/batch", json=batch(*new), headers={"X-Adapter-Platform": "discourse"}).json[
        "data"
    ]
    assert [row["attributes"]["request_id"] for row in rows] == ["post-b", "post-a", "post-b"]
    assert rows[2]["meta"]["duplicate"]
    ids = Community.platform_community_server_id
    with wiring.database.reading() as session:
        opened = session.scalars(sa.select(ids).where(ids.in_(["a", "b"]))).all()
    assert sorted(opened) == ["a", "b"]
    headers = {"X-Adapter-Platform": "discourse", "X-Adapter-Scope": "c"}
    slip = [submission("post-d", community_server_id="d"), submission("post-c", community_server_id="c")]
    rows = wide.post("/requests/batch", json=batch(*slip), headers=headers).json["data"]
    assert rows[0]["status"] == 400
    assert rows[1]["attributes"]["request_id"] == "post-c"


def test_another_keys_community_looks_unknown(api: Api, foreign_api: Api, wiring: Wiring) -> None:
    row = foreign_api.post("/requests/batch", json=batch(submission("post-1"))).json["data"][0]
    assert row["status"] == foreign_api.submit("post-1").status_code == 404
    assert stored(wiring) == 0


def test_an_operator_may_have_duplicates_refused(
    api: Api, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring.settings, "duplicate_request_status", 409)
    rows = api.post("/requests/batch", json=batch(submission("post-1"), submission("post-1"))).json["data"]
    assert rows[0]["attributes"]["request_id"] == "post-1"
    assert rows[1] == {"status": 409, "detail": "This request_id was submitted before"}


def test_batch_is_still_the_id_of_a_request(api: Api, wiring: Wiring) -> None:
    api.submit("batch")
    assert api.get("/requests/batch").json["data"]["attributes"]["request_id"] == "batch"
    assert api.delete("/requests/batch").status_code == 204
    assert stored(wiring) == 1
