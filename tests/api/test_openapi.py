"""The OpenAPI document: complete, true, and the page for people beside it."""

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import jsonschema_rs
import pytest
import sqlalchemy as sa
from flask import Flask
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from app.api.blueprints import ALIAS_PREFIX, PREFIX
from app.api.documents import parts
from app.core.models import Event
from app.core.vocabulary import EventName
from app.core.webhooks import catalogue, signing
from app.wiring import Wiring
from tests.api.conftest import Api, problem_of
from tests.api.test_webhooks import REGISTER, registration
from tests.inline_engine import InlineEngine

# What the document says does not depend on the database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

DOCUMENT = f"{PREFIX}/openapi.json"
Document = dict[str, Any]
Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture
def document(app: Flask) -> Document:
    response = app.test_client().get(DOCUMENT)
    assert response.status_code == 200
    read: Document = response.json
    return read


def operations(document: Document) -> Iterator[Operation]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def resolve(document: Document, value: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in value:
        found: Any = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        value = found
    return value


def problems(document: Document, schema: dict[str, Any], value: Any) -> list[str]:
    """What is wrong with a value under a schema of the document."""
    whole = schema | {"components": document["components"]}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [f"{list(error.instance_path)}: {error.message}" for error in validator.iter_errors(value)]


def test_the_document_is_openapi_3_1(document: Document) -> None:
    assert [error.message for error in OPENAPI_31_VALIDATOR.iter_errors(document)] == []
    assert document["openapi"].startswith("3.1.")


def test_every_reference_leads_somewhere_and_every_component_is_used(document: Document) -> None:
    used = set(re.findall(r'"\$ref": "(#/components/[^"]+)"', json.dumps(document)))
    known = {
        f"#/components/{kind}/{name}"
        for kind, components in document["components"].items()
        for name in components
        if kind != "securitySchemes"
    }
    assert used == known


def _documented_as(rule: str) -> str:
    path = re.sub(r"<(?:[^<:]+:)?([^>]+)>", r"{\1}", rule)
    if path.startswith(f"{ALIAS_PREFIX}/") and not path.endswith("/scoring-analysis"):
        path = PREFIX + path.removeprefix(ALIAS_PREFIX)
    name = "community_server_id" if "/community-servers/" in path else "request_id"
    return path.replace("{reference}", "{" + name + "}")


def test_every_route_is_documented_and_every_documented_path_is_routed(
    app: Flask, document: Document
) -> None:
    routed = {
        (_documented_as(rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(("/api/", "/webhooks")) and not rule.rule.endswith("/docs")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert {(path, method) for path, method, _ in operations(document)} == routed


def test_every_body_is_a_named_component(document: Document) -> None:
    """Generators of clients name a class after a component; bodies described inline have clashing or no names."""
    bodies = [
        (f"{operation['operationId']} {place}", content["schema"])
        for _, _, operation in operations(document)
        for place, holder in (("request", operation.get("requestBody", {})), *operation["responses"].items())
        for content in resolve(document, holder).get("content", {}).values()
    ]
    assert len(bodies) > 300
    assert [where for where, schema in bodies if set(schema) != {"$ref"}] == []


def test_no_object_is_described_inside_another(document: Document) -> None:
    def inline(schema: Any, where: str) -> Iterator[str]:
        if isinstance(schema, dict):
            if "/" in where and "properties" in schema and isinstance(schema.get("type"), str):
                yield where
            for name, inner in schema.items():
                yield from inline(inner, f"{where}/{name}")
        elif isinstance(schema, list):
            for inner in schema:
                yield from inline(inner, f"{where}[]")

    found = [
        each for name, schema in document["components"]["schemas"].items() for each in inline(schema, name)
    ]
    assert found == []


def test_no_object_has_alternatives_beside_its_members(document: Document) -> None:
    """openapi-python-client makes no class of such a schema: say in the description which members belong together."""
    schemas = document["components"]["schemas"]
    assert [
        name
        for name, schema in schemas.items()
        if "properties" in schema and {"anyOf", "oneOf", "allOf"} & set(schema)
    ] == []


def says_something(name: str, description: str) -> bool:
    """Whether a description has three words beside those of the name and the small ones."""
    words = set(re.findall(r"[a-z0-9]+", description.lower()))
    return len(words - set(re.split(r"\W|_", name.lower())) - {"the", "a", "an", "of", "is", "its"}) >= 3


def test_every_component_and_every_value_is_described_in_words(document: Document) -> None:
    schemas = document["components"]["schemas"]
    values = {(name, ""): schema for name, schema in schemas.items()}
    for name, schema in schemas.items():
        values |= {(name, member): value for member, value in schema.get("properties", {}).items()}
    for _, _, operation in operations(document):
        parameters = [resolve(document, one) for one in operation["parameters"]]
        values |= {(operation["operationId"], one["name"]): one for one in parameters}
    assert len(values) > 700
    assert [
        key for key, value in values.items() if not says_something(key[1], value.get("description", ""))
    ] == []


def test_what_requests_and_responses_share_is_described_alike(document: Document) -> None:
    schemas = document["components"]["schemas"]
    sent, answered = schemas["RequestCreateAttributes"], schemas["RequestAttributes"]
    shared = {"request_id", "requested_by", "platform_message_id", "dataset_item_id", "similarity_score"}
    for name in shared:
        assert sent["properties"][name]["description"] == answered["properties"][name]["description"]


def test_an_attribute_that_may_be_null_is_one_that_is_always_there(document: Document) -> None:
    """Answers leave out what has no value, and give null only where the attribute is required (``jsonapi.shown``)."""
    schemas = document["components"]["schemas"]
    for name in ("RequestAttributes", "ModerationActionResource", "NoteAttributes", "AttachmentShown"):
        schema = schemas[name]
        for member, value in schema["properties"].items():
            assert member in schema["required"] or {"type": "null"} not in value.get("anyOf", []), member
    assert schemas["RequestResource"]["properties"]["id"]["format"] == "uuid"
    assert schemas["RequestAttributes"]["properties"]["decided_at"]["format"] == "date-time"


def test_every_operation_has_a_name_words_and_a_group(document: Document) -> None:
    groups = {tag["name"] for tag in document["tags"]}
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(names)) == len(names)
    for _, _, operation in operations(document):
        assert operation["summary"], operation["operationId"]
        assert set(operation["tags"]) <= groups
    assert {tag for _, _, operation in operations(document) for tag in operation["tags"]} == groups


def test_a_key_is_asked_for_everywhere_but_where_the_document_itself_is_read(document: Document) -> None:
    assert document["security"] == [{"bearer": []}, {"key": []}]
    is_open = {
        operation["operationId"] for _, _, operation in operations(document) if "security" in operation
    }
    assert is_open == {"read_openapi"}


def test_what_can_be_refused_is_documented(document: Document) -> None:
    for path, _, operation in operations(document):
        found = {code for code in operation["responses"] if code >= "400"}
        if operation["operationId"] == "read_openapi":
            continue
        wanted = {"400", "401", "403", "406", "429", "500", "503"}
        wanted |= {"404"} if "{" in path else set()
        wanted |= {"413", "415", "422"} if "requestBody" in operation else set()
        wanted |= {"502", "504"} if path.endswith("/ai-notes") else set()
        assert wanted <= found, operation["operationId"]


def test_every_answer_names_its_headers(document: Document) -> None:
    for _, _, operation in operations(document):
        for code, response in operation["responses"].items():
            headers = resolve(document, response)["headers"]
            assert resolve(document, headers["X-Request-Id"])["required"]
            assert ("Retry-After" in headers) == (code in {"429", "503"})
            assert ("WWW-Authenticate" in headers) == (code == "401")


def test_every_body_has_an_example_and_every_example_is_valid(document: Document) -> None:
    for path, method, operation in operations(document):
        where = f"{method} {path}"
        for parameter in operation["parameters"]:
            parameter = resolve(document, parameter)
            if "example" in parameter:
                assert problems(document, parameter["schema"], parameter["example"]) == [], where
        body = operation.get("requestBody")
        for content in body["content"].values() if body else ():
            assert content["examples"], where
            for name, example in content["examples"].items():
                assert problems(document, content["schema"], example["value"]) == [], f"{where} {name}"
        for code, response in operation["responses"].items():
            for content in resolve(document, response).get("content", {}).values():
                if operation["operationId"] == "read_openapi":
                    continue
                assert problems(document, content["schema"], content["example"]) == [], f"{where} {code}"


def test_every_header_and_event_has_a_valid_example(document: Document) -> None:
    for name, header in document["components"]["headers"].items():
        assert problems(document, header["schema"], header["example"]) == [], name
    for name, item in document["webhooks"].items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        assert problems(document, content["schema"], content["example"]) == [], name


def test_every_event_is_documented(document: Document) -> None:
    assert set(document["webhooks"]) == {name.value for name in EventName}
    documented = {one["name"] for one in document["webhooks"]["webhook.test"]["post"]["parameters"]}
    sent = signing.headers_for(b"{}", "id", "webhook.test", ["secret"], 0)
    assert documented == sent.keys() - {"Content-Type", "User-Agent"}


def test_events_are_as_documented(
    document: Document, api: Api, wiring: Wiring, jobs: InlineEngine, decide: Callable[..., None]
) -> None:
    decide("first")
    action_id = api.get("/requests/first").json["data"]["attributes"]["action_id"]
    for state in ("applied", "retro_review", "confirmed"):
        moved = api.patch(f"/moderation-actions/{action_id}", json={"action_state": state, "reason": "why"})
        assert moved.status_code == 200, moved.text
    decide("second")
    second = api.get("/requests/second").json["data"]["attributes"]
    for state in ("applied", "overturned"):
        changed = {"action_state": state, "reason": "why"}
        assert api.patch(f"/moderation-actions/{second['action_id']}", json=changed).status_code == 200
    decide("third")
    third = api.get("/requests/third").json["data"]["attributes"]
    dismissed = {"action_state": "dismissed"}
    assert api.patch(f"/moderation-actions/{third['action_id']}", json=dismissed).status_code == 200
    assert api.post(f"/notes/{second['note_id']}/force-publish").status_code in {200, 422}
    webhook_id = api.post(REGISTER, json=registration()).json["id"]
    assert api.post(f"/webhooks/{webhook_id}/test").status_code == 202
    with wiring.database.reading() as session:
        events = session.scalars(sa.select(Event)).all()
    assert {event.name for event in events} >= set(EventName) - {EventName.NOTE_STATUS} - set(
        catalogue.opt_in()
    )
    for event in events:
        sent = json.loads(signing.sign_body(event.payload, "a-secret-of-mine", 1_769_860_800))
        schema = document["components"]["schemas"][catalogue.EVENTS[event.name].shape.name]
        assert problems(document, schema, sent) == [], event.name


def _texts(document: Document) -> Iterator[tuple[str, str, Any, str]]:
    """(method, path, body, member) with a NUL in one free text of each body."""
    for path, method, operation in operations(document):
        body = operation.get("requestBody")
        if body is None:
            continue
        content = next(iter(body["content"].values()))
        for example in content["examples"].values():
            if isinstance(example["value"].get("data"), list):
                continue  # its items are refused one by one, which test_batches compares with the single call
            attributes = example["value"].get("data", {}).get("attributes") or example["value"]
            for name, value in attributes.items():
                if isinstance(value, str) and name not in {"status", "action_state", "action_type", "events"}:
                    broken = json.loads(json.dumps(example["value"]))
                    (broken.get("data", {}).get("attributes") or broken)[name] = value + "\x00"
                    yield method, path, broken, name


def test_nul_is_refused_in_every_text(document: Document, api: Api) -> None:
    tried = 0
    for method, path, body, name in _texts(document):
        for parameter in document["paths"][path][method]["parameters"]:
            if parameter.get("in") == "path":
                path = path.replace("{" + parameter["name"] + "}", str(parameter["example"]))
        response = api.call(method.upper(), path, json=body)
        assert problem_of(response)["loc"][-1] == name
        tried += 1
    assert tried > 20


# The page for people


class Page(HTMLParser):
    """Ids, links and text of a page."""

    def __init__(self, written: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(written)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [found["id"]] if found.get("id") else []
        self.links += [found["href"]] if tag == "a" and found.get("href") else []

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_no_key_and_shows_every_operation_and_event(app: Flask, document: Document) -> None:
    response = app.test_client().get(f"{PREFIX}/docs")
    assert (response.status_code, response.mimetype) == (200, "text/html")
    assert app.test_client().get(f"{ALIAS_PREFIX}/docs").text == response.text
    page = Page(response.text)
    for path, _, operation in operations(document):
        assert operation["operationId"] in page.ids
        assert path in page.text
    for name, item in document["webhooks"].items():
        assert item["post"]["operationId"] in page.ids
        assert name in page.text
    for status in parts.REFUSALS:
        assert f"status-{status}" in page.ids


def test_the_links_of_the_page_lead_somewhere(app: Flask) -> None:
    client = app.test_client()
    page = Page(client.get(f"{PREFIX}/docs").text)
    assert len(set(page.ids)) == len(page.ids)
    for link in set(page.links):
        if link.startswith("#"):
            assert link[1:] in page.ids
        elif link != "/":
            assert client.get(link).status_code == 200, link


def test_the_page_runs_nothing_but_our_own_files(app: Flask) -> None:
    response = app.test_client().get(f"{PREFIX}/docs")
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    for written in re.findall(r"<(?:script|link)[^>]*(?:src|href)=\"([^\"]+)\"", response.text):
        assert written.startswith("/static/"), written
    assert not re.findall(r"<script(?![^>]* src=)", response.text)
    assert not re.findall(r" style=| on[a-z]+=\"", response.text)
