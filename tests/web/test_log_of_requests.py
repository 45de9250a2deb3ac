"""No log holds what a link opens: not the line of a request, not a library's own words."""

import io
import json
import logging
import re
import secrets
import uuid
from collections.abc import Iterator

import pytest
import structlog
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from app import create_app
from app.process import logs
from app.wiring import Wiring

MEANT_FOR_IDS = {"IntegerConverter", "UUIDConverter", "AnyConverter"}


@pytest.fixture
def logging_app(wiring: Wiring) -> Flask:
    wiring.settings = wiring.settings.model_copy(update={"log_format": "json"})
    return create_app(wiring)


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    root, stream = logging.getLogger(), io.StringIO()
    before, level = list(root.handlers), root.level
    logs.configure("DEBUG", as_json=True, stream=stream)
    yield stream
    root.handlers, root.level = before, level
    structlog.reset_defaults()


def rules_with_words(app: Flask) -> list[Rule]:
    """The routes that take a text from the path, which could be a token."""
    return [
        rule
        for rule in app.url_map.iter_rules()
        if any(type(one).__name__ not in MEANT_FOR_IDS for one in rule._converters.values())
    ]


def filled(rule: Rule, token: str, account: str) -> str:
    """The rule's path with ``token`` wherever it takes a text."""

    def fill(found: re.Match[str]) -> str:
        kind, name = found[2] or "", found[3]
        converter = rule._converters[name]
        if "uuid" in kind:
            return account
        if type(converter).__name__ in MEANT_FOR_IDS:
            return "1"
        return token

    return re.sub(r"<((\w+)(?:\([^)]*\))?:)?(\w+)>", fill, rule.rule)


def spellings(path: str, token: str) -> list[str]:
    hidden = path.replace(token, "%" + format(ord(token[0]), "02x") + token[1:])
    return [path, path + "/", path + ".", path + "?again=1", "/" + path, path.replace("/", "//"), hidden]


def test_the_log_names_routes_and_never_what_their_paths_open(
    logging_app: Flask, written: io.StringIO
) -> None:
    client = logging_app.test_client()
    rules = rules_with_words(logging_app)
    assert {"/confirm/<token>", "/reset/<token>", "/join/<token>"} <= {rule.rule for rule in rules}
    for rule in rules:
        token = secrets.token_urlsafe(32).replace("-", "x").replace("_", "y")
        path = filled(rule, token, str(uuid.uuid4()).upper())
        is_mailed = hasattr(logging_app.view_functions[rule.endpoint], "is_from_mail")
        for spelled in spellings(path, token) if is_mailed else [path]:
            client.open(spelled, method=min((rule.methods or set()) - {"OPTIONS", "HEAD"}))
        if is_mailed:
            client.get(f"/sign-in?next={path}", headers={"Referer": f"http://localhost{path}"})
        assert token not in written.getvalue(), rule.rule
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    said = {line["path"] for line in lines if line["event"] == "request"}
    assert {"/confirm/<token>", "/reset/<token>", "/unsubscribe/<uuid:account_id>/<token>"} <= said


def test_a_line_keeps_the_ids_and_the_known_words(logging_app: Flask, written: io.StringIO) -> None:
    client = logging_app.test_client()
    item = str(uuid.uuid4())
    client.get(f"/deliveries/{item}")
    client.get("/api/public/v1/reqests/secret-thing")
    first, second = [json.loads(line) for line in written.getvalue().splitlines()]
    assert item in first.values()
    assert item not in first["path"]
    assert second["path"] == "/api/public/v1/…/…"


def mailed_paths(app: Flask, token: str) -> list[str]:
    views = app.view_functions
    rules = [rule for rule in app.url_map.iter_rules() if hasattr(views[rule.endpoint], "is_from_mail")]
    return [filled(rule, token, str(uuid.uuid4()).upper()) for rule in rules]


def test_a_library_that_writes_a_mailed_link_writes_it_without_the_token(
    app: Flask, written: io.StringIO
) -> None:
    paths = mailed_paths(app, "T0ken")
    assert len(paths) >= 8
    for path in paths:
        for said in (path, path.replace("/", "//"), path.replace("/", "%2F"), f"https://x.example{path}."):
            logging.getLogger("waitress").info("Client disconnected while serving %s", said)
            logging.getLogger("x").info("sent back from /sign-in?next=%s&then=1", said)
    assert written.getvalue().count("\n") == len(paths) * 8
    assert "T0ken" not in written.getvalue()


def test_the_page_that_leads_on_to_a_mailed_link_keeps_its_address_from_what_it_loads(
    client: FlaskClient,
) -> None:
    answer = client.get("/sign-in?next=/join/" + "t" * 43)
    assert answer.headers["Referrer-Policy"] == "strict-origin"
