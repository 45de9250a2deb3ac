"""What Entra ID, Okta and authentik send, which is not always what the standard says; each row is one such call."""

from typing import Any

import pytest
from flask import Flask

from app.wiring import Wiring
from tests.api.scim import GROUP, PATCH, USER, Scim, add_provider
from tests.cast import Cast

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


@pytest.fixture
def scim(app: Flask, wiring: Wiring, cast: Cast) -> Scim:
    return add_provider(app, wiring)


ENTRA_USER = {
    "schemas": [USER, ENTERPRISE],
    "externalId": "58342554-38d6-4ec8-948c-50044d0a33fd",
    "userName": "dana@example.com",
    "active": True,
    "displayName": "Dana Ray",
    "emails": [{"primary": True, "type": "work", "value": "dana@example.com"}],
    "meta": {"resourceType": "User"},
    "name": {"formatted": "Dana Ray", "familyName": "Ray", "givenName": "Dana"},
    "roles": [],
    ENTERPRISE: {"department": "Trust", "manager": {"value": "26118915"}},
}
OKTA_USER = {
    "schemas": [USER],
    "userName": "dana@example.com",
    "name": {"givenName": "Dana", "familyName": "Ray"},
    "emails": [{"primary": True, "value": "dana@example.com", "type": "work"}],
    "displayName": "Dana Ray",
    "locale": "en-US",
    "externalId": "00ujl29u0le5T6Aj10h7",
    "groups": [],
    "password": "1mz050nq",
    "active": True,
}
AUTHENTIK_USER = {
    "schemas": [USER],
    "userName": "dana",
    "name": {"formatted": "Dana Ray", "familyName": "Ray", "givenName": "Dana"},
    "displayName": "Dana Ray",
    "photos": None,
    "locale": "",
    "active": True,
    "emails": [{"value": "dana@example.com", "type": "other", "primary": True}],
    "externalId": "a0a1b2c3",
}


@pytest.mark.parametrize("body", [ENTRA_USER, OKTA_USER, AUTHENTIK_USER], ids=["entra", "okta", "authentik"])
def test_each_creates_a_person(scim: Scim, body: dict[str, Any]) -> None:
    answer = scim.call("POST", "/Users", body)
    assert answer.status_code == 201, answer.text
    shown = answer.json
    assert (shown["userName"], shown["displayName"]) == (body["userName"], "Dana Ray")
    assert (shown["externalId"], shown["active"]) == (body["externalId"], True)
    assert shown["emails"] == [{"value": "dana@example.com", "type": "work"}]
    assert shown.keys() == {
        "schemas",
        "id",
        "externalId",
        "meta",
        "userName",
        "displayName",
        "active",
        "emails",
    }
    whole = scim.call("PUT", f"/Users/{shown['id']}", {**body, "id": shown["id"], "displayName": "D. Ray"})
    assert whole.status_code == 200, whole.text
    assert whole.json["displayName"] == "D. Ray"


ID = "{ID}"
"""Stands for the id of the person or group that is patched."""
OFF, NAMED = {"active": False}, {"displayName": "Ray"}
MAILED = {"emails": [{"value": "ray@example.com", "type": "work"}]}
PERSON_PATCHES: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("entra: a word for a boolean", [{"op": "Replace", "path": "active", "value": "False"}], OFF),
    ("entra: capital letters", [{"op": "Add", "path": "displayName", "value": "Ray"}], NAMED),
    (
        "entra: an address by its type",
        [{"op": "Replace", "path": 'emails[type eq "work"].value', "value": "ray@example.com"}],
        MAILED,
    ),
    (
        "entra: an address of another type is added and not kept",
        [{"op": "Add", "path": 'emails[type eq "home"].value', "value": "home@example.com"}],
        {"emails": [{"value": "dana@example.com", "type": "work"}]},
    ),
    (
        "entra: attributes that we do not keep",
        [
            {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Trust"},
            {"op": "Replace", "path": "name.givenName", "value": "D"},
            {"op": "Add", "path": 'addresses[type eq "work"].country', "value": "SE"},
            {"op": "Replace", "path": "displayName", "value": "Ray"},
        ],
        NAMED,
    ),
    (
        "entra: several attributes without a path, some with dots",
        [
            {
                "op": "replace",
                "value": {"displayName": "Ray", "name.familyName": "R", f"{ENTERPRISE}:division": "x"},
            }
        ],
        NAMED,
    ),
    ("okta: deactivation without a path", [{"op": "replace", "value": {"active": False}}], OFF),
    ("okta: an id among the values", [{"op": "replace", "value": {"id": ID, "displayName": "Ray"}}], NAMED),
    ("with a URN", [{"op": "replace", "path": f"{USER}:displayName", "value": "Ray"}], NAMED),
    ("in small letters", [{"op": "replace", "path": "displayname", "value": "Ray"}], NAMED),
    ("a whole list", [{"op": "replace", "path": "emails", "value": [{"value": "ray@example.com"}]}], MAILED),
    (
        "a password is never kept",
        [{"op": "replace", "path": "password", "value": "s3cret"}],
        {"active": True},
    ),
    ("removing what we do not keep", [{"op": "remove", "path": "title"}], {"active": True}),
    ("removing what must be there leaves it", [{"op": "remove", "path": "active"}], {"active": True}),
    (
        "one after the other",
        [
            {"op": "replace", "path": "active", "value": False},
            {"op": "replace", "path": "active", "value": True},
        ],
        {"active": True},
    ),
]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [row[1:] for row in PERSON_PATCHES],
    ids=[row[0] for row in PERSON_PATCHES],
)
def test_people_are_patched(scim: Scim, operations: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    user_id = scim.user("dana")["id"]
    answer = scim.patch(f"/Users/{user_id}", *_filled(operations, {ID: user_id}))
    assert answer.status_code == 200, answer.text
    assert {name: answer.json[name] for name in expected} == expected
    assert scim.get(f"/Users/{user_id}").json == answer.json


A, B, C = "{A}", "{B}", "{C}"
MEMBER_PATCHES: list[tuple[str, list[dict[str, Any]], set[str]]] = [
    ("entra: adds", [{"op": "Add", "path": "members", "value": [{"$ref": None, "value": C}]}], {A, B, C}),
    ("entra: removes by a value", [{"op": "Remove", "path": "members", "value": [{"value": A}]}], {B}),
    ("by a filter", [{"op": "remove", "path": f'members[value eq "{A}"]'}], {B}),
    ("by a filter of two", [{"op": "remove", "path": f'members[value eq "{A}" or value eq "{B}"]'}], set()),
    ("who is no member", [{"op": "remove", "path": f'members[value eq "{C}"]'}], {A, B}),
    ("what is no id", [{"op": "remove", "path": 'members[value eq "x"]'}], {A, B}),
    ("all", [{"op": "remove", "path": "members"}], set()),
    ("okta: replaces", [{"op": "replace", "path": "members", "value": [{"value": C, "display": "C"}]}], {C}),
    ("none", [{"op": "replace", "path": "members", "value": []}], set()),
    ("without a path", [{"op": "add", "value": {"members": [{"value": C}]}}], {A, B, C}),
    ("replaces without a path", [{"op": "replace", "value": {"members": [{"value": C}]}}], {C}),
    ("a plain id", [{"op": "add", "path": "members", "value": C}], {A, B, C}),
    ("one object", [{"op": "add", "path": "members", "value": {"value": C}}], {A, B, C}),
    ("with a URN", [{"op": "add", "path": f"{GROUP}:members", "value": [{"value": C}]}], {A, B, C}),
    (
        "okta: one operation for each",
        [
            {"op": "remove", "path": f'members[value eq "{A}"]'},
            {"op": "add", "path": "members", "value": [{"value": C}]},
            {"op": "add", "path": "members", "value": [{"value": C}]},
            {"op": "replace", "value": {"id": ID, "displayName": "crew"}},
        ],
        {B, C},
    ),
    (
        "in their order",
        [
            {"op": "replace", "path": "members", "value": [{"value": A}]},
            {"op": "add", "path": "members", "value": [{"value": B}]},
            {"op": "remove", "path": f'members[value eq "{A}"]'},
        ],
        {B},
    ),
    (
        "authentik: added again after all were removed",
        [{"op": "remove", "path": "members"}, {"op": "add", "path": "members", "value": [{"value": B}]}],
        {B},
    ),
]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [row[1:] for row in MEMBER_PATCHES],
    ids=[row[0] for row in MEMBER_PATCHES],
)
def test_members_are_patched(scim: Scim, operations: list[dict[str, Any]], expected: set[str]) -> None:
    ids = {name: scim.user(name.strip("{}"))["id"] for name in (A, B, C)}
    group_id = scim.group("crew", ids[A], ids[B])
    body = _filled({"schemas": [PATCH], "Operations": operations}, ids | {ID: group_id})
    answer = scim.call("PATCH", f"/Groups/{group_id}", body)
    assert answer.status_code == 204, answer.text
    assert scim.members(group_id) == {ids[name] for name in expected}


def test_a_group_answers_with_itself_when_attributes_are_asked_for(scim: Scim) -> None:
    group_id = scim.group("crew")
    body = {"schemas": [PATCH], "Operations": [{"op": "replace", "value": {"displayName": "night"}}]}
    answer = scim.call("PATCH", f"/Groups/{group_id}?excludedAttributes=members", body)
    assert (answer.status_code, answer.json["displayName"]) == (200, "night")


def test_entra_tries_its_connection_with_a_person_who_is_not_there(scim: Scim) -> None:
    filter_text = 'userName eq "3e2cb9f1-5e4c-4d5a-9f3b-000000000000"'
    answer = scim.get("/Users", query_string={"filter": filter_text})
    assert answer.status_code == 200
    assert (answer.json["totalResults"], answer.json["Resources"]) == (0, [])


def _filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(item, ids) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, ids) for item in value]
    if isinstance(value, str):
        for name, identity in ids.items():
            value = value.replace(name, identity)
    return value
