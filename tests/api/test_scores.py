"""Scores at once: what a submission would be scored with, for keys that may do no more, and nothing stored."""

import json
from typing import Any

import pytest
import sqlalchemy as sa

from app.api import scores as scores_api
from app.api.blueprints import ALIAS_PREFIX, PREFIX
from app.core import limits
from app.core.db import Base
from app.core.models import Score
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.requests import text_scores
from app.core.requests.text_scores import Scorers
from app.core.rulesets import drafts
from app.core.upkeep import community_revisions
from app.core.vocabulary import KeyTemplate
from app.settings import Settings
from app.throttle import Throttle
from app.wiring import Wiring
from tests.api.conftest import HARMLESS, INSULT, SPAM, Api, acting, problem_of
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.stub_services import HIGH, status
from tests.unit.services.conftest import QUIET, Stage, stage  # noqa: F401 - a fixture

TOUR = "Come on a HARBOUR... tour with us, it is lovely"
ATTRIBUTES = ["body", "data", "attributes"]


def body(*texts: str, **attributes: Any) -> dict[str, Any]:
    return {"data": {"type": "scores", "attributes": {"texts": list(texts), **attributes}}}


def results(api: Api, *texts: str, **attributes: Any) -> list[dict[str, Any]]:
    answer = api.post("/scores", json=body(*texts, **attributes))
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json["data"]["attributes"]["results"]
    return found


def by_category(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["category"]: one for one in result["scores"]}


def rows(wiring: Wiring) -> dict[str, int]:
    """How many rows each table has."""
    with wiring.database.reading() as session:
        return {
            table.name: session.scalar(sa.select(sa.func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


@pytest.fixture
def only_scores(api: Api, wiring: Wiring, cast: Cast) -> Api:
    """API client with a Scores only key of the home community."""
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Comments", KeyTemplate.SCORES, [cast.community_id]).text
    return Api(api.client, {"X-API-Key": key})


@pytest.mark.both_databases
def test_a_text_gets_the_scores_that_a_submission_of_it_gets(
    api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    for number, text in enumerate(
        [INSULT, SPAM, HARMLESS, f'He wrote: "{SPAM}"', "Ｙｏｕ ａｒｅ ａｎ i d i o t"]
    ):
        api.submit(f"post-{number}", text)
        jobs.run_all()
        with wiring.database.reading() as session:
            latest = session.scalars(sa.select(Score).order_by(Score.id.desc()).limit(1)).one().request_id
            stored = session.scalars(
                sa.select(Score).where(Score.request_id == latest, Score.is_highest)
            ).all()
        (result,) = results(api, text, community_server_id="forum-1")
        found = by_category(result)
        assert {row.category: (row.score, row.classifier, row.classifier_version) for row in stored} == {
            name: (one["score"], one["scorer"], one["version"]) for name, one in found.items()
        }


def test_passages_are_in_code_points_of_the_text_as_it_was_sent(api: Api) -> None:
    text = "🦜🦜 Ｃasino bonus! <b>Buy 10,000 followers</b> now"
    (result,) = results(api, text, categories=["spam"])
    (spam,) = result["scores"]
    assert spam["scorer"] == "builtin.rules"
    marked = [text[one["start"] : one["end"]] for one in spam["passages"]]
    assert "Ｃasino bonus" in marked
    assert any("followers" in part and "🦜" not in part for part in marked)


def test_results_are_in_the_order_of_up_to_a_hundred_texts(api: Api) -> None:
    texts = [f"{INSULT} {number}" if number % 3 == 0 else f"{HARMLESS} {number}" for number in range(100)]
    found = results(api, *texts, categories=["toxicity"])
    assert [by_category(one)["toxicity"]["score"] > 0.5 for one in found] == [n % 3 == 0 for n in range(100)]
    assert all(one["not_scored"] == [] for one in found)


def test_a_community_scores_with_its_own_rules_too(
    api: Api, wiring: Wiring, cast: Cast, foreign_api: Api
) -> None:
    rule = {"id": "ads.tour", "category": "ads", "kind": "phrase", "pattern": "harbour tour", "weight": 0.8}
    with wiring.database.writing() as session:
        drafts.put_rule(session, SYSTEM, cast.community_id, rule)
        drafts.publish(session, SYSTEM, cast.community_id, "Tours")
    for reference in ("forum-1", str(cast.community_id)):
        (result,) = results(api, TOUR, community_server_id=reference, categories=["ads", "spam"])
        ads = by_category(result)["ads"]
        assert (ads["score"], ads["scorer"]) == (0.8, "community.rules")
        assert [TOUR[one["start"] : one["end"]] for one in ads["passages"]] == ["HARBOUR... tour"]
    (plain,) = results(api, TOUR)
    assert "ads" not in by_category(plain)
    assert "misinformation" not in plain["not_scored"]
    assert problem_of(api.post("/scores", json=body(TOUR, categories=["ads"])))["loc"][-1] == 0
    assert foreign_api.post("/scores", json=body(TOUR, community_server_id="forum-1")).status_code == 404


def test_what_no_scorer_reads_is_said_not_to_be_scored(api: Api) -> None:
    japanese = "これはとても長い日本語の文章です。今日は天気がいいですね。"
    (detected,), (named,) = results(api, japanese), results(api, HARMLESS, language="ja")
    assert {"toxicity", "hate", "threat", "misinformation"} <= set(detected["not_scored"])
    assert not set(detected["not_scored"]) & set(by_category(detected))
    assert named["not_scored"] == ["misinformation"], (
        "the rules read English, the model looks at each sentence"
    )
    assert results(api, HARMLESS)[0]["not_scored"] == []


@pytest.mark.parametrize(
    ("attributes", "loc"),
    [
        ({"texts": []}, ["texts"]),
        ({"texts": ["a"] * 101}, ["texts"]),
        ({"texts": "a"}, ["texts"]),
        ({"texts": ["a", "b" * 50_001]}, ["texts", 1]),
        ({"texts": ["a", " \n"]}, ["texts", 1]),
        ({"texts": ["a", ""]}, ["texts", 1]),
        ({"texts": ["a", 7]}, ["texts", 1]),
        ({"texts": ["\x00"]}, ["texts", 0]),
        ({}, ["texts"]),
        ({"texts": ["a"], "text": "b"}, ["text"]),
        ({"texts": ["a"], "categories": ["spam", "weather"]}, ["categories", 1]),
        ({"texts": ["a"], "categories": ["Spam!"]}, ["categories", 0]),
        ({"texts": ["a"], "language": "English"}, ["language"]),
        ({"texts": ["a"], "community_server_id": ""}, ["community_server_id"]),
    ],
)
def test_a_bad_value_is_named_with_its_place(api: Api, attributes: dict[str, Any], loc: list[Any]) -> None:
    answer = api.post("/scores", json={"data": {"type": "scores", "attributes": attributes}})
    assert problem_of(answer)["loc"] == ATTRIBUTES + loc


def test_bodies_are_those_of_the_rest_of_the_interface(api: Api) -> None:
    many = problem_of(api.post("/scores", json=body(*[" "] * 100)))
    assert many["loc"] == [*ATTRIBUTES, "texts", 0]
    assert len(api.post("/scores", json=body(*[" "] * 100)).json["detail"]) == 20
    with_id = {"data": {"type": "scores", "id": "1", "attributes": {"texts": ["a"]}}}
    assert api.post("/scores", json=with_id).status_code == 403
    assert api.post("/scores", data='{"data": ' + "[" * 100 + "]" * 100 + "}").status_code == 415
    deep = {"content_type": "application/json"}
    assert api.post("/scores", data='{"data": ' + "[" * 100_000, **deep).status_code == 400
    assert api.post("/scores", data="[" * 65 + "]" * 65, **deep).status_code == 400
    assert api.get("/scores").status_code == 405
    assert api.call("POST", f"{ALIAS_PREFIX}/scores", json=body(HARMLESS)).status_code == 200


def test_a_body_may_be_larger_than_others_up_to_its_own_limit(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        text_scores.score_texts, "__kwdefaults__", {"processor_seconds": 0.0, "seconds": 10.0}
    )
    texts = [f"{HARMLESS}. " * 1_400] * 50
    assert len(json.dumps(body(*texts))) > 2 * limits.BODY_MAX_BYTES
    answer = api.post("/scores", json=body(*texts))
    assert answer.status_code == 200
    assert answer.json["meta"] == {"not_reached": 49}
    first, *others = answer.json["data"]["attributes"]["results"]
    assert first["scores"]
    assert {"toxicity", "spam"} <= set(others[-1]["not_scored"])
    assert all(one["scores"] == [] for one in others)
    too_large = api.post(
        "/scores", data=b" " * (limits.SCORES_BODY_MAX_BYTES + 1), content_type="application/json"
    )
    assert too_large.status_code == 413
    assert api.post("/requests", data=b" " * (limits.BODY_MAX_BYTES + 1)).status_code == 413


@pytest.mark.parametrize(
    ("part", "says"),
    [(b"[],", "bytes beside its strings"), (b"1,", "bytes beside its strings"), (b'"",', "strings")],
)
def test_a_large_body_is_large_for_its_texts(api: Api, part: bytes, says: str) -> None:
    raw = b"[" + part * (limits.SCORES_BODY_MAX_BYTES // len(part) - 2) + b"0]"
    for path in (f"{PREFIX}/scores", "/v1/moderations"):
        answer = api.client.post(path, data=raw, headers=api.headers, content_type="application/json")
        assert answer.status_code == 400
        assert answer.text.rstrip('"}]').find(says) > 0, answer.text
    escaped = json.dumps(body('"\\' * 20_000)).ljust(2 * limits.BODY_MAX_BYTES).encode()
    assert api.post("/scores", data=escaped, content_type="application/json").status_code == 400
    spaced = json.dumps(body('"\\' * 20_000)).ljust(limits.BODY_MAX_BYTES + 50_000).encode()
    assert api.post("/scores", data=spaced, content_type="application/json").status_code == 200


def test_large_calls_leave_a_thread_to_others(api: Api, wiring: Wiring) -> None:
    slots = scores_api._slots(max(1, wiring.settings.web_threads - 1))
    large = body(f"{HARMLESS}. " * 1_000)
    held = 0
    while slots.acquire(blocking=False):
        held += 1
    try:
        refused = api.post("/scores", json=large)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert results(api, HARMLESS)[0]["scores"]
    finally:
        slots.release(held)
    assert held == wiring.settings.web_threads - 1
    assert api.post("/scores", json=large).status_code == 200, "and the place is given back"
    assert api.post("/scores", json=large).status_code == 200


@pytest.mark.both_databases
def test_nothing_is_stored(only_scores: Api, api: Api, wiring: Wiring, cast: Cast) -> None:
    before = rows(wiring)
    named = acting("stranger", Username="Stranger", Trust_Level="2")
    for client in (only_scores, api):
        for call in (body(INSULT, SPAM), body(INSULT, community_server_id="forum-1")):
            assert client.post("/scores", json=call, headers=named).status_code == 200
        assert client.post("/scores", json=body(" ")).status_code == 422
        assert client.post("/scores", json=body(INSULT, community_server_id="forum-99")).status_code == 404
    assert rows(wiring) == before


@pytest.mark.both_databases
def test_a_service_that_fails_leaves_nothing_behind_but_the_days_account(
    api: Api,
    stage: Stage,  # noqa: F811
) -> None:
    stage.add()
    stage.require("review")
    before = rows(stage.wiring)
    (result,) = results(api, QUIET, community_server_id="forum-1")
    assert by_category(result)["toxicity"]["score"] == HIGH
    assert by_category(result)["toxicity"]["scorer"] == "service.own"
    assert result["not_scored"] == []
    opened = {"connected_service_days": 1}
    assert {
        name: count - before[name] for name, count in rows(stage.wiring).items() if count != before[name]
    } == opened
    before = rows(stage.wiring)
    stage.stub.fail(status(500))
    failed, other = results(api, f"{QUIET} again", f"{QUIET} and again", community_server_id="forum-1")
    assert failed["not_scored"] == other["not_scored"] == ["toxicity"], (
        "a scorer that must be heard is missing"
    )
    assert by_category(failed)["toxicity"]["scorer"] != "service.own"
    assert rows(stage.wiring) == before
    assert len(stage.stub.seen) > 2


def test_a_key_for_scores_reaches_nothing_else(only_scores: Api, cast: Cast) -> None:
    assert results(only_scores, INSULT, community_server_id="forum-1")
    assert only_scores.post("/scores", json=body(INSULT, community_server_id="forum-2")).status_code == 404
    some_id = str(cast.community_id)
    asked = 0
    for rule in only_scores.client.application.url_map.iter_rules():
        if not rule.rule.startswith(("/api/", "/webhooks", "/metrics")) or rule.endpoint.startswith(
            ("documents.", "docs_page.", "scores.", "scores_alias.")
        ):
            continue
        _, path = rule.build(dict.fromkeys(rule.arguments, some_id)) or (None, "")
        for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}:
            answer = only_scores.client.open(path, method=method, headers=only_scores.headers)
            assert (answer.status_code, answer.json["detail"]) == (403, "API key lacks required scope"), path
            asked += 1
    assert asked > 60


def test_keys_that_may_not_change_anything_may_not_score(api: Api, cast: Cast) -> None:
    for key, detail in (
        (cast.read_only_key, "This API key may only read"),
        (cast.metrics_key, "API key lacks required scope"),
    ):
        answer = api.post("/scores", json=body(HARMLESS), instead={"X-API-Key": key})
        assert (answer.status_code, answer.json["detail"]) == (403, detail)
    assert api.post("/scores", json=body(HARMLESS), instead={}).status_code == 401


def test_scores_have_a_quota_of_their_own(api: Api, wiring: Wiring, settings: Settings) -> None:
    limited = {"rate_limit_enabled": True, "rate_limit_scores": "2 per minute"}
    wiring.throttle = Throttle.from_settings(settings.model_copy(update=limited))
    answers = [api.post("/scores", json=body(HARMLESS)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].headers["RateLimit-Policy"] == '"scores";q=2;w=60'
    assert api.get("/requests").status_code == 200


def test_an_archived_community_is_not_scored_for(api: Api, wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        community_revisions.archive(session, SYSTEM, cast.community_id, "Over")
    answer = api.post("/scores", json=body(HARMLESS, community_server_id="forum-1"))
    assert (answer.status_code, "archived" in answer.json["detail"]) == (403, True)
    assert results(api, HARMLESS)


def test_the_time_of_a_call_ends_between_two_texts(wiring: Wiring) -> None:
    scorers = Scorers(wiring.classifiers, [])
    categories = scorers.known(())
    given = [HARMLESS] * 3
    context = text_scores.Context()
    for budget in ({"processor_seconds": 0.0}, {"seconds": 0.0}):
        found = list(text_scores.score_texts(scorers, given, context, categories, **budget))
        assert [one.was_reached for one in found] == [True, False, False]
    assert all(one.was_reached for one in text_scores.score_texts(scorers, given, context, categories))
