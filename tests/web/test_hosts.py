"""Which hosts the service answers to, and what the URLs in its answers begin with."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from pydantic import ValidationError

from app.settings import Settings
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import Visitor

PUBLIC = "https://moderation.example.org"
LIST = "/api/public/v1/requests"

Configure = Callable[..., None]


@pytest.fixture
def configure(wiring: Wiring) -> Configure:
    def change(**settings: Any) -> None:
        wiring.settings = wiring.settings.model_copy(update=settings)

    return change


def status(client: FlaskClient, host: str, path: str = "/sign-in") -> int:
    return client.get(path, headers={"Host": host}).status_code


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "bridgenote.localhost:1"],
)
def test_development_answers_to_this_machines_own_names(client: FlaskClient, host: str) -> None:
    assert status(client, host) == 200


FOREIGN = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "evil.example.localhost.",
    "10.1.2.3",
]
ILLEGAL = [
    "",
    "a b",
    "localhost/evil",
    "me@localhost",
    "localhost,evil.example",
    "localhost:99999",
    "[::1",
    "lö",
]


@pytest.mark.parametrize("public_url", ["", PUBLIC], ids=["nowhere", "public"])
def test_another_host_is_400_for_people_and_for_programs(
    client: FlaskClient, cast: Cast, configure: Configure, public_url: str
) -> None:
    configure(public_url=public_url)
    for host in FOREIGN + ILLEGAL:
        page = client.get("/sign-in", headers={"Host": host})
        assert page.status_code == 400, host
        assert page.mimetype == "text/html", host
        assert "evil" not in page.text, host
        answer = client.get(LIST, headers=cast.headers | {"Host": host})
        assert answer.status_code == 400, host
        assert answer.json is not None, host
        assert set(answer.json) == {"detail"}, host
        assert "evil" not in answer.text, host
        twice = client.get("//sign-in", headers={"Host": host})
        assert twice.status_code == 400, host
        assert "Location" not in twice.headers, host


def test_production_answers_to_its_public_name_and_to_those_that_are_set(
    client: FlaskClient, configure: Configure
) -> None:
    configure(
        environment="production",
        public_url=PUBLIC + ":8443",
        trusted_hosts="old.example.org, .Internal.example, 10.0.0.7,[fd00::7]",
    )
    trusted = [
        "moderation.example.org:8443",
        "Moderation.Example.org",
        "old.example.org",
        "a.b.internal.example",
        "10.0.0.7:8000",
        "[FD00::7]:8000",
    ]
    assert {host: status(client, host) for host in trusted} == dict.fromkeys(trusted, 200)
    foreign = [
        "localhost",
        "127.0.0.1:8000",
        "internal.example",
        "xold.example.org",
        "example.org",
        "10.0.0.8",
    ]
    assert {host: status(client, host) for host in foreign} == dict.fromkeys(foreign, 400)


def test_where_no_name_is_set_production_answers_to_all_that_are_well_formed(
    client: FlaskClient, configure: Configure
) -> None:
    configure(environment="production", public_url="", trusted_hosts="")
    assert status(client, "whatever.example") == 200
    assert status(client, "what/ever") == 400
    configure(trusted_hosts="*", public_url=PUBLIC)
    assert status(client, "whatever.example") == 200


def test_what_listens_everywhere_in_development_answers_to_addresses(
    client: FlaskClient, configure: Configure
) -> None:
    configure(host="0.0.0.0")  # noqa: S104 - nothing listens
    assert status(client, "192.168.1.20:8000") == 200
    assert status(client, "evil.example") == 400


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_a_load_balancer_asks_by_address(
    client: FlaskClient, cast: Cast, configure: Configure, path: str
) -> None:
    configure(environment="production", public_url=PUBLIC)
    expected = client.get(path, headers={"Host": "moderation.example.org"}).status_code
    assert expected in {200, 401, 503}
    assert status(client, "10.0.0.5:8000", path) == expected
    assert status(client, "a b", path) == 400


@pytest.mark.parametrize(
    "text", ["https://a.example", "a b", "a.example:80", "a/b", "..", "*.example.org", "ö.de"]
)
def test_a_setting_that_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="trusted_hosts"):
        Settings(_env_file=None, trusted_hosts=text)


def urls(value: Any) -> list[str]:
    """Every absolute URL in a JSON value."""
    if isinstance(value, dict):
        return [url for one in value.values() for url in urls(one)]
    if isinstance(value, list):
        return [url for one in value for url in urls(one)]
    return [value] if isinstance(value, str) and value.startswith("http") else []


@pytest.mark.parametrize("asked", ["localhost:8000", "moderation.example.org"])
def test_every_url_in_an_answer_begins_with_the_public_one(
    client: FlaskClient, cast: Cast, configure: Configure, asked: str
) -> None:
    configure(public_url=PUBLIC)
    headers = cast.headers | {"Host": asked}
    community = {"platform_community_server_id": "forum-1"}
    registration = {"url": "https://hooks.example.net/b", "secret": "s" * 40, **community}
    made = client.post("/webhooks/register", json=registration, headers=headers)
    attributes = {
        "request_id": "post-1",
        "requested_by": "user-1",
        "community_server_id": "forum-1",
        "original_message_content": "The harbour is quiet",
    }
    body = {"data": {"type": "requests", "attributes": attributes}}
    submitted = client.post(LIST, json=body, headers=headers)
    shown = client.get(f"{LIST}?page[size]=1", headers=headers)
    description = client.get("/api/public/v1/openapi.json", headers=headers)
    alias = client.get("/api/v2/requests", headers=headers)
    assert [made.status_code, submitted.status_code] == [201, 201]
    for answer in (made, submitted, shown, alias):
        assert answer.json is not None
        found = [url for url in urls(answer.json["links"]) + urls(answer.headers.get("Location"))]
        assert found
        assert [url for url in found if not url.startswith(PUBLIC + "/")] == []
    assert submitted.headers["Location"].startswith(PUBLIC + LIST)
    assert description.json is not None
    assert description.json["servers"] == [{"url": PUBLIC}]
    page = client.get("/api/public/v1/docs", headers={"Host": asked})
    assert PUBLIC in page.text
    assert "localhost" not in page.text
    doubled = client.get("/api/public/v1//requests?page[size]=1", headers=headers)
    assert doubled.status_code == 308
    assert doubled.headers["Location"].startswith(PUBLIC + LIST)


def test_without_a_public_url_they_begin_with_the_host_that_was_asked(
    client: FlaskClient, cast: Cast
) -> None:
    answer = client.get(LIST, headers=cast.headers | {"Host": "localhost:8123"})
    assert answer.json is not None
    assert answer.json["links"]["self"] == f"http://localhost:8123{LIST}"


def test_a_form_comes_from_the_public_url_where_the_proxy_hands_on_another_host(
    visit: Callable[..., Visitor], cast: Cast, configure: Configure
) -> None:
    configure(public_url=PUBLIC)
    visitor = visit(cast.moderator)
    save = {"display_name": "Mo"}
    assert visitor.post("/settings", {"Origin": PUBLIC}, **save).status_code in {200, 303}
    assert visitor.post("/settings", {"Origin": "http://localhost"}, **save).status_code in {200, 303}
    for foreign in ("https://evil.example", "http://moderation.example.org", PUBLIC + ":444"):
        assert visitor.post("/settings", {"Origin": foreign}, **save).status_code == 403


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "GZIP", "identity, gzip", "zstd", "x"])
def test_a_body_in_a_coding_is_415_and_told_what_is_read(
    client: FlaskClient, cast: Cast, coding: str
) -> None:
    for path in (LIST, "/webhooks/register", "/api/v1/community-servers", "/sign-in"):
        answer = client.post(path, data=b"{}", headers=cast.headers | {"Content-Encoding": coding})
        assert answer.status_code == 415, path
        assert answer.headers["Accept-Encoding"] == "identity"
        assert answer.mimetype == ("text/html" if path == "/sign-in" else "application/json")


def test_identity_is_no_coding(client: FlaskClient, cast: Cast) -> None:
    headers = cast.headers | {"Content-Encoding": "Identity"}
    assert client.post(LIST, json={"data": {}}, headers=headers).status_code == 422


def test_the_dashboard_under_another_name_still_serves_its_pages(app: Flask, configure: Configure) -> None:
    configure(trusted_hosts="other.example")
    page = app.test_client().get("/sign-in", headers={"Host": "other.example"})
    assert page.status_code == 200
    assert "Sign in" in page.text
