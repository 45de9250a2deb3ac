"""What anybody may ask of a running server, and what it counts of its answers (docs/operations.md).

``/healthz`` says that this process answers, ``/readyz`` that it can do its work: for whoever restarts it, and for
whoever sends it requests. The counts of all server processes of a machine are added up: each keeps its own in a file
(the Prometheus client's multiprocess mode), in a folder that ``startup`` makes anew before any of them starts.
"""

import contextlib
import logging
import os
import time
import uuid
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import flask
import sqlalchemy as sa
import structlog
from flask import Blueprint, Flask
from flask.typing import ResponseReturnValue
from prometheus_client import REGISTRY, CollectorRegistry, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from app.core.db import Database
from app.jobs import tables
from app.process import runtime
from app.process.runtime import COUNTS_FOLDER
from app.wiring import wired

log = logging.getLogger("bridgenote.requests")

_NAME = "bridgenote_http_request_duration_seconds"

durations = Histogram(
    _NAME,
    "How long answers took, by route and status.",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)

health = Blueprint("health", __name__)


def register(app: Flask, *, log_requests: bool) -> None:
    """Count and, if wanted, log every answer, and answer for one's health."""
    app.register_blueprint(health)
    app.config["LOG_REQUESTS"] = logging.INFO if log_requests else logging.DEBUG
    app.before_request(_begin)
    app.after_request(_count)


class Answers:
    """The counts of every process as a collector; of this one alone where there are no others."""

    def collect(self) -> Iterator[Metric]:
        if COUNTS_FOLDER in os.environ:
            everything = MultiProcessCollector(CollectorRegistry()).collect()  # type: ignore[no-untyped-call]
        else:
            everything = REGISTRY.collect()
        yield from (one for one in everything if one.name == _NAME)


@health.get("/healthz")
def healthz() -> ResponseReturnValue:
    """This process answers. Nothing else is asked, so nothing else can make it fail."""
    return _plain({"status": "ok", "service": "bridgenote"}, 200)


@health.get("/readyz")
def readyz() -> ResponseReturnValue:
    """Whether the database answers, at this code's version, and somebody runs jobs.

    Where jobs run in processes of their own, their absence is told but is no reason to keep requests away: what is
    submitted waits for them.
    """
    checks = _checks(wired().database, wired().settings.jobs_in_process)
    ready = not any(said.startswith("fail") for said in checks.values())
    return _plain(
        {"status": "ready" if ready else "not ready", "checks": checks},
        200 if ready else 503,
        **({} if ready else {"Retry-After": "2"}),
    )


def _checks(database: Database, jobs_in_process: bool) -> dict[str, str]:
    try:
        with database.engine.connect() as connection:
            at = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
            alive = tables.alive(connection)
    except sa.exc.SQLAlchemyError:
        log.warning("not ready", exc_info=True)
        return {"database": "fail: it does not answer, or has no tables"}
    missing = "fail: nobody runs jobs" if jobs_in_process else "no worker is running"
    return {
        "database": "ok",
        "migrations": "ok" if at == _head() else f"fail: at {at}, this code wants {_head()}",
        "jobs": "ok" if alive else missing,
    }


@cache
def _head() -> str | None:
    return runtime.head()


def _plain(body: dict[str, Any], status: int, **headers: str) -> flask.Response:
    response = flask.jsonify(body)
    response.status_code = status
    response.headers.update({"Cache-Control": "no-store"} | headers)
    return response


def _begin() -> None:
    flask.g.began = time.perf_counter()


def _count(response: flask.Response) -> flask.Response:
    began = flask.g.get("began")
    if began is None:
        return response
    took, request = time.perf_counter() - began, flask.request
    # The rule and not the path: ids would make a series of each.
    route = request.url_rule.rule if request.url_rule is not None else "none"
    method = request.method if request.url_rule is not None else "OTHER"
    # Counting must not be what fails.
    with contextlib.suppress(OSError):
        durations.labels(method, route, str(response.status_code)).observe(took)
    level = flask.current_app.config["LOG_REQUESTS"]
    if log.isEnabledFor(level):
        # Not the query, where a search may stand, nor anything that was sent.
        structlog.get_logger(log.name).log(
            level,
            "request",
            method=request.method,
            **_place(request),
            status=response.status_code,
            milliseconds=round(took * 1000, 1),
        )
    return response


def _place(request: flask.Request) -> dict[str, Any]:
    """Where a request went, for the log: never the path itself, for what it holds may open something.

    That is the route's pattern and those of its values that are UUIDs. Where there is no route, the path, with only
    those of its words that a route has.
    """
    if request.url_rule is not None:
        ids = {
            name: str(value)
            for name, value in (request.view_args or {}).items()
            if isinstance(value, uuid.UUID)
        }
        return {"path": request.url_rule.rule, **ids}
    words = _words(flask.current_app._get_current_object())  # type: ignore[attr-defined]
    parts = request.path.split("/")[:_SHOWN_WORDS]
    return {"path": "/".join(part if not part or part in words else "…" for part in parts)}


_SHOWN_WORDS = 12
"""Parts of a path without a route that are logged."""


@lru_cache(maxsize=1)
def _words(app: Flask) -> frozenset[str]:
    """The words of which this application's routes are made."""
    rules = (rule.rule for rule in app.url_map.iter_rules())
    return frozenset(word for rule in rules for word in rule.split("/") if "<" not in word)
