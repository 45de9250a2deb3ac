"""What a body and a query may be: everything that two readers could read differently is refused."""

import base64
import io
import json
import re
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.api import parse
from app.core.errors import Malformed
from app.core.ids import new_id
from app.wiring import Wiring
from tests.api.conftest import Api, problem_of, submission
from tests.api.test_notes import made
from tests.api.test_ratings import rate
from tests.cast import Cast

GOOD = submission("post-1")
WRITTEN = json.dumps(GOOD).encode()


MALFORMED = {
    "not JSON": b"{",
    "text": b"hello",
    "blank": b"  \n",
    "two documents": b"{}{}",
    "trailing comma": b'{"a": 1,}',
    "single quotes": b"{'a': 1}",
    "a comment": b'{"a": 1} // no',
    "not UTF-8": b'{"a": "\xff"}',
    "overlong UTF-8": b'{"a": "\xc0\x80"}',
    "encoded surrogate": b'{"a": "\xed\xa0\x80"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "UTF-16 without mark": '{"a": 1}'.encode("utf-16-le"),
    "UTF-32": '{"a": 1}'.encode("utf-32"),
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": Infinity}',
    "-Infinity": b"[-Infinity]",
    "a number beyond a double": b'{"a": 1e400}',
    "2^63": b'{"a": 9223372036854775808}',
    "-2^63 - 1": b'{"a": -9223372036854775809}',
    "5,000 digits": b'{"a": ' + b"9" * 5_000 + b"}",
    "a name twice": b'{"a": 1, "a": 1}',
    "a name twice by escapes": b'{"a": 1, "\\u0061": 2}',
    "a name twice inside": b'{"a": [{"b": 1, "c": {"d": 1, "d": 2}}]}',
    "65 levels": b"[" * 65 + b"]" * 65,
    "65 levels of objects": b'{"a":' * 65 + b"1" + b"}" * 65,
    "100,000 levels": b"[" * 100_000,
    "a raw control character": b'{"a": "\x01"}',
    "a raw NUL": b'{"a": "\x00"}',
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_json_is_refused(raw: bytes) -> None:
    with pytest.raises(Malformed):
        parse.loads(raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a": 9223372036854775807}', {"a": 2**63 - 1}),
        (b"[-9223372036854775808]", [-(2**63)]),
        (b'"\\u00fc \\ud83d\\ude00"', "ü 😀"),
        ('{"ü": "\u2028"}'.encode(), {"ü": "\u2028"}),
        (b'"\\u0000"', "\x00"),
        (b"[1.5e3, -0.0, 1e-400]", [1500.0, -0.0, 0.0]),
        (b"[" * 64 + b"1" + b"]" * 64, None),
        (b'{"a":' * 64 + b"1" + b"}" * 64, None),
        (b' {"a": {"a": 1}}\n', {"a": {"a": 1}}),
    ],
)
def test_what_is_plain_json_is_read_exactly(raw: bytes, value: Any) -> None:
    read = parse.loads(raw)
    assert value is None or read == value


def test_every_malformed_body_is_400_and_never_500(api: Api) -> None:
    for name, raw in (MALFORMED | {"empty": b""}).items():
        answer = api.post("/requests", data=raw, content_type="application/json")
        assert answer.status_code == 400, name


SHAPES: list[tuple[Any, list[str | int], str]] = [
    ([], ["body"], "dict_type"),
    ("text", ["body"], "dict_type"),
    (None, ["body"], "dict_type"),
    (7, ["body"], "dict_type"),
    ({}, ["body", "data"], "missing"),
    ({"data": None}, ["body", "data"], "dict_type"),
    ({"data": []}, ["body", "data"], "dict_type"),
    ({"data": GOOD["data"], "extra": 1}, ["body", "extra"], "extra_forbidden"),
    ({"data": GOOD["data"] | {"relationships": {}}}, ["body", "data", "relationships"], "extra_forbidden"),
    ({"data": {"attributes": {}}}, ["body", "data", "type"], "missing"),
    ({"data": {"type": 5, "attributes": {}}}, ["body", "data", "type"], "string_type"),
    ({"data": {"type": "requests"}}, ["body", "data", "attributes"], "missing"),
    ({"data": {"type": "requests", "attributes": []}}, ["body", "data", "attributes"], "dict_type"),
    ({"data": {"type": "requests", "attributes": None}}, ["body", "data", "attributes"], "dict_type"),
]


def test_a_wrong_shape_is_422_at_its_place(api: Api) -> None:
    for body, loc, kind in SHAPES:
        answer = api.post("/requests", data=json.dumps(body), content_type="application/json")
        assert answer.status_code == 422, body
        assert (answer.json["detail"][0]["loc"], answer.json["detail"][0]["type"]) == (loc, kind), body


WORDS: list[tuple[str, Any, str]] = [
    ("original_message_content", "x" * 50_001, "String should have at most 50000 characters"),
    ("dataset_name", "x" * 101, "String should have at most 100 characters"),
    ("dataset_item_id", "", "String should have at least 1 character"),
    ("metadata", [], "Input should be an object"),
    (
        "platform_timestamp",
        "2026-01-31",
        "Input should be an ISO 8601 date and time with a zone, such as 2026-01-31T12:00:00Z",
    ),
]


def test_a_refusal_is_worded_for_whoever_writes_json(api: Api) -> None:
    for name, value, words in WORDS:
        answer = api.post("/requests", json=submission("post-1", **{name: value}))
        problem = answer.json["detail"][0]
        assert (problem["loc"][-1], problem["msg"]) == (name, words)
    bare = api.post("/requests", json=GOOD["data"]["attributes"]).json["detail"]
    assert [(one["loc"], one["msg"]) for one in bare] == [
        (["body", "data"], 'Field required: the body is {"data": {"type": "requests", "attributes": {}}}')
    ]
    blank = api.post("/requests?original_message_content=1", json=submission("post-1", " ")).json["detail"][0]
    assert blank["loc"] == ["body", "data", "attributes", "original_message_content"]
    for path, body, words in (
        ("/requests/post-1", {"escalated": False}, "Input should be true"),
        (f"/moderation-actions/{uuid.uuid4()}", [], "Input should be an object"),
    ):
        api.submit("post-1")
        assert api.patch(path, json=body).json["detail"][0]["msg"] == words, path
    for query, words in (
        ("page[number]=99999999999999999999", "Input should be less than or equal to 1000000000"),
        (
            "since=2026-01-31T12:00:00+01:00",
            "such as 2026-01-31T12:00:00Z; T stands before the time, and + is %2B",
        ),
    ):
        assert words in api.get(f"/requests?status=decided&{query}").json["detail"][0]["msg"], query


AN_ID = str(uuid.UUID(int=7))
WRAPPED = [
    # In the bodies of those that are loose, ``type`` may be left out (docs/integrate/api.md).
    ("POST", "/requests", "strict"),
    ("PATCH", "/requests/post-1", "loose"),
    ("POST", "/notes", "strict"),
    ("PATCH", f"/notes/{AN_ID}", "strict"),
    ("POST", f"/notes/{AN_ID}/force-publish", "loose"),
    ("POST", f"/notes/{AN_ID}/dismiss", "loose"),
    ("POST", "/ratings", "strict"),
    ("PUT", f"/ratings/{AN_ID}", "strict"),
    ("POST", "/moderation-actions", "strict"),
    ("PATCH", f"/moderation-actions/{AN_ID}", "strict"),
    ("POST", "/user-profiles/link", "loose"),
    ("POST", "/webhooks/register", "strict"),
    ("PATCH", f"/webhooks/{AN_ID}", "strict"),
]


def test_another_type_is_422_at_its_place_on_every_route_with_a_wrapped_body(api: Api) -> None:
    """A client reads 409 as "submitted before" (docs/integrate/api.md)."""
    for method, path, kind in WRAPPED:
        identity = {} if path in CREATIONS else {"id": AN_ID}
        for wrong in ("elsewhere", "", 5, None, {}):
            answer = api.call(method, path, json={"data": {"type": wrong, **identity, "attributes": {}}})
            assert answer.status_code == 422, (method, path, wrong, answer.text)
            assert [one["loc"] for one in answer.json["detail"]] == [["body", "data", "type"]], (path, wrong)
        untyped = api.call(method, path, json={"data": {**identity, "attributes": {}}})
        if kind == "strict":
            problem = untyped.json["detail"][0]
            assert (untyped.status_code, problem["type"]) == (422, "missing"), (method, path)
            assert problem["loc"] == ["body", "data", "type"], (method, path)
        else:
            assert untyped.status_code != 409, (method, path)


def test_bodies_are_json_or_json_api_and_nothing_else(api: Api) -> None:
    table = [
        ("application/json", True),
        ("application/vnd.api+json", True),
        ("Application/Vnd.Api+Json", True),
        ("application/json; charset=utf-8", True),
        ("application/json; charset=UTF8", True),
        ('application/vnd.api+json; profile="https://example.org/p"', True),
        ("application/vnd.api+json; charset=utf-8", False),
        ('application/vnd.api+json; ext="https://jsonapi.org/ext/atomic"', False),
        ("application/vnd.api+json; a=b", False),
        ("application/json; charset=utf-16", False),
        ("text/plain", False),
        ("text/json", False),
        ("application/x-www-form-urlencoded", False),
        ("multipart/form-data; boundary=x", False),
        ("application/problem+json", False),
        ("nonsense", False),
        ("", False),
    ]
    for number, (kind, taken) in enumerate(table):
        raw = json.dumps(submission(f"post-{number}")).encode()
        answer = api.post("/requests", data=raw, headers={"Content-Type": kind})
        assert answer.status_code == (201 if taken else 415), kind


def test_accept_with_only_parametrised_json_api_is_406(api: Api) -> None:
    table = [
        ("*/*", 200),
        ("application/json", 200),
        ("text/html, */*;q=0.1", 200),
        ("application/vnd.api+json", 200),
        ("application/vnd.api+json;q=0.5", 200),
        ('application/vnd.api+json;profile="https://example.org/a,b"', 200),
        ("application/vnd.api+json;charset=utf-8, application/vnd.api+json", 200),
        ("application/vnd.api+json;charset=utf-8", 406),
        ('application/vnd.api+json; ext="x", application/vnd.api+json;a="b,c"', 406),
        ("", 200),
        (';;;,,"', 200),
    ]
    for accept, status in table:
        assert api.get("/requests", headers={"Accept": accept}).status_code == status, accept


class Endless(io.RawIOBase):
    """A body without an end that counts what was read of it."""

    def __init__(self) -> None:
        self.given = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return 0

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "an endless body was asked for whole"
        self.given += size
        return b" " * size


def test_an_oversize_body_is_413_declared_or_chunked_and_is_never_held_whole(api: Api) -> None:
    declared = api.post("/requests", data=b" " * (1_048_576 + 1), content_type="application/json")
    assert declared.status_code == 413
    endless = Endless()
    chunked = api.post(
        "/requests",
        input_stream=endless,
        headers={"Content-Type": "application/json", "Transfer-Encoding": "chunked"},
        environ_overrides={"wsgi.input_terminated": True},
    )
    assert chunked.status_code == 413
    assert endless.given <= 1_048_576 + 65_536
    exactly = WRITTEN + b" " * (1_048_576 - len(WRITTEN))
    assert api.post("/requests", data=exactly, content_type="application/json").status_code == 201


def test_unknown_and_repeated_query_parameters_are_400(api: Api) -> None:
    table = [
        "filter[unknown]=1",
        "filter[status]=PENDING&filter[status]=PENDING",
        "page[number]=1&page%5Bnumber%5D=2",
        "page[limit]=5",
        "page=2",
        "filter=x",
        "filter[=x",
        "sort=-created_at",
        "include=notes",
        "fields[requests]=content",
        "fields=content",
        "free=1&free=2",
        "filter[requested_by]=%FF",
    ]
    for query in table:
        assert api.get(f"/requests?{query}").status_code == 400, query
    for path in ("/requests/post-1", "/user-profiles/lookup"):
        assert api.get(f"{path}?include=notes").status_code == 400, path
    assert api.get("/requests?utm_source=x&limits=1").status_code == 200


LISTS = ("/requests", "/moderation-actions", "/notes", "/webhooks")


def test_what_may_mean_a_filter_is_400_in_every_spelling(api: Api) -> None:
    names = [
        "filter%255Baction_state%255D",
        "filter%25255Baction_state%25255D",
        "%2566ilter[action_state]",
        "Filter[action_state]",
        "FILTER[status]",
        "filters[action_state]",
        "filter.action_state",
        "filter_status",
        "+filter[status]",
        "page%255Bsize%255D",
        "Page[size]",
        "pageSize",
        "fields%255Brequests%255D",
        "field[requests]",
        "Sort",
        "sort_by",
        "includes",
    ]
    for path in (*LISTS, "/requests/post-1", "/community-servers/lookup"):
        for name in names:
            answer = api.get(f"{path}?{name}=x")
            assert answer.status_code == 400, (path, name)
            assert "Unknown query parameter" in answer.json["detail"], (path, name)
    assert api.get("/requests?filter%5Bstatus%5D=COMPLETED&status=decided").status_code == 200


def test_no_get_of_the_api_passes_over_what_may_mean_a_filter(app: Flask, cast: Cast) -> None:
    paths = {
        re.sub(r"<[^>]+>", AN_ID, rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(("/api/", "/webhooks", "/metrics")) and "GET" in (rule.methods or ())
    }
    assert {"/metrics", f"/api/v2/notes/{AN_ID}", "/api/public/v1/openapi.json"} <= paths
    client = FlaskClient(app, app.response_class)  # not all of them answer with JSON:API
    for path in paths:
        key = cast.metrics_key if path == "/metrics" else cast.adapter_key
        headers = {"Authorization": f"Bearer {key}"}
        for name in ("filter[colour]", "Filter%255Bcolour%255D", "page[shape]", "fields", "sort", "include"):
            answer = client.get(f"{path}?{name}=x", headers=headers)
            assert answer.status_code == 400, (path, name)
            assert "Unknown query parameter" in answer.text, (path, name)
        assert client.get(f"{path}?utm_source=x", headers=headers).status_code != 400, path


CREATIONS = {
    "/requests": {"type": "requests"},
    "/notes": {"type": "notes"},
    "/ratings": {"type": "ratings"},
    "/moderation-actions": {"type": "moderation-actions"},
    "/webhooks/register": {"type": "webhooks"},
}


def test_an_id_of_the_client_is_403_on_every_creation(api: Api) -> None:
    for path, resource in CREATIONS.items():
        for value in (AN_ID, "mine", 5, None):
            for body, place in (
                ({"data": resource | {"id": value, "attributes": {}}}, "data.id"),
                ({"data": resource | {"attributes": {"id": value}}}, "data.attributes.id"),
                ({"id": value}, "id"),
            ):
                answer = api.call("POST", path, json=body)
                assert answer.status_code == 403, (path, body)
                detail = f"Client-generated ids are not supported: leave out {place}"
                assert answer.json["detail"] == detail, (path, body)
    flat = api.call("POST", "/api/v1/community-servers", json={"id": AN_ID, "name": "Harbour"})
    assert flat.status_code == 403


BAD_VALUES: list[tuple[str, list[str]]] = [
    ("page[number]", ["0", "-1", "", "1.0", "x", "+1", " 1", "1_0", "\uff11", str(2**63), "9" * 5_000, "\x00"]),
    ("page[size]", ["0", "101", "-5", "1e1", "\u0663", "null"]),
    ("page[after]", ["x", "e30", "WzEsMl0", "bnVsbA", "\x00", "IjEi", "Ü"]),
    ("filter[status]", ["", "DONE", "decided", "\x00"]),
    ("filter[community_server_id]", ["", "forum-1", "{}", "urn:uuid:01890000-0000-7000-8000-000000000000"]),
    ("filter[requested_by]", ["", "\x00", "x" * 256]),
    (
        "filter[requested_at__gte]",
        ["", "now", "2026", "1767225600", "2026-01-31", "2026-01-31T12:00:00", "2026-13-01T00:00:00Z",
         "2026-01-31T24:00:00Z", "2026-01-31T12:00:60Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00",
         "2026-01-31T12:00:00+25:00", "\uff12026-01-31T12:00:00Z"],
    ),
    ("status", ["DECIDED", "pending"]),
    ("since", ["2026-01-31T12:00:00Z"]),
    ("community_server_id", ["forum-1"]),
]  # fmt: skip


def test_a_bad_query_value_is_422_and_named(api: Api) -> None:
    for name, value in [(name, value) for name, values in BAD_VALUES for value in values]:
        answer = api.get("/requests", query_string={name: value})
        assert problem_of(answer)["loc"] == ["query", name], (name, value)


def test_a_forged_cursor_never_fails_the_server(api: Api) -> None:
    for moment in ("2026-01-01", "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "", 5, None, [1]):
        forged = (
            base64.urlsafe_b64encode(json.dumps([moment, str(new_id()), "0" * 12]).encode())
            .decode()
            .rstrip("=")
        )
        assert api.get("/requests", query_string={"page[before]": forged}).status_code == 422, moment


def test_a_cursor_of_another_list_or_filter_is_400_and_names_its_parameter(
    api: Api, fill: Callable[..., None], wiring: Wiring, cast: Cast
) -> None:
    fill(5)
    notes = [made(api, author_id=f"author-{number}") for number in range(3)]
    for note in notes[:2]:
        for rater in range(3):
            assert rate(api, note, rater_id=f"rater-{rater}").status_code == 201
    lists = [
        "/requests",
        "/requests?filter[status]=PENDING",
        "/requests?filter[status]=PENDING&filter[requested_by]=user-1",
        "/notes",
        "/notes?filter[status]=NEEDS_MORE_RATINGS",
        f"/notes/{notes[0]}/ratings",
        f"/notes/{notes[1]}/ratings",
    ]
    cursors = {}
    for path in lists:
        query = {"page[size]": "1"}
        kept = dict(parse_qsl(urlsplit(path).query))
        first = api.get(path.partition("?")[0], query_string=kept | query).json
        following = api.get(first["links"]["next"].removeprefix("http://localhost"))
        assert following.status_code == 200
        cursors[path] = dict(parse_qsl(urlsplit(first["links"]["next"]).query))["page[after]"]
        back = dict(parse_qsl(urlsplit(following.json["links"]["prev"]).query))["page[before]"]
        both = {"page[after]": cursors[path], "page[before]": back}
        refused = api.get(path.partition("?")[0], query_string=kept | both)
        assert (refused.status_code, "page[before]" in refused.json["detail"]) == (400, True)
    for asked in lists:
        for of, cursor in cursors.items():
            query = dict(parse_qsl(urlsplit(asked).query)) | {"page[after]": cursor, "page[size]": "2"}
            answer = api.get(asked.partition("?")[0], query_string=query)
            assert answer.status_code == (200 if of == asked else 400), (asked, of)
            if of != asked:
                assert answer.json["detail"].startswith("page[after] is a cursor of another list or filter")
    lower = {"filter[status]": "pending", "page[after]": cursors["/requests?filter[status]=PENDING"]}
    assert api.get("/requests", query_string=lower).status_code == 200, "the same filter in other letters"


def test_an_action_lists_cursor_belongs_to_its_community_however_that_was_named(
    api: Api, decide: Callable[..., None], cast: Cast, wiring: Wiring
) -> None:
    decide("a", "b", "c")
    both = api.with_key(wiring, [cast.community_id, cast.other_community_id])
    home, away = {"X-Adapter-Scope": "forum-1"}, {"X-Adapter-Scope": "forum-2"}
    following = both.get("/moderation-actions?limit=1", headers=home).json["links"]["next"]
    following = following.removeprefix("http://localhost")
    assert both.get(following, headers=home).status_code == 200
    assert both.get(following, headers=away).status_code == 400
    assert both.get(following).status_code == 400


def test_a_refused_query_parameter_is_repeated_as_it_was_sent(api: Api) -> None:
    for name, value in (
        ("page[number]", "9" * 20),
        ("page[number]", "0"),
        ("page[size]", "101"),
        ("filter[community_server_id]", "forum-1"),
        ("since", "2026-01-31T12:00:00Z"),
    ):
        answer = api.get("/requests", query_string={name: value})
        assert answer.status_code == 422
        (problem,) = answer.json["detail"]
        assert (problem["loc"], problem["input"]) == (["query", name], value)
