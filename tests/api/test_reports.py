"""Reports by the API: filed once, listed, polled, withdrawn, answered once (docs/integrate/reports.md)."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.core import clock
from app.core.models import Action, Community, Delivery, Event, Profile, Report, Request, Webhook
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, EventName, KeyTemplate
from app.wiring import Wiring
from tests.api.conftest import HARMLESS, INSULT, Api, acting, problem_of
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.web.hooks import Hooks

pytestmark = pytest.mark.both_databases


def body(report_id: str = "r-1", **attributes: Any) -> dict[str, Any]:
    given = {
        "report_id": report_id,
        "reporter_id": "user-9",
        "community_server_id": "forum-1",
        "request_id": "post-1",
        "category": "spam",
        "text": "Again and again",
    }
    kept = {name: value for name, value in (given | attributes).items() if value is not ...}
    return {"data": {"type": "reports", "attributes": kept}}


def report(
    api: Api, report_id: str = "r-1", headers: dict[str, str] | None = None, **more: Any
) -> TestResponse:
    return api.post("/reports", json=body(report_id, **more), headers=headers)


def attributes(answer: TestResponse) -> dict[str, Any]:
    found: dict[str, Any] = answer.json["data"]["attributes"]
    return found


def count(session: Session, model: type) -> int:
    return session.scalar(sa.select(sa.func.count()).select_from(model)) or 0


def test_a_report_is_stored_once_and_read_back(api: Api, wiring: Wiring) -> None:
    api.submit("post-1")
    first = report(api)
    assert first.status_code == 201, first.text
    shown = attributes(first)
    assert {name: shown[name] for name in body()["data"]["attributes"] if name != "community_server_id"} == {
        name: value for name, value in body()["data"]["attributes"].items() if name != "community_server_id"
    }
    assert (shown["state"], shown["origin"], "outcome" in shown) == ("open", "platform", False)
    again = report(api, text="Other words")
    assert (again.status_code, again.json["meta"]) == (200, {"duplicate": True})
    second = report(api, "r-2")
    assert (second.status_code, attributes(second)["report_id"]) == (200, "r-1")
    other = report(api, "r-3", reporter_id="user-10")
    assert other.status_code == 201
    with wiring.database.reading() as session:
        assert count(session, Report) == 2
    assert api.get(f"/reports/{first.json['data']['id']}").json["data"] == again.json["data"]


def test_an_unknown_post_is_404_or_submitted_with_its_text(
    api: Api, wiring: Wiring, jobs: InlineEngine
) -> None:
    assert report(api).status_code == 404
    made = report(
        api,
        request_id=...,
        platform_message_id="m-7",
        original_message_content=HARMLESS,
        platform_author_id="user-4",
        metadata={"title": "Harbour"},
    )
    assert made.status_code == 201, made.text
    assert attributes(made)["request_id"] == "report:r-1"
    jobs.run_all()
    with wiring.database.reading() as session:
        request = session.scalars(sa.select(Request)).one()
        assert (request.requested_by, request.platform_author_id) == ("user-9", "user-4")
        assert request.scored_at is not None
        assert request.extra == {"title": "Harbour"}
    # The integration submits the post itself, later: it is the same post.
    api.submit("post-7", HARMLESS, platform_message_id="m-7")
    joined = report(api, "r-2", reporter_id="user-10", request_id="post-7")
    assert attributes(joined)["post_id"] == attributes(made)["post_id"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"report_id": ...}, "report_id"),
        ({"report_id": ""}, "report_id"),
        ({"category": "rudeness"}, "category"),
        ({"category": "x" * 41}, "category"),
        ({"text": "x" * 2_001}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"reported_at": "yesterday"}, "reported_at"),
        ({"request_id": ...}, "request_id"),
        ({"community_server_id": ...}, "community_server_id"),
        ({"reporter_id": ...}, "reporter_id"),
        ({"original_message_content": " "}, "original_message_content"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_values_are_refused_by_the_name_of_their_field(
    api: Api, wiring: Wiring, changes: dict[str, Any], field: str
) -> None:
    if "original_message_content" not in changes:
        api.submit("post-1")
    assert field in problem_of(report(api, **changes))["loc"]
    with wiring.database.reading() as session:
        assert count(session, Report) == 0


def test_the_acting_user_reports_and_nobody_reports_as_another(api: Api, cast: Cast) -> None:
    api.submit("post-1")
    made = report(api, headers=acting("user-3"), reporter_id=...)
    assert (made.status_code, attributes(made)["reporter_id"]) == (201, "user-3")
    assert report(api, "r-2", headers=acting("user-3"), reporter_id="user-4").status_code == 403
    assert report(api, "r-2", headers=cast.foreign_headers).status_code == 404
    assert report(api, "r-2", headers=cast.read_only_headers).status_code == 403
    assert (
        api.post(
            "/reports", json={"data": {**body()["data"], "id": str(made.json["data"]["id"])}}
        ).status_code
        == 403
    )


def test_the_author_and_users_of_other_platforms_are_told_apart(api: Api, wiring: Wiring) -> None:
    api.submit("post-1", platform_author_id="user-9")
    assert attributes(report(api))["origin"] == "author"
    elsewhere = report(api, "r-2", headers={"X-Adapter-Platform": "discord"}, reporter_id="4711")
    assert attributes(elsewhere)["origin"] == "elsewhere"
    with wiring.database.reading() as session:
        weights = {one.report_id: one.weight for one in session.scalars(sa.select(Report))}
    assert weights == {"r-1": 0.0, "r-2": 0.5}


def test_a_report_opens_a_community_only_for_a_platform_that_the_call_names(api: Api, wiring: Wiring) -> None:
    opener = {"Authorization": f"Bearer {_opening_key(wiring)}"}
    new = {"community_server_id": "forum-77", "original_message_content": HARMLESS}
    assert report(api, headers=opener, **new).status_code == 404
    named = {**opener, "X-Adapter-Platform": "discourse"}
    assert report(api, headers={**named, "X-Adapter-Scope": "forum-78"}, **new).status_code == 400
    assert report(api, headers=named, **new | {"original_message_content": ...}).status_code == 404
    with wiring.database.reading() as session:
        assert count(session, Community) == 2
    assert report(api, headers=named, **new).status_code == 201
    with wiring.database.reading() as session:
        assert count(session, Community) == 3


def _opening_key(wiring: Wiring) -> str:
    with wiring.database.writing() as session:
        return keys.mint(session, SYSTEM, "Opener", KeyTemplate.ADAPTER, None).text


def test_the_list_is_filtered_and_tells_what_changed(api: Api, jobs: InlineEngine, wiring: Wiring) -> None:
    api.submit("post-1", INSULT)
    api.submit("post-2")
    jobs.run_all()
    report(api, reported_at="2026-01-01T00:00:00Z")
    report(api, "r-2", request_id="post-2", category="hate", reporter_id="user-10")

    def ids(**filters: str) -> list[str]:
        query = {f"filter[{name}]": value for name, value in filters.items()}
        listed = api.get("/reports", query_string=query)
        assert listed.status_code == 200, listed.text
        return [row["attributes"]["report_id"] for row in listed.json["data"]]

    assert ids() == ["r-2", "r-1"]
    assert ids(category="hate") == ["r-2"]
    assert ids(reporter_id="user-9") == ["r-1"]
    assert ids(request_id="post-2") == ["r-2"]
    assert ids(reported_at__lte="2026-01-02T00:00:00Z") == ["r-1"]
    assert ids(reported_at__gte="2026-01-02T00:00:00Z") == ["r-2"]
    assert ids(state="upheld") == []
    with wiring.database.reading() as session:
        action_id = session.scalars(sa.select(Action.id)).one()
    since = clock.now() - timedelta(hours=1)
    answer = api.patch(
        f"/moderation-actions/{action_id}",
        json={"action_state": "dismissed", "reason": "Banter"},
    )
    assert answer.status_code == 200, answer.text
    jobs.run_all()
    assert ids(state="rejected") == ["r-1"]
    changed = api.get("/reports", query_string={"filter[updated_at__gte]": clock.iso(since)})
    assert [row["attributes"]["report_id"] for row in changed.json["data"]] == ["r-2", "r-1"]
    assert "next_since" in changed.json["meta"]
    (told,) = [row["attributes"] for row in changed.json["data"] if row["attributes"]["state"] == "rejected"]
    assert (told["outcome"], "stays" in told["outcome_text"]) == ("kept", True)
    assert api.get("/reports", query_string={"filter[colour]": "red"}).status_code == 400
    assert api.get("/reports", query_string={"filter[state]": "new"}).status_code == 422


def test_only_the_reporter_and_the_integration_withdraw(api: Api, cast: Cast) -> None:
    api.submit("post-1")
    report_id = report(api).json["data"]["id"]
    patch = {"data": {"type": "reports", "id": report_id, "attributes": {"state": "withdrawn"}}}

    def withdraw(headers: dict[str, str] | None = None, json: Any = patch) -> TestResponse:
        return api.patch(f"/reports/{report_id}", json=json, headers=headers)

    assert withdraw(acting("user-3")).status_code == 403
    assert withdraw(json={"state": "upheld"}).status_code == 422
    assert withdraw(cast.foreign_headers).status_code == 404
    mine = withdraw(acting("user-9"))
    assert (mine.status_code, attributes(mine)["state"]) == (200, "withdrawn")
    assert withdraw().status_code == 200, "repeating it changes nothing"
    assert "outcome" not in attributes(mine)


def test_the_outcome_goes_to_webhooks_that_name_it_and_says_neither_penalty_nor_moderator(
    api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    hooks = Hooks(wiring, cast.community_id)
    all_events, named = hooks.register(), hooks.register("https://forum.example.org/named")
    with wiring.database.writing() as session:
        session.get_one(Webhook, named).events = [EventName.REPORT_RESOLVED.value]
        session.get_one(Community, cast.community_id).settings = {
            "report_acted_text": "Danke für den Hinweis."
        }
    api.submit("post-1", INSULT)
    jobs.run_all()
    report(api)
    with wiring.database.reading() as session:
        action_id = session.scalars(sa.select(Action.id)).one()
    for state in (ActionState.PROPOSED, ActionState.APPLIED):
        answer = api.patch(
            f"/moderation-actions/{action_id}", json={"action_state": state.value, "reason": "Rude"}
        )
        assert answer.status_code == 200, answer.text
    jobs.run_all()
    with wiring.database.reading() as session:
        event = session.scalars(sa.select(Event).where(Event.name == EventName.REPORT_RESOLVED)).one()
        data = event.payload["data"]
        assert (data["report_id"], data["reporter_id"]) == ("r-1", "user-9")
        assert (data["outcome"], data["outcome_text"]) == ("acted", "Danke für den Hinweis.")
        words = str(event.payload).lower()
        assert not any(word in words for word in ("hide", "rude", "warn", "moderator"))
        got = session.scalars(sa.select(Delivery.webhook_id).where(Delivery.event_id == event.id)).all()
        assert got == [named] != [all_events]


def test_a_page_of_a_hundred_reports_costs_what_one_costs(api: Api, wiring: Wiring, counting: Any) -> None:
    api.submit("post-1")
    report(api)

    def queries() -> int:
        with counting() as counted:
            assert api.get("/reports", query_string={"page[size]": "100"}).status_code == 200
        return int(counted.count)

    queries()  # it also notes that the key was used
    one = queries()
    for number in range(20):
        api.submit(f"more-{number}")
        report(api, f"more-{number}", request_id=f"more-{number}", reporter_id=f"user-{number}")
    assert queries() == one


def test_a_persons_profile_can_name_the_reporter(api: Api, wiring: Wiring) -> None:
    api.submit("post-1")
    report(api)
    with wiring.database.reading() as session:
        profile_id = session.scalars(sa.select(Profile.id).where(Profile.platform_user_id == "user-9")).one()
    api.submit("post-2")
    second = report(api, "r-2", request_id="post-2", reporter_id=str(profile_id))
    assert second.status_code == 201
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Report.reporter_id)).all() == [profile_id, profile_id]
