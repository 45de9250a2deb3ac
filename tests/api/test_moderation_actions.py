"""Moderation actions: listed in both forms, moved, recorded (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.api.schemas.actions import ActionAttributes
from app.core.learning import labels
from app.core.models import Action, Event, HistoryEntry, Request
from app.core.vocabulary import ActionState, EventName
from app.wiring import Wiring
from tests.api.conftest import INSULT, SPAM, Api, acting, problem_of
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.racing import at_once

PATH = "/moderation-actions"
ADMIN_REQUIRED = {"detail": "Admin privileges required"}


def _requests_of(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["attributes"]["request_id"] for row in answer.json["data"]]


def _local(url: str) -> str:
    return url.removeprefix("http://localhost")


@pytest.fixture
def proposed(api: Api, decide: Callable[..., None]) -> str:
    """The id of an action that Tier 1 proposed: to hide what request ``spam`` submitted."""
    decide("spam")
    return str(api.get(PATH).json["data"][0]["id"])


@pytest.fixture
def reviewed(api: Api, jobs: InlineEngine) -> str:
    """The id of an action under review, for request ``insult``."""
    api.submit("insult", INSULT)
    jobs.run_all()
    return str(api.get(f"{PATH}?action_state=under_review").json["data"][0]["id"])


@pytest.fixture
def many(wiring: Wiring, fill: Callable[..., None]) -> Callable[[int, str], None]:
    """Put recorded actions into the home community: ``many(30, "prefix")``."""

    def put(count: int, prefix: str) -> None:
        fill(count, prefix=prefix)
        with wiring.database.writing() as session:
            for request in session.scalars(
                sa.select(Request).where(Request.request_id.startswith(f"{prefix}-")).order_by(Request.id)
            ):
                session.add(
                    Action(
                        community_id=request.community_id,
                        request_id=request.id,
                        action_type="hide",
                        action_state=ActionState.APPLIED,
                        decided_verb="hide",
                    )
                )
                session.flush()

    return put


@pytest.fixture
def wide(api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine, foreign_api: Api) -> Api:
    """A key of both communities; the other community has the action of request ``away``."""
    assert foreign_api.submit("away", SPAM, community_server_id="forum-2").status_code == 201
    jobs.run_all()
    return api.with_key(wiring, [cast.community_id, cast.other_community_id])


def test_an_action_is_shown_with_every_attribute_and_the_integrations_own_request_id(
    api: Api, cast: Cast, proposed: str
) -> None:
    shown = api.get(f"{PATH}/{proposed}").json
    attributes = shown["data"]["attributes"]
    assert shown["data"]["type"] == "moderation-actions"
    assert attributes.keys() == ActionAttributes.model_fields.keys()
    assert attributes["request_id"] == "spam"
    assert attributes["community_server_id"] == str(cast.community_id)
    assert (attributes["action_type"], attributes["action_tier"]) == ("hide", "tier_1_immediate")
    assert (attributes["action_state"], attributes["review_group"]) == ("proposed", "community")
    evidence = attributes["classifier_evidence"]
    assert evidence["category"] == "spam"
    assert evidence["score"] == evidence["scores"]["spam"] > 0.95
    assert "spam" in evidence["labels"]
    assert {"classifiers", "threshold", "config_version", "matches"} <= evidence["details"].keys()
    assert uuid.UUID(attributes["note_id"])
    assert attributes["applied_at"] is attributes["platform_action_id"] is attributes["reason"] is None
    assert shown["links"]["self"].endswith(f"/api/public/v1{PATH}/{proposed}")
    assert api.get(PATH).json["data"] == [shown["data"]]


@pytest.mark.both_databases
def test_both_forms_of_every_filter_select_and_combine(
    api: Api, cast: Cast, proposed: str, reviewed: str
) -> None:
    home, away = str(cast.community_id), str(cast.other_community_id)
    table: list[tuple[dict[str, str], list[str]]] = [
        ({}, ["insult", "spam"]),
        ({"filter[action_state]": "proposed"}, ["spam"]),
        ({"action_state": "proposed"}, ["spam"]),
        ({"filter[action_tier]": "tier_2_consensus"}, ["insult"]),
        ({"action_tier": "tier_2_consensus"}, ["insult"]),
        ({"filter[community_server_id]": home}, ["insult", "spam"]),
        ({"community_server_id": home.upper()}, ["insult", "spam"]),
        ({"community_server_id": away}, []),
        ({"filter[community_server_id]": str(uuid.uuid4())}, []),
        ({"filter[action_state]": "proposed", "action_tier": "tier_1_immediate"}, ["spam"]),
        ({"filter[action_state]": "proposed", "action_state": "under_review"}, []),
        ({"filter[community_server_id]": home, "community_server_id": away}, []),
        ({"action_state": "overturned"}, []),
    ]
    for query, wanted in table:
        assert _requests_of(api.get(PATH, query_string=query)) == wanted, query


def test_each_form_has_its_own_default_and_limit(api: Api) -> None:
    plain = {"action_state": "proposed"}
    table: list[tuple[dict[str, Any], int | str]] = [
        ({}, 50),
        ({"filter[action_state]": "proposed"}, 50),
        ({"limit": 1000}, 1000),
        ({"limit": 1001}, "limit"),
        (plain, 20),
        (plain | {"limit": 100}, 100),
        (plain | {"limit": 101}, "limit"),
        (plain | {"filter[action_state]": "proposed", "limit": 101}, "limit"),
        ({"limit": 0}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"offset": -1}, "offset"),
        ({"offset": "1.0"}, "offset"),
        ({"page[size]": 100}, 100),
        ({"page[size]": 101}, "page[size]"),
        ({"page[number]": 0}, "page[number]"),
        ({"page[number]": 2, "limit": 7}, 7),
        ({"page[number]": 2, "offset": 5}, "offset"),
        ({"page[size]": 5, "limit": 5}, "limit"),
        ({"page[after]": "nonsense"}, "page[after]"),
        ({"action_state": "done"}, "action_state"),
        ({"filter[action_tier]": "1"}, "filter[action_tier]"),
        ({"community_server_id": "forum-1"}, "community_server_id"),
    ]
    for query, wanted in table:
        answer = api.get(PATH, query_string=query)
        if isinstance(wanted, int):
            assert answer.json["meta"]["limit"] == wanted, query
        else:
            assert problem_of(answer)["loc"] == ["query", wanted], query
    assert api.get(PATH, query_string={"filter[state]": "proposed"}).status_code == 400
    assert api.get(f"{PATH}?action_state=proposed&action_state=applied").status_code == 400


@pytest.mark.both_databases
def test_a_list_without_a_community_falls_back_as_decided(wide: Api, cast: Cast, proposed: str) -> None:
    assert _requests_of(wide.get(PATH)) == ["spam", "away"], "bracketed: all of the key's"
    refused = wide.get(f"{PATH}?action_state=proposed")
    assert problem_of(refused)["type"] == "missing"
    assert problem_of(refused)["loc"] == ["query", "community_server_id"]
    scope = {"X-Adapter-Scope": "forum-2"}
    assert _requests_of(wide.get(PATH, headers=scope)) == ["away"]
    assert _requests_of(wide.get(f"{PATH}?action_state=proposed", headers=scope)) == ["away"]
    for name in ("community_server_id", "filter[community_server_id]"):
        query = {name: str(cast.community_id), "action_state": "proposed"}
        assert _requests_of(wide.get(PATH, query_string=query, headers=scope)) == ["spam"], name


@pytest.mark.both_databases
@pytest.mark.parametrize("first", ["limit=2", "page[size]=2&page[number]=1"])
def test_following_next_neither_misses_nor_repeats_while_actions_come(
    api: Api, many: Callable[[int, str], None], first: str
) -> None:
    many(5, "row")
    wanted = [f"row-{number}" for number in range(4, -1, -1)]
    answer = api.get(f"{PATH}?{first}")
    assert answer.json["meta"] == {"count": 5, "page": 1, "pages": 3, "limit": 2, "offset": 0}
    assert answer.json["links"]["prev"] is None
    seen = _requests_of(answer)
    while answer.json["links"]["next"]:
        many(1, f"late-{len(seen)}")
        answer = api.get(_local(answer.json["links"]["next"]))
        seen += _requests_of(answer)
    assert seen == wanted
    assert _requests_of(api.get(_local(answer.json["links"]["prev"]))) == wanted[2:4]
    assert _requests_of(api.get(_local(answer.json["links"]["first"])))[0].startswith("late-")
    assert _requests_of(api.get(f"{PATH}?limit=3&offset=2")) == ["row-4", "row-3", "row-2"]
    assert api.get(f"{PATH}?limit=3&offset=3").json["meta"] == {
        "count": 7,
        "page": 2,
        "pages": 3,
        "limit": 3,
        "offset": 3,
    }


@pytest.mark.both_databases
def test_pages_around_an_offset_say_where_they_begin(api: Api, many: Callable[[int, str], None]) -> None:
    many(8, "row")
    answer, begun = api.get(f"{PATH}?limit=3&offset=1"), []
    while answer.json["links"]["next"]:
        begun.append(answer.json["meta"]["offset"])
        answer = api.get(_local(answer.json["links"]["next"]))
    assert [*begun, answer.json["meta"]["offset"]] == [1, 4, 7]
    assert _requests_of(answer) == ["row-0"]
    assert answer.json["links"]["prev"] is not None
    back = api.get(_local(api.get(f"{PATH}?limit=3&offset=1").json["links"]["prev"]))
    assert (_requests_of(back), back.json["meta"]["offset"]) == (["row-7"], 0)


def test_a_list_costs_the_same_queries_for_one_row_and_for_many(
    api: Api, many: Callable[[int, str], None], counting: Callable[[], Any]
) -> None:
    many(1, "one")
    api.get(PATH)
    with counting() as few:
        assert len(api.get(f"{PATH}?limit=1").json["data"]) == 1
    many(60, "row")
    with counting() as more:
        assert len(api.get(f"{PATH}?limit=1000").json["data"]) == 61
    assert few.count == more.count, more.statements
    assert more.count <= 5, more.statements


def test_foreign_unknown_and_malformed_ids_look_the_same(foreign_api: Api, proposed: str) -> None:
    body = {"action_state": "applied"}
    answers = [
        foreign_api.call(method, f"{PATH}/{one}", **({} if method == "GET" else {"json": body}))
        for one in (proposed, str(uuid.uuid4()), "spam", "%00", "x" * 300)
        for method in ("GET", "PATCH")
    ]
    assert {(answer.status_code, answer.text) for answer in answers} == {
        (404, '{"detail": "moderation action not found"}')
    }


def test_an_acknowledgement_applies_once_and_may_be_repeated(api: Api, wiring: Wiring, proposed: str) -> None:
    first = api.patch(f"{PATH}/{proposed}", json={"action_state": "applied", "platform_action_id": " 77 "})
    assert first.status_code == 200
    shown = first.json["data"]["attributes"]
    assert (shown["action_state"], shown["platform_action_id"]) == ("applied", " 77 ")
    assert shown["applied_at"] is not None
    attributes = {"action_state": "applied", "platform_action_id": "78"}
    wrapped = {"data": {"type": "moderation-actions", "id": proposed, "attributes": attributes}}
    for body in ({"action_state": "applied"}, wrapped):
        assert api.patch(f"{PATH}/{proposed}", json=body).json == first.json
    assert api.get(f"{PATH}/{proposed}").json == first.json
    with wiring.database.reading() as session:
        assert _history(session, "action.applied") == 1


@pytest.mark.both_databases
def test_twenty_simultaneous_acknowledgements_make_one_move(
    api: Api, app: Flask, wiring: Wiring, proposed: str
) -> None:
    callers = [Api(app.test_client(), api.headers) for _ in range(20)]
    body = {"action_state": "applied"}
    answers = at_once(*(partial(caller.patch, f"{PATH}/{proposed}", json=body) for caller in callers))
    assert [answer.status_code for answer in answers] == [200] * 20
    assert len({answer.json["data"]["attributes"]["applied_at"] for answer in answers}) == 1
    with wiring.database.reading() as session:
        assert _history(session, "action.applied") == 1
        told = sa.select(sa.func.count(Event.id)).where(Event.name == EventName.ACTION_APPLIED)
        assert session.scalar(told) == 1


def _history(session: Any, what: str) -> int:
    statement = sa.select(sa.func.count(HistoryEntry.id)).where(HistoryEntry.what == what)
    return int(session.scalar(statement))


def test_a_move_that_the_table_lacks_is_422_and_names_the_state_it_is_in(api: Api, proposed: str) -> None:
    for target in ("retro_review", "confirmed", "overturned", "scan_exempt"):
        answer = api.patch(f"{PATH}/{proposed}", json={"action_state": target, "reason": "No"})
        assert answer.status_code == 422, target
        (item,) = answer.json["detail"]
        assert (item["type"], item["loc"]) == ("illegal_move", ["body", "action_state"]), target
        assert "proposed" in item["msg"]
    wrapped = {"type": "moderation-actions", "id": proposed, "attributes": {"action_state": "confirmed"}}
    refused = api.patch(f"{PATH}/{proposed}", json={"data": wrapped})
    assert refused.json["detail"][0]["loc"] == ["body", "data", "attributes", "action_state"]
    same = api.patch(f"{PATH}/{proposed}", json={"action_state": "proposed"})
    assert same.status_code == 200
    assert same.json["data"]["attributes"]["action_state"] == "proposed"


INVALID_PATCHES: list[tuple[Any, str, list[str]]] = [
    ({}, "missing", ["body", "action_state"]),
    ({"action_state": None}, "enum", ["body", "action_state"]),
    ({"action_state": "APPLIED"}, "enum", ["body", "action_state"]),
    ({"action_state": "applied", "platform_action_id": 5}, "string_type", ["body", "platform_action_id"]),
    (
        {"action_state": "applied", "platform_action_id": ""},
        "string_too_short",
        ["body", "platform_action_id"],
    ),
    (
        {"action_state": "applied", "platform_action_id": "x" * 256},
        "string_too_long",
        ["body", "platform_action_id"],
    ),
    (
        {"action_state": "under_review", "platform_action_id": "7"},
        "value_error",
        ["body", "platform_action_id"],
    ),
    ({"action_state": "applied", "reason": "\x00"}, "value_error", ["body", "reason"]),
    ({"action_state": "applied", "reason": "x" * 2001}, "string_too_long", ["body", "reason"]),
    ({"action_state": "applied", "state": "x"}, "extra_forbidden", ["body", "state"]),
    ([], "dict_type", ["body"]),
    (
        {"data": {"type": "moderation-actions", "attributes": {"action_state": "applied"}}},
        "missing",
        ["body", "data", "id"],
    ),
]


def test_a_bad_patch_is_422_at_its_place_and_changes_nothing(api: Api, proposed: str) -> None:
    for body, kind, loc in INVALID_PATCHES:
        answer = api.patch(f"{PATH}/{proposed}", json=body)
        assert problem_of(answer)["type"] == kind, body
        assert problem_of(answer)["loc"] == loc, body
    wrapped = {
        "type": "moderation-actions",
        "id": str(uuid.uuid4()),
        "attributes": {"action_state": "applied"},
    }
    assert api.patch(f"{PATH}/{proposed}", json={"data": wrapped}).status_code == 409
    assert api.get(f"{PATH}/{proposed}").json["data"]["attributes"]["action_state"] == "proposed"


def test_staff_moves_need_staff_where_a_user_acts_and_the_key_itself_where_none_does(
    api: Api, proposed: str, reviewed: str
) -> None:
    member, moderator = acting("7", Moderator="false"), acting("8", Moderator="true")

    def move(action_id: str, target: str, headers: dict[str, str]) -> Any:
        body = {"action_state": target, "reason": "Seen"}
        return api.call("PATCH", f"{PATH}/{action_id}", json=body, headers=headers)

    steps = [
        (proposed, "under_review", moderator),
        (proposed, "proposed", {}),
        (reviewed, "dismissed", moderator),
    ]
    for action_id, target, allowed in steps:
        refused = move(action_id, target, member)
        assert (refused.status_code, refused.json) == (403, ADMIN_REQUIRED), target
        answer = move(action_id, target, allowed)
        assert answer.status_code == 200, answer.text
        assert answer.json["data"]["attributes"]["action_state"] == target
    assert move(proposed, "applied", member).status_code == 200
    refused = move(proposed, "overturned", member)
    assert (refused.status_code, refused.json) == (403, ADMIN_REQUIRED)
    assert move(proposed, "retro_review", moderator).status_code == 200
    refused = move(proposed, "confirmed", member)
    assert (refused.status_code, refused.json) == (403, ADMIN_REQUIRED)
    assert move(proposed, "confirmed", acting("9", Admin="true")).status_code == 200


def test_a_decision_may_name_the_category_that_it_teaches(
    api: Api, wiring: Wiring, cast: Cast, reviewed: str, jobs: InlineEngine
) -> None:
    api.submit("calm", "A pear tree grows by the pond.")
    jobs.run_all()
    assert api.patch("/requests/calm", json={"escalated": True}).status_code == 200
    (escalated,) = {row["id"] for row in api.get(f"{PATH}?action_state=under_review").json["data"]} - {
        reviewed
    }

    def learned(category: str) -> list[bool]:
        with wiring.database.reading() as session:
            return [label.acted for label in labels.read(session, cast.community_id, category)]

    for action_id, state, category in ((reviewed, "dismissed", "hate"), (escalated, "proposed", "spam")):
        body = {"action_state": state, "reason": "Seen", "category": category}
        for _ in ("once", "again"):
            answer = api.patch(f"{PATH}/{action_id}", json=body)
            assert answer.status_code == 200, answer.text
        assert answer.json["data"]["attributes"]["action_state"] == state
    assert (learned("hate"), learned("spam"), learned("toxicity")) == ([False], [True], [])
    with wiring.database.reading() as session:
        filed = session.scalars(
            sa.select(HistoryEntry).where(HistoryEntry.what == "action.filed").order_by(HistoryEntry.at)
        ).all()
        assert [entry.after for entry in filed] == [{"category": "hate"}, {"category": "spam"}]
    api.patch(f"{PATH}/{escalated}", json={"action_state": "applied"})
    api.patch(f"{PATH}/{escalated}", json={"action_state": "retro_review", "reason": "I meant it well"})
    body = {"action_state": "overturned", "reason": "A mistake", "category": "toxicity"}
    assert api.patch(f"{PATH}/{escalated}", json=body).status_code == 200
    assert (learned("spam"), learned("toxicity")) == ([], [False])


@pytest.mark.parametrize(
    ("body", "msg"),
    [
        ({"action_state": "dismissed", "category": "weather"}, "one of this community's categories"),
        ({"action_state": "applied", "category": "spam"}, "a move that decides"),
        ({"action_state": "dismissed", "category": ""}, "at least 1 character"),
        ({"action_state": "dismissed", "category": 7}, "valid string"),
    ],
)
def test_a_category_that_cannot_be_named_is_422_and_changes_nothing(
    api: Api, wiring: Wiring, reviewed: str, body: dict[str, Any], msg: str
) -> None:
    answer = api.patch(f"{PATH}/{reviewed}", json=body)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json["detail"]
    assert error["loc"] == ["body", "category"]
    assert msg in error["msg"]
    with wiring.database.reading() as session:
        action = session.get_one(Action, uuid.UUID(reviewed))
        assert (action.action_state, action.decided_category) == (ActionState.UNDER_REVIEW, None)


def test_a_member_cannot_file_what_they_may_not_decide(api: Api, wiring: Wiring, reviewed: str) -> None:
    body = {"action_state": "dismissed", "category": "spam"}
    headers = acting("7", Moderator="false")
    refused = api.call("PATCH", f"{PATH}/{reviewed}", json=body, headers=headers)
    assert refused.status_code == 403
    with wiring.database.reading() as session:
        assert session.get_one(Action, uuid.UUID(reviewed)).decided_category is None
        assert session.scalar(sa.select(HistoryEntry.id).where(HistoryEntry.what == "action.filed")) is None


def test_any_integration_may_appeal_with_a_reason(api: Api, wiring: Wiring, proposed: str) -> None:
    member = acting("7")
    api.patch(f"{PATH}/{proposed}", json={"action_state": "applied"})
    for body in ({"action_state": "retro_review"}, {"action_state": "retro_review", "reason": " "}):
        refused = api.call("PATCH", f"{PATH}/{proposed}", json=body, headers=member)
        assert problem_of(refused)["loc"] == ["body", "reason"]
    body = {"action_state": "retro_review", "reason": "It was a quotation"}
    answer = api.call("PATCH", f"{PATH}/{proposed}", json=body, headers=member)
    assert answer.status_code == 200
    assert answer.json["data"]["attributes"]["action_state"] == "retro_review"
    acknowledged = api.patch(f"{PATH}/{proposed}", json={"action_state": "applied"})
    assert acknowledged.status_code == 200, "it has applied_at"
    assert acknowledged.json == answer.json
    with wiring.database.reading() as session:
        assert _history(session, "action.retro_review") == 1


def test_an_overturned_hide_proposes_an_unhide_whose_acknowledgement_exempts_the_content(
    api: Api, wiring: Wiring, proposed: str
) -> None:
    api.patch(f"{PATH}/{proposed}", json={"action_state": "applied"})
    overturned = api.patch(f"{PATH}/{proposed}", json={"action_state": "overturned", "reason": "A mistake"})
    shown = overturned.json["data"]["attributes"]
    assert (shown["action_state"], shown["overturned_reason"]) == ("overturned", "A mistake")
    assert shown["overturned_at"] is not None
    (unhide,) = api.get(f"{PATH}?action_state=proposed").json["data"]
    assert (unhide["attributes"]["action_type"], unhide["attributes"]["request_id"]) == ("unhide", "spam")
    assert api.patch(f"{PATH}/{unhide['id']}", json={"action_state": "applied"}).status_code == 200
    exempt = api.get(f"{PATH}/{proposed}").json["data"]["attributes"]
    with wiring.database.reading() as session:
        content_hash = session.scalars(sa.select(Request.content_sha256)).one()
    assert (exempt["action_state"], exempt["scan_exempt_content_hash"]) == ("scan_exempt", content_hash)


def test_an_action_already_taken_is_recorded_as_applied(api: Api, cast: Cast) -> None:
    created = api.submit("post-1").json["data"]
    body = {
        "action_type": "silence",
        "request_id": "post-1",
        "community_server_id": str(cast.community_id),
        "reason": "Third time\nthis week",
    }
    answer = api.post(PATH, json=body)
    assert answer.status_code == 201
    shown = answer.json["data"]["attributes"]
    assert (shown["action_type"], shown["action_state"], shown["action_tier"]) == ("silence", "applied", None)
    assert (shown["reason"], shown["request_id"]) == ("Third time\nthis week", "post-1")
    assert shown["classifier_evidence"] is shown["note_id"] is shown["review_group"] is None
    assert shown["applied_at"] is not None
    assert api.get(_local(answer.headers["Location"])).json == answer.json
    by_uuid = {"action_type": "warn", "request_id": created["id"], "community_server_id": "forum-1"}
    wrapped = {"data": {"type": "moderation-actions", "attributes": by_uuid}}
    assert api.post(PATH, json=wrapped).status_code == 201
    assert len(api.get(f"{PATH}?action_state=applied").json["data"]) == 2


def test_recording_what_was_proposed_acknowledges_the_proposal(api: Api, proposed: str) -> None:
    body = {"action_type": "hide", "request_id": "spam", "community_server_id": "forum-1"}
    answer = api.post(PATH, json=body)
    assert answer.status_code == 200
    assert answer.json["data"]["id"] == proposed
    assert answer.json["data"]["attributes"]["action_state"] == "applied"
    other = api.post(PATH, json=body | {"action_type": "warn"})
    assert other.status_code == 201
    assert other.json["data"]["id"] != proposed


def test_an_acknowledged_decision_recorded_again_is_the_one_that_stands(api: Api, proposed: str) -> None:
    body = {"action_type": "hide", "request_id": "spam", "community_server_id": "forum-1"}
    acknowledged = api.patch(
        f"{PATH}/{proposed}", json={"action_state": "applied", "platform_action_id": "h-1"}
    )
    assert acknowledged.status_code == 200
    again = api.post(PATH, json=body)
    assert (again.status_code, again.json["data"]) == (200, acknowledged.json["data"])
    # What the platform did of its own accord is recorded as often as it says so.
    for _ in range(2):
        assert api.post(PATH, json=body | {"action_type": "warn"}).status_code == 201
    assert len(api.get(PATH).json["data"]) == 3


def test_a_record_is_new_where_the_one_before_was_reversed_or_overturned(api: Api, proposed: str) -> None:
    body = {"action_type": "hide", "request_id": "spam", "community_server_id": "forum-1"}
    reversed_body = body | {"action_type": "unhide"}
    assert api.post(PATH, json=body).json["data"]["id"] == proposed
    assert [api.post(PATH, json=one).status_code for one in (body, reversed_body, body)] == [200, 201, 201]
    newest = api.get(PATH).json["data"][0]["id"]
    assert newest != proposed
    assert api.patch(f"{PATH}/{newest}", json={"action_state": "overturned"}).status_code == 200
    assert api.post(PATH, json=body).status_code == 201, "hidden again after staff overturned it"


def test_a_bad_record_is_refused_at_its_place(api: Api, wide: Api) -> None:
    api.submit("post-1")
    good = {"action_type": "hide", "request_id": "post-1", "community_server_id": "forum-1"}
    for missing in good:
        answer = api.post(PATH, json={name: value for name, value in good.items() if name != missing})
        assert problem_of(answer)["type"] == "missing"
        assert problem_of(answer)["loc"] == ["body", missing]
    for name, value in [
        ("action_type", "flag"),
        ("action_type", None),
        ("request_id", ""),
        ("request_id", 7),
        ("request_id", "a\x00"),
        ("community_server_id", "x" * 256),
        ("reason", "x" * 2001),
        ("reason", 5),
        ("action_state", "applied"),
    ]:
        answer = api.post(PATH, json=good | {name: value})
        assert problem_of(answer)["loc"] == ["body", name], (name, value)
    for changed in (
        {"request_id": "unknown"},
        {"request_id": str(uuid.uuid4())},
        {"request_id": "away"},
        {"community_server_id": "forum-2"},
        {"community_server_id": str(uuid.uuid4())},
        {"community_server_id": "unknown"},
    ):
        assert api.post(PATH, json=good | changed).status_code == 404, changed
    assert wide.post(PATH, json=good | {"community_server_id": "forum-2"}).status_code == 404, (
        "the request is another community's"
    )
    assert api.get(PATH).json["data"] == []


def test_the_community_decides_between_equal_request_ids(wide: Api, cast: Cast) -> None:
    for community in ("forum-1", "forum-2"):
        wide.submit("same", community_server_id=community)
    body = {"action_type": "hide", "request_id": "same", "community_server_id": "forum-2"}
    answer = wide.post(PATH, json=body)
    assert answer.status_code == 201
    assert answer.json["data"]["attributes"]["community_server_id"] == str(cast.other_community_id)


def test_a_read_only_key_reads_and_moves_nothing(api: Api, cast: Cast, proposed: str) -> None:
    reader = Api(api.client, cast.read_only_headers)
    assert reader.get(f"{PATH}/{proposed}").status_code == 200
    assert reader.patch(f"{PATH}/{proposed}", json={"action_state": "applied"}).status_code == 403
    body = {"action_type": "hide", "request_id": "spam", "community_server_id": "forum-1"}
    assert reader.post(PATH, json=body).status_code == 403
