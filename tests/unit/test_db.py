"""Transactions: one at a time in a thread, one after the other on SQLite, and what a commit sets off."""

import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import outbox, write_lock
from app.core.db import Database, make_engine
from app.core.models import Community
from app.jobs import tables
from app.settings import Settings
from app.wiring import Wiring
from tests.cast import Cast
from tests.faults.waiting import eventually


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(f"sqlite:///{tmp_path / 'turns.db'}")
    with made.writing() as session:
        session.execute(sa.text("CREATE TABLE counter (n INTEGER)"))
        session.execute(sa.text("INSERT INTO counter VALUES (0)"))
    return made


def counted(database: Database) -> int:
    with database.reading() as session:
        found: int = session.execute(sa.text("SELECT n FROM counter")).scalar_one()
    return found


def add_one(database: Database) -> None:
    with database.writing() as session:
        session.execute(sa.text("UPDATE counter SET n = n + 1"))


def test_a_transaction_within_another_is_refused_at_once_and_the_outer_one_goes_on(
    database: Database,
) -> None:
    with database.writing() as session:
        with pytest.raises(RuntimeError, match="within another"), database.writing():
            pass
        session.execute(sa.text("UPDATE counter SET n = n + 1"))
    add_one(database)
    assert counted(database) == 2


def test_writers_of_two_databases_on_one_file_take_turns_and_none_is_lost(database: Database) -> None:
    other = Database(database.engine.url.render_as_string())  # has a lock of its own, as another process has

    def count(held: Database) -> None:
        for _ in range(20):
            add_one(held)

    threads = [threading.Thread(target=count, args=(one,)) for one in (database, other) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted(database) == 120


def test_a_turn_that_does_not_end_is_refused_in_time_and_forgotten_once_it_ends(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Database(database.engine.url.render_as_string())
    refused = []

    def try_one() -> None:
        with pytest.raises(sa.exc.TimeoutError):
            add_one(other)
        refused.append(1)

    with database.writing(), monkeypatch.context() as hurry:
        hurry.setattr(write_lock.WriteLock, "PATIENCE", 0.2)
        hurry.setattr(write_lock.WriteLock, "LOOK_EVERY", 0.05)
        threads = [threading.Thread(target=try_one) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(refused) == 3
        assert counted(other) == 0
    add_one(database)
    add_one(other)
    add_one(database)
    assert counted(database) == 3


def test_a_crowd_of_short_turns_is_waited_for(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_lock.WriteLock, "PATIENCE", 3.0)
    monkeypatch.setattr(write_lock.WriteLock, "LONGEST", 600.0)
    monkeypatch.setattr(write_lock.WriteLock, "LOOK_EVERY", 0.05)
    other = Database(database.engine.url.render_as_string())

    def take_a_while(held: Database) -> None:
        with held.writing() as session:
            session.execute(sa.text("UPDATE counter SET n = n + 1"))
            time.sleep(0.05)  # all together for longer than the patience

    threads = [threading.Thread(target=take_a_while, args=(one,)) for one in (database, other) * 40]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted(database) == 80


def test_whoever_is_woken_by_a_commit_may_write_at_once(database: Database) -> None:
    database.on_commit = lambda: add_one(database)
    with database.writing() as session:
        outbox.wake_dispatcher(session)
    assert counted(database) == 1


def test_a_transaction_that_fails_leaves_nothing_and_frees_the_turn(database: Database) -> None:
    def fail() -> None:
        with database.writing() as session:
            session.execute(sa.text("UPDATE counter SET n = n + 1"))
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    add_one(database)
    assert counted(database) == 1


def test_a_lock_held_by_a_program_that_knows_no_turns_is_told_as_the_databases_error(
    database: Database,
) -> None:
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=0")  # of the one connection that the pool has
    with closing(sqlite3.connect(str(database.engine.url.database), isolation_level=None)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(sa.exc.OperationalError, match="locked"):
            add_one(database)
    add_one(database)
    assert counted(database) == 1


@pytest.mark.parametrize("of_jobs", [False, True], ids=["requests", "jobs"])
@pytest.mark.parametrize(("prepares", "threshold"), [(True, "the driver's own"), (False, None)])
def test_no_connection_prepares_statements_where_the_settings_forbid_it(
    of_jobs: bool, prepares: bool, threshold: str | None
) -> None:
    settings = Settings(
        _env_file=None, database_url="postgresql://nobody@127.0.0.1/none", prepared_statements=prepares
    )
    engine = Database(settings.sqlalchemy_url, **settings.database_options).engine
    if of_jobs:
        engine = tables.own_connections(engine, connections=1)
    told: dict[str, Any] = {}

    def note(_dialect: Any, _record: Any, _positional: Any, options: dict[str, Any]) -> None:
        told.update(options)
        raise ConnectionRefusedError

    sa.event.listen(engine, "do_connect", note)
    with suppress(ConnectionRefusedError):
        engine.connect()
    assert told["connect_timeout"]
    assert told.get("prepare_threshold", "the driver's own") == threshold


def test_a_request_waits_four_seconds_for_a_connection_to_the_server_of_the_database() -> None:
    """Else all threads of the server would wait when the database restarts (docs/run/reliability.md)."""
    engine, told = make_engine("postgresql+psycopg://nobody@127.0.0.1/nothing"), {}

    @sa.event.listens_for(engine, "do_connect")
    def refuse(_dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]) -> None:
        told.update(parameters)
        raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError):
        engine.connect()
    assert isinstance(engine.pool, sa.QueuePool)
    assert (engine.pool.timeout(), told["connect_timeout"]) == (4, 3)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("of_jobs", [False, True], ids=["requests", "jobs"])
def test_a_connection_that_the_server_closed_is_noticed(database_url: str, of_jobs: bool) -> None:
    other = make_engine(database_url)
    engine = tables.own_connections(other, connections=1) if of_jobs else make_engine(database_url)
    mine = sa.text("SELECT pg_backend_pid()")
    last = sa.text("SELECT query FROM pg_stat_activity WHERE pid = :pid")
    with other.connect().execution_options(isolation_level="AUTOCOMMIT") as watch:
        with engine.connect() as connection:
            pid = connection.scalar(mine)
        watch.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        eventually(lambda: watch.scalar(last, {"pid": pid}) is None, "the server has closed the connection")
        with engine.connect() as connection:
            assert connection.scalar(mine) != pid
    engine.dispose()
    other.dispose()


@pytest.mark.both_databases
def test_a_session_that_reads_refuses_to_write(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.reading() as session:
        community = session.get_one(Community, cast.community_id)
        name = community.name
        community.name = "Elsewhere"
        with pytest.raises(RuntimeError, match="only reads was used to write"):
            session.flush()
    for statement in (sa.update(Community).values(name="Elsewhere"), sa.delete(Community)):
        with wiring.database.reading() as session:
            with pytest.raises(RuntimeError, match="only reads was used to write"):
                session.execute(statement)
            with pytest.raises(RuntimeError, match="only reads was used to write"):
                session.scalar(statement.returning(Community.id))
    with wiring.database.reading() as session:
        assert session.get_one(Community, cast.community_id).name == name
