"""Security events: one line of the log each, with a name and fields, without secrets (docs/run/security-events.md)."""

import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.core.people import key_admin, keys, members
from app.core.permissions import SYSTEM
from app.core.security_events import FIELDS, LOGGER, SecurityEvent
from app.core.upkeep import erasure
from app.core.vocabulary import KeyTemplate
from app.process import logs
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.web.conftest import Visit

Events = Callable[[], list[tuple[str, dict[str, Any]]]]
PAGE = Path(__file__).parents[2] / "docs" / "run" / "security-events.md"


@pytest.fixture
def events(caplog: pytest.LogCaptureFixture) -> Iterator[Events]:
    """Return what was logged since the last call: names and fields."""

    def logged() -> list[tuple[str, dict[str, Any]]]:
        found = [
            (one.getMessage(), {k: v for k, v in getattr(one, FIELDS).items() if v is not None})
            for one in caplog.records
            if one.name == LOGGER
        ]
        caplog.clear()
        return found

    with caplog.at_level(logging.INFO, logger=LOGGER):
        yield logged


def test_signing_in_fails_succeeds_and_is_new_on_a_device(visit: Visit, cast: Cast, events: Events) -> None:
    visitor = visit(None)
    about = {"account_id": cast.rater.account_id, "client_ip": "127.0.0.1"}
    visitor.post("/sign-in", email=cast.rater.email, password="wrong password")
    assert events() == [("sign_in.failed", about)]
    visitor.post("/sign-in", email="nobody@example.org", password="wrong password")
    assert events() == [("sign_in.failed", {"client_ip": "127.0.0.1"})], "not which address was tried"
    visitor.post("/sign-in", email=cast.rater.email, password=PASSWORD)
    assert events() == [("sign_in.new_device", about)]
    visitor.renew()
    visitor.post("/sign-out")
    visitor.page_with_form = "/sign-in"
    visitor.__dict__.pop("token", None)
    visitor.post("/sign-in", email=cast.rater.email, password=PASSWORD)
    assert events() == [("sign_in.succeeded", about)]


def test_what_is_refused_for_its_origin_its_token_or_its_role(
    visit: Visit, cast: Cast, events: Events
) -> None:
    rater = visit(cast.rater)
    rater.post("/settings", {"Origin": "https://evil.example"}, display_name="X")
    assert [name for name, _ in events()] == ["request.cross_site", "request.forbidden"]
    rater.client.post("/settings", data={"display_name": "X"})
    assert events() == [("request.cross_site", {"refused": "form token", "client_ip": "127.0.0.1"})]
    rater.get("/people")
    ((name, fields),) = events()
    assert name == "request.forbidden"
    assert (fields["path"], fields["actor_account_id"]) == ("/people", cast.rater.account_id)


def test_a_limit_is_logged_once_in_its_window(
    visit: Visit, cast: Cast, wiring: Wiring, events: Events
) -> None:
    limits = {"rate_limit_enabled": True, "rate_limit_sign_in": "1 per hour"}
    wiring.throttle = Throttle.from_settings(wiring.settings.model_copy(update=limits))
    visitor = visit(None)
    for _ in range(4):
        visitor.post("/sign-in", email=cast.rater.email, password="wrong password")
    throttled = [fields for name, fields in events() if name == "request.throttled"]
    assert [fields["limit"] for fields in throttled] == ["sign_in"]


def test_roles_keys_and_accounts_are_logged_when_they_are_committed(
    visit: Visit, cast: Cast, wiring: Wiring, events: Events
) -> None:
    actor = {"actor": "system"}

    def disable_and_fail() -> None:
        with wiring.database.writing() as session:
            members.set_disabled(session, SYSTEM, cast.rater.account_id, True, "Spam")
            raise ZeroDivisionError

    with wiring.database.writing() as session:
        minted = keys.mint(session, SYSTEM, "Forum", KeyTemplate.ADAPTER, [cast.community_id])
        assert events() == [], "nothing before the commit"
    about = {"id": minted.key.id, "template": "adapter", "everywhere": False}
    assert events() == [("key.created", actor | about)]
    with wiring.database.writing() as session:
        key_admin.revoke(session, SYSTEM, minted.key.id)
        key_admin.revoke(session, SYSTEM, minted.key.id)
    assert events() == [("key.revoked", actor | {"id": minted.key.id})]
    with pytest.raises(ZeroDivisionError):
        disable_and_fail()
    assert events() == [], "nothing after a rollback"
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, cast.rater.account_id, True, "Spam")
    assert events() == [("account.disabled", actor | {"account_id": cast.rater.account_id})]
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, cast.rater.account_id, False, "Not spam")
        erasure.erase_account(session, SYSTEM, cast.rater.account_id)
    assert [name for name, _ in events()] == ["account.enabled", "account.erased"]


def test_a_changed_role_names_who_whom_and_both_roles(visit: Visit, cast: Cast, events: Events) -> None:
    admin = visit(cast.admin)
    page = admin.get("/people").text
    found = re.search(r'href="/people/([0-9a-f-]{36})"[^>]*><bdi>Rater<', page)
    assert found
    admin.post(f"/people/{found.group(1)}/role", role="moderator", reason="They help")
    ((name, fields),) = events()
    assert name == "role.changed"
    assert fields == {
        "actor": "account",
        "actor_account_id": cast.admin.account_id,
        "account_id": cast.rater.account_id,
        "community_id": cast.community_id,
        "role_before": "rater",
        "role_after": "moderator",
    }
    admin.post(f"/people/{found.group(1)}/remove", reason="They left")
    ((_, fields),) = events()
    assert fields["role_after"] == "none"


def test_a_wrong_key_and_a_key_without_the_right_are_logged(
    client: FlaskClient, cast: Cast, events: Events
) -> None:
    client.get("/api/public/v1/requests", headers={"X-API-Key": "bnk_nothing"})
    assert events() == [("key.refused", {"client_ip": "127.0.0.1"})]
    client.post("/api/public/v1/requests", json={}, headers=cast.read_only_headers)
    ((name, fields),) = events()
    assert name == "request.forbidden"
    assert fields["actor_key_id"]


def test_a_new_password_is_logged(visit: Visit, cast: Cast, events: Events) -> None:
    change = {"current_password": PASSWORD, "new_password": "tree lamp river stone"}
    visit(cast.rater).post("/settings/password", **change)
    assert events() == [("password.changed", {"account_id": cast.rater.account_id, "by": "owner"})]


def test_a_line_is_json_with_the_event_its_fields_and_nothing_secret(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    stream, root = io.StringIO(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        logs.configure("ERROR", as_json=True, stream=stream)
        visitor = visit(None)
        visitor.post("/sign-in", email=cast.rater.email, password="my secret words")
        visitor.post("/sign-in", email=cast.rater.email, password=PASSWORD)
    finally:
        root.handlers, root.level = handlers, level
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["sign_in.failed", "sign_in.new_device"], "at whatever level"
    assert lines[0]["account_id"] == str(cast.rater.account_id)
    assert lines[0]["request_id"]
    assert lines[0]["logger"] == "bridgenote.security"
    for secret in ("my secret words", PASSWORD, cast.rater.email):
        assert secret not in stream.getvalue()


def test_the_page_lists_every_event_with_an_alert() -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \|([^|]+)\|([^|]+)\|([^|]+)\|$", PAGE.read_text(), re.MULTILINE)
    assert {name for name, *_ in rows} == {event.value for event in SecurityEvent}
    assert len(rows) == len(SecurityEvent)
    for name, *cells in rows:
        assert all(cell.strip() for cell in cells), name
