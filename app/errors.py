"""Error handling for the whole application: maps every exception to a status and a sentence.

The path decides whether the answer is JSON or an HTML page.
"""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import flask
from apiflask.exceptions import HTTPError
from flask import Flask, Response
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from app.core import errors as refusals
from app.core.db import is_unavailable

log = logging.getLogger("bridgenote")

_STATUS: tuple[tuple[type[refusals.Refused], int], ...] = (
    (refusals.Invalid, 422),
    (refusals.Malformed, 400),
    (refusals.Unauthenticated, 401),
    (refusals.Forbidden, 403),
    (refusals.NotFound, 404),
    (refusals.Conflict, 409),
    (refusals.TooMany, 429),
    (refusals.UpstreamFailed, 502),
    (refusals.UpstreamTimeout, 504),
    (refusals.Unavailable, 503),
)
"""Status by exception class. Subclasses come before their parents (``core/errors.py`` draws the class tree)."""

STORAGE_RETRY_SECONDS = 2
_OWN_HEADERS = {"content-type", "content-length"}


@dataclass(frozen=True)
class Explained:
    """An error answer: status, one sentence, headers, and for a 422 the problems, with paths relative to the body."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[refusals.Problem, ...] = ()


def register(
    app: Flask, as_json: Callable[[Explained], Response], as_page: Callable[[int, str], Response]
) -> None:
    """Handle every exception of the application.

    ``as_json`` renders errors of the API, ``as_page`` (status, detail) renders errors of the dashboard.
    """

    def answer(error: Exception) -> ResponseReturnValue:
        explained = explain(error)
        if answers_json(flask.request.path):
            return as_json(explained)
        response = as_page(explained.status, explained.detail)
        response.headers.update(explained.headers)
        return response

    app.register_error_handler(Exception, answer)
    app.register_error_handler(HTTPError, answer)


def answers_json(path: str) -> bool:
    """Whether errors under this path are answered in JSON."""
    return path.startswith(
        ("/api/", "/webhooks/", "/v1/", "/v1alpha1/", "/$discovery/", "/scim/")
    ) or path in {
        "/api",
        "/webhooks",
        "/metrics",
        "/healthz",
        "/readyz",
    }


def explain(error: Exception) -> Explained:
    """Return the status, detail and headers for an exception. Unknown exceptions are a 500 without details."""
    if isinstance(error, refusals.Refused):
        return _explain_refusal(error)
    if isinstance(error, HTTPException):
        default = type(error).description
        own = error.description if error.description and error.description != default else error.name
        headers = {
            name: value
            for name, value in error.get_headers(flask.request.environ)
            if name.lower() not in _OWN_HEADERS
        }
        return Explained(error.code or 500, own, headers)
    if isinstance(error, HTTPError):
        return Explained(error.status_code, str(error.message), dict(Headers(error.headers)))
    if is_unavailable(error):
        log.exception("the database is not available; request %s", flask.g.get("request_id"))
        return Explained(503, "Service temporarily unavailable", {"Retry-After": str(STORAGE_RETRY_SECONDS)})
    log.exception("unexpected error; request %s", flask.g.get("request_id"))
    return Explained(500, "Internal server error")


def _explain_refusal(error: refusals.Refused) -> Explained:
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 400)
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    wait = getattr(error, "retry_after", None)
    if wait is not None:
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    problems = error.problems if isinstance(error, refusals.Invalid) else ()
    return Explained(status, error.detail, headers, problems)
