"""Whatever a client sends to SCIM is answered, and never with a 500."""

import json
from typing import Any

import hypothesis
import pytest
from flask import Flask
from hypothesis import strategies as st

from app.wiring import Wiring
from tests.api.scim import GROUP, PATCH, USER, Scim, add_provider
from tests.cast import Cast

pytestmark = pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
NAMES = (
    *(
        "schemas",
        "userName",
        "externalId",
        "displayName",
        "name",
        "active",
        "emails",
        "groups",
        "members",
        "meta",
    ),
    *(
        "id",
        "password",
        "value",
        "type",
        "primary",
        "givenName",
        "formatted",
        "$ref",
        "op",
        "path",
        "Operations",
    ),
    USER,
)
PATHS = (
    "", "active", "emails", "emails.value", 'emails[type eq "work"].value', "members", 'members[value eq "x"]',
    "name.givenName", "userName", "externalId", "id", "meta", "schemas", "groups", "emails[", "members[value pr]",
    "emails.value.x", f"{USER}:active", "a:b", "$ref", "members.value", 'members[value eq "x"].display', "\0",
)  # fmt: skip
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["\0", "\ud800"]),
)
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=8,
)
operations = st.lists(
    st.one_of(
        values,
        st.fixed_dictionaries(
            {"op": st.sampled_from(["add", "Replace", "remove"])},
            optional={"path": st.sampled_from(PATHS), "value": values},
        ),
    ),
    max_size=3,
)
bodies = st.one_of(
    values,
    st.builds(
        lambda body, schema: {"schemas": [schema], **body},
        st.dictionaries(st.sampled_from(NAMES[1:]), values, max_size=5),
        st.sampled_from([USER, GROUP]),
    ),
    st.builds(lambda sent: {"schemas": [PATCH], "Operations": sent}, operations),
)
WORDS = (
    *(
        "userName",
        "eq",
        '"a"',
        "and",
        "or",
        "not",
        "(",
        ")",
        "[",
        "]",
        "emails",
        "type",
        "pr",
        "members",
        "value",
    ),
    *("id", "active", "true", "null", "7", "externalId", '\\"', '"x'),
)
filters = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))


@hypothesis.settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow],
)
@hypothesis.given(data=st.data())
def test_bodies_filters_and_parameters_are_answered(
    app: Flask, wiring: Wiring, cast: Cast, data: st.DataObject
) -> None:
    scim, user_id, group_id = _made(app, wiring)
    paths = [
        "/Users",
        f"/Users/{user_id}",
        "/Groups",
        f"/Groups/{group_id}",
        "/Users/x",
        "/.search",
        "/Schemas/x",
    ]
    path = data.draw(st.sampled_from(paths))
    method = data.draw(st.sampled_from(["GET", "POST", "PUT", "PATCH"]))
    query = data.draw(
        st.dictionaries(
            st.sampled_from(["filter", "startIndex", "count", "attributes", "excludedAttributes"]),
            filters,
            max_size=2,
        )
    )
    body = None if method == "GET" else _text(data.draw(bodies))
    answer = scim.call(
        method,
        path,
        data=body,
        query_string={name: text.encode("utf-8", "replace").decode() for name, text in query.items()},
        headers={"Content-Type": "application/scim+json"},
    )
    assert answer.status_code in (200, 201, 204, 400, 404, 405, 409, 501), answer.text
    assert answer.status_code == 204 or answer.content_type == "application/scim+json"


def _text(body: Any) -> bytes:
    return json.dumps(body).encode()


_known: dict[int, tuple[Scim, str, str]] = {}


def _made(app: Flask, wiring: Wiring) -> tuple[Scim, str, str]:
    """A provider with a person in a group, made once for all examples of a test."""
    if id(wiring) not in _known:
        _known.clear()
        scim = add_provider(app, wiring)
        user_id = scim.user("dana")["id"]
        _known[id(wiring)] = scim, user_id, scim.group("crew", user_id)
    return _known[id(wiring)]
