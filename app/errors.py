"""One place for what goes wrong: it explains every exception, and decides by path who words it, JSON or page."""

import logging
import math
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import flask
import sqlalchemy.exc as sa_exc
from apiflask.exceptions import HTTPError
from flask import Flask, Response
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from app.core import errors as refusals

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
"""Subclasses stand before their parents (the tree is drawn in ``core/errors.py``)."""

_STORAGE_DOWN = (
    sa_exc.OperationalError,
    sa_exc.InterfaceError,
    sa_exc.TimeoutError,
    sa_exc.DisconnectionError,
    sqlite3.OperationalError,
)
STORAGE_RETRY_SECONDS = 2
_OWN_HEADERS = {"content-type", "content-length"}


@dataclass(frozen=True)
class Explained:
    """What to answer: a status, one sentence, headers, and for a 422 the problems with their bare paths."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[refusals.Problem, ...] = ()


def register(
    app: Flask, as_json: Callable[[Explained], Response], as_page: Callable[[int, str], Response]
) -> None:
    """Let every exception of the application end here; the doors bring their words (``as_page``: status, detail)."""

    def answer(error: Exception) -> ResponseReturnValue:
        explained = explain(error)
        if is_for_programs(flask.request.path):
            return as_json(explained)
        response = as_page(explained.status, explained.detail)
        response.headers.update(explained.headers)
        return response

    app.register_error_handler(Exception, answer)
    app.register_error_handler(HTTPError, answer)


def is_for_programs(path: str) -> bool:
    """Whether answers under this path are JSON."""
    return path.startswith(("/api/", "/webhooks/")) or path in {
        "/api",
        "/webhooks",
        "/metrics",
        "/healthz",
        "/readyz",
    }


def explain(error: Exception) -> Explained:
    """Status, words and headers of an exception; whatever is unknown is a 500 that says nothing."""
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
    lost = isinstance(error, sa_exc.DBAPIError) and error.connection_invalidated
    if lost or isinstance(error, _STORAGE_DOWN):
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
