"""``/healthz`` and ``/readyz``: what a supervisor and a load balancer go by; and what is logged of a request."""

import io
import json
import logging
from typing import Any

import pytest
import sqlalchemy as sa
import structlog
from flask.testing import FlaskClient

from app import create_app
from app.core import clock
from app.core.db import Database
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate
from app.core.write_lock import WriteLock
from app.jobs.engine import Engine
from app.process import logs, observing, runtime
from app.wiring import Wiring
from tests.api.conftest import Api
from tests.cast import Cast
from tests.clocks import advance, at


def _begin_to_work(wiring: Wiring) -> None:
    """The clock stands still from now on, so that on a slow machine nobody counts as dead."""
    at(clock.now())
    runtime.migrate(wiring.settings)
    engine = Engine(wiring.database.engine, executor_id="web-0")
    engine._heartbeat.beat()
    engine.stop()


@pytest.fixture
def working(wiring: Wiring, client: FlaskClient) -> FlaskClient:
    """A client of a service whose jobs are run."""
    _begin_to_work(wiring)
    return client


def test_ready_is_only_who_has_its_tables_and_somebody_to_run_jobs(
    wiring: Wiring, client: FlaskClient, caplog: object
) -> None:
    assert client.get("/healthz").get_json() == {"status": "ok", "service": "bridgenote"}
    nobody = client.get("/readyz")
    assert (nobody.status_code, nobody.headers["Retry-After"]) == (503, "2")
    assert nobody.get_json()["checks"]["jobs"] == "fail: no worker runs jobs"
    _begin_to_work(wiring)
    assert client.get("/readyz").get_json() == {
        "status": "ready",
        "checks": {"database": "ok", "migrations": "ok", "jobs": "ok"},
    }
    with wiring.database.writing() as session:
        session.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    assert "this code wants" in client.get("/readyz").get_json()["checks"]["migrations"]
    with wiring.database.writing() as session:
        session.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    upgraded = client.get("/readyz")
    assert upgraded.status_code == 200, "another machine has the next version, and this one goes on"
    assert upgraded.get_json()["checks"]["migrations"] == "ok: at 9999, which is newer than this code"
    with wiring.database.writing() as session:
        session.execute(sa.text("DROP TABLE alembic_version"))
    assert client.get("/readyz").get_json()["checks"].keys() == {"database"}
    assert client.get("/healthz").status_code == 200


def test_a_process_that_died_is_reported_after_ten_seconds(working: FlaskClient, wiring: Wiring) -> None:
    for name in ("worker-0", "worker-1"):
        engine = Engine(wiring.database.engine, executor_id=name)
        engine._heartbeat.beat()
        if name == "worker-0":
            engine._heartbeat.stop()
        engine.stop()
    assert working.get("/readyz").get_json()["checks"]["jobs"] == "ok"
    advance(seconds=10)
    _begin_to_work(wiring)
    answer = working.get("/readyz")
    assert answer.get_json()["checks"]["jobs"] == "1 of 2 processes died or hang", "worker-0 ended in order"
    assert answer.status_code == 200


def test_a_database_that_takes_no_write_is_not_ready(
    working: FlaskClient, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing.WriteProof, "SECONDS", 0.0)
    assert working.get("/readyz").status_code == 200
    other = Database(wiring.settings.sqlalchemy_url)
    with other.writing() as session:
        if other.engine.dialect.name == "postgresql":
            session.execute(sa.text("LOCK TABLE requests IN EXCLUSIVE MODE"))
        with monkeypatch.context() as hurry:
            hurry.setattr(observing.WriteProof, "PATIENCE", "100ms")
            hurry.setattr(WriteLock, "PATIENCE", 0.1)
            hurry.setattr(WriteLock, "LOOK_EVERY", 0.05)
            refused = working.get("/readyz")
    other.dispose()
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert refused.get_json()["checks"] == {"database": "fail: it cannot be written"}
    assert working.get("/readyz").status_code == 200


def test_a_read_only_database_is_not_ready_and_refuses_writes_as_unavailable(
    working: FlaskClient, api: Api, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing.WriteProof, "SECONDS", 0.0)
    engine = wiring.database.engine

    def only_read(connection: Any, _record: object) -> None:
        if engine.dialect.name == "sqlite":
            connection.execute("PRAGMA query_only = ON")
        else:
            connection.execute("SET default_transaction_read_only = on")
            connection.commit()

    sa.event.listen(engine, "connect", only_read)
    engine.dispose()
    assert working.get("/readyz").get_json()["checks"] == {"database": "fail: it cannot be written"}
    submitted = api.submit("post-1")
    assert (submitted.status_code, submitted.headers["Retry-After"]) == (503, "2")
    assert api.get("/requests").status_code == 200
    sa.event.remove(engine, "connect", only_read)
    engine.dispose()
    assert working.get("/readyz").status_code == 200


def test_a_request_is_one_line_with_its_id_and_without_content(api: Api, wiring: Wiring, cast: Cast) -> None:
    root, stream = logging.getLogger(), io.StringIO()
    before, level = list(root.handlers), root.level
    wiring.settings = wiring.settings.model_copy(update={"log_format": "json"})
    client = create_app(wiring).test_client()
    logs.configure("INFO", as_json=True, stream=stream)
    try:
        answer = client.get("/api/public/v1/requests?filter[status]=PENDING", headers=cast.headers)
        client.post("/sign-in", data={"email": "somebody@example.org", "password": "a password"})
    finally:
        root.handlers, root.level = before, level
        structlog.reset_defaults()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    told = next(line for line in lines if line.get("path") == "/api/public/v1/requests")
    assert told["request_id"] == answer.headers["X-Request-Id"]
    assert (told["method"], told["status"]) == ("GET", 200)
    assert told["milliseconds"] > 0
    for secret in ("somebody@", "a password", cast.adapter_key):
        assert secret not in stream.getvalue()


def test_answers_are_counted_by_route_for_keys_of_the_whole_service(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "All", KeyTemplate.METRICS, None).text
    api.get("/requests")
    whole = api.client.get("/metrics", headers={"Authorization": f"Bearer {key}"}).text
    counted = 'duration_seconds_count{method="GET",route="/api/public/v1/requests",status="200"}'
    assert counted in whole
    assert 'bridgenote_decisions{kind="action",tier="1"} 0' in whole
    own = api.client.get("/metrics", headers={"Authorization": f"Bearer {cast.metrics_key}"}).text
    assert "duration_seconds_count" not in own
