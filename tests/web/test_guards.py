"""Who gets in, and what every unsafe request must prove."""

import re
import uuid
from itertools import product
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.web.security import SAFE_METHODS
from tests.cast import Cast
from tests.examples import PROFILE
from tests.web.conftest import HTMX, Stage, Visit

OPEN_TO_ALL = {
    "web.home",
    "web.session_left",
    "web.sign_in",
    "web.sign_in_submit",
    "web.sign_in_with",
    "web.sign_in_callback",
    "web.provider_logout",
    "web.sign_out",
    "web.sign_up",
    "web.sign_up_submit",
    "web.send_confirmation_again",
    "web.mail_sent",
    "web.forgot",
    "web.forgot_submit",
    "web.security_txt",
    "web.passkey_options",
    "web.sign_in_with_passkey",
    "web.second_step",
    "web.second_step_options",
    "web.second_step_submit",
}
FROM_MAIL = {
    "web.confirm",
    "web.confirm_submit",
    "web.reset",
    "web.reset_submit",
    "web.join",
    "web.join_submit",
    "web.unsubscribe",
    "web.unsubscribe_submit",
    "web.first_admin_page",
    "web.make_first_admin",
    "web.sign_in_link",
    "web.sign_in_link_submit",
}
"""Behind one-time links: open, and without a referrer, so that their own forms say ``Origin: null``."""
ONE_CLICK = {"web.unsubscribe_submit"}
"""Mail programs post there by themselves: the address is what has to be known."""
FROM_SERVER = {"web.provider_logout"}
"""Sign-in providers post there by themselves: the signature of what they send is what counts."""
ROLES = ("rater", "moderator", "operator", "admin")
SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For walks over every route that are refused before the database is asked anything that differs."""

IS_LONG = PROFILE == "long"
"""In `make faults`: every combination of token, script and site for every path."""
FORGED = {"csrf_token": "forged"}
TOKENS: tuple[dict[str, str], ...] = ({}, FORGED)
CLIENTS: tuple[dict[str, str], ...] = ({}, HTMX)
"""The headers of a page without script, and of htmx."""
ANOTHER_SITE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost.evil.example"},
    {"Origin": "http://localhost:8001"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
]


def _routes(app: Flask, *, unsafe: bool) -> list[str]:
    """Every dashboard path with its parameters filled in, that takes an unsafe (or a safe) method."""
    adapter = app.url_map.bind("localhost")
    paths = []
    for rule in app.url_map.iter_rules():
        methods = (rule.methods or set()) - {"OPTIONS", "HEAD"}
        if rule.endpoint.startswith("web.") and (
            bool(methods - SAFE_METHODS) if unsafe else "GET" in methods
        ):
            values = {name: uuid.uuid4() for name in rule.arguments}
            method = next(iter(methods - SAFE_METHODS)) if unsafe else "GET"
            try:
                paths.append(adapter.build(rule.endpoint, values, method=method))
            except ValueError:
                paths.append(adapter.build(rule.endpoint, dict.fromkeys(rule.arguments, 1), method=method))
    return sorted(paths)


def test_only_these_pages_are_open_to_everyone(app: Flask) -> None:
    opened = {name for name, view in app.view_functions.items() if getattr(view, "is_open", False)}
    assert opened == OPEN_TO_ALL | FROM_MAIL
    for flag, expected in (("is_from_mail", FROM_MAIL), ("is_one_click", ONE_CLICK | FROM_SERVER)):
        flagged = {name for name, view in app.view_functions.items() if getattr(view, flag, False)}
        assert flagged == expected


@SQLITE
def test_signed_out_readers_are_led_to_the_sign_in_page(app: Flask, client: FlaskClient) -> None:
    opened = {"/", "/sign-in"}
    for path in _routes(app, unsafe=False):
        if path not in opened:
            answer = client.get(path)
            if getattr(app.view_functions[_webhook(app, path)], "is_open", False):
                continue
            assert answer.status_code == 303, path
            assert answer.location.startswith("/sign-in?next=/"), path


@SQLITE
def test_unsafe_routes_refuse_whoever_is_signed_out(app: Flask, client: FlaskClient) -> None:
    for path in _routes(app, unsafe=True):
        view = app.view_functions[_webhook(app, path, "POST")]
        if not getattr(view, "is_open", False):
            assert client.post(path).status_code == 401, path
            stops_polling = 286 if getattr(view, "is_passive", False) else 401
            assert client.post(path, headers=HTMX).status_code == stops_polling, path


@SQLITE
def test_unsafe_routes_refuse_a_form_without_our_token(app: Flask, visit: Visit, cast: Cast) -> None:
    visitor = visit(cast.admin)
    paths = _routes(app, unsafe=True)
    assert len(paths) > 5
    for number, path in enumerate(paths):
        if _webhook(app, path, "POST") in ONE_CLICK | FROM_SERVER:
            assert visitor.client.post(path).status_code == 404, "an address that nobody was sent"
            continue
        # By turns without a token and with a forged one, as a page and with script; at length, each with each.
        turns = zip(TOKENS, CLIENTS[:: 1 if number % 2 else -1], strict=True)
        for data, headers in product(TOKENS, CLIENTS) if IS_LONG else turns:
            assert visitor.client.post(path, data=data, headers=headers).status_code == 400, path


@SQLITE
@pytest.mark.parametrize("headers", ANOTHER_SITE, ids=lambda headers: " ".join(headers.values()))
def test_unsafe_routes_refuse_another_site(
    app: Flask, visit: Visit, cast: Cast, headers: dict[str, str]
) -> None:
    visitor, turn = visit(cast.admin), ANOTHER_SITE.index(headers)
    for number, path in enumerate(_routes(app, unsafe=True), turn):
        if headers == {"Origin": "null"} and _webhook(app, path, "POST") in FROM_MAIL:
            assert visitor.post(path, headers | {"Sec-Fetch-Site": "cross-site"}).status_code == 403, path
            continue
        if _webhook(app, path, "POST") in FROM_SERVER:
            continue
        # Each path as a page for some of them and with script for the others; at length, both for all.
        for client in CLIENTS if IS_LONG else CLIENTS[number % 2 :][:1]:
            assert visitor.post(path, headers | client).status_code == 403, path


def test_a_form_of_ours_passes(visit: Visit, cast: Cast) -> None:
    visitor = visit(cast.rater)
    ours = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert visitor.post("/settings", ours, theme="dark", timezone="UTC").status_code == 303


@pytest.mark.parametrize("role", ROLES)
def test_rater_pages_are_for_every_role_of_the_community(
    visit: Visit, cast: Cast, stage: Stage, role: str
) -> None:
    action_id = stage.post()
    visitor = visit(getattr(cast, role))
    for path in ("/help-needed", f"/review/{action_id}", "/settings"):
        assert visitor.get(path).status_code == 200, path
    assert visitor.post(f"/review/{action_id}/answer", answer="yes").status_code == 303
    assert stage.own_rating(action_id, getattr(cast, role)) is not None


def test_another_communitys_objects_look_unknown(visit: Visit, cast: Cast, stage: Stage) -> None:
    action_id = stage.post()
    note_id = stage.rationale(action_id).id
    outsider, unknown = visit(cast.outsider), uuid.uuid4()
    for known, missing in (
        (f"/review/{action_id}", f"/review/{unknown}"),
        (f"/notes/{note_id}", f"/notes/{unknown}"),
        (f"/notes/{note_id}/edit", f"/notes/{unknown}/edit"),
        (f"/help-needed?community={cast.community_id}", f"/help-needed?community={unknown}"),
    ):
        assert outsider.get(known).status_code == outsider.get(missing).status_code == 404, known
    for path in (f"/review/{action_id}/answer", f"/help-needed/{action_id}"):
        assert outsider.post(path, answer="yes").status_code == 404, path
        assert outsider.post(path, HTMX, answer="yes").status_code == 404, path
    assert stage.own_rating(action_id, cast.outsider) is None


def test_a_page_above_ones_role_names_the_role(visit: Visit, cast: Cast) -> None:
    answer = visit(cast.rater).get("/review")
    assert answer.status_code == 403
    assert "moderator" in answer.text


def test_the_navigation_shows_only_what_the_role_opens(visit: Visit, cast: Cast, app: Flask) -> None:
    rater = visit(cast.rater).get("/help-needed").text
    assert 'href="/help-needed"' in rater
    assert "/thresholds" not in rater
    assert 'href="/review"' not in rater
    routed = {rule.rule for rule in app.url_map.iter_rules()}
    admin = visit(cast.admin).get("/help-needed").text
    for path in ("/review", "/history", "/thresholds", "/keys", "/insights"):
        assert (f'href="{path}"' in admin) == (path in routed), path


def test_pages_carry_strict_headers(visit: Visit, cast: Cast) -> None:
    answer = visit(cast.rater).get("/help-needed")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "HX-Request" in answer.headers["Vary"]


def test_static_files_may_be_kept(client: FlaskClient) -> None:
    page = client.get("/sign-in").text
    for kept in ('href="(/static/css/base.css[^"]+)"', 'src="(/static/js/[0-9a-f]{10}/app.js)"'):
        address = re.search(kept, page)
        assert address
        with client.get(address[1]) as answer:
            assert "immutable" in answer.headers["Cache-Control"]


def test_modules_of_another_version_are_not_kept_and_hide_no_other_file(client: FlaskClient) -> None:
    with client.get("/static/js/0123456789/app.js") as answer:
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=300"
    assert client.get("/static/js/0123456789/..%2f..%2fapp/settings.py").status_code == 404
    assert client.get("/static/js/0123456789/none.js").status_code == 404


def test_every_page_preloads_what_its_script_imports(client: FlaskClient) -> None:
    page = client.get("/sign-in").text
    preloaded = set(re.findall(r'rel="modulepreload" href="[^"]+/([^"/]+)"', page))
    folder = Path(__file__).parents[2] / "static" / "js"
    statement = r'(?:from|import) "\./([^"]+)"'  # what is imported later, by a call, is not every page's
    imported = {name for path in folder.glob("*.js") for name in re.findall(statement, path.read_text())}
    assert imported | {"app.js"} == preloaded == {path.name for path in folder.glob("*.js")}


def test_unknown_addresses_get_a_page(client: FlaskClient, visit: Visit, cast: Cast) -> None:
    assert "Page not found" in client.get("/no-such-page").text
    answer = visit(cast.rater).get("/no-such-page")
    assert answer.status_code == 404
    assert 'aria-label="Main"' in answer.text


def test_a_body_that_is_too_long_is_refused(visit: Visit, cast: Cast) -> None:
    answer = visit(cast.rater).post("/settings", theme="x" * 1_100_000)
    assert answer.status_code == 413
    assert "too much text" in answer.text


def test_a_fault_shows_a_page_that_says_nothing_of_the_inside(
    app: Flask, visit: Visit, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = visit(cast.rater)

    def broken() -> str:
        raise RuntimeError("a secret detail")

    monkeypatch.setitem(app.view_functions, "web.settings", broken)
    answer = visitor.get("/settings")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert answer.headers["X-Request-Id"] in answer.text


def _webhook(app: Flask, path: str, method: str = "GET") -> str:
    webhook, _values = app.url_map.bind("localhost").match(path, method=method)
    return str(webhook)
