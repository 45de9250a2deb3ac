"""One checker for every answer of the API: a JSON:API document on success, ``detail`` on refusal."""

import math
import re
from typing import Any

from flask.testing import FlaskClient
from pydantic import ConfigDict, create_model
from werkzeug.test import TestResponse

from app.api.field_clients import Flat, FlatCommunity, RatingThresholds, ScoringAnalysis
from app.api.schemas.documents import SHOWN, Links, PageLinks, PageMeta, Uuid
from app.api.schemas.requests import RequestBatchAnswers

JSON_API = "application/vnd.api+json"
FLAT = ("/api/v1/", "/api/public/v1/openapi.json", "/api/v2/openapi.json")
"""Answers that are no JSON:API documents, and documented apart (docs/integrate/api.md)."""
FLAT_ENDINGS = ("/scoring-analysis",)
FLAT_BODIES: dict[str, type[Flat]] = {
    r"/api/v1/community-servers": FlatCommunity,
    r"/api/v1/community-servers/.+/name": FlatCommunity,
    r"/api/v1/config/rating-thresholds": RatingThresholds,
    r"/api/v2/community-servers/[^/]+/scoring-analysis": ScoringAnalysis,
}
"""What a flat answer holds, by its path."""
TOP_MEMBERS = {"jsonapi", "data", "links", "meta"}
TOP_EXTRA = {"webhooks": {"id"}}
"""Members that a type's documents carry beside those of JSON:API (docs/integrate/api.md)."""
LOC_STARTS = {"body", "query", "path", "header"}


class CheckedClient(FlaskClient):
    """A test client that checks every answer it gets."""

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        response = super().open(*args, **kwargs)
        check(response)
        return response


def check(response: TestResponse) -> None:
    """Assert all that the contract says of any answer of its status."""
    path = response.request.path
    assert response.headers["X-Request-Id"], "every response carries a request id"
    if not path.startswith(("/api/", "/webhooks")) and path != "/metrics":
        return
    if response.status_code >= 400:
        _check_error(response)
    elif response.status_code == 204 or response.request.method == "HEAD":
        assert response.data == b""
    elif path.startswith(FLAT) or path.endswith(FLAT_ENDINGS):
        _check_flat(response)
    elif path.endswith("/requests/batch") and response.request.method == "POST":
        _check_batch(response)
    elif path != "/metrics":
        _check_document(response)


def _check_flat(response: TestResponse) -> None:
    assert response.mimetype == "application/json"
    if response.request.path.endswith("/openapi.json"):
        return
    fitting = [model for form, model in FLAT_BODIES.items() if re.fullmatch(form, response.request.path)]
    assert fitting, f"no model says what {response.request.path} answers"
    fitting[0].model_validate(response.json)


def _check_error(response: TestResponse) -> None:
    status = response.status_code
    assert status != 500, response.text
    assert response.mimetype == "application/json", response.mimetype
    if response.request.method == "HEAD":
        return
    body = response.json
    assert isinstance(body, dict)
    assert set(body) == {"detail"}, body
    _check_detail(status, body["detail"])
    if status == 401:
        assert response.headers["WWW-Authenticate"] == "Bearer"
    if status in {429, 503} and "Retry-After" in response.headers:
        assert int(response.headers["Retry-After"]) >= 1
    if status == 429:
        assert {"Retry-After", "RateLimit", "RateLimit-Policy"} <= set(response.headers.keys())
    if status == 405:
        assert response.headers["Allow"]


def _check_detail(status: int, detail: Any) -> None:
    if status == 422:
        assert isinstance(detail, list)
        assert detail, "a 422 names the fields"
        for item in detail:
            assert set(item) == {"type", "loc", "msg", "input"}, item
            assert item["loc"][0] in LOC_STARTS, item
            assert all(isinstance(part, str | int) for part in item["loc"])
            assert item["type"]
            assert item["msg"]
    else:
        assert isinstance(detail, str)
        assert detail


def _check_batch(response: TestResponse) -> None:
    assert response.headers["Content-Type"] == JSON_API
    RequestBatchAnswers.model_validate(response.json)
    for row in response.json["data"]:
        if "type" in row:
            _check_resource({name: value for name, value in row.items() if name != "meta"})
        else:
            _check_detail(row["status"], row["detail"])


def _check_document(response: TestResponse) -> None:
    assert response.headers["Content-Type"] == JSON_API
    document = response.json
    assert isinstance(document, dict)
    assert document["jsonapi"] == {"version": "1.1"}
    data = document["data"]
    rows = data if isinstance(data, list) else [data]
    extra: set[str] = set()
    for row in rows:
        _check_resource(row)
        extra |= TOP_EXTRA.get(row["type"], set())
    assert set(document) <= TOP_MEMBERS | extra, set(document)
    for member in ("links", "meta"):
        assert document.get(member) != {}, f"an empty {member} is left out"
    links = document.get("links") or {}
    for link in links.values():
        assert link is None or not set(link) & set('[] "<>'), f"not percent-encoded: {link}"
    if isinstance(data, list):
        PageLinks.model_validate(links)
        meta = PageMeta.model_validate(document["meta"])
        assert meta.pages == math.ceil(meta.count / meta.limit)
        assert len(data) <= meta.limit
    elif links:
        Links.model_validate(links)


def _check_resource(row: dict[str, Any]) -> None:
    assert set(row) == {"type", "id", "attributes"}, set(row)
    assert row["type"] in SHOWN, f"the attributes of {row['type']} are not declared in schemas.SHOWN"
    create_model("Identity", __config__=ConfigDict(strict=True), id=(Uuid, ...)).model_validate(
        {"id": row["id"]}
    )
    attributes = SHOWN[row["type"]]
    attributes.model_validate(row["attributes"])
    assert {"created_at", "updated_at"} <= row["attributes"].keys(), "every resource has both times"
