"""What stands on the platform now, beside a decision that never changes (docs/integrate/api.md)."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Api
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def request_of(api: Api, request_id: str = "spam") -> dict[str, Any]:
    attributes: dict[str, Any] = api.get(f"/requests/{request_id}").json["data"]["attributes"]
    return attributes


def action_of(api: Api, action_type: str) -> str:
    rows = api.get("/moderation-actions").json["data"]
    return str(next(row["id"] for row in rows if row["attributes"]["action_type"] == action_type))


def move(api: Api, action_id: str, state: str, **more: str) -> None:
    answer = api.patch(f"/moderation-actions/{action_id}", json={"action_state": state, **more})
    assert answer.status_code == 200, answer.text


def record(api: Api, action_type: str) -> str:
    body = {"action_type": action_type, "request_id": "spam", "community_server_id": "forum-1"}
    answer = api.post("/moderation-actions", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json["data"]["id"])


def test_a_new_request_stands_until_the_platform_says_that_it_acted(api: Api, jobs: InlineEngine) -> None:
    assert api.submit("quiet").json["data"]["attributes"]["standing"] == "up"
    jobs.run_all()
    assert request_of(api, "quiet")["standing"] == "up"
    assert api.submit("quiet").json["data"]["attributes"]["standing"] == "up"


def test_standing_follows_what_the_platform_acknowledges_and_the_decision_stays(
    api: Api, decide: Callable[..., None]
) -> None:
    decide("spam")
    hide = action_of(api, "hide")
    assert request_of(api)["standing"] == "up", "asked for, and not acknowledged"
    move(api, hide, "applied")
    assert request_of(api)["standing"] == "hidden"
    move(api, hide, "overturned", reason="It was a quotation")
    assert request_of(api)["standing"] == "hidden", "the platform has not shown it again yet"
    move(api, action_of(api, "unhide"), "applied")
    shown = request_of(api)
    assert (shown["standing"], shown["decision"]) == ("up", "hide")
    (row,) = api.get("/requests?status=decided").json["data"]
    assert row["attributes"]["standing"] == "up"


def test_what_happened_to_the_post_comes_before_what_happened_to_its_author(
    api: Api, decide: Callable[..., None]
) -> None:
    decide("spam")
    for action_type, standing in (
        ("warn", "warned"),
        ("silence", "silenced"),
        ("hide", "hidden"),
        ("warn", "hidden"),
        ("unhide", "warned"),
        ("delete", "deleted"),
    ):
        if action_type == "hide":
            move(api, action_of(api, "hide"), "applied")
        else:
            record(api, action_type)
        assert request_of(api)["standing"] == standing, action_type


def test_standing_takes_one_statement_for_a_page(
    api: Api, decide: Callable[..., None], counting: Callable[[], Any]
) -> None:
    decide("spam")
    api.get("/requests")  # the first call writes when the key was last used
    with counting() as few:
        api.get("/requests")
    decide("a", "b", "c")
    for row in api.get("/moderation-actions").json["data"]:
        move(api, row["id"], "applied")
    with counting() as many:
        rows = api.get("/requests").json["data"]
    assert [row["attributes"]["standing"] for row in rows] == ["hidden"] * 4
    assert few.count == many.count, many.statements
    assert sum("applied_at" in one for one in many.statements) == 1
