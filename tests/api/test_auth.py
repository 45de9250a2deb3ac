"""Who may call: every form of credentials, X-Adapter headers, limits (docs/integrate/api.md)."""

import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from app.api.blueprints import guarded
from app.core import clock
from app.core.models import ApiKey, Profile
from app.core.people import key_admin, keys
from app.core.permissions import SYSTEM, Actor, Permission, allows
from app.core.vocabulary import KeyTemplate
from app.throttle import Throttle
from app.wiring import Wiring
from tests.api.conftest import Api, acting, submission
from tests.cast import Cast

MISSING = "Missing authentication credentials"
WRONG = "Invalid authentication credentials"
NO_SCOPE = "API key lacks required scope"
UNKNOWN_KEY = f"bnk_{'0' * 12}_{'A' * 43}"


def test_every_form_of_credentials_is_answered_as_decided(api: Api, cast: Cast) -> None:
    good, other = cast.adapter_key, cast.read_only_key
    table: list[tuple[dict[str, str], int, str | None]] = [
        ({}, 401, MISSING),
        ({"Authorization": ""}, 401, MISSING),
        ({"Authorization": "Bearer"}, 401, MISSING),
        ({"Authorization": "Bearer "}, 401, MISSING),
        ({"Authorization": "Basic YTpi"}, 401, MISSING),
        ({"X-API-Key": ""}, 401, MISSING),
        ({"Authorization": f"Bearer {good}"}, 200, None),
        ({"Authorization": f"bearer {good}"}, 200, None),
        ({"X-API-Key": good}, 200, None),
        ({"Authorization": "Basic YTpi", "X-API-Key": good}, 200, None),
        ({"Authorization": "Bearer eyJhbGciOi.unrelated.token", "X-API-Key": good}, 200, None),
        ({"Authorization": f"Bearer {good}", "X-API-Key": good}, 200, None),
        ({"Authorization": f"Bearer {good}", "X-API-Key": "nonsense"}, 200, None),
        ({"Authorization": f"Bearer {good}", "X-API-Key": other}, 401, WRONG),
        ({"Authorization": f"Bearer {UNKNOWN_KEY}", "X-API-Key": good}, 401, WRONG),
        ({"Authorization": "Bearer unrelated"}, 401, WRONG),
        ({"Authorization": "Bearer unrelated", "X-API-Key": "nonsense"}, 401, WRONG),
        ({"Authorization": f"Bearer {UNKNOWN_KEY}"}, 401, WRONG),
        ({"Authorization": f"Bearer {good}x"}, 401, WRONG),
        ({"Authorization": f"Bearer {good[:-1]}"}, 401, WRONG),
        ({"Authorization": f"Bearer {good.upper()}"}, 401, WRONG),
        ({"Authorization": f"Bearer {good}, Bearer {good}"}, 401, WRONG),
        ({"Authorization": f"Token {good}"}, 401, MISSING),
        ({"Authorization": "Bearer bnk_\xff\xfe"}, 401, WRONG),
        ({"Authorization": f"Bearer {cast.metrics_key}"}, 403, NO_SCOPE),
    ]
    for headers, status, detail in table:
        answer = api.get("/requests", instead=headers)
        assert answer.status_code == status, headers
        if detail is not None:
            assert answer.json == {"detail": detail}, headers


def test_a_revoked_and_an_expired_key_end_with_the_next_call(api: Api, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        soon = keys.mint(session, SYSTEM, "Soon gone", KeyTemplate.ADAPTER, None, days=1)
        later = keys.mint(session, SYSTEM, "Revoked", KeyTemplate.ADAPTER, None)
    for minted in (soon, later):
        assert api.get("/requests", instead={"X-API-Key": minted.text}).status_code == 200
    with wiring.database.writing() as session:
        key_admin.revoke(session, SYSTEM, later.key.id)
        session.execute(
            sa.update(ApiKey)
            .where(ApiKey.id == soon.key.id)
            .values(expires_at=clock.now() - timedelta(seconds=1))
        )
    for minted in (soon, later):
        answer = api.get("/requests", instead={"X-API-Key": minted.text})
        assert (answer.status_code, answer.json) == (401, {"detail": WRONG})


def test_every_route_of_the_api_refuses_a_call_without_a_key(api: Api, app: Flask) -> None:
    calls = [
        (method, re.sub(r"<[^>]+>", "01890000-0000-7000-8000-000000000000", rule.rule))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(("/api/", "/webhooks"))
        and not rule.endpoint.startswith(("documents.", "docs_page."))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    ]
    assert len(calls) >= 14
    for method, path in calls:
        answer = api.call(method, path, instead={})
        assert (answer.status_code, answer.json) == (401, {"detail": MISSING}), (method, path)


def test_a_read_only_key_reads_but_never_writes(api: Api, cast: Cast) -> None:
    api.submit("post-1")
    reader = Api(api.client, cast.read_only_headers)
    assert reader.get("/requests/post-1").status_code == 200
    assert reader.submit("post-2").status_code == 403
    assert reader.patch("/requests/post-1", json={"escalated": True}).status_code == 403
    assert reader.delete("/requests/post-1").status_code == 403
    lookup = "/community-servers/lookup?platform=discourse&platform_community_server_id="
    assert reader.get(lookup + "forum-1").status_code == 200
    assert reader.get(lookup + "never-seen").status_code == 404
    assert reader.get("/user-profiles/lookup?platform=discourse&platform_user_id=nobody").status_code == 404


def test_the_same_interface_answers_under_the_alias_prefix(api: Api, cast: Cast) -> None:
    alias = Api(api.client, cast.headers, "/api/v2")
    created = alias.submit("post-1")
    assert created.status_code == 201
    assert "/api/v2/requests/" in created.headers["Location"]
    assert alias.get("/requests").json["links"]["self"].endswith("/api/v2/requests")
    assert api.get("/requests/post-1").status_code == 200


BAD_HEADERS = [
    ("Platform", ["Discord", "", "x" * 51, "a b", "discourse, discourse"]),
    ("User-Id", ["", "x" * 256, "1, 2", "1,1"]),
    ("Username", ["x" * 256]),
    ("Trust-Level", ["", "-1", "1.0", "two", "101", "99999999999", "1, 1", "\u0661", " "]),
    ("Admin", ["", "True", "TRUE", "1", "yes", "true, true", "false, true"]),
    ("Moderator", ["", "False", "0", "true,true"]),
    ("Scope", ["", "forum-1, forum-1", "x" * 256]),
]


def test_a_bad_or_repeated_adapter_header_is_400_and_named(api: Api) -> None:
    for name, value in [(name, value) for name, values in BAD_HEADERS for value in values]:
        sent = value.encode().decode("latin-1")
        answer = api.get("/requests", headers=acting("7") | {f"X-Adapter-{name}": sent})
        assert answer.status_code == 400, (name, value)
        assert f"X-Adapter-{name}" in answer.json["detail"]


def test_a_header_given_twice_is_400(api: Api, cast: Cast) -> None:
    twice = [*cast.headers.items(), ("X-Adapter-Admin", "true"), ("X-Adapter-Admin", "true")]
    answer = api.client.get("/api/public/v1/requests", headers=twice)
    assert answer.status_code == 400


def test_the_scope_must_name_a_community_of_the_key(api: Api, cast: Cast) -> None:
    for scope in (str(cast.community_id), "forum-1", "harbour-forum"):
        assert api.get("/requests", headers={"X-Adapter-Scope": scope}).status_code == 200, scope
    refused = [
        api.get("/requests", headers={"X-Adapter-Scope": scope})
        for scope in (str(cast.other_community_id), "forum-2", "mountain-forum", "unknown")
    ]
    assert {answer.status_code for answer in refused} == {403}
    assert len({answer.text for answer in refused}) == 1


def test_the_acting_user_is_kept_and_kept_up_to_date(
    api: Api, wiring: Wiring, counting: Callable[[], Any]
) -> None:
    api.get("/requests", headers=acting("7", Username="Ada", Trust_Level="2"))
    with counting() as quiet:
        api.get("/requests", headers=acting("7", Username="Ada", Trust_Level="2"))
    assert not [one for one in quiet.statements if one.startswith(("INSERT", "UPDATE"))]
    assert quiet.count <= 6, quiet.statements
    api.get(
        "/requests",
        headers=acting("7", Username="Ada \u00d8, Jr.".encode().decode("latin-1"), Trust_Level="3"),
    )
    api.get("/requests", headers=acting("7"))
    with wiring.database.reading() as session:
        (profile,) = session.scalars(sa.select(Profile).where(Profile.platform_user_id == "7"))
        assert (profile.platform, profile.display_name, profile.trust_level) == (
            "discourse",
            "Ada \u00d8, Jr.",
            3,
        )


def test_a_read_only_key_makes_no_profile(api: Api, cast: Cast, wiring: Wiring) -> None:
    assert (
        api.get("/requests", instead=cast.read_only_headers | acting("7", Username="Ada")).status_code == 200
    )
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Profile).where(Profile.platform_user_id == "7")).first() is None


def test_nobody_acts_as_a_person_of_the_dashboard_or_as_the_service(api: Api, cast: Cast) -> None:
    for platform, user in (("web", str(cast.admin.account_id)), ("bridgenote", "service")):
        headers = {"X-Adapter-Platform": platform, "X-Adapter-User-Id": user}
        assert api.get("/requests", headers=headers).status_code == 403


def test_only_an_asserted_moderator_or_the_key_alone_makes_staff_calls(
    own_app: Flask, wiring: Wiring, cast: Cast
) -> None:
    seen: list[Actor] = []
    with wiring.database.writing() as session:
        unasserting = keys.mint(
            session, SYSTEM, "No staff", KeyTemplate.ADAPTER, [cast.community_id], may_assert_staff=False
        ).text
    plain = {"Authorization": f"Bearer {unasserting}"}
    table: list[tuple[dict[str, str], bool]] = [
        (cast.headers, True),
        (cast.headers | acting("7"), False),
        (cast.headers | acting("7", Admin="false", Moderator="false"), False),
        (cast.headers | acting("7", Admin="true"), True),
        (cast.headers | acting("7", Moderator="true"), True),
        (cast.headers | {"X-Adapter-User-Id": "7"}, False),
        (cast.headers | {"X-Adapter-Moderator": "false"}, False),
        (cast.headers | {"X-Adapter-Platform": "discourse", "X-Adapter-Scope": "forum-1"}, True),
        (plain | acting("7", Admin="true"), False),
        (plain | acting("7"), False),
        (cast.read_only_headers, False),
        (cast.read_only_headers | acting("7", Admin="true"), False),
    ]
    _remember_actors(own_app, seen)
    client = own_app.test_client()
    for headers, staff in table:
        assert client.get("/api/public/v1/probe/actor", headers=headers).status_code == 404
        assert seen, headers
        assert allows(seen[-1], Permission.MODERATE, cast.community_id) is staff, headers


def _remember_actors(app: Flask, seen: list[Actor]) -> None:
    """A guarded view of the test's own that keeps who came in, and then knows nothing."""
    from app.api import auth
    from app.core.errors import NotFound

    probe = guarded("probe", enable_openapi=False)

    def view() -> None:
        seen.append(auth.actor())
        raise NotFound("probe")

    probe.add_url_rule("/probe/actor", view_func=view)
    app.register_blueprint(probe, url_prefix="/api/public/v1")


def test_the_last_use_of_a_key_is_written_at_most_once_a_minute(
    api: Api, wiring: Wiring, counting: Callable[[], Any]
) -> None:
    api.get("/requests")
    with counting() as queries:
        api.get("/requests")
    assert not [one for one in queries.statements if one.startswith("UPDATE")]
    with wiring.database.writing() as session:
        session.execute(sa.update(ApiKey).values(last_used_at=clock.now() - timedelta(seconds=61)))
    api.get("/requests")
    with wiring.database.reading() as session:
        latest = session.scalar(sa.select(sa.func.max(ApiKey.last_used_at)))
        assert clock.now() - latest < timedelta(seconds=30)


def test_over_its_limit_a_key_waits_and_every_answer_says_where_it_stands(
    api: Api, cast: Cast, wiring: Wiring
) -> None:
    tight = wiring.settings.model_copy(update={"rate_limit_enabled": True, "rate_limit_key": "3 per hour"})
    wiring.throttle = Throttle.from_settings(tight)
    left = []
    for path in ("/requests", "/requests/unknown", "/requests?sort=x"):
        answer = api.get(path)
        assert answer.headers["RateLimit-Policy"] == '"key";q=3;w=3600'
        left.append(re.fullmatch(r'"key";r=(\d);t=\d+', answer.headers["RateLimit"]))
    assert [match and match[1] for match in left] == ["2", "1", "0"]
    refused = api.get("/requests")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 3600
    assert refused.headers["RateLimit"].startswith('"key";r=0;t=')
    assert api.get("/requests", instead=cast.foreign_headers).status_code == 200, "each key has its own"


def test_secrets_are_never_repeated_in_input(api: Api) -> None:
    body = submission("post-1", secret="hush-hush-hush", metadata={"token": "hush-hush-hush", "a": "\x00"})
    del body["data"]["attributes"]["requested_by"]
    answer = api.post("/requests", json=body)
    assert answer.status_code == 422
    assert "hush" not in answer.text


@pytest.mark.parametrize(
    "url",
    [
        "https://ann:hush-hush@forum.example/hook",
        "ann:hush-hush@forum.example/hook",
        "https://ann:hush hush@forum.example/hook",
        "https://ann:" + "hush" * 200 + "@forum.example/hook",
        "http://forum.example/hook?a=1&access_token=hush-hush",
        "http://forum.example/hook?token=hush-hush#part",
    ],
)
def test_a_refused_url_is_repeated_without_its_secrets(api: Api, url: str) -> None:
    body = {"url": url, "secret": "a-secret-of-mine", "platform_community_server_id": "forum-1"}
    for answer in (
        api.post("/webhooks/register", json=body),
        api.post("/webhooks/register", json=[body]),
        api.submit("post-1", attachment_url=url, embedded_image_url=url),
    ):
        assert answer.status_code in {400, 422}
        assert "hush" not in answer.text
        assert "[hidden]" in answer.text or answer.status_code == 400


def test_a_key_for_assistants_reaches_no_call(
    app: Flask, client: FlaskClient, wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Helper", KeyTemplate.ASSISTANTS, [cast.community_id]).text
    asked = 0
    for rule in app.url_map.iter_rules():
        if not rule.rule.startswith(("/api/", "/metrics", "/v1")):
            continue
        path = re.sub(r"<[^>]+>", str(uuid.uuid4()), rule.rule)
        for method in sorted((rule.methods or set()) - {"OPTIONS", "HEAD"}):
            given = {"json": {}} if method != "GET" else {}
            if client.open(path, method=method, **given).status_code == 200:
                continue  # for everybody: the documents
            answer = client.open(path, method=method, headers={"Authorization": f"Bearer {key}"}, **given)
            asked += 1
            assert answer.status_code == 403, f"{method} {path}: {answer.status_code} {answer.text[:200]}"
    assert asked > 40
