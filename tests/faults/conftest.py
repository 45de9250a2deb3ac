"""Databases that have only the job tables."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import dbos._dbos
import pytest

from app.core.db import Database
from app.jobs.engine import Engine
from tests import postgres


@pytest.fixture(scope="session", autouse=True)
def _warm(warm_processes: None) -> None:
    """Every test here may start processes."""


@pytest.fixture(scope="session", autouse=True)
def _short_naps() -> Iterator[None]:
    """An engine of this process that stops looks five times a second whether its jobs have ended, instead of once."""
    with pytest.MonkeyPatch.context() as patch:
        sleep = time.sleep
        patch.setattr(
            dbos._dbos, "time", SimpleNamespace(time=time.time, sleep=lambda seconds: sleep(seconds / 5))
        )
        yield


def prepare_jobs(url: str) -> None:
    database = Database(url)
    engine = Engine(database.engine, executor_id="migrate")
    engine.prepare()
    engine.stop()
    database.dispose()


@pytest.fixture(scope="session")
def jobs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file to copy, which is faster than creating the tables."""
    path = tmp_path_factory.mktemp("jobs") / "jobs.db"
    prepare_jobs(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def jobs_template(postgres_server: postgres.Server) -> str:
    """The name of a PostgreSQL database to copy."""
    name = postgres_server.create()
    prepare_jobs(postgres_server.url(name))
    return name


@pytest.fixture(params=["sqlite", "postgresql"])
def jobs_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("jobs_file"), tmp_path / "jobs.db")
        yield f"sqlite:///{tmp_path}/jobs.db"
        return
    server: postgres.Server = request.getfixturevalue("postgres_server")
    name = server.create(request.getfixturevalue("jobs_template"))
    yield server.url(name)
    server.drop(name)


@pytest.fixture
def database(jobs_url: str) -> Iterator[Database]:
    database = Database(jobs_url)
    yield database
    database.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated database for this test alone: killed processes leave connections and tables of the job engine."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_template"), tmp_path / "test.db")
        yield f"sqlite:///{tmp_path}/test.db"
        return
    server: postgres.Server = request.getfixturevalue("postgres_server")
    name = server.create(request.getfixturevalue("postgres_template"))
    yield server.url(name)
    server.drop(name)
