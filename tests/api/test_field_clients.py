"""Paths that existing integrations call besides the public ones (docs/integrate/api.md)."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.communities import communities
from app.core.models import Community, HistoryEntry
from app.core.permissions import SYSTEM
from app.wiring import Wiring
from tests.api.conftest import HARMLESS, Api, problem_of, submission
from tests.cast import Cast
from tests.factories import rate, scored_action

COMMUNITIES = "/api/v1/community-servers"


@pytest.fixture
def opener(api: Api, wiring: Wiring) -> Api:
    """A key that may open communities."""
    return api.with_key(wiring)


def community(**changes: Any) -> dict[str, Any]:
    return {"platform": "discord", "platform_community_server_id": "1234", "name": "Sea forum"} | changes


def test_a_community_is_opened_by_a_flat_body_and_answered_flat(opener: Api) -> None:
    given = community(
        description="All about the sea", settings={"locale": "en"}, is_active=False, is_public=False
    )
    answer = opener.post(COMMUNITIES, json=given, headers={"X-Adapter-Scope": "1234"})
    assert answer.status_code == 201
    assert {name: answer.json[name] for name in given} == given
    query = {"platform": "discord", "platform_community_server_id": "1234"}
    found = opener.get("/community-servers/lookup", query_string=query).json["data"]
    assert found["id"] == answer.json["id"]
    assert found["attributes"]["name"] == "Sea forum"
    assert found["attributes"]["categories"], "the shipped policy is in force"
    assert opener.post(COMMUNITIES, json=given).status_code == 409
    least = opener.post(COMMUNITIES, json=community(platform_community_server_id="5")).json
    assert (least["slug"], least["description"], least["settings"]) == ("sea-forum-2", None, {})
    assert (least["is_active"], least["is_public"]) == (True, False)


def test_a_community_that_a_key_opens_is_public_only_where_it_says_so(opener: Api, wiring: Wiring) -> None:
    def opened(platform_id: str) -> bool:
        with wiring.database.reading() as session:
            found = session.scalars(
                sa.select(Community).where(Community.platform_community_server_id == platform_id)
            ).one()
            return found.is_public

    query = {"platform": "discord", "platform_community_server_id": "looked-up"}
    looked_up = opener.get("/community-servers/lookup", query_string=query)
    assert looked_up.json["data"]["attributes"]["is_public"] is False
    post = submission("post-1", community_server_id="submitted-to")
    submitted = opener.post("/requests", json=post, headers={"X-Adapter-Platform": "discord"})
    assert submitted.status_code == 201
    hook = {"url": "https://h.example/x", "secret": "a-secret-of-mine"}
    hook["platform_community_server_id"] = "registered"
    assert opener.post("/webhooks/register", json=hook).status_code == 201
    for platform_id, said in (
        ("unsaid", {}),
        ("private", {"is_public": False}),
        ("open", {"is_public": True}),
    ):
        body = community(platform_community_server_id=platform_id, **said)
        assert opener.post(COMMUNITIES, json=body).status_code == 201
    names = ("looked-up", "submitted-to", "registered", "unsaid", "private", "open")
    assert [opened(one) for one in names] == [False, False, False, False, False, True]


def test_only_a_key_that_may_opens_a_community(api: Api, wiring: Wiring) -> None:
    assert api.post(COMMUNITIES, json=community()).status_code == 403
    known = community(platform="discourse", platform_community_server_id="forum-1")
    assert api.post(COMMUNITIES, json=known).status_code == 409
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Community.id))) == 2


def test_a_bad_community_is_422_at_its_place(opener: Api) -> None:
    for name, value in [
        ("platform", "Big"),
        ("platform", None),
        ("platform_community_server_id", ""),
        ("platform_community_server_id", 1234),
        ("name", " "),
        ("name", "x" * 256),
        ("name", "a\x00"),
        ("description", "x" * 5001),
        ("settings", []),
        ("settings", {"a": "\x00"}),
        ("settings", {"a": "x" * 70_000}),
        ("is_public", "yes"),
        ("slug", "mine"),
    ]:
        answer = opener.post(COMMUNITIES, json=community(**{name: value}))
        assert problem_of(answer)["loc"] == ["body", name], (name, value)
    wrapped = {"data": {"type": "community-servers", "attributes": community()}}
    assert opener.post(COMMUNITIES, json=wrapped).status_code == 422


def test_a_community_takes_its_platforms_name_and_figures(api: Api, cast: Cast, wiring: Wiring) -> None:
    body: dict[str, Any] = {"name": "Harbour and sea", "server_stats": {"hostname": "forum.example.org"}}
    answer = api.patch(f"{COMMUNITIES}/forum-1/name", json=body)
    assert answer.status_code == 200
    assert (answer.json["id"], answer.json["name"]) == (str(cast.community_id), "Harbour and sea")
    assert answer.json["server_stats"] == {"hostname": "forum.example.org"}
    again = api.patch(f"{COMMUNITIES}/forum-1/name?platform=discourse", json=body | {"server_stats": None})
    assert again.json["server_stats"] == {"hostname": "forum.example.org"}
    with wiring.database.reading() as session:
        renamed = sa.select(HistoryEntry).where(HistoryEntry.what == "community.renamed")
        (entry,) = session.scalars(renamed).all()
        assert (entry.before, entry.after) == ({"name": "Harbour forum"}, {"name": "Harbour and sea"})


def test_a_bad_value_is_422_whether_or_not_the_community_exists(opener: Api) -> None:
    assert opener.post(COMMUNITIES, json=community()).status_code == 201
    for platform_id in ("1234", "new"):
        for bad in ({"name": " "}, {"description": "x" * 5_001}, {"settings": {"x": "y" * 70_000}}):
            answer = opener.post(COMMUNITIES, json=community(platform_community_server_id=platform_id, **bad))
            assert problem_of(answer)["loc"] == ["body", *bad]


def test_a_uuid_opens_no_community(opener: Api, api: Api, cast: Cast, wiring: Wiring) -> None:
    for platform_id in (str(cast.community_id), str(uuid.uuid4())):
        answer = opener.post(COMMUNITIES, json=community(platform_community_server_id=platform_id))
        assert problem_of(answer)["loc"] == ["body", "platform_community_server_id"]
        query = {"platform": "discourse", "platform_community_server_id": platform_id}
        assert opener.get("/community-servers/lookup", query_string=query).status_code == 404
    known = str(uuid.uuid4())
    with wiring.database.writing() as session:
        communities.open_community(session, SYSTEM, "discord", known)
    query = {"platform": "discord", "platform_community_server_id": known}
    assert opener.get("/community-servers/lookup", query_string=query).status_code == 200
    assert opener.post(COMMUNITIES, json=community(platform_community_server_id=known)).status_code == 409


def test_renaming_stays_within_the_keys_communities(api: Api, foreign_api: Api) -> None:
    body = {"name": "Mine now"}
    for path in ("forum-1/name", "forum-1/name?platform=discourse", "nowhere/name", "%00/name?platform=x"):
        assert foreign_api.patch(f"{COMMUNITIES}/{path}", json=body).status_code == 404, path
    assert api.patch(f"{COMMUNITIES}/forum-1/name?platform=discord", json=body).status_code == 404
    for bad in ({}, {"name": ""}, {"name": "x", "server_stats": [1]}, {"name": "x", "stats": {}}):
        assert api.patch(f"{COMMUNITIES}/forum-1/name", json=bad).status_code == 422, bad
    assert api.patch(f"{COMMUNITIES}/forum-1/name?platform=Big", json=body).status_code == 422


def test_an_id_with_a_slash_is_an_id_too(opener: Api) -> None:
    for platform_id, written in (
        ("group/sub", "group%2Fsub"),
        ("group/ai-notes", "group%2Fai-notes"),
        ("group/name", "group%2Fname"),
    ):
        made = opener.post(COMMUNITIES, json=community(platform_community_server_id=platform_id))
        renamed = opener.patch(f"{COMMUNITIES}/{written}/name", json={"name": "Other"})
        assert (renamed.status_code, renamed.json["id"]) == (200, made.json["id"]), platform_id


def test_the_rating_thresholds_are_those_in_force(api: Api, wiring: Wiring, cast: Cast) -> None:
    path = "/api/v1/config/rating-thresholds"
    assert api.get(path).json == {"min_ratings_needed": 5, "min_raters_per_note": 5}
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"min_ratings": 7}
    assert api.get(path).json == {"min_ratings_needed": 7, "min_raters_per_note": 7}


@pytest.mark.both_databases
def test_the_analysis_counts_what_is_in_the_database(api: Api, wiring: Wiring, cast: Cast) -> None:
    path = f"/api/v2/community-servers/{cast.community_id}/scoring-analysis"
    empty = api.get(path).json
    assert set(empty["activity"].values()) == {0}
    assert empty["consensus"]["agreement"] is None
    assert empty["classification"] == {}
    assert empty["top_reviewers"] == []
    agreed = scored_action(wiring, cast, request_id="agreed")
    rate(wiring, cast, agreed, "HHHHHHHHSN")
    rate(wiring, cast, scored_action(wiring, cast, request_id="refused"), "NNNNN")
    scored_action(wiring, cast, request_id="waiting")
    api.submit("harmless", HARMLESS)
    api.submit("gone", HARMLESS)
    api.delete("/requests/gone")
    full = api.get(path).json
    assert full["activity"] == {
        "requests": 4,
        "requests_last_7_days": 4,
        "actions": 3,
        "notes": 3,
        "ratings": 15,
        "ratings_last_7_days": 15,
        "raters": 10,
    }
    assert list(full["classification"].values()) == [3]
    assert full["consensus"] == {
        "in_review": 1,
        "second_look": 0,
        "decided_in_review": 2,
        "decided_to_act": 1,
        "decided_not_to_act": 1,
        "notes_needing_ratings": 1,
        "notes_helpful": 1,
        "notes_not_helpful": 1,
        "agreement": round(13 / 14, 4),
    }
    reviewers = {one["username"]: (one["review_count"], one["accuracy"]) for one in full["top_reviewers"]}
    assert reviewers["rater-0"] == (2, 1.0)
    assert reviewers["rater-8"] == (1, None), "who rated somewhat helpful took no side"
    assert reviewers["rater-9"] == (1, 0.0)
    assert [one["review_count"] for one in full["top_reviewers"]] == [2] * 5 + [1] * 5


def test_the_analysis_costs_the_same_queries_and_stays_within_the_keys_communities(
    api: Api, foreign_api: Api, wiring: Wiring, cast: Cast, counting: Callable[[], Any]
) -> None:
    path = f"/api/v2/community-servers/{cast.community_id}/scoring-analysis"
    api.get(path)
    with counting() as few:
        api.get(path)
    rate(wiring, cast, scored_action(wiring, cast), "HNHN")
    with counting() as many:
        api.get(path)
    assert few.count == many.count, many.statements
    assert foreign_api.get(path).status_code == 404
    assert api.get(path.replace(str(cast.community_id), str(uuid.uuid4()))).status_code == 404


def test_what_is_public_answers_under_the_second_prefix_with_links_of_its_own(
    api: Api, decide: Callable[..., None]
) -> None:
    decide("spam")
    for path in ("/moderation-actions", "/requests/spam", "/community-servers/forum-1"):
        ours, theirs = api.get(path), api.get(f"/api/v2{path}")
        assert theirs.status_code == 200
        assert theirs.json["data"] == ours.json["data"]
        assert theirs.json["links"]["self"].startswith("http://localhost/api/v2/")
    assert api.get("/api/v2/requests", instead={}).status_code == 401
    assert api.get("/api/v2/openapi.json", instead={}).text == api.get("/openapi.json", instead={}).text


def test_nobody_enters_without_an_adapter_key(api: Api, app: Flask, cast: Cast) -> None:
    paths = [rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("field_clients.")]
    assert len(paths) == 4
    metrics = {"Authorization": f"Bearer {cast.metrics_key}"}
    for rule in paths:
        path = rule.rule.replace("<path:platform_community_server_id>", "forum-1")
        path = path.replace("<reference>", "forum-1")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            assert api.call(method, path, instead={}, json={}).status_code == 401, path
            assert api.call(method, path, instead=metrics, json={}).status_code == 403, path
            reader = api.call(method, path, instead=cast.read_only_headers, json={})
            assert reader.status_code == (200 if method == "GET" else 403), path


def test_they_are_documented_apart(api: Api) -> None:
    paths = api.get("/openapi.json").json["paths"]
    tagged = {
        re.sub(r"{\w+}", "{}", path)
        for path, item in paths.items()
        for operation in item.values()
        if operation.get("tags") == ["Clients in the field"]
    }
    assert tagged == {
        COMMUNITIES,
        f"{COMMUNITIES}/{{}}/name",
        "/api/v1/config/rating-thresholds",
        "/api/v2/community-servers/{}/scoring-analysis",
    }
    created = paths[COMMUNITIES]["post"]["responses"]["201"]["content"]
    assert set(created) == {"application/json"}
