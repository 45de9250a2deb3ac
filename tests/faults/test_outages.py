"""What the service stands on fails under it: the disk is full, the database restarts, a process hangs."""

import http.client
import json
import os
import resource
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from app import migrations
from app.core.communities import communities
from app.core.db import Database, make_engine
from app.core.history import chain as history
from app.core.models import Request
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate, RequestStatus
from app.jobs.engine import Engine
from app.settings import Settings
from tests import postgres
from tests.faults import figures, storm
from tests.faults.engine_app import Ran
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually
from tests.warm import WHERE_ARE_YOU, Process

HEADERS = {"Content-Type": "application/json"}


class Place:
    """A server over one database, with a community and a key."""

    def __init__(self, url: str, folder: Path) -> None:
        self.settings = Settings(
            _env_file=None, environment="test", data_dir=folder / "var", database_url=url, port=free_port()
        ).ready()
        self.database = Database(url)
        with self.database.writing() as session:
            community = communities.open_community(session, SYSTEM, "storm", "sea")
            self.community_id = community.id
            self.key = keys.mint(session, SYSTEM, "storm", KeyTemplate.ADAPTER, [community.id]).text
        self.service = Service(self.settings, folder / "serve.log")
        self.told: set[str] = set()

    def ask(
        self, method: str, path: str, body: object = None, more: dict[str, str] | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Call the API; ``more``: headers."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.settings.port, timeout=60)) as connection:
            headers = HEADERS | {"Authorization": f"Bearer {self.key}"} | (more or {})
            try:
                connection.request(method, path, json.dumps(body) if body else None, headers)
                response = connection.getresponse()
                return response.status, response.headers, response.read()
            except TimeoutError as error:
                raise AssertionError(f"{method} {path} is not answered\n{self.stacks()}") from error

    def stacks(self) -> str:
        """What each thread of the service does, and the end of its log before that."""
        _limit_files(self, resource.RLIM_INFINITY)
        for pid in _processes(self):
            os.kill(pid, WHERE_ARE_YOU)
            time.sleep(0.5)  # or they would write into each other's lines
        return self.service.log.read_text(errors="replace")[-40_000:]

    def submit(self, name: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        attributes = {
            "request_id": name,
            "requested_by": "ann",
            "community_server_id": str(self.community_id),
            "original_message_content": storm.REVIEWED,
        }
        answer = self.ask(
            "POST", "/api/public/v1/requests", {"data": {"type": "requests", "attributes": attributes}}
        )
        if answer[0] in {200, 201}:
            self.told.add(name)
        return answer

    def is_scored(self) -> bool:
        with self.database.reading() as session:
            rows = session.execute(sa.select(Request.request_id, Request.status)).all()
        return self.told <= {name for name, _ in rows} and not any(
            status is RequestStatus.PENDING for _, status in rows
        )

    def close(self) -> None:
        self.service.end()
        self.database.dispose()


@pytest.fixture
def own_server() -> Iterator[postgres.Server]:
    """A server that the test may stop."""
    with postgres.running() as server:
        yield server


@pytest.fixture
def durable(own_server: postgres.Server) -> str:
    """A database that has written what it says is committed; the tests' servers are in a hurry otherwise."""
    name = own_server.create()
    engine = make_engine(own_server.url(name))
    migrations.upgrade(engine)
    engine.dispose()
    with own_server.admin() as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = on')
    return own_server.url(name)


def _limit_files(place: Place, most: int) -> None:
    """No process of the service may write beyond the first ``most`` bytes of any file: the disk is full."""
    for pid in _processes(place):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def _processes(place: Place) -> list[int]:
    assert place.service.process is not None
    group = str(place.service.process.pid)
    listed = subprocess.run(["ps", "-o", "pid=", "-g", group], capture_output=True, text=True, check=True)
    return [int(pid) for pid in listed.stdout.split()]


def test_a_full_disk_refuses_writes_clearly_and_is_forgotten_once_there_is_room(
    sqlite_template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "full.db"
    path.write_bytes(sqlite_template.read_bytes())
    place = Place(f"sqlite:///{path}", tmp_path)
    try:
        place.service.start()
        assert place.submit("before")[0] == 201
        eventually(place.is_scored, "it is scored")
        _limit_files(place, 4096)
        for number in range(4):
            status, headers, said = place.submit(f"during-{number}")
            assert (status, json.loads(said)["detail"]) == (503, "Service temporarily unavailable")
            assert int(headers["Retry-After"]) >= 1
            assert place.ask("GET", "/api/public/v1/requests")[0] == 200
            assert place.ask("GET", "/sign-in")[0] == 200
        status, headers, said = place.ask("GET", "/readyz")
        assert (status, json.loads(said)["checks"]) == (503, {"database": "fail: it cannot be written"})
        _limit_files(place, resource.RLIM_INFINITY)
        eventually(lambda: place.submit("after")[0] in {200, 201}, "it takes submissions again")
        assert place.submit("during-0")[0] == 201
        eventually(lambda: place.ask("GET", "/readyz")[0] == 200, "it is ready again")
        eventually(place.is_scored, "everything is scored")
        with place.database.reading() as session:
            assert history.verify(session, place.community_id)[1] is None
    finally:
        place.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_postgresql_restarted_under_load_costs_503s_and_nothing_else(
    durable: str, own_server: postgres.Server, tmp_path: Path
) -> None:
    place, ended = Place(durable, tmp_path), threading.Event()
    answers: list[tuple[float, int, bool]] = []

    def load(name: str) -> None:
        number = 0
        while not ended.is_set():
            began = time.monotonic()
            status, headers, _ = place.submit(f"{name}-{number}")
            answers.append((time.monotonic() - began, status, "Retry-After" in headers))
            number += status in {200, 201}
            ended.wait(0.02)

    threads = [threading.Thread(target=load, args=(name,)) for name in "abcd"]
    try:
        place.service.start()
        for thread in threads:
            thread.start()
        eventually(lambda: len(place.told) > 20, "it is under load")
        own_server.stop()
        time.sleep(2)
        away = len(place.told)
        own_server.start()
        eventually(lambda: len(place.told) > away + 20, "it goes on by itself")
        ended.set()
        for thread in threads:
            thread.join()
        assert {status for _, status, _ in answers} == {201, 503}
        assert all(says_when for _, status, says_when in answers if status == 503)
        # One line for each of them, with few tracebacks: one of a kind in each process.
        log = place.service.log.read_text(errors="replace")
        refused = sum(status == 503 for _, status, _ in answers)
        assert log.count("the database is not available") == refused
        assert log.count("Traceback (most recent call last)") < 5 * len(_processes(place))
        assert len(log) < 1_000 * refused + 200_000
        slowest = max(seconds for seconds, status, _ in answers if status == 503)
        # They wait 4 s for a connection (tests/unit/test_db.py has that); a busy machine adds to it.
        assert slowest < 30
        eventually(place.is_scored, "nothing that was taken is lost or left")
        with place.database.reading() as session:
            assert history.verify(session, place.community_id)[1] is None
        figures.note(
            "PostgreSQL away for 2 s under load",
            {
                "submissions told": len(place.told),
                "503s": refused,
                "slowest 503 (s)": round(slowest, 2),
                "lost": 0,
            },
        )
    finally:
        ended.set()
        place.close()


def test_a_server_and_a_worker_wait_for_a_database_that_is_still_starting(
    durable: str, own_server: postgres.Server, tmp_path: Path
) -> None:
    place = Place(durable, tmp_path)
    # With jobs of its own the server would be ready without the worker.
    place.service.environment = {"BRIDGENOTE_JOBS_IN_PROCESS": "false"}
    worker = Service(
        place.settings.model_copy(update={"port": free_port()}),
        tmp_path / "worker.log",
        command="worker",
    )
    own_server.stop()
    try:
        place.service.launch()
        worker.launch()
        for log in (place.service.log, worker.log):
            eventually(lambda log=log: _waits(log), "it says that it waits")
        own_server.start()
        eventually(place.service.answers, "the server answers")
        eventually(lambda: "is at work" in worker.log.read_text(), "the worker works")
        assert place.submit("first")[0] == 201
        eventually(place.is_scored, "the worker scores")
        said = _waits(place.service.log)

        own_server.stop()
        assert place.service.process is not None
        forked = next(pid for pid in _processes(place) if pid != place.service.process.pid)
        os.kill(forked, signal.SIGKILL)
        eventually(lambda: _waits(place.service.log) > said, "the one that replaces it waits")
        own_server.start()
        eventually(lambda: place.submit("second")[0] in {200, 201}, "it goes on")
    finally:
        worker.end()
        place.close()


def _waits(log: Path) -> int:
    return log.read_text(errors="replace").count("Waiting for the database")


def test_the_jobs_of_a_process_that_hangs_are_taken_over(
    jobs_url: str, database: Database, tmp_path: Path
) -> None:
    ran, started = Ran(tmp_path), []

    def start(executor_id: str) -> Process:
        process = Process(
            "tests.faults.engine_app", jobs_url, executor_id, tmp_path, "old", stdout=subprocess.PIPE
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    engine = Engine(database.engine, executor_id="here")
    try:
        hanging = start("one")
        with database.writing() as session:
            engine.enqueue(session, "hold", {"text": "work"})
        eventually(lambda: ran.lines() == [f"begun work one {hanging.pid}"], "one is at it")
        # Not in mid-transaction: on SQLite it would hold everybody's lock, until gunicorn's arbiter kills it.
        with database.writing() as session:
            session.connection()  # begins, so that on SQLite the write lock is ours and not theirs
            os.kill(hanging.pid, signal.SIGSTOP)
            # A thread that is within a call ends it before it stops, and could take the lock once it is free.
            eventually(lambda: _stands_still(hanging.pid), "all of its threads stand still")
        other = start("two")
        eventually(lambda: f"begun work two {other.pid}" in ran.lines(), "the other took it over")
        (tmp_path / "gate").touch()
        eventually(lambda: "done work two" in ran.lines(), "and finished it")
        # Awake again it finds its work taken; that it ends it too is what "at least once" means.
        os.kill(hanging.pid, signal.SIGCONT)
        eventually(lambda: "done work one" in ran.lines(), "the first goes on")
        eventually(lambda: not engine.counts()["running"], "nobody holds it any more")
    finally:
        engine.stop()
        for process in started:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _stands_still(pid: int) -> bool:
    """Whether every thread of the process was stopped (proc_pid_stat(5))."""
    try:
        stats = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:  # one of them has just ended
        return False
    return bool(stats) and all(one.rpartition(")")[2].split()[0] == "T" for one in stats)
