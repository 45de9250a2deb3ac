"""A refusal is short, whatever is refused: at most 20 problems, each with little of what was sent."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.api.blueprints import PREFIX
from app.api.parse import ITEMS_MAX
from tests.api.conftest import Api, submission
from tests.api.test_webhooks import registration

# What is refused here never reaches the database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

LARGEST_ANSWER = 64 * 1024
THOUSAND = {f"stranger_{number}": number for number in range(1_000)}
STRANGERS = {f"stranger_{number}": number for number in range(10_000)}
EMOJI = "\N{FACE WITH TEARS OF JOY}"


def refused(answer: TestResponse) -> list[dict[str, Any]]:
    """The problems of a 422, which is short."""
    assert answer.status_code == 422, answer.text[:500]
    assert len(answer.data) <= LARGEST_ANSWER
    problems: list[dict[str, Any]] = answer.json["detail"]  # type: ignore[index]
    assert 1 <= len(problems) <= 20
    return problems


def assert_tells_of(problems: list[dict[str, Any]], total: int) -> None:
    """All but the last are real, and the last says how many there are beside them."""
    assert len(problems) == 20
    assert [one for one in problems[:-1] if one["type"] == "too_many_problems"] == []
    assert problems[-1]["type"] == "too_many_problems"
    assert problems[-1]["loc"] == [problems[0]["loc"][0]]
    assert problems[-1]["msg"] == f"{total - 19:,} more problems are not listed"
    assert problems[-1]["input"] is None


def bodies(app: Flask) -> Iterator[tuple[str, str, str | None, bool, bool]]:
    """Every operation that takes a body.

    Method, path, the type of its document, whether that has an id, and whether a plain object will do.
    """
    document = app.test_client().get(f"{PREFIX}/openapi.json").json
    assert document is not None
    schemas = document["components"]["schemas"]

    def component(schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = schemas[schema["$ref"].rpartition("/")[2]]
        return schema

    for path, item in document["paths"].items():
        for method, operation in item.items():
            if "requestBody" not in operation:
                continue
            content = next(iter(operation["requestBody"]["content"].values()))
            schema = component(content["schema"])
            forms = schema.get("anyOf", [schema])
            wrapped = component(forms[0])["properties"].get("data")
            if wrapped and wrapped.get("type") == "array":
                continue  # the problems of each item are limited, not those of the call
            members = component(wrapped)["properties"] if wrapped else {}
            kind = members["type"]["const"] if wrapped else None
            has_id = "id" in members
            whole = "/".join(str(uuid.uuid4()) if "{" in part else part for part in path.split("/"))
            yield method.upper(), whole, kind, has_id, kind is None or len(forms) > 1


def test_every_body_with_a_thousand_unknown_attributes_gets_twenty_problems(api: Api, app: Flask) -> None:
    operations = list(bodies(app))
    assert len(operations) >= 12
    for method, path, kind, has_id, is_plain in operations:
        ids = [part for part in path.split("/") if len(part) == 36]
        if kind is not None:
            named = {"id": ids[0]} if has_id and ids else {}
            data = {"type": kind, "attributes": THOUSAND, **named}
            problems = refused(api.call(method, path, json={"data": data}))
            assert problems[-1]["type"] == "too_many_problems", path
            assert problems[-1]["loc"] == ["body"]
            assert_tells_of(refused(api.call(method, path, json={"data": data | THOUSAND})), 1_000)
            assert_tells_of(refused(api.call(method, path, json={"data": data} | THOUSAND)), 1_000)
        if is_plain:
            problems = refused(api.call(method, path, json=THOUSAND))
            assert problems[-1]["type"] == "too_many_problems", path


def test_the_rest_is_counted(api: Api) -> None:
    twenty = {f"stranger_{number}": number for number in range(20)}
    assert len(refused(api.post("/requests", json=submission("post-1", **twenty)))) == 20
    assert {one["type"] for one in refused(api.post("/requests", json=submission("post-1", **twenty)))} == {
        "extra_forbidden"
    }
    assert_tells_of(refused(api.post("/requests", json=submission("p", **twenty, one_more=1))), 21)
    both = submission("", **STRANGERS)  # its request_id is too short, and is named first
    problems = refused(api.post("/requests", json=both))
    assert problems[0]["loc"] == ["body", "data", "attributes", "request_id"]
    assert_tells_of(problems, 10_001)


@pytest.mark.parametrize("item", [1, {}, None, "no.event", ["x"], {"a": {"b": "c"}}], ids=str)
def test_a_megabyte_of_bad_items_is_one_problem(api: Api, item: Any) -> None:
    events = [item] * (900_000 // (len(json.dumps(item)) + 2))
    (problem,) = refused(api.post("/webhooks/register", json=registration(events=events)))
    assert problem["type"] == "too_long"
    assert problem["loc"] == ["body", "events"]
    assert f"{len(events):,}" in problem["msg"]


@pytest.mark.parametrize("item", [1, "no.event"], ids=str)
def test_a_list_of_as_many_as_may_be_checked_gets_twenty_problems(api: Api, item: Any) -> None:
    problems = refused(api.post("/webhooks/register", json=registration(events=[item] * ITEMS_MAX)))
    assert problems[0]["loc"] == ["body", "events", 0]
    assert_tells_of(problems, ITEMS_MAX)


LARGE = {
    "a long text": "x" * 900_000,
    "emoji": EMOJI * 80_000,
    "control characters": "\x01" * 100_000,
    "many members": {f"name-{number}": "x" * 80 for number in range(9_000)},
    "many items": ["x" * 80] * 9_000,
    "many numbers": [123456789.125] * 60_000,
    "a wide tree": {f"a{a}": {f"b{b}": ["x" * 450] * 2 for b in range(30)} for a in range(30)},
    "long names": {"n" * 40_000 + str(number): 1 for number in range(20)},
}


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE)
def test_of_what_was_sent_an_answer_repeats_little(api: Api, value: Any) -> None:
    # Where an attribute is missing, what stands there is all the others: the large one too.
    whole = submission("post-1", metadata=value if isinstance(value, dict) else {"deep": value})
    for name in ("request_id", "requested_by", "community_server_id", "original_message_content"):
        del whole["data"]["attributes"][name]
    assert len(refused(api.post("/requests", json=whole))) == 4
    # As an unknown attribute, in the place of every other, and as the body itself.
    few = {f"stranger_{number}": value for number in range(1)}
    refused(api.post("/requests", json=submission("post-1", **few)))
    refused(api.post("/requests", json=submission(value)))  # type: ignore[arg-type]
    refused(api.post("/requests", json={"data": value}))
    refused(api.post("/webhooks/register", json=value if isinstance(value, list) else [value]))


def test_a_large_metadata_object_is_one_problem(api: Api) -> None:
    metadata = {f"name-{number}": ["x" * 50] for number in range(9_000)}
    (problem,) = refused(api.post("/requests", json=submission("post-1", metadata=metadata)))
    assert problem["loc"] == ["body", "data", "attributes", "metadata"]


def test_an_unknown_attribute_with_an_endless_name_is_cut(api: Api) -> None:
    many = {f"{number}-" + "n" * 30_000: 1 for number in range(30)}
    problems = refused(api.post("/requests", json=submission("post-1", **many)))
    assert_tells_of(problems, 30)
    assert problems[0]["loc"][-1].startswith("0-nnn")


def test_queries_are_answered_shortly(api: Api) -> None:
    strangers = "&".join(f"stranger_{number}={number}" for number in range(3_000))
    assert api.get(f"/notes?{strangers}").status_code == 200
    people = ",".join(f"user-{number}" for number in range(5_000))
    (problem,) = refused(api.get(f"/notes?filter[rater_id__not_in]={people}&{strangers}"))
    assert problem["loc"] == ["query", "filter[rater_id__not_in]"]
    assert len(problem["input"]) < 600
    every = "&".join(
        f"{name}={'x' * 9_000}"
        for name in (
            "filter[status]",
            "filter[community_server_id]",
            "filter[requested_at__gte]",
            "filter[requested_at__lte]",
            "page[number]",
            "page[size]",
        )
    )
    assert len(refused(api.get(f"/requests?{every}"))) == 6
    unknown = api.get(f"/requests?filter[{'x' * 60_000}]=1")
    assert unknown.status_code == 400
    assert len(unknown.data) < 1_000
