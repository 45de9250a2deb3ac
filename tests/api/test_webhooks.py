"""Webhooks: registered, listed, changed, tested, removed (docs/integrate/api.md)."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import limits
from app.core.models import Community, Delivery, Event, Webhook
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.upkeep import community_revisions
from app.core.vocabulary import DeliveryState, EventName, KeyTemplate
from app.core.webhooks import signing
from app.throttle import Throttle
from app.wiring import Wiring
from tests.api.conftest import Api, problem_of
from tests.cast import Cast

REGISTER = "/webhooks/register"
SECRET = "correct-horse-battery-staple"
URL = "https://forum.example.org/hooks?from=bridgenote"


def registration(**changes: Any) -> dict[str, Any]:
    return {"url": URL, "secret": SECRET, "platform_community_server_id": "forum-1"} | changes


@pytest.fixture
def hook(api: Api) -> str:
    """The id of a webhook of the home community."""
    return str(api.post(REGISTER, json=registration()).json["id"])


def test_a_registration_answers_201_with_its_id_and_never_with_its_secret(
    api: Api, cast: Cast, wiring: Wiring
) -> None:
    answer = api.post(REGISTER, json=registration(events=["moderation.decision", "moderation.decision"]))
    assert answer.status_code == 201
    document = answer.json
    assert document["id"] == document["data"]["id"]
    assert document["data"]["type"] == "webhooks"
    shown = document["data"]["attributes"]
    assert shown["url"] == URL
    assert shown["events"] == ["moderation.decision"]
    assert shown["community_server_id"] == str(cast.community_id)
    assert shown["platform_community_server_id"] == "forum-1"
    assert (shown["is_active"], shown["failures"], shown["disabled_reason"]) == (True, 0, None)
    assert answer.headers["Location"] == f"http://localhost/webhooks/{document['id']}"
    read = api.get(f"/webhooks/{document['id']}")
    assert read.json == document
    for one in (answer, read, api.get("/webhooks")):
        assert SECRET not in one.text
        assert "secret" not in one.json["data"]
    with wiring.database.reading() as session:
        webhook = session.scalars(sa.select(Webhook)).one()
        assert signing.live_secrets(session, webhook, wiring.sealer, webhook.created_at) == [SECRET]
        assert SECRET.encode() not in webhook.secret


def test_the_wrapped_form_registers_too_and_null_means_all_events(api: Api) -> None:
    body = {"data": {"type": "webhooks", "attributes": registration(events=None)}}
    answer = api.post(REGISTER, json=body)
    assert answer.status_code == 201
    assert answer.json["data"]["attributes"]["events"] is None


@pytest.mark.both_databases
def test_the_same_community_and_url_again_updates_and_answers_200(api: Api, hook: str) -> None:
    again = api.post(REGISTER, json=registration(secret="another-secret", events=["note.status_changed"]))
    assert again.status_code == 200
    assert again.json["id"] == hook
    assert again.json["data"]["attributes"]["events"] == ["note.status_changed"]
    assert again.json["data"]["attributes"]["previous_secret_until"] is not None
    assert api.get("/webhooks").json["meta"]["count"] == 1


INVALID: list[tuple[dict[str, Any], list[str | int]]] = [
    ({"url": "http://forum.example.org/hooks"}, ["body", "url"]),
    ({"url": "https://127.0.0.1/hooks"}, ["body", "url"]),
    ({"url": "https://forum.example.org:9000/"}, ["body", "url"]),
    ({"url": "forum.example.org"}, ["body", "url"]),
    ({"url": "https://forum.example.org/" + "x" * 3000}, ["body", "url"]),
    ({"url": ""}, ["body", "url"]),
    ({"url": None}, ["body", "url"]),
    ({"secret": "s3cret"}, ["body", "secret"]),
    ({"secret": "s3cret" * 100}, ["body", "secret"]),
    ({"secret": "s3cret-with-\x00"}, ["body", "secret"]),
    ({"secret": ["s3cret-in-a-list"]}, ["body", "secret"]),
    ({"secret": "whsec_s3cret-not-base64!"}, ["body", "secret"]),
    ({"secret": "whsec_s3cret"}, ["body", "secret"]),
    ({"secret": "v1,whsec_s3cret/s3cret/s3cret/s3cret/s3cret/"}, ["body", "secret"]),
    ({"events": ["moderation.decided"]}, ["body", "events", 0]),
    ({"events": ["moderation.decision", 5]}, ["body", "events", 1]),
    ({"events": []}, ["body", "events"]),
    ({"events": "moderation.decision"}, ["body", "events"]),
    ({"platform_community_server_id": ""}, ["body", "platform_community_server_id"]),
    ({"platform_community_server_id": "x" * 256}, ["body", "platform_community_server_id"]),
    ({"signing_secret": "s3cret-under-another-name"}, ["body", "signing_secret"]),
    ({"webhookSecret": "s3cret-under-another-name"}, ["body", "webhookSecret"]),
]


def test_a_bad_registration_is_422_at_its_place_and_repeats_no_secret(api: Api, wiring: Wiring) -> None:
    for changes, loc in INVALID:
        answer = api.post(REGISTER, json=registration(**changes))
        assert problem_of(answer)["loc"] == loc, changes
        assert SECRET not in answer.text, changes
        assert "s3cret" not in answer.text, changes
    for missing in ("url", "secret", "platform_community_server_id"):
        body = {name: value for name, value in registration().items() if name != missing}
        answer = api.post(REGISTER, json=body)
        assert answer.json["detail"][0]["loc"] == ["body", missing]
        assert answer.json["detail"][0]["type"] == "missing"
        assert SECRET not in answer.text
    for body in (
        {"data": registration()},
        {"data": {"type": "webhooks", "secret": SECRET}},
        [registration()],
    ):
        answer = api.post(REGISTER, json=body)
        assert answer.status_code == 422
        assert SECRET not in answer.text
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Webhook.id))) == 0


def test_one_webhook_too_many_is_422_at_its_url(api: Api, hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WEBHOOKS", limits.WEBHOOKS._replace(number=1))
    answer = api.post(REGISTER, json=registration(url="https://forum.example.org/second"))
    assert answer.status_code == 422
    (problem,) = answer.json["detail"]
    assert problem["loc"] == ["body", "url"]
    assert problem["msg"] == "cannot be added: a community has at most 1 webhooks; remove one first"
    assert api.post(REGISTER, json=registration()).status_code == 200


def test_the_community_is_one_of_the_keys_or_looks_unknown(api: Api) -> None:
    answers = [
        api.post(REGISTER, json=registration(platform_community_server_id=reference))
        for reference in ("forum-2", "nowhere", str(uuid.uuid4()))
    ]
    assert {(one.status_code, one.text) for one in answers} == {
        (404, '{"detail": "community server not found"}')
    }


def test_an_unknown_community_is_opened_for_a_key_that_may(api: Api, wiring: Wiring) -> None:
    opener = api.with_key(wiring)
    body = registration(platform_community_server_id="brand-new")
    first = opener.post(
        REGISTER, json=body, headers={"X-Adapter-Platform": "matrix", "X-Adapter-Scope": "brand-new"}
    )
    assert first.status_code == 201
    with wiring.database.reading() as session:
        opened = session.get_one(
            Community, uuid.UUID(first.json["data"]["attributes"]["community_server_id"])
        )
        assert (opened.platform, opened.platform_community_server_id) == ("matrix", "brand-new")
    second = opener.post(REGISTER, json=registration(platform_community_server_id="another"))
    with wiring.database.reading() as session:
        opened = session.get_one(
            Community, uuid.UUID(second.json["data"]["attributes"]["community_server_id"])
        )
        assert opened.platform == "discord"


@pytest.mark.both_databases
def test_the_list_shows_the_keys_webhooks_in_pages(api: Api, foreign_api: Api, cast: Cast) -> None:
    for number in range(5):
        api.post(REGISTER, json=registration(url=f"https://forum.example.org/{number}"))
    foreign_api.post(REGISTER, json=registration(platform_community_server_id="forum-2"))
    answer = api.get("/webhooks?page[size]=2")
    assert answer.json["meta"] == {"count": 5, "page": 1, "pages": 3, "limit": 2, "offset": 0}
    seen = [row["attributes"]["url"][-1] for row in answer.json["data"]]
    while answer.json["links"]["next"]:
        answer = api.get(answer.json["links"]["next"].removeprefix("http://localhost"))
        seen += [row["attributes"]["url"][-1] for row in answer.json["data"]]
    assert seen == ["4", "3", "2", "1", "0"]
    for community, count in ((cast.community_id, 5), (cast.other_community_id, 0)):
        query = {"filter[community_server_id]": str(community)}
        assert api.get("/webhooks", query_string=query).json["meta"]["count"] == count
    assert api.get("/webhooks?filter[url]=x").status_code == 400


def test_a_list_costs_the_same_queries_for_one_row_and_for_many(
    api: Api, hook: str, counting: Callable[[], Any]
) -> None:
    with counting() as few:
        assert len(api.get("/webhooks").json["data"]) == 1
    for number in range(8):
        api.post(REGISTER, json=registration(url=f"https://forum.example.org/{number}"))
    with counting() as many:
        assert len(api.get("/webhooks").json["data"]) == 9
    assert few.count == many.count, many.statements


def test_another_communitys_webhook_is_404_for_every_verb(foreign_api: Api, hook: str) -> None:
    answers = [
        foreign_api.call(method, f"/webhooks/{one}{ending}", **({} if method == "GET" else {"json": {}}))
        for one in (hook, str(uuid.uuid4()), "n" * 36)
        for method, ending in (
            ("GET", ""),
            ("PATCH", ""),
            ("DELETE", ""),
            ("POST", "/test"),
            ("GET", "/deliveries"),
            ("POST", "/replay"),
        )
    ]
    assert {(one.status_code, one.text) for one in answers} == {(404, '{"detail": "webhook not found"}')}


def test_patch_changes_what_is_given_and_nothing_else(api: Api, hook: str) -> None:
    api.patch(f"/webhooks/{hook}", json={"events": ["moderation.decision"]})
    before = api.get(f"/webhooks/{hook}").json["data"]["attributes"]
    assert before["events"] == ["moderation.decision"]
    assert api.patch(f"/webhooks/{hook}", json={}).json["data"]["attributes"] == before
    moved = api.patch(f"/webhooks/{hook}", json={"url": "https://forum.example.org/new"})
    assert moved.json["data"]["attributes"]["url"] == "https://forum.example.org/new"
    assert moved.json["data"]["attributes"]["events"] == ["moderation.decision"]
    everything = api.patch(f"/webhooks/{hook}", json={"events": None})
    assert everything.json["data"]["attributes"]["events"] is None
    rotated = api.patch(f"/webhooks/{hook}", json={"secret": "another-secret"})
    assert rotated.json["data"]["attributes"]["previous_secret_until"] is not None
    assert "another-secret" not in rotated.text
    ended = api.patch(f"/webhooks/{hook}", json={"previous_secret_until": None})
    assert ended.json["data"]["attributes"]["previous_secret_until"] is None
    wrapped = {"data": {"type": "webhooks", "id": hook, "attributes": {"is_active": False}}}
    disabled = api.patch(f"/webhooks/{hook}", json=wrapped).json["data"]["attributes"]
    assert (disabled["is_active"], disabled["disabled_reason"]) == (False, "Disabled by hand")
    assert api.patch(f"/webhooks/{hook}", json={"is_active": True}).json["data"]["attributes"]["is_active"]


def test_a_bad_patch_is_refused_and_repeats_no_secret(api: Api, hook: str) -> None:
    for body, loc in (
        ({"url": None}, ["body", "url"]),
        ({"secret": None}, ["body", "secret"]),
        ({"secret": "s3cret"}, ["body", "secret"]),
        ({"previous_secret_until": "2026-02-01T12:00:00Z"}, ["body", "previous_secret_until"]),
        ({"is_active": "no"}, ["body", "is_active"]),
        ({"is_active": None}, ["body", "is_active"]),
        ({"events": ["x"]}, ["body", "events", 0]),
        ({"url": "http://forum.example.org/"}, ["body", "url"]),
        ({"platform_community_server_id": "forum-2"}, ["body", "platform_community_server_id"]),
    ):
        answer = api.patch(f"/webhooks/{hook}", json=body)
        assert problem_of(answer)["loc"] == loc, body
        assert "s3cret" not in answer.text
    taken = api.post(REGISTER, json=registration(url="https://forum.example.org/2")).json["id"]
    assert api.patch(f"/webhooks/{taken}", json={"url": URL}).status_code == 409


def test_a_removed_webhook_is_gone(api: Api, hook: str) -> None:
    assert api.delete(f"/webhooks/{hook}").status_code == 204
    assert api.get(f"/webhooks/{hook}").status_code == 404
    assert api.delete(f"/webhooks/{hook}").status_code == 404
    assert api.get("/webhooks").json["data"] == []
    assert api.post(REGISTER, json=registration()).status_code == 201


def test_a_test_event_goes_to_this_webhook_alone(api: Api, wiring: Wiring, hook: str) -> None:
    api.post(REGISTER, json=registration(url="https://forum.example.org/other"))
    answer = api.post(f"/webhooks/{hook}/test")
    assert answer.status_code == 202
    assert answer.json["id"] == hook
    with wiring.database.reading() as session:
        event = session.scalars(sa.select(Event)).one()
        delivery = session.scalars(sa.select(Delivery)).one()
    assert (event.name, str(event.id)) == (EventName.TEST, answer.json["meta"]["event_id"])
    assert (delivery.state, str(delivery.webhook_id)) == (DeliveryState.DUE, hook)
    api.patch(f"/webhooks/{hook}", json={"is_active": False})
    assert api.post(f"/webhooks/{hook}/test").status_code == 409


def test_test_events_to_one_webhook_are_limited(
    api: Api, foreign_api: Api, wiring: Wiring, hook: str
) -> None:
    limits = {"rate_limit_enabled": True, "rate_limit_webhook_tests": "2 per hour"}
    wiring.throttle = Throttle.from_settings(wiring.settings.model_copy(update=limits))
    assert foreign_api.post(f"/webhooks/{hook}/test").status_code == 404
    answers = [api.post(f"/webhooks/{hook}/test") for _ in range(3)]
    assert [one.status_code for one in answers] == [202, 202, 429]
    assert answers[2].json == {"detail": "Rate limit exceeded"}
    assert int(answers[2].headers["Retry-After"]) >= 1
    assert answers[2].headers["RateLimit-Policy"] == '"webhook_tests";q=2;w=3600'
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Event)) == 2


def test_nobody_enters_without_an_adapter_key(api: Api, app: Flask, cast: Cast, hook: str) -> None:
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/webhooks")]
    assert len(rules) == 8
    metrics = {"Authorization": f"Bearer {cast.metrics_key}"}
    for rule in rules:
        path = re.sub(r"<[^>]+>", hook, rule.rule)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            assert api.call(method, path, instead={}, json={}).status_code == 401, (method, path)
            assert api.call(method, path, instead=metrics, json={}).status_code == 403, (method, path)
            reader = api.call(method, path, instead=cast.read_only_headers, json={})
            assert reader.status_code == (200 if method == "GET" else 403), (method, path)
    assert api.get(f"/webhooks/{hook}").status_code == 200


def test_a_read_only_key_reads_its_communities_webhooks(
    api: Api, foreign_api: Api, cast: Cast, wiring: Wiring, hook: str
) -> None:
    elsewhere = foreign_api.post(REGISTER, json=registration(platform_community_server_id="forum-2"))
    with wiring.database.writing() as session:
        everywhere = keys.mint(session, SYSTEM, "Reader of all", KeyTemplate.READ_ONLY, None).text
    reader, wide = Api(api.client, cast.read_only_headers), Api(api.client, {"X-API-Key": everywhere})
    assert reader.get(f"/webhooks/{hook}").json == api.get(f"/webhooks/{hook}").json
    assert [row["id"] for row in reader.get("/webhooks").json["data"]] == [hook]
    assert reader.get(f"/webhooks/{elsewhere.json['id']}").status_code == 404
    assert len(wide.get("/webhooks").json["data"]) == 2
    for answer in (reader.get("/webhooks"), wide.get("/webhooks")):
        assert SECRET not in answer.text
    for who in (reader, wide):
        assert who.patch(f"/webhooks/{hook}", json={"is_active": False}).status_code == 403
        assert who.delete(f"/webhooks/{hook}").status_code == 403
        assert who.post(REGISTER, json=registration()).status_code == 403


def test_webhooks_of_an_archived_community_are_read_and_not_changed(
    api: Api, cast: Cast, wiring: Wiring, hook: str
) -> None:
    with wiring.database.writing() as session:
        community_revisions.archive(session, SYSTEM, cast.community_id, "Closed")
    assert [row["id"] for row in api.get("/webhooks").json["data"]] == [hook]
    assert api.get(f"/webhooks/{hook}").status_code == 200
    assert api.patch(f"/webhooks/{hook}", json={"is_active": False}).status_code == 403
