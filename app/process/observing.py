"""Health checks, request counts and the request log of a running server (docs/run/operations.md).

``/healthz`` says that this process answers; a supervisor uses it to decide on a restart. ``/readyz`` says that the
process can do its work; a load balancer uses it. The counts of all server processes of a machine are added up. Each
process keeps its counts in a file (multiprocess mode of the Prometheus client), in a new folder that ``startup``
creates.
"""

import contextlib
import logging
import math
import os
import threading
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
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from app import migrations
from app.core import security_events
from app.core.db import Database
from app.core.security_events import SecurityEvent
from app.jobs import tables
from app.process import runtime
from app.process.runtime import COUNTS_FOLDER
from app.wiring import Wiring, wired

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
    """Count every response, log it (at INFO with ``log_requests``, else at DEBUG), and add the health checks."""
    app.register_blueprint(health)
    app.config["WRITE_PROOF"] = WriteProof()
    app.config["LOG_REQUESTS"] = logging.INFO if log_requests else logging.DEBUG
    app.before_request(_begin)
    app.after_request(_count)


class WriteProof:
    """Proves that writes reach the database: it is not read-only, its disk has room and no lock is in the way.

    It commits a change of a row to what it was, which leaves no row behind. A proof holds for ``SECONDS``, since
    anybody may ask for one.
    """

    SECONDS = 2.0
    PATIENCE = "2s"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._proved_at = -math.inf

    def renew(self, database: Database) -> None:
        """Raise SQLAlchemy's error, or ``OSError``, if the database cannot be written now."""
        with self._lock:
            if time.monotonic() - self._proved_at < self.SECONDS:
                return
            with database.writing() as session:
                if database.engine.dialect.name == "postgresql":
                    session.execute(sa.text(f"SET LOCAL lock_timeout = '{self.PATIENCE}'"))
                    session.execute(sa.text("LOCK TABLE requests IN ROW EXCLUSIVE MODE"))
                session.execute(sa.text("UPDATE alembic_version SET version_num = version_num"))
            self._proved_at = time.monotonic()


class Answers:
    """A Prometheus collector of the counts of all processes, or of this process if the multiprocess mode is off."""

    def collect(self) -> Iterator[Metric]:
        if COUNTS_FOLDER in os.environ:
            metrics = MultiProcessCollector(CollectorRegistry()).collect()  # type: ignore[no-untyped-call]
        else:
            metrics = REGISTRY.collect()
        yield from (metric for metric in metrics if metric.name == _NAME)


class Installation:
    """A Prometheus collector of the version, the processes that run jobs, and the last backup made on this machine."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("bridgenote_build_info", "The version of this server.", labels=["version"])
        info.add_metric([flask.current_app.config["VERSION"]], 1)
        yield info
        with self._wiring.database.engine.connect() as connection:
            workers = tables.executors(connection)
        yield GaugeMetricFamily(
            "bridgenote_live_workers",
            "Processes on all machines that run jobs: workers, and servers that run their own.",
            value=len(workers.live),
        )
        yield GaugeMetricFamily(
            "bridgenote_dead_workers",
            f"Processes that have written no heartbeat for {tables.ALIVE_SECONDS:g} seconds and did not end in order.",
            value=len(workers.dead),
        )
        if self._wiring.database.replica is not None:
            state = self._wiring.database.replica.state()
            yield GaugeMetricFamily(
                "bridgenote_replica_is_read",
                "1 if pages that may be seconds old are read from the replica, 0 if it lags or is away.",
                value=not state.why_not,
            )
            if state.lag is not None:
                yield GaugeMetricFamily(
                    "bridgenote_replica_lag_seconds", "How far the replica is behind.", value=state.lag
                )
        age = runtime.backup_age(self._wiring.settings)
        if age is not None:
            yield GaugeMetricFamily(
                "bridgenote_backup_age_seconds", "Since the last backup made on this machine.", value=age
            )


@health.get("/healthz")
def healthz() -> ResponseReturnValue:
    """Answer 200. It checks nothing else, so it fails only if this process does not answer."""
    return _plain({"status": "ok", "service": "bridgenote"}, 200)


@health.get("/readyz")
def readyz() -> ResponseReturnValue:
    """Check the database, its migrations and that a process runs jobs; answer 503 if one of them fails.

    The database must take a write. If jobs run in separate worker processes and none is running, or some of several
    processes died, the answer says so but stays 200: requests can still be served, and jobs wait for the others.
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
            workers = tables.executors(connection)
    except sa.exc.SQLAlchemyError:
        log.warning("not ready", exc_info=True)
        return {"database": "fail: it does not answer, or has no tables"}
    try:
        flask.current_app.config["WRITE_PROOF"].renew(database)
    except (sa.exc.SQLAlchemyError, OSError):
        log.warning("not ready", exc_info=True)
        return {"database": "fail: it cannot be written"}
    checks = {"database": "ok", "migrations": _migrations(at), "jobs": _jobs(workers, jobs_in_process)}
    if database.replica is not None:
        why_not = database.replica.state().why_not
        checks["replica"] = f"not read: {why_not}" if why_not else "ok"
    return checks


@cache
def _migrations(at: str) -> str:
    """The check of the database's revision. A newer one suits: while machines are upgraded, the others go on."""
    if at == runtime.head():
        return "ok"
    if migrations.is_newer(at):
        return f"ok: at {at}, which is newer than this code"
    return f"fail: at {at}, this code wants {runtime.head()}"


def _jobs(workers: tables.Executors, jobs_in_process: bool) -> str:
    if not workers.live:
        return "fail: no worker runs jobs" if jobs_in_process else "no worker is running"
    if workers.dead:
        return f"{len(workers.dead)} of {len(workers.live) + len(workers.dead)} processes died or hang"
    return "ok"


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
    # The rule and not the path: every id in a path would create a new time series.
    route = request.url_rule.rule if request.url_rule is not None else "none"
    method = request.method if request.url_rule is not None else "OTHER"
    # A request must not fail because its count cannot be written.
    with contextlib.suppress(OSError):
        durations.labels(method, route, str(response.status_code)).observe(took)
    if response.status_code == 403:
        security_events.log(
            SecurityEvent.FORBIDDEN,
            method=request.method,
            **_place(request),
            actor_account_id=flask.g.get("account_id"),
            actor_key_id=flask.g.get("key_id"),
            client_ip=request.remote_addr,
        )
    level = flask.current_app.config["LOG_REQUESTS"]
    if log.isEnabledFor(level):
        # Neither the query string, which may contain a search, nor the body.
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
    """Return the log fields for a request's target. Never the path itself, because it may contain a secret token.

    They are the route's pattern and its values that are UUIDs. Without a route, it is the path, with every part that
    is not a word of some route replaced by "…".
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
"""How many parts of a path without a route are logged."""


@lru_cache(maxsize=1)
def _words(app: Flask) -> frozenset[str]:
    """Return the fixed path parts of all routes of this application."""
    rules = (rule.rule for rule in app.url_map.iter_rules())
    return frozenset(word for rule in rules for word in rule.split("/") if "<" not in word)
