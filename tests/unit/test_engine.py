"""What the job engine is made of, without DBOS; and its double for other tests."""

import ipaddress
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.core import clock
from app.core.db import Database
from app.jobs import tables
from app.jobs.bodies import UNKNOWN_DELAY, UNKNOWN_WAITS, Bodies, Payload, default_backoff
from app.jobs.heartbeat import Heartbeat, Stillness, heartbeats_table
from app.jobs.ticker import Ticker
from app.process.serve import parse_networks
from tests.inline_engine import InlineEngine

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> datetime:
        return self.moment

    def move(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@pytest.fixture
def held_clock() -> Iterator[Clock]:
    held = Clock()
    clock.set_source(held)
    yield held
    clock.set_source(None)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/x.db")
    yield database
    database.dispose()


@pytest.fixture
def inline(database: Database) -> InlineEngine:
    engine = InlineEngine(database.engine)
    engine.prepare()
    return engine


# Stillness and heartbeats


def test_what_moves_is_never_still() -> None:
    stillness = Stillness()
    assert [stillness.look({"a": n})["a"] for n in (5, 6, 7, 7, 7, 8)] == [0, 0, 0, 1, 2, 0]


def test_what_was_out_of_sight_starts_again() -> None:
    stillness = Stillness()
    stillness.look({"a": 1})
    stillness.look({"a": 1})
    stillness.look({})
    assert stillness.look({"a": 1}) == {"a": 0}


class Executors:
    """Heartbeats of several executors over one table, none of them in a thread."""

    def __init__(self, database: Database) -> None:
        self.engine = database.engine.execution_options(writing=True)
        self.table = heartbeats_table(None)
        self.table.create(self.engine)
        self.held: dict[str, set[str]] = {}
        self.taken: list[tuple[str, set[str]]] = []

    def make(self, name: str) -> Heartbeat:
        return Heartbeat(
            self.engine,
            self.table,
            name,
            seconds=1,
            missed=3,
            held=lambda: self.held,
            running=lambda: ["runs here"],
            take_over=lambda executor, jobs: self.taken.append((executor, set(jobs))),
        )


def test_only_an_executor_that_stands_still_loses_its_jobs(database: Database) -> None:
    executors = Executors(database)
    us, alive, dead = (executors.make(name) for name in ("us", "alive", "dead"))
    executors.held = {"alive": {"1"}, "dead": {"2", "3"}, "never seen": {"4"}, "us": {"runs here"}}
    dead.beat()
    for _ in range(3):
        us.beat()
        alive.beat()
        us.sweep()
    assert executors.taken == []
    alive.beat()
    us.sweep()
    assert executors.taken == [("dead", {"2", "3"}), ("never seen", {"4"})]


def test_a_clock_that_jumps_kills_nobody(database: Database, held_clock: Clock) -> None:
    executors = Executors(database)
    us, alive = executors.make("us"), executors.make("alive")
    executors.held = {"alive": {"1"}}
    for _ in range(8):
        held_clock.move(3600)
        us.beat()
        alive.beat()
        us.sweep()
    assert executors.taken == []


def test_a_job_that_we_hold_and_do_not_run_is_put_back(database: Database) -> None:
    executors = Executors(database)
    us = executors.make("us")
    executors.held = {"us": {"runs here", "lost"}}
    for _ in range(4):
        us.beat()
        us.sweep()
    assert executors.taken == [("us", {"lost"})]


def test_who_ends_in_order_leaves_no_row_and_ends_also_without_a_database(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    executors = Executors(database)
    ends, stays = executors.make("ends"), executors.make("stays")
    ends.beat()
    stays.beat()
    ends.stop()
    with executors.engine.connect() as connection:
        assert tables.executors(connection) == (["stays"], [])
    executors.table.drop(executors.engine)
    stays.stop()
    assert "will be reported as dead" in caplog.text


def test_two_processes_under_one_executor_id_are_reported(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    executors = Executors(database)
    one, other = executors.make("same"), executors.make("same")
    for each in (one, other, one, one):
        each.beat()
    assert [record.getMessage() for record in caplog.records] == [
        "Another process also runs as executor same: give each its own id."
    ]


def test_the_rows_of_executors_long_gone_are_forgotten(database: Database, held_clock: Clock) -> None:
    executors = Executors(database)
    executors.make("gone").beat()
    held_clock.move(8 * 24 * 3600)
    here = executors.make("here")
    here.beat()
    here.forget_old()
    with executors.engine.connect() as connection:
        assert [row.executor_id for row in connection.execute(executors.table.select())] == ["here"]


# Periods


def test_a_period_fires_once_and_so_does_the_next(held_clock: Clock) -> None:
    fired: list[str] = []
    ticker = Ticker(lambda name, period: fired.append(name))
    ticker.add("often", 10)
    ticker.add("rarely", 60)
    for _ in range(7):
        ticker.look()
        ticker.look()
        held_clock.move(10)
    assert (fired.count("often"), fired.count("rarely")) == (7, 2)


def test_a_clock_set_back_does_not_stop_the_periods(held_clock: Clock) -> None:
    fired: list[int] = []
    ticker = Ticker(lambda name, period: fired.append(period))
    ticker.add("job", 10)
    ticker.look()
    held_clock.move(-3600)
    ticker.look()
    assert len(fired) == 2


def test_periods_that_cannot_be_enqueued_are_named_once_in_an_outage(
    held_clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    is_away = True

    def fire(name: str, period: int) -> None:
        if is_away:
            raise ConnectionError("the database is away")

    def warnings() -> int:
        return sum("could not be enqueued" in record.message for record in caplog.records)

    ticker = Ticker(fire)
    ticker.add("job", 10)
    for _ in range(5):
        ticker.look()
        held_clock.move(10)
    assert warnings() == 1
    is_away = False
    ticker.look()
    is_away = True
    held_clock.move(10)
    ticker.look()
    assert warnings() == 2


def test_a_period_that_could_not_be_enqueued_is_tried_again(held_clock: Clock) -> None:
    tries: list[int] = []

    def fire(name: str, period: int) -> None:
        tries.append(period)
        if len(tries) == 1:
            raise ConnectionError("the database is away")

    ticker = Ticker(fire)
    ticker.add("job", 60)
    for _ in range(3):
        ticker.look()
    assert len(tries) == 2


def test_periods_below_a_second_are_refused() -> None:
    with pytest.raises(ValueError, match="'job'"):
        Ticker(lambda name, period: None).add("job", 0.5)


# Bodies


class Stored:
    """Where put-back jobs go."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, Payload, float]] = []

    def __call__(self, job_id: str, job: Payload, delay: float) -> None:
        self.jobs.append((job_id, job, delay))


def job(name: str = "fail", **more: object) -> Payload:
    return {"name": name, "args": {}, "root": "root", "attempt": 1, **more}  # type: ignore[typeddict-item]


def fail() -> None:
    raise ValueError("no luck")


def test_a_job_that_fails_is_stored_again_under_an_id_of_its_own() -> None:
    stored = Stored()
    bodies = Bodies(stored, None)
    bodies.register("fail", fail, 3, lambda attempt: 10.0 * attempt)
    bodies.perform(job())
    bodies.perform(job(attempt=2))
    assert [(job_id, again["attempt"], delay) for job_id, again, delay in stored.jobs] == [
        ("root~2", 2, 10.0),
        ("root~3", 3, 20.0),
    ]


@pytest.mark.parametrize("last", [job(attempt=3), job(once=True)], ids=["last attempt", "periodic"])
def test_the_last_attempt_is_given_up_aloud(last: Payload, caplog: pytest.LogCaptureFixture) -> None:
    stored, given_up = Stored(), []
    bodies = Bodies(stored, lambda name, args, error: given_up.append((name, str(error))))
    bodies.register("fail", fail, 3, default_backoff)
    bodies.perform(last)
    assert (stored.jobs, given_up) == ([], [("fail", "no luck")])
    assert "giving up" in caplog.text


def test_a_failing_report_of_giving_up_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    bodies = Bodies(Stored(), lambda name, args, error: fail())
    bodies.register("fail", fail, 1, default_backoff)
    bodies.perform(job())
    assert "Reporting that job fail was given up failed" in caplog.text


def test_an_unknown_job_waits_without_using_up_its_attempts() -> None:
    stored = Stored()
    bodies = Bodies(stored, None)
    bodies.perform(job("tomorrow"))
    ((job_id, again, delay),) = stored.jobs
    assert (job_id, again["attempt"], again["waits"], delay) == ("root~1w1", 1, 1, UNKNOWN_DELAY)


def test_an_unknown_job_is_given_up_in_the_end() -> None:
    stored, given_up = Stored(), []
    bodies = Bodies(stored, lambda name, args, error: given_up.append(name))
    bodies.perform(job("never", waits=UNKNOWN_WAITS))
    assert (stored.jobs, given_up) == ([], ["never"])


def test_the_delays_grow_to_ten_minutes_and_no_further() -> None:
    assert [default_backoff(n) for n in (1, 2, 3, 4, 5, 6, 10**6)] == [2, 8, 32, 128, 512, 600, 600]


# The double


def test_the_double_drops_what_is_rolled_back(database: Database, inline: InlineEngine) -> None:
    with database.writing() as session:
        with session.begin_nested() as savepoint:
            inline.enqueue(session, "note", {"text": "to the savepoint"})
            savepoint.rollback()
        inline.enqueue(session, "note", {"text": "kept"})
    with pytest.raises(ZeroDivisionError), database.writing() as session:
        inline.enqueue(session, "note", {"text": str(1 / 0)})
    assert [found.args for found in inline.jobs()] == [{"text": "kept"}]


def test_the_double_runs_a_key_once_even_after_it_ran(database: Database, inline: InlineEngine) -> None:
    ran: list[str] = []
    inline.register("note", lambda text: ran.append(text))
    for text in ("first", "second"):
        with database.writing() as session:
            inline.enqueue(session, "note", {"text": text}, key="k")
            inline.enqueue(session, "note", {"text": text}, key="k")
        inline.run_all()
    assert ran == ["first"]


def test_the_double_runs_what_jobs_enqueue_and_waits_for_delays(
    database: Database, inline: InlineEngine, held_clock: Clock
) -> None:
    ran: list[str] = []

    def first() -> None:
        ran.append("first")
        with database.writing() as session:
            inline.enqueue(session, "second", {})
            inline.enqueue(session, "third", {}, delay=60)

    inline.register("first", first, attempts=3)
    inline.register("second", lambda: ran.append("second"))
    inline.register("third", lambda: ran.append("third"))
    with database.writing() as session:
        inline.enqueue(session, "first", {})
    assert inline.run_all() == 2
    held_clock.move(60)
    assert inline.run_all() == 1
    assert ran == ["first", "second", "third"]


def test_the_double_raises_what_a_body_raises_and_keeps_the_job(
    database: Database, inline: InlineEngine
) -> None:
    inline.register("fail", fail)
    with database.writing() as session:
        inline.enqueue(session, "fail", {})
    with pytest.raises(ValueError, match="no luck"):
        inline.run_all()
    assert [found.name for found in inline.jobs()] == ["fail"]


# Networks of trusted proxies


def test_trusted_proxies_are_addresses_and_networks() -> None:
    assert parse_networks(" 10.0.0.1, 10.1.0.0/16 ,::1,") == [
        ipaddress.ip_network("10.0.0.1/32"),
        ipaddress.ip_network("10.1.0.0/16"),
        ipaddress.ip_network("::1/128"),
    ]


def test_a_trusted_proxy_that_is_neither_is_named() -> None:
    with pytest.raises(ValueError, match="gateway"):
        parse_networks("10.0.0.1, gateway")
