"""Jobs that wait are taken along by one transaction, or run themselves: never both, never neither."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.core.db import Database
from app.jobs.engine import Engine
from tests.faults.engine_app import Ran
from tests.faults.waiting import eventually
from tests.undone import undone


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return Ran(tmp_path)


@pytest.fixture
def engine(database: Database, ran: Ran) -> Iterator[Engine]:
    """An engine that is not started yet. The jobs of "ours" wait, with others that nobody may take for them."""
    engine = Engine(database.engine, executor_id="here", beat_seconds=0.2)
    for name in ("note", "note_too"):
        engine.register(name, lambda text: ran.add(text))
    with database.writing() as session:
        for key in ("a", "b", "c"):
            engine.enqueue(session, "note", {"text": key}, key=key, community="ours", together=True)
        engine.enqueue(session, "note", {"text": "other"}, key="other", community="theirs", together=True)
        engine.enqueue(session, "note_too", {"text": "too"}, key="a", community="ours", together=True)
        engine.enqueue(session, "note", {"text": "slow"}, key="slow", community="ours")
    yield engine
    engine.stop()


def waiting(database: Database, engine: Engine) -> list[str]:
    with database.reading() as session:
        return sorted(engine.waiting(session, "note", "ours", 10))


def test_what_a_transaction_takes_along_runs_no_more_and_what_it_rolls_back_runs(
    database: Database, engine: Engine, ran: Ran
) -> None:
    assert waiting(database, engine) == ["a", "b", "c"]
    with database.reading() as session:
        assert len(engine.waiting(session, "note", "ours", 2)) == 2
    with undone(database) as session:
        assert engine.take(session, "note", ["a", "b"]) == {"a", "b"}
    assert waiting(database, engine) == ["a", "b", "c"]
    with database.writing() as session:
        assert engine.take(session, "note", ["a", "gone"]) == {"a"}
    assert waiting(database, engine) == ["b", "c"]
    engine.start()
    eventually(lambda: sorted(ran.lines()) == ["b", "c", "other", "slow", "too"], "all others ran")
    eventually(lambda: engine.counts()["running"] == 0, "and ended")
    with database.writing() as session:
        assert engine.take(session, "note", ["b"]) == set()
        name = f"{engine._tables.schema}.workflow_input" if engine._tables.schema else "workflow_input"
        left = session.scalar(sa.text(f"SELECT count(*) FROM {name} WHERE workflow_uuid = 'note:a'"))  # noqa: S608
    assert left == 0


@pytest.mark.parametrize("jobs_url", ["postgresql"], indirect=True)
def test_jobs_that_another_transaction_is_taking_are_passed_over_without_waiting(
    database: Database, engine: Engine
) -> None:
    other = Database(str(database.engine.url.render_as_string(hide_password=False)))
    with database.writing() as first:
        assert engine.take(first, "note", ["a", "b"]) == {"a", "b"}
        assert waiting(other, engine) == ["c"]
        with undone(other) as second:
            assert engine.take(second, "note", ["a", "b", "c"]) == {"c"}
    other.dispose()
    assert waiting(database, engine) == ["c"]
