"""What goes wrong is told in one form, and nothing of the inside is told (docs/integrate/api.md)."""

import json

from flask import Flask
from sqlalchemy.exc import OperationalError

from app.api.blueprints import guarded
from app.core.errors import Conflict, TooMany, Unavailable, UpstreamFailed, UpstreamTimeout
from app.wiring import Wiring
from tests.api.checker import check
from tests.api.conftest import Api
from tests.cast import Cast


def test_unknown_paths_and_methods_are_json_under_the_api_and_nowhere_else(api: Api) -> None:
    assert api.get("/nowhere").json == {"detail": "Not Found"}
    assert api.get("/api/nowhere").status_code == 404
    assert api.get("/webhooks/nowhere/at/all").mimetype == "application/json"
    assert api.put("/requests").status_code == 405
    assert api.client.get("/no-such-page").mimetype in {"text/html", "text/plain"}


def test_a_request_id_is_on_every_answer_and_is_new_each_time(api: Api) -> None:
    answers = [api.get("/requests"), api.get("/requests", instead={}), api.get("/nowhere")]
    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 3


def test_a_fault_of_ours_says_nothing_of_the_inside(own_app: Flask, cast: Cast) -> None:
    faults = guarded("faults", enable_openapi=False)

    @faults.get("/fault/<kind>")
    def fail(kind: str) -> None:
        raise {
            "bug": RuntimeError("password=hunter2"),
            "conflict": Conflict("taken"),
            "many": TooMany("slow down", 0),
            "down": OperationalError("SELECT secret", {}, Exception("server closed the connection")),
            "busy": Unavailable("later", 7),
            "upstream": UpstreamFailed("no"),
            "deadline": UpstreamTimeout("no"),
        }[kind]

    own_app.register_blueprint(faults, url_prefix="/api/public/v1")
    client = own_app.test_client()
    table = {
        "bug": 500,
        "conflict": 409,
        "many": 429,
        "down": 503,
        "busy": 503,
        "upstream": 502,
        "deadline": 504,
    }
    answers = {kind: client.get(f"/api/public/v1/fault/{kind}", headers=cast.headers) for kind in table}
    assert {kind: answer.status_code for kind, answer in answers.items()} == table
    assert answers["bug"].json == {"detail": "Internal server error"}
    assert answers["bug"].headers["X-Request-Id"]
    assert "SELECT" not in answers["down"].text
    assert int(answers["down"].headers["Retry-After"]) >= 1
    assert answers["many"].headers["Retry-After"] == "1"
    assert answers["busy"].headers["Retry-After"] == "7"
    check(answers["upstream"])


def test_without_its_database_the_service_is_503_with_a_time_to_wait(
    app: Flask, cast: Cast, wiring: Wiring
) -> None:
    wiring.database.dispose()
    wiring.database.engine.dialect.connect = _refuse  # type: ignore[method-assign]
    answer = app.test_client().get("/api/public/v1/requests", headers=cast.headers)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    check(answer)


def _refuse(*_args: object, **_options: object) -> None:
    raise OperationalError("connect", {}, Exception("connection refused"))


def test_the_openapi_document_is_served_without_a_key(api: Api) -> None:
    answer = api.get("/openapi.json", instead={})
    assert answer.status_code == 200
    document = json.loads(answer.text)
    assert document["openapi"] == "3.1.0"
    paths = document["paths"]
    assert {"get", "post"} <= paths["/api/public/v1/requests"].keys()
    assert not [path for path in paths if path.startswith("/api/v2/requests")]
    references = set(_references(document))
    assert references
    for reference in references:
        _, _, kind, name = reference.split("/")
        assert name in document["components"][kind], reference


def _references(node: object) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for value in node.values() for found in _references(value)]
    if isinstance(node, list):
        return [found for value in node for found in _references(value)]
    return []
