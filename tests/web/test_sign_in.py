"""Signing in and out (docs/run/reliability.md)."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_app
from app.core import clock
from app.core.models import Account, SignIn
from app.demo import sign_ins
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.web.conftest import HTMX, Stage, Visit, Visitor


def _sign_in(visitor: Visitor, email: str, password: str = PASSWORD, **fields: str) -> TestResponse:
    return visitor.post("/sign-in", email=email, password=password, **fields)


def _without_token(text: str) -> str:
    return re.sub(r'name="csrf_token" value="[^"]+"', "", text)


def test_the_right_password_signs_in_and_leads_to_the_work(visit: Visit, cast: Cast) -> None:
    visitor = visit(None)
    response = _sign_in(visitor, cast.rater.email)
    assert response.status_code == 303
    assert visitor.get("/").location == "/help-needed"
    assert visitor.get("/help-needed").status_code == 200


def test_everybody_begins_where_they_worked_last_on_whatever_browser(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    admin = visit(cast.admin)
    # By the alphabet, until they have worked somewhere: by a choice, or on an object's own page.
    assert admin.get("/").location == "/desk?community=harbour-forum"
    assert admin.get(f"/review/{stage.post(away=True)}").status_code == 200
    assert admin.get("/").location == "/desk?community=mountain-forum"
    another_browser = visit(None)
    another_browser.client.set_cookie("bridgenote-community", "harbour-forum")  # of whoever used it before
    assert _sign_in(another_browser, cast.admin.email).status_code == 303
    assert another_browser.get("/").location == "/desk?community=mountain-forum"
    # A window that asks by itself for what is new does not bring them back.
    another_browser.get("/insights?community=harbour-forum")
    admin.get("/review/new-count?community=mountain-forum", **HTMX)
    admin.get("/insights?community=no-such-place")
    third = visit(None)
    _sign_in(third, cast.admin.email)
    assert third.get("/").location == "/desk?community=harbour-forum"


def test_the_address_is_compared_without_case_and_spaces(visit: Visit, cast: Cast) -> None:
    assert _sign_in(visit(None), f"  {cast.rater.email.upper()} ").status_code == 303


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(visit: Visit, cast: Cast) -> None:
    (cookie,) = (
        line
        for line in _sign_in(visit(None), cast.rater.email).headers.getlist("Set-Cookie")
        if line.startswith("bridgenote=")
    )
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie


def test_in_production_the_cookie_is_bound_to_the_host_and_to_https(wiring: Wiring, cast: Cast) -> None:
    wiring.settings = wiring.settings.model_copy(update={"environment": "production"})
    client = create_app(wiring).test_client()
    page = client.get("/sign-in", base_url="https://localhost")
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token
    answer = client.post(
        "/sign-in",
        data={"csrf_token": token.group(1), "email": cast.rater.email, "password": PASSWORD},
        base_url="https://localhost",
    )
    assert answer.status_code == 303
    cookies = page.headers.getlist("Set-Cookie") + answer.headers.getlist("Set-Cookie")
    assert cookies
    assert all(line.startswith("__Host-") and "Secure" in line for line in cookies)
    assert answer.headers["Strict-Transport-Security"]


@pytest.mark.parametrize(
    "email",
    [
        "nobody@example.org",
        "not an address",
        "rater@example.org",
        "a\x00b@c.de",
        "a@\u2603",
        "a@-\u00e9.x",
        "a@",
    ],
)
def test_every_failure_gets_the_same_reply(visit: Visit, cast: Cast, email: str) -> None:
    visitor = visit(None)
    usual = _sign_in(visitor, cast.rater.email, "wrong password")
    answer = _sign_in(visitor, email, "wrong password")
    assert answer.status_code == usual.status_code == 401
    assert "Email address or password is wrong" in answer.text
    assert (
        _without_token(answer.text).replace(email, "")
        == _without_token(usual.text).replace(cast.rater.email, "")
        or "\x00" in email
    )


def test_disabled_accounts_get_that_reply_too(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).disabled_at = clock.now()
    answer = _sign_in(visit(None), cast.rater.email)
    assert answer.status_code == 401
    assert "Email address or password is wrong" in answer.text


def test_empty_fields_are_named(visit: Visit) -> None:
    answer = _sign_in(visit(None), "", "")
    assert answer.status_code == 422
    assert "Enter your email address." in answer.text
    assert "Enter your password." in answer.text


def test_too_many_attempts_are_told_to_wait(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    limited = wiring.settings.model_copy(
        update={"rate_limit_enabled": True, "rate_limit_sign_in": "2 per hour"}
    )
    wiring.throttle = Throttle.from_settings(limited)
    visitor = visit(None)
    for _ in range(2):
        assert _sign_in(visitor, cast.rater.email, "wrong password").status_code == 401
    answer = _sign_in(visitor, cast.rater.email.upper())
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) >= 1
    assert re.search(r"Wait \d+ minutes?, then try again\.", answer.text)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_one_account_and_one_address_are_limited_each_by_itself(
    app: Flask, visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    limits = {"rate_limit_sign_in_account": "3 per hour", "rate_limit_sign_in_address": "3 per minute"}
    wiring.throttle = Throttle.from_settings(
        wiring.settings.model_copy(update=limits | {"rate_limit_enabled": True})
    )

    def tried(email: str, address: str) -> int:
        visitor = visit(None)
        visitor.client.environ_base["REMOTE_ADDR"] = address
        return _sign_in(visitor, email, "wrong password").status_code

    from_everywhere = [tried(cast.rater.email, f"192.0.2.{number}") for number in range(4)]
    assert from_everywhere == [401, 401, 401, 429]
    at_everybody = [tried(f"nobody-{number}@example.org", "198.51.100.7") for number in range(4)]
    assert at_everybody == [401, 401, 401, 429]
    assert tried(cast.moderator.email, "203.0.113.5") == 401, "others are let through"


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("/review?sort=score", "/review?sort=score"),
        ("/notes/1#x", "/notes/1#x"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/evil.example"),
        ("\\\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("/\r\n/evil.example", "/"),
        ("\x00//evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("evil.example", "/"),
        ("", "/"),
    ],
)
def test_after_signing_in_only_our_own_pages_are_reached(
    visit: Visit, cast: Cast, wanted: str, reached: str
) -> None:
    answer = _sign_in(visit(None), cast.rater.email, next=wanted)
    assert answer.status_code == 303
    assert answer.location == reached
    assert not answer.location.startswith("//")


def test_signing_in_never_adopts_a_token_that_was_there(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(None)
    visitor.client.set_cookie("bridgenote", "planted-by-somebody-else")
    _sign_in(visitor, cast.rater.email)
    first = visitor.client.get_cookie("bridgenote")
    assert first is not None
    assert first.value != "planted-by-somebody-else"
    _sign_in(visitor, cast.rater.email)
    second = visitor.client.get_cookie("bridgenote")
    assert second is not None
    assert second.value != first.value
    with wiring.database.reading() as session:
        open_now = session.scalars(sa.select(SignIn).where(SignIn.ended_at.is_(None))).all()
        assert len(open_now) == 1, "the session that the browser had is over"


def test_signing_out_ends_the_session_wherever_its_cookie_went(visit: Visit, cast: Cast) -> None:
    visitor = visit(cast.rater)
    cookie = visitor.client.get_cookie("bridgenote")
    assert cookie is not None
    assert visitor.post("/sign-out").status_code == 303
    assert visitor.get("/help-needed").status_code == 303
    stolen = visit(None)
    stolen.client.set_cookie("bridgenote", cookie.value)
    assert stolen.get("/help-needed").status_code == 303


def test_an_idle_session_ends(visit: Visit, cast: Cast, pass_time: Callable[[timedelta], None]) -> None:
    visitor = visit(cast.rater)
    pass_time(timedelta(minutes=29))
    assert visitor.get("/help-needed").status_code == 200
    pass_time(timedelta(minutes=29))
    assert visitor.get("/help-needed").status_code == 200
    pass_time(timedelta(minutes=31))
    assert visitor.get("/help-needed").status_code == 303


def test_polling_does_not_keep_a_session_alive(
    visit: Visit, cast: Cast, pass_time: Callable[[timedelta], None]
) -> None:
    visitor = visit(cast.rater)
    poll = f"/help-needed/new-count?since={clock.iso(clock.now())}"
    for _ in range(3):
        pass_time(timedelta(minutes=11))
        last = visitor.get(poll, **HTMX)
    assert last.status_code == 286, "htmx stops polling"
    assert visitor.get("/help-needed").status_code == 303


def test_a_session_in_use_ends_after_its_longest_time(
    visit: Visit, cast: Cast, pass_time: Callable[[timedelta], None]
) -> None:
    visitor = visit(cast.rater)
    for _ in range(29):
        pass_time(timedelta(minutes=25))
        visitor.get("/help-needed")
    assert visitor.get("/help-needed").status_code == 303


def test_a_disabled_account_is_out_at_once(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(cast.rater)
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).disabled_at = clock.now()
    assert visitor.get("/help-needed").status_code == 303


def test_signed_out_readers_come_back_to_where_they_were(client: FlaskClient) -> None:
    assert client.get("/help-needed?community=x").location == "/sign-in?next=/help-needed?community%3Dx"


def test_signed_out_htmx_is_sent_to_the_sign_in_page(client: FlaskClient) -> None:
    answer = client.get("/help-needed", headers=HTMX | {"HX-Current-URL": "http://localhost/help-needed"})
    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == "/sign-in?next=/help-needed"


def test_demo_sign_ins_are_shown_on_this_machine_in_development_only(wiring: Wiring, cast: Cast) -> None:
    demo = sign_ins.Demo((sign_ins.SignIn("rater", "demo@example.org", "demo password"),), "a key")
    sign_ins.save(demo, wiring.settings.data_dir)

    def page(environment: str, host: str, caller: str) -> str:
        wiring.settings = wiring.settings.model_copy(update={"environment": environment, "host": host})
        client = create_app(wiring).test_client()
        return client.get("/sign-in", environ_base={"REMOTE_ADDR": caller}).text

    assert "demo@example.org" in page("development", "127.0.0.1", "127.0.0.1")
    assert "demo@example.org" not in page("development", "127.0.0.1", "192.0.2.7")
    assert "demo@example.org" not in page("development", "192.0.2.1", "127.0.0.1")
    assert "demo@example.org" not in page("production", "127.0.0.1", "127.0.0.1")
