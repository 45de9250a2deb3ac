"""A start that has to wait says at once what for and who holds it up, in the log and to who asks its port."""

import http.client
import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import sql

from app import migrations
from app.core import waits
from app.core.db import make_engine
from app.settings import Settings
from tests import postgres
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

MIGRATION_LOCK = 7241650001
BEFORE = "0068"
"""The revision from which a migration drops an index of ``memberships``, which an open reader of it holds up."""


@pytest.fixture
def empty(postgres_server: postgres.Server) -> Iterator[str]:
    """The name of an empty PostgreSQL database."""
    name = postgres_server.create()
    yield name
    postgres_server.drop(name)


@contextmanager
def _holding(server: postgres.Server, database: str, name: str, statement: str) -> Iterator[int]:
    """A connection of this application name that is idle in a transaction after the statement; its process id."""
    url = server.url(database).replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(url, application_name=name) as connection:
        connection.execute(sql.SQL(statement))  # type: ignore[arg-type]
        yield connection.info.backend_pid
        connection.rollback()


def _ask(port: int, path: str) -> tuple[int, object]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_server_that_waits_for_another_migration_says_so_in_its_log_and_at_its_port(
    postgres_server: postgres.Server, empty: str, tmp_path: Path
) -> None:
    url = postgres_server.url(empty)
    settings = Settings(
        _env_file=None, environment="test", data_dir=tmp_path / "var", database_url=url, port=free_port()
    ).ready()
    service, worker = (
        Service(settings, tmp_path / "serve.log"),
        Service(settings, tmp_path / "worker.log", command="worker"),
    )
    lock = f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"
    try:
        with _holding(postgres_server, empty, "bridgenote migrate", lock) as pid:
            service.launch()
            held = f"Migrating the database: waiting for process {pid} (bridgenote migrate, idle in transaction, since "
            eventually(lambda: held in service.log.read_text(), "the log says who holds it up")
            eventually(lambda: _is_open(settings.port), "the port answers")
            status, said = _ask(settings.port, "/readyz")
            assert isinstance(said, dict)
            assert (status, said["status"]) == (503, "not ready")
            assert said["checks"]["start"].startswith(f"fail: {held}")
            assert _ask(settings.port, "/healthz") == (200, {"status": "ok", "service": "bridgenote"})
            with pytest.raises(http.client.RemoteDisconnected):
                _ask(settings.port, "/sign-in")  # so that a proxy asks another server
            worker.launch()
            # It queues behind the server, so either of them or both are named.
            eventually(
                lambda: (
                    f"waiting for process {pid} (" in worker.log.read_text()
                    and "(bridgenote serve, active, since " in worker.log.read_text()
                ),
                "the worker says whom it queues behind",
            )
        eventually(service.answers, "the server answers")
        eventually(lambda: "is at work" in worker.log.read_text(), "the worker works")
        eventually(lambda: _ask(settings.port, "/readyz")[0] == 200, "it is ready")
    finally:
        worker.end()
        service.end()


def test_a_client_that_sends_nothing_and_one_that_sends_too_much_hold_no_probe_up(
    postgres_server: postgres.Server, empty: str, tmp_path: Path
) -> None:
    settings = Settings(
        _env_file=None,
        environment="test",
        data_dir=tmp_path / "var",
        database_url=postgres_server.url(empty),
        port=free_port(),
    ).ready()
    service = Service(settings, tmp_path / "serve.log")
    try:
        lock = f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"
        with _holding(postgres_server, empty, "other", lock):
            service.launch()
            eventually(lambda: _is_open(settings.port), "it waits")
            with closing(http.client.HTTPConnection("127.0.0.1", settings.port)) as silent:
                silent.connect()
                for sent in (b"\x00" * 100_000, b"\r\n\r\n", b"GET"):
                    with closing(http.client.HTTPConnection("127.0.0.1", settings.port)) as rude:
                        rude.connect()
                        rude.sock.sendall(sent)
                        assert _ask(settings.port, "/healthz")[0] == 200
        eventually(service.answers, "the server answers")
    finally:
        service.end()


def test_a_reader_that_holds_up_an_index_is_named_again_and_again(
    postgres_server: postgres.Server,
    empty: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waits, "SAID_EVERY", 0.5)
    engine = make_engine(postgres_server.url(empty))
    migrations.upgrade(engine, BEFORE)
    thread = threading.Thread(target=migrations.upgrade, args=(engine,))
    with _holding(
        postgres_server, empty, "bridgenote verify-history", "SELECT count(*) FROM memberships"
    ) as pid:
        thread.start()
        held = f"waiting for process {pid} (bridgenote verify-history, idle in transaction, since "
        eventually(lambda: caplog.text.count(held) >= 3, "it is said again")
        assert held in waits.current()
    thread.join()
    assert waits.current() == ""
    engine.dispose()


def test_an_index_that_takes_long_and_statements_that_do_are_told(
    postgres_server: postgres.Server,
    empty: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waits, "_LOOKED_EVERY", 0.02)
    engine = make_engine(postgres_server.url(empty))
    with engine.begin() as connection:
        connection.execute(
            sa.text("CREATE TABLE large AS SELECT n, md5(n::text) AS word FROM generate_series(1, 600000) n")
        )
    with engine.begin() as connection, waits.watched(connection, "Migrating the database"):
        connection.execute(sa.text("CREATE INDEX ix_large ON large (word, n)"))
    engine.dispose()
    assert "Migrating the database: making an index of large (building index" in caplog.text
    monkeypatch.setattr(waits, "SAID_EVERY", 0.0)
    other = make_engine(f"sqlite:///{tmp_path / 'some.db'}")
    with other.connect() as connection, waits.watched(connection, "Migrating the database"):
        eventually(lambda: "at work for 0 s" in caplog.text, "SQLite's statements are told too")
    other.dispose()


def test_a_wait_is_logged_at_once_and_then_every_ten_seconds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments: list[float] = []
    monkeypatch.setattr(waits.time, "monotonic", lambda: moments[-1])
    wait = waits.Wait()
    with caplog.at_level(logging.WARNING):
        for moment, about, words in (
            (1_000.0, "a", "one"),
            (1_001.0, "a", "one, still"),
            (1_002.0, "b", "two"),
            (1_011.9, "b", "two, still"),
            (1_012.0, "b", "two, after ten"),
        ):
            moments.append(moment)
            wait.say(about, words, "its address")
            assert waits.current() == words
    assert [record.getMessage() for record in caplog.records] == [
        "one: its address",
        "two: its address",
        "two, after ten: its address",
    ]
    wait.end()
    assert waits.current() == ""
