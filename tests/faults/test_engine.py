"""Jobs are never lost, whatever dies; and they run once unless something died."""

import contextlib
import itertools
import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from dbos import DBOS
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import Database
from app.jobs.engine import UNKEYED_KEPT_MINUTES, Engine
from app.jobs.tables import OwnTables, is_foreign, own_connections
from tests import postgres
from tests.faults.conftest import prepare_jobs
from tests.faults.engine_app import Ran
from tests.faults.waiting import eventually
from tests.racing import at_once
from tests.warm import Process

Start = Callable[..., Process]


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return Ran(tmp_path)


@pytest.fixture
def engine(database: Database, ran: Ran) -> Iterator[Engine]:
    """An engine that is not started yet, with one job that notes what it was given."""
    engine = Engine(database.engine, executor_id="here", beat_seconds=0.2)
    engine.register("note", lambda text: ran.add(text))
    yield engine
    engine.stop()


def put(database: Database, engine: Engine, name: str, args: dict[str, Any], **options: Any) -> None:
    """Enqueue a job in a transaction of its own."""
    with database.writing() as session:
        engine.enqueue(session, name, args, **options)


def beats(database: Database, executor_id: str) -> int:
    """How often this executor has said that it is alive."""
    table = OwnTables(database.engine).heartbeats
    with database.engine.connect() as connection:
        found = connection.execute(sa.select(table.c.beats).where(table.c.executor_id == executor_id))
        return found.scalar() or 0


@pytest.fixture
def start_process(jobs_url: str, tmp_path: Path) -> Iterator[Start]:
    """Starts a process that runs jobs, and waits until it does."""
    started: list[Process] = []

    def start(executor_id: str, code: str = "old") -> Process:
        process = Process(
            "tests.faults.engine_app", jobs_url, executor_id, tmp_path, code, stdout=subprocess.PIPE
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def kill(process: Process) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_committed_job_runs_and_a_rolled_back_one_does_not(
    database: Database, engine: Engine, ran: Ran
) -> None:
    engine.start()
    with contextlib.suppress(ZeroDivisionError), database.writing() as session:
        engine.enqueue(session, "note", {"text": "rolled back"})
        raise ZeroDivisionError
    with database.writing() as session:
        with session.begin_nested() as savepoint:
            engine.enqueue(session, "note", {"text": "rolled back to the savepoint"})
            savepoint.rollback()
        engine.enqueue(session, "note", {"text": "committed"})
    eventually(ran.lines, "the committed job ran")
    engine.stop()
    assert ran.lines() == ["committed"]
    assert engine.counts() == {"waiting": 0, "delayed": 0, "running": 0, "dead": 0}


def test_a_job_that_another_process_enqueued_is_noticed(database: Database, engine: Engine, ran: Ran) -> None:
    other = Engine(database.engine, executor_id="other")
    engine.start()
    for delay in (0.0, 0.5):
        put(database, other, "note", {"text": f"after {delay}"}, delay=delay)
    eventually(lambda: len(ran.lines()) == 2, "both jobs ran")
    assert sorted(ran.lines()) == ["after 0.0", "after 0.5"]
    other.stop()


def test_a_job_sees_what_its_transaction_wrote(database: Database, engine: Engine, ran: Ran) -> None:
    with database.writing() as session:
        session.execute(sa.text("CREATE TABLE things (name VARCHAR(20))"))

    def count(name: str) -> None:
        with database.reading() as session:
            query = sa.text("SELECT count(*) FROM things WHERE name = :name")
            ran.add(str(session.execute(query, {"name": name}).scalar()))

    engine.register("count", count)
    engine.start()
    with database.writing() as session:
        engine.enqueue(session, "count", {"name": "x"})
        session.execute(sa.text("INSERT INTO things VALUES ('x')"))
    eventually(ran.lines, "the job ran")
    assert ran.lines() == ["1"]


def test_the_same_key_runs_once(database: Database, engine: Engine, ran: Ran) -> None:
    engine.register("other", lambda text: ran.add(text))
    with database.writing() as session:
        engine.enqueue(session, "note", {"text": "first"}, key="k")
        engine.enqueue(session, "note", {"text": "again in this transaction"}, key="k")
        engine.enqueue(session, "other", {"text": "another name"}, key="k")
        assert session.execute(sa.text("SELECT 1")).scalar() == 1  # the transaction is unharmed
    put(database, engine, "note", {"text": "again while waiting"}, key="k")
    engine.start()
    eventually(lambda: len(ran.lines()) == 2, "both names ran")
    with database.writing() as session:
        engine.enqueue(session, "note", {"text": "again when finished"}, key="k")
        engine.enqueue(session, "note", {"text": "last"})
    eventually(lambda: "last" in ran.lines(), "the last job ran")
    assert sorted(ran.lines()) == ["another name", "first", "last"]


def test_a_key_enqueued_by_many_transactions_at_once_runs_once(
    database: Database, engine: Engine, ran: Ran
) -> None:
    at_once(*[partial(put, database, engine, "note", {"text": "once"}, key="k")] * 6)
    engine.start()
    put(database, engine, "note", {"text": "last"})
    eventually(lambda: "last" in ran.lines() and engine.counts()["running"] == 0, "the last job ran")
    assert sorted(ran.lines()) == ["last", "once"]


def test_a_killed_process_runs_its_job_again_when_it_comes_back(
    database: Database, engine: Engine, ran: Ran, start_process: Start, tmp_path: Path
) -> None:
    first = start_process("worker")
    put(database, engine, "hold", {"text": "x"})
    eventually(lambda: f"begun x worker {first.pid}" in ran.lines(), "the job began")
    kill(first)
    second = start_process("worker")
    eventually(lambda: f"begun x worker {second.pid}" in ran.lines(), "the job began again")
    (tmp_path / "gate").touch()
    eventually(lambda: "done x worker" in ran.lines(), "the job ended")
    eventually(lambda: engine.counts()["running"] == 0, "the job is finished")
    assert len(ran.lines()) == 3


def test_the_job_of_a_killed_process_is_taken_over_by_another(
    database: Database, engine: Engine, ran: Ran, start_process: Start, tmp_path: Path
) -> None:
    dying = start_process("dying")
    put(database, engine, "hold", {"text": "x"})
    eventually(lambda: f"begun x dying {dying.pid}" in ran.lines(), "the job began")
    living = start_process("living")
    kill(dying)
    eventually(lambda: f"begun x living {living.pid}" in ran.lines(), "the job was taken over")
    (tmp_path / "gate").touch()
    eventually(lambda: "done x living" in ran.lines(), "the job ended")
    assert len(ran.lines()) == 3


def test_the_job_of_a_living_process_is_not_taken_over(
    database: Database, engine: Engine, ran: Ran, start_process: Start, tmp_path: Path
) -> None:
    start_process("one")
    put(database, engine, "hold", {"text": "x"})
    eventually(ran.lines, "the job began")
    start_process("two")
    # Twice as many beats as would mean death, had the other missed them.
    eventually(lambda: beats(database, "two") >= 8, "the second has beaten eight times")
    (tmp_path / "gate").touch()
    eventually(lambda: engine.counts()["running"] == 0, "the job is finished")
    assert [line.split()[:3] for line in ran.lines()] == [["begun", "x", "one"], ["done", "x", "one"]]


def test_jobs_of_one_code_version_run_in_another(
    database: Database, engine: Engine, ran: Ran, start_process: Start, tmp_path: Path
) -> None:
    old = start_process("worker", "old")
    with database.writing() as session:
        engine.enqueue(session, "hold", {"text": "claimed"})
        engine.enqueue(session, "note", {"text": "delayed"}, delay=1.5)
    eventually(ran.lines, "the old code began a job")
    kill(old)
    put(database, engine, "note", {"text": "waiting"})
    (tmp_path / "gate").touch()
    start_process("worker", "new")
    wanted = {"new delayed", "new waiting", "done claimed worker"}
    eventually(lambda: wanted <= set(ran.lines()), "the new code ran all three")


def test_a_stopping_process_finishes_what_it_runs_and_leaves_the_rest(
    database: Database, engine: Engine, ran: Ran, start_process: Start
) -> None:
    process = start_process("worker")
    put(database, engine, "hold", {"text": "x"})
    eventually(ran.lines, "the job began")
    process.terminate()
    assert process.wait(timeout=120) == 0
    assert ran.lines()[1:] == ["done x worker"]
    put(database, engine, "note", {"text": "later"})
    assert engine.counts() == {"waiting": 1, "delayed": 0, "running": 0, "dead": 0}


def test_a_backlog_of_one_community_holds_up_no_other(database: Database, engine: Engine, ran: Ran) -> None:
    goes_on = threading.Event()

    def wait() -> None:
        goes_on.wait(60)

    engine.register("wait", wait)
    engine.start()
    try:
        with database.writing() as session:
            for _ in range(40):
                engine.enqueue(session, "wait", {}, community="busy")
        eventually(lambda: engine.counts()["running"] >= 8, "the busy community has all slots of its own")
        with database.writing() as session:
            engine.enqueue(session, "note", {"text": "neighbour"}, community="quiet")
            engine.enqueue(session, "note", {"text": "service"})
        eventually(lambda: len(ran.lines()) == 2, "the others ran meanwhile")
    finally:
        goes_on.set()
    eventually(lambda: engine.counts()["waiting"] == engine.counts()["running"] == 0, "all of it ran")


def test_of_the_jobs_of_a_community_that_wait_a_lower_priority_runs_first(
    database: Database, ran: Ran
) -> None:
    engine = Engine(database.engine, executor_id="here", slots=1)
    engine.register("note", lambda text: ran.add(text))
    with database.writing() as session:
        for text, priority in (("later", 1), ("last", 1), ("first", 0)):
            engine.enqueue(session, "note", {"text": text}, community="ours", priority=priority)
    engine.start()
    eventually(lambda: len(ran.lines()) == 3, "all ran")
    engine.stop()
    assert ran.lines() == ["first", "later", "last"]


def test_another_attempt_waits_in_the_turn_of_its_community(
    database: Database, engine: Engine, ran: Ran
) -> None:
    def fail() -> None:
        ran.add("begun")
        raise ValueError("no luck")

    engine.register("fail", fail, backoff=lambda attempt: 60)
    engine.start()
    put(database, engine, "fail", {}, community="ours")
    eventually(lambda: engine.counts()["delayed"] == 1, "it is to be tried again")
    (again,) = DBOS.list_workflows(status="DELAYED")
    assert (again.queue_name, again.queue_partition_key) == ("community_jobs", "ours")


def test_a_failing_job_is_retried_after_its_delay_and_then_given_up(
    database: Database, ran: Ran, caplog: pytest.LogCaptureFixture
) -> None:
    given_up: list[tuple[str, object, str]] = []
    times: list[float] = []

    def fail(text: str) -> None:
        times.append(time.monotonic())
        ran.add(text)
        raise ValueError(f"no {text}")

    engine = Engine(
        database.engine,
        executor_id="here",
        on_give_up=lambda name, args, error: given_up.append((name, args, str(error))),
    )
    engine.register("fail", fail, attempts=3, backoff=lambda attempt: 0.5)
    engine.start()
    try:
        put(database, engine, "fail", {"text": "luck"}, key="k")
        eventually(lambda: given_up, "the job was given up")
    finally:
        engine.stop()
    assert given_up == [("fail", {"text": "luck"}, "no luck")]
    assert ran.lines() == ["luck"] * 3
    assert all(later - earlier >= 0.5 for earlier, later in itertools.pairwise(times))
    assert engine.counts() == {"waiting": 0, "delayed": 0, "running": 0, "dead": 0}


def test_many_writers_and_the_running_jobs_never_meet_a_locked_database(
    database: Database, engine: Engine, ran: Ran
) -> None:
    with database.writing() as session:
        session.execute(sa.text("CREATE TABLE counters (writer INTEGER PRIMARY KEY, n INTEGER)"))
        session.execute(
            sa.text("INSERT INTO counters VALUES (:writer, 0)"), [{"writer": i} for i in range(8)]
        )
    errors: list[BaseException] = []
    add = sa.text("UPDATE counters SET n = n + 1 WHERE writer = :writer")

    def count(writer: int) -> None:
        try:
            with database.writing() as session:
                session.execute(add, {"writer": writer})
        except BaseException as error:
            errors.append(error)

    def write(writer: int) -> None:
        for _ in range(25):
            with database.writing() as session:
                session.execute(add, {"writer": writer})
                engine.enqueue(session, "count", {"writer": writer})

    engine.register("count", count)
    engine.start()
    at_once(*(partial(write, i) for i in range(8)))

    def counted() -> list[int]:
        with database.reading() as session:
            return list(session.execute(sa.text("SELECT n FROM counters ORDER BY writer")).scalars())

    eventually(lambda: sum(counted()) >= 400 or errors, "every job ran")
    assert errors == []
    assert counted() == [50] * 8


def test_a_periodic_job_runs_once_per_period_however_often_the_service_restarts(
    database: Database, ran: Ran
) -> None:
    for last in ("the first service", "the second service"):
        engine = Engine(database.engine, executor_id=last)
        engine.register("beat", lambda: ran.add("beat"))
        engine.register("note", lambda text: ran.add(text))
        engine.every("beat", 10**9)
        engine.start()
        try:
            eventually(lambda: "beat" in ran.lines(), "the periodic job ran")
            put(database, engine, "note", {"text": last})
            eventually(lambda last=last: last in ran.lines(), "a job enqueued after the first tick ran")
        finally:
            engine.stop()
        assert engine.counts()["waiting"] == 0
    assert ran.lines() == ["beat", "the first service", "the second service"]


def test_a_periodic_job_runs_again_after_the_clock_was_set_back(database: Database, ran: Ran) -> None:
    """What runs once per period goes by the last period seen, not by all that ever were."""
    try:
        for hours in (0, -2, 0):
            clock.set_source(lambda hours=hours: datetime.now(UTC) + timedelta(hours=hours))
            engine = Engine(database.engine, executor_id="here")
            engine.register("beat", lambda: ran.add("beat"))
            engine.every("beat", 3600)
            before = len(ran.lines())
            engine.start()
            try:
                eventually(lambda before=before: len(ran.lines()) > before, "the periodic job ran")
            finally:
                engine.stop()
    finally:
        clock.set_source(None)
    assert ran.lines() == ["beat"] * 3


def test_a_periodic_job_runs_again_in_each_period_but_never_beside_itself(
    database: Database, engine: Engine, ran: Ran
) -> None:
    goes_on = threading.Event()

    def tick() -> None:
        ran.add("begun")
        goes_on.wait(1.5)
        ran.add("ended")

    engine.register("tick", tick)
    engine.every("tick", 1)
    engine.start()
    eventually(lambda: len(ran.lines()) >= 2, "the first tick outlived its period")
    assert ran.lines()[:2] == ["begun", "ended"]
    goes_on.set()
    eventually(lambda: ran.lines().count("begun") >= 3, "later periods had their own")


def test_pruning_deletes_finished_jobs_and_keeps_the_others(
    database: Database, engine: Engine, ran: Ran
) -> None:
    engine.start()
    with database.writing() as session:
        engine.enqueue(session, "note", {"text": "first"}, key="k")
        engine.enqueue(session, "note", {"text": "much later"}, delay=3600)
    eventually(lambda: ran.lines() and engine.counts()["running"] == 0, "the first ran")
    engine.prune(older_than_hours=1)
    put(database, engine, "note", {"text": "its key is still remembered"}, key="k")
    engine.prune(older_than_hours=-1)
    put(database, engine, "note", {"text": "its key is forgotten"}, key="k")
    eventually(lambda: len(ran.lines()) == 2, "the key ran again")
    assert ran.lines() == ["first", "its key is forgotten"]
    assert engine.counts()["delayed"] == 1


def test_jobs_without_a_key_are_kept_for_minutes_and_others_for_hours(
    database: Database, engine: Engine, ran: Ran
) -> None:
    def kept() -> int:
        return len(DBOS.list_workflows(status="SUCCESS", workflow_id_prefix=["note:", "-"]))

    engine.start()
    with database.writing() as session:
        engine.enqueue(session, "note", {"text": "with a key"}, key="a", community="ours")
        engine.enqueue(session, "note", {"text": "without"}, community="ours")
    eventually(lambda: len(ran.lines()) == 2 and engine.counts()["running"] == 0, "both ran")
    engine.prune()
    assert kept() >= 2
    clock.set_source(lambda: datetime.now(UTC) + timedelta(minutes=UNKEYED_KEPT_MINUTES + 1))
    engine.prune()
    assert [job.workflow_id for job in DBOS.list_workflows(status="SUCCESS")] == ["note:a"]


def test_a_job_claimed_by_this_executor_that_never_began_is_put_back(
    database: Database, engine: Engine, ran: Ran
) -> None:
    engine.start()
    put(database, engine, "note", {"text": "lost"}, delay=3600)
    # As if the claim had been committed and its answer lost with the connection.
    schema = OwnTables(database.engine).schema
    names = ("status", "executor_id", "application_version")
    status = sa.table("workflow_status", *map(sa.column, names), schema=schema)
    with database.writing() as session:
        session.execute(
            sa.update(status)
            .where(status.c.status == "DELAYED")
            .values(status="PENDING", executor_id="here", application_version="1")
        )
    eventually(ran.lines, "the job ran")
    assert ran.lines() == ["lost"]


def test_a_job_that_this_code_does_not_know_waits_for_code_that_does(
    database: Database, engine: Engine, ran: Ran
) -> None:
    put(database, engine, "tomorrow", {"text": "x"})
    engine.start()
    eventually(lambda: engine.counts()["delayed"] == 1, "the job was put back")
    assert engine.counts()["dead"] == 0


def test_a_job_of_text_no_database_could_store_raw_runs_with_that_text(
    database: Database, engine: Engine, ran: Ran
) -> None:
    engine.register("note", lambda text: ran.add(json.dumps(text)))
    engine.start()
    text = "nul \x00, lone surrogate \ud800, café 🦉"
    put(database, engine, "note", {"text": text})
    eventually(ran.lines, "the job ran")
    assert ran.lines() == [json.dumps(text)]


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_arguments_that_are_not_json_are_refused_by_name(
    database: Database, engine: Engine, value: object
) -> None:
    with pytest.raises((TypeError, ValueError), match="'note'"), database.writing() as session:
        engine.enqueue(session, "note", {"text": value})


def test_jobs_survive_a_crash_of_postgresql(tmp_path: Path, ran: Ran) -> None:
    with postgres.running() as server:
        name = server.create()
        with server.admin() as connection:
            # The test servers are allowed to forget commits in a crash, to be quick; here none may be.
            connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = on')
        url = server.url(name)
        prepare_jobs(url)
        database = Database(url)
        engine = Engine(database.engine, executor_id="here", beat_seconds=0.2)
        engine.register("note", lambda text: ran.add(text))
        engine.start()
        committed: set[str] = set()
        over = threading.Event()

        def write() -> None:
            for number in itertools.count():
                if over.wait(0.02):
                    return
                with contextlib.suppress(sa.exc.DBAPIError), database.writing() as session:
                    engine.enqueue(session, "note", {"text": str(number)})
                    session.commit()
                    committed.add(str(number))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            eventually(lambda: len(ran.lines()) > 5, "jobs run")
            server.stop("immediate")
            server.start()
            before = len(committed)
            eventually(lambda: len(committed) > before + 5, "jobs are accepted again")
            over.set()
            writer.join()
            eventually(lambda: committed <= set(ran.lines()), "every accepted job ran")
        finally:
            over.set()
            writer.join()
            engine.stop()
            database.dispose()


def test_starting_without_tables_says_what_to_do(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(RuntimeError, match="run migrate"):
        Engine(database.engine, executor_id="here").start()
    database.dispose()


def test_every_table_of_the_engine_is_marked_as_not_alembics(database: Database) -> None:
    inspector = sa.inspect(database.engine)
    schemas = [None, "dbos"] if database.engine.dialect.name == "postgresql" else [None]
    found = [(table, schema) for schema in schemas for table in inspector.get_table_names(schema)]
    assert len(found) > 5
    assert [pair for pair in found if not is_foreign(*pair)] == []


def test_a_connection_will_do_instead_of_a_session(database: Database, engine: Engine, ran: Ran) -> None:
    engine.start()
    with database.engine.execution_options(writing=True).begin() as connection:
        engine.enqueue(connection, "note", {"text": "by connection"})
        with Session(connection) as session:
            engine.enqueue(session, "note", {"text": "by session on it"})
            session.flush()
    eventually(lambda: len(ran.lines()) == 2, "both ran")


def test_processes_that_start_together_make_the_tables_once(database: Database) -> None:
    engine = own_connections(database.engine, connections=6)
    tables = OwnTables(engine)
    for _ in range(10):
        with engine.begin() as connection:
            if tables.schema is not None:
                connection.execute(sa.schema.CreateSchema(tables.schema, if_not_exists=True))
            for table in (tables.heartbeats, tables.periods):
                connection.execute(sa.schema.DropTable(table, if_exists=True))
        at_once(*[tables.create] * 6)
    engine.dispose()
    assert sa.inspect(database.engine).has_table(tables.heartbeats.name, schema=tables.schema)
