"""Scores in the shapes of Perspective and OpenAI: what their clients send, and what these read of the answers."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.core import limits
from app.core.classify.vendor_names import OPENAI, PERSPECTIVE
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.requests import text_scores
from app.core.rulesets import drafts
from app.core.vocabulary import KeyTemplate
from app.process.logs import configure
from app.settings import Settings
from app.throttle import Throttle
from app.wiring import Wiring
from tests.api.conftest import HARMLESS, INSULT, SPAM, Api
from tests.api.test_scores import rows
from tests.cast import Cast
from tests.stub_services import status
from tests.unit.services.conftest import QUIET, Stage, stage  # noqa: F401 - a fixture

ANALYZE = "/v1alpha1/comments:analyze"
SUGGEST = "/v1alpha1/comments:suggestscore"
MODERATIONS = "/v1/moderations"
PAGE = Path(__file__).parents[2] / "docs" / "doors.md"


class Doors:
    """A client with the key that one integration has for scores."""

    def __init__(self, api: Api, key: str) -> None:
        self.client, self.key = api.client, key

    def analyze(self, text: Any, *attributes: str, **members: Any) -> TestResponse:
        asked = {name: {} for name in attributes or ("TOXICITY",)}
        sent = {"comment": {"text": text}, "requestedAttributes": asked, **members}
        return self.client.post(ANALYZE, query_string={"key": self.key}, json=sent)

    def moderate(self, given: Any, **members: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.key}"}
        return self.client.post(MODERATIONS, headers=headers, json={"input": given, **members})


@pytest.fixture
def doors(api: Api, wiring: Wiring, cast: Cast) -> Doors:
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Comments", KeyTemplate.SCORES, [cast.community_id]).text
    return Doors(api, key)


def native(doors: Doors, text: str) -> dict[str, float]:
    attributes = {"texts": [text], "community_server_id": "forum-1"}
    answer = doors.client.post(
        "/api/public/v1/scores",
        headers={"X-API-Key": doors.key},
        json={"data": {"type": "scores", "attributes": attributes}},
    )
    (result,) = answer.json["data"]["attributes"]["results"]
    return {one["category"]: one["score"] for one in result["scores"]}


def error_of(answer: TestResponse, code: int = 400) -> dict[str, Any]:
    assert answer.status_code == code, answer.text
    assert answer.mimetype == "application/json"
    assert set(answer.json) == {"error"}
    error: dict[str, Any] = answer.json["error"]
    return error


@pytest.mark.parametrize("text", [INSULT, SPAM, HARMLESS])
def test_every_attribute_is_the_score_of_its_category(doors: Doors, text: str) -> None:
    answer = doors.analyze(text, *PERSPECTIVE, clientToken="comment:7")
    scores = native(doors, text)
    assert answer.status_code == 200
    for name, ours in PERSPECTIVE.items():
        number = {"value": scores[str(ours.category)], "type": "PROBABILITY"}
        assert answer.json["attributeScores"][name] == {
            "summaryScore": number,
            "spanScores": [{"begin": 0, "end": len(text), "score": number}],
        }
    assert answer.json["clientToken"] == "comment:7"
    assert answer.json["languages"] == answer.json["detectedLanguages"] == ["en"]


def test_spans_are_the_passages_that_were_matched_where_they_are_asked_for(doors: Doors) -> None:
    text = f"🦜 {SPAM}"
    answer = doors.analyze(text, "SPAM", spanAnnotations=True)
    spans = answer.json["attributeScores"]["SPAM"]["spanScores"]
    assert len(spans) > 1
    assert all("🦜" not in text[span["begin"] : span["end"]] for span in spans)


def test_scores_below_a_threshold_are_left_out(doors: Doors) -> None:
    asked = {"TOXICITY": {"scoreThreshold": 0.99}, "SPAM": {"scoreThreshold": 0, "scoreType": "PROBABILITY"}}
    answer = doors.analyze(INSULT, requestedAttributes=asked)
    assert set(answer.json["attributeScores"]) == {"SPAM"}
    none = doors.analyze(INSULT, requestedAttributes={"TOXICITY": {"scoreThreshold": 1}})
    assert none.status_code == 200
    assert "attributeScores" not in none.json


@pytest.mark.parametrize(
    ("sent", "message", "kind"),
    [
        (
            {"requestedAttributes": {"FLIRTATION": {}}},
            "Unknown requested attribute: FLIRTATION",
            "INVALID_REQUEST",
        ),
        ({"requestedAttributes": {}}, "Missing requested_attributes", "NO_REQUESTED_ATTRIBUTES"),
        ({"comment": {"text": " "}}, "Comment must be non-empty.", "COMMENT_EMPTY"),
        ({"comment": {}}, "Comment must be non-empty.", "COMMENT_EMPTY"),
        ({"comment": {"text": "a" * 50_001}}, "Comment text too long.", "COMMENT_TOO_LONG"),
        (
            {"requestedAttributes": {"SPAM": {"scoreType": "RANK"}}},
            "Requested score type RANK is not supported by attribute SPAM",
            "INVALID_REQUEST",
        ),
    ],
)
def test_a_comment_that_cannot_be_scored_gets_perspectives_error(
    doors: Doors, sent: dict[str, Any], message: str, kind: str
) -> None:
    error = error_of(doors.analyze(HARMLESS, **sent))
    assert (error["code"], error["status"], error["message"]) == (400, "INVALID_ARGUMENT", message)
    assert [detail["errorType"] for detail in error["details"]] == [kind]


def test_an_attribute_that_is_not_scored_in_a_language_is_said_to_be_so(doors: Doors) -> None:
    text = "これはとても長い日本語の文章です。今日は天気がいいですね。"
    error = error_of(doors.analyze(text, "THREAT", "SPAM", "TOXICITY"))
    assert error["message"] == "Attribute THREAT does not support request languages: ja"
    found = [detail["languageNotSupportedByAttributeError"] for detail in error["details"]]
    assert found == [{"detectedLanguages": ["ja"], "attribute": name} for name in ("THREAT", "TOXICITY")]
    assert doors.analyze(text, "SPAM").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 70 + b"]" * 70,
        b'{"comment": 7}',
        b'{"comment": {"text": "a\\u0000"}, "requestedAttributes": {"SPAM": {}}}',
        b'{"comment": {"text": "a\\ud800"}, "requestedAttributes": {"SPAM": {}}}',
        b'{"comment": {"text": "a"}, "requestedAttributes": {"SPAM": 1}}',
        b'{"comment": {"text": "a"}, "requestedAttributes": ["SPAM"]}',
        b'{"comment": {"text": "a"}, "requestedAttributes": {"SPAM": {}}, "languages": ["English!"]}',
    ],
)
def test_what_cannot_be_read_is_refused_in_the_shape_of_the_door(doors: Doors, body: bytes) -> None:
    for path in (ANALYZE, MODERATIONS):
        answer = doors.client.post(path, data=body, headers={"X-API-Key": doors.key})
        error = error_of(answer)
        assert error["message"]
        assert {"code", "message"} <= set(error)
        assert "a\x00" not in answer.text


def test_a_suggested_score_is_answered_and_dropped(doors: Doors, wiring: Wiring) -> None:
    before = rows(wiring)
    sent = {
        "comment": {"text": INSULT},
        "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}},
        "languages": ["en"],
        "communityId": "Coral:https://forum.example",
        "clientToken": "comment:7",
    }
    answer = doors.client.post(SUGGEST, query_string={"key": doors.key}, json=sent)
    assert (answer.status_code, answer.json) == (
        200,
        {"clientToken": "comment:7", "requestedLanguages": ["en"]},
    )
    assert doors.analyze(INSULT).status_code == 200
    assert doors.moderate([INSULT, SPAM]).status_code == 200
    assert rows(wiring) == before


def test_strings_get_one_result_each_and_typed_parts_get_one_together(doors: Doors) -> None:
    answer = doors.moderate([INSULT, HARMLESS, INSULT], model="omni-moderation-latest")
    assert answer.json["id"].startswith("modr-")
    assert [one["flagged"] for one in answer.json["results"]] == [True, False, True]
    alone = doors.moderate(INSULT, model="text-moderation-stable").json
    assert len(alone["results"]) == 1
    assert alone["model"].startswith("bridgenote-"), "the model that scored, whatever was asked for"
    parts = [{"type": "text", "text": HARMLESS}, {"type": "text", "text": INSULT}]
    (together,) = doors.moderate(parts).json["results"]
    assert together["category_scores"]["harassment"] > 0.55


def test_a_category_is_flagged_above_the_communitys_threshold_and_says_whether_it_was_scored(
    doors: Doors,
) -> None:
    (result,) = doors.moderate(INSULT).json["results"]
    scores = native(doors, INSULT)
    for name, ours in OPENAI.items():
        assert result["category_scores"][name] == scores.get(ours.category or "", 0.0)
        assert result["categories"][name] == (scores.get(ours.category or "", 0.0) > 0.55)
        assert result["category_applied_input_types"][name] == (["text"] if ours.category else [])
    assert result["flagged"]


def test_images_are_not_said_to_be_looked_at(doors: Doors) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://forum.example/a.png"}}
    (result,) = doors.moderate([{"type": "text", "text": HARMLESS}, image]).json["results"]
    assert {kind for kinds in result["category_applied_input_types"].values() for kind in kinds} == {"text"}
    error = error_of(doors.moderate([image]))
    assert (
        error["message"]
        == "Invalid value at input: images are not scored here, and there is no text beside them"
    )
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", "input", None)


@pytest.mark.parametrize(
    "given", [[], ["a"] * 101, ["a", 7], [1, 2, 3], "a" * 50_001, ["a\ud800"], [{"type": "video"}], [["a"]]]
)
def test_an_input_that_cannot_be_scored_gets_openais_error(doors: Doors, given: Any) -> None:
    error = error_of(doors.moderate(given))
    assert (error["type"], error["param"]) == ("invalid_request_error", "input")


def test_a_key_of_one_community_is_answered_with_its_rules(
    doors: Doors, api: Api, wiring: Wiring, cast: Cast
) -> None:
    rule = {"id": "hate.tour", "category": "hate", "kind": "phrase", "pattern": "harbour tour", "weight": 0.8}
    with wiring.database.writing() as session:
        drafts.put_rule(session, SYSTEM, cast.community_id, rule)
        drafts.publish(session, SYSTEM, cast.community_id, "Tours")
        both = [cast.community_id, cast.other_community_id]
        wide = Doors(api, keys.mint(session, SYSTEM, "Wide", KeyTemplate.SCORES, both).text)

    def hate(which: Doors, **headers: str) -> float:
        sent = {"comment": {"text": "A harbour tour"}, "requestedAttributes": {"IDENTITY_ATTACK": {}}}
        answer = which.client.post(ANALYZE, headers={"X-API-Key": which.key, **headers}, json=sent)
        value: float = answer.json["attributeScores"]["IDENTITY_ATTACK"]["summaryScore"]["value"]
        return value

    assert hate(doors) == 0.8
    assert hate(wide) < 0.5
    assert hate(wide, **{"X-Adapter-Scope": "forum-1"}) == 0.8


def test_a_required_service_that_fails_is_an_error_and_no_low_score(
    doors: Doors,
    stage: Stage,  # noqa: F811
) -> None:
    stage.add()
    stage.require("review")
    stage.stub.fail(status(500))
    assert error_of(doors.analyze(QUIET), 503)["status"] == "UNAVAILABLE"
    assert error_of(doors.moderate(QUIET), 503)["type"] == "server_error"
    assert doors.analyze(QUIET, "SPAM").status_code == 200


def test_inputs_that_one_call_cannot_finish_are_too_large(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        text_scores.score_texts, "__kwdefaults__", {"processor_seconds": 0.0, "seconds": 10.0}
    )
    assert "send fewer at once" in error_of(doors.moderate([HARMLESS] * 2), 413)["message"]
    large = b" " * (limits.SCORES_BODY_MAX_BYTES + 1)
    headers = {"X-API-Key": doors.key}
    assert error_of(doors.client.post(MODERATIONS, data=large, headers=headers), 413)["code"] is None
    large = b" " * (limits.BODY_MAX_BYTES + 1)
    assert error_of(doors.client.post(ANALYZE, data=large, headers=headers), 413)["code"] == 413


def test_keys_are_refused_in_the_shape_of_the_door(doors: Doors, cast: Cast) -> None:
    sent = {"comment": {"text": "a"}, "requestedAttributes": {"SPAM": {}}}
    wrong = f"bnk_{'0' * 12}_{'a' * 43}"
    for key, code, word in (("", 401, "UNAUTHENTICATED"), (wrong, 401, "UNAUTHENTICATED")):
        assert (
            error_of(doors.client.post(ANALYZE, query_string={"key": key}, json=sent), code)["status"] == word
        )
    only_read = doors.client.post(ANALYZE, query_string={"key": cast.read_only_key}, json=sent)
    assert error_of(only_read, 403)["status"] == "PERMISSION_DENIED"
    assert error_of(doors.client.post(MODERATIONS, json={"input": "a"}), 401)["code"] == "invalid_api_key"
    in_query = doors.client.post(MODERATIONS, query_string={"key": doors.key}, json={"input": "a"})
    assert in_query.status_code == 401, "only clients of Perspective send the key like that"
    assert (
        doors.client.get("/api/public/v1/requests", query_string={"key": cast.adapter_key}).status_code == 401
    )


def test_the_quota_is_that_of_scores(doors: Doors, wiring: Wiring, settings: Settings) -> None:
    limited = {"rate_limit_enabled": True, "rate_limit_scores": "2 per minute"}
    wiring.throttle = Throttle.from_settings(settings.model_copy(update=limited))
    assert doors.analyze(HARMLESS).status_code == doors.moderate(HARMLESS).status_code == 200
    analyzed, moderated = doors.analyze(HARMLESS), doors.moderate(HARMLESS)
    assert error_of(analyzed, 429)["status"] == "RESOURCE_EXHAUSTED"
    assert error_of(moderated, 429)["code"] == "rate_limit_exceeded"
    assert int(moderated.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("path", ["/v1alpha1/comments:forget", "/v1/chat/completions", ANALYZE, MODERATIONS])
def test_other_paths_and_methods_are_refused_in_the_shape_too(doors: Doors, path: str) -> None:
    answer = doors.client.get(path, headers={"X-API-Key": doors.key})
    assert error_of(answer, 405 if path in (ANALYZE, MODERATIONS) else 404)["message"]


def test_the_discovery_document_needs_no_key_and_names_this_host(doors: Doors) -> None:
    document = doors.client.get("/$discovery/rest?version=v1alpha1").json
    assert document["rootUrl"] == "http://localhost/"
    methods = document["resources"]["comments"]["methods"]
    assert {one["path"] for one in methods.values()} == {ANALYZE[1:], SUGGEST[1:]}
    named = set(re.findall(r"'\$ref': '(\w+)'", str(document)))
    assert named == set(document["schemas"]) - {""}
    assert error_of(doors.client.get("/$discovery/rest?version=v2"), 404)["status"] == "NOT_FOUND"
    assert doors.client.get("/$discovery/rest?filter[a]=b").status_code == 400


def test_a_key_in_the_query_reaches_no_log(doors: Doors, app_logs_everything: Path) -> None:
    wrong = f"bnk_{'0' * 12}_{'secretive' * 5}"[:60]
    for key in (doors.key, wrong, "AIzaForeignKeyOfGoogle"):
        doors.client.post(ANALYZE, query_string={"key": key}, json={"comment": {"text": "a"}})
        doors.client.get("/v1alpha1/nowhere", query_string={"key": key})
        doors.client.post(ANALYZE, query_string={"key": key}, data=b"{")
    written = app_logs_everything.read_text()
    assert "/v1alpha1/comments:analyze" in written
    for secret in (doors.key[-43:], "secretive", "AIzaForeign"):
        assert secret not in written


@pytest.fixture
def app_logs_everything(app: Any, tmp_path: Path) -> Any:
    """The file that the log of this test is written to, requests included, at the level DEBUG."""
    file = tmp_path / "all.log"
    root = logging.getLogger()
    before, level = root.handlers, root.level
    app.config["LOG_REQUESTS"] = logging.INFO
    with file.open("w") as stream:
        configure("DEBUG", as_json=True, stream=stream)
        yield file
    root.handlers = before
    root.setLevel(level)


def test_the_page_has_every_name_with_its_category_and_what_it_is_not() -> None:
    page = PAGE.read_text()
    for table in (PERSPECTIVE, OPENAI):
        for name, ours in table.items():
            assert f"| `{name}` | {ours.category or 'none'} | {ours.is_not} |" in page, name
    assert "these are our scores" in page.split("\n\n")[1].split(". ")[0]
