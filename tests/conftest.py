"""Fixtures for every group. A test that takes ``database_url`` can run on both databases (docs/develop/testing.md)."""

import copy
import functools
import gc
import os
import shutil
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import certifi
import hypothesis
import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient

from app import create_app, migrations
from app.core import clock, texts
from app.core.db import Database, make_engine
from app.core.people import passwords
from app.core.webhooks.sending import Outcome
from app.jobs.registry import register_all
from app.settings import Settings
from app.wiring import EXTENSION, Wiring, wire
from tests import examples, order, postgres, warm
from tests.cast import Cast, assemble
from tests.databases import Engines, Reused, ReusedPostgres, ReusedSqlite, Rows, rows_of
from tests.inline_engine import InlineEngine
from tests.once import RUN, Shared

# Five people are made for almost every test; what makes Argon2id slow is not what they test.
passwords.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

REUSED = {"sqlite": "reused_sqlite", "postgresql": "reused_postgres"}

_new_context = ssl.create_default_context
_contexts: dict[str, ssl.SSLContext] = {}


def _kept_context(purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH, **given: Any) -> ssl.SSLContext:
    """One context for each file of certificates: to read 130 of them again for every client takes 30 ms."""
    file = given.get("cafile")
    if file != certifi.where() or set(given) != {"cafile"} or purpose is not ssl.Purpose.SERVER_AUTH:
        return _new_context(purpose, **given)
    if file not in _contexts:
        _contexts[file] = _new_context(cafile=file)
    return _contexts[file]


ssl.create_default_context = _kept_context


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database",
        choices=["both", *order.DATABASES],
        default="both",
        help="run every test on both databases, or those not marked both_databases on this one alone",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "both_databases: what it runs in the database differs between the two")
    hypothesis.settings.load_profile(examples.PROFILE)
    if not hasattr(config, "workerinput"):
        os.environ[RUN] = str(os.getpid())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only = config.getoption("--database")
    items[:], left_out = order.chosen(items, None if only == "both" else only)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    if hasattr(config, "workerinput"):
        items[:] = order.spread(items, config.workerinput["workercount"])


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """What was imported and collected stays: looking through it for garbage again and again is in vain."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def present() -> Iterator[None]:
    """Puts the clock right that a test moved, and leaves no test the language of the last request before it."""
    yield
    clock.set_source(None)
    texts.choose(None)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """What the workers of this run make once."""
    return Shared.beside(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def postgres_server(shared: Shared) -> postgres.Server:
    """One server for the whole run, which no test may stop. It ends with the run, even when that is killed."""
    run = int(os.environ[RUN])
    return shared.once("postgres", lambda: postgres.running_until_the_end_of(run))


@pytest.fixture(scope="session")
def warm_processes(shared: Shared) -> None:
    """Where tests fork their processes from; one for the whole run, which it ends with."""
    path, run = shared.folder / "warm", int(os.environ[RUN])
    shared.once("warm", lambda: warm.run(path, run))
    os.environ[warm.SETTING] = str(path)


def _migrate(url: str) -> None:
    engine = make_engine(url)
    migrations.upgrade(engine)
    InlineEngine(engine).prepare()
    engine.dispose()


def _assemble(url: str) -> Cast:
    database = Database(url)
    made = assemble(database)
    database.dispose()
    return made


@pytest.fixture(scope="session")
def sqlite_template(shared: Shared) -> Path:
    """A migrated, empty SQLite file, to copy."""

    def make() -> Path:
        path = shared.folder / "template.db"
        _migrate(f"sqlite:///{path}")
        return path

    return shared.once("sqlite-template", make)


@pytest.fixture(scope="session")
def postgres_template(shared: Shared, postgres_server: postgres.Server) -> str:
    """The name of a migrated, empty PostgreSQL database, to copy."""

    def make() -> str:
        name = postgres_server.create()
        _migrate(postgres_server.url(name))
        return name

    return shared.once("postgres-template", make)


@pytest.fixture(scope="session")
def sqlite_cast(shared: Shared, sqlite_template: Path) -> tuple[Path, Cast]:
    """The template with the cast in it: making the cast for each test would take longer than most tests."""

    def make() -> tuple[Path, Cast]:
        path = sqlite_template.with_name("cast.db")
        shutil.copyfile(sqlite_template, path)
        return path, _assemble(f"sqlite:///{path}")

    return shared.once("sqlite-cast", make)


@pytest.fixture(scope="session")
def postgres_cast(
    shared: Shared, postgres_server: postgres.Server, postgres_template: str
) -> tuple[str, dict[bool, Rows], Cast]:
    """The template with the cast in it, and the rows of both."""

    def make() -> tuple[str, dict[bool, Rows], Cast]:
        name = postgres_server.create(postgres_template)
        made = _assemble(postgres_server.url(name))
        rows = {True: rows_of(postgres_server, name), False: rows_of(postgres_server, postgres_template)}
        return name, rows, made

    return shared.once("postgres-cast", make)


@pytest.fixture(scope="session")
def reused_sqlite(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, sqlite_cast: tuple[Path, Cast]
) -> Iterator[ReusedSqlite]:
    """The one SQLite file that the tests of this worker share, one after the other."""
    database = ReusedSqlite(tmp_path_factory.mktemp("reused"), sqlite_template, sqlite_cast[0])
    yield database
    database.drop()


@pytest.fixture(scope="session")
def reused_postgres(
    postgres_server: postgres.Server, postgres_cast: tuple[str, dict[bool, Rows], Cast]
) -> Iterator[ReusedPostgres]:
    """The one PostgreSQL database that the tests of this worker share, one after the other."""
    database = ReusedPostgres(postgres_server, postgres_cast[0], postgres_cast[1])
    yield database
    database.drop()


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    """The engines over the reused databases."""
    kept = Engines()
    yield kept
    kept.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, engines: Engines) -> str:
    """The URL of a migrated database that no other test uses meanwhile: empty, or with the cast when asked for."""
    reused: Reused = request.getfixturevalue(REUSED[request.param])
    engines.reset(reused, with_cast="cast" in request.fixturenames)
    return reused.url


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return _settings().model_copy(update={"data_dir": tmp_path / "var", "database_url": database_url}).ready()


@functools.cache
def _settings() -> Settings:
    """Read once: to look for each of them in the environment takes longer than to empty the database."""
    return Settings(_env_file=None, environment="test", rate_limit_enabled=False)


@dataclass
class RecordingSender:
    """Stands in for the network: keeps what was sent and answers as told."""

    status: int = 200
    sent: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)

    def send(self, url: str, body: bytes, headers: object, deadline: float) -> Outcome:
        self.sent.append((url, body, dict(headers)))  # type: ignore[call-overload]
        return Outcome(status=self.status, milliseconds=1, excerpt="", error=None, retry_after=None)


@pytest.fixture
def sender() -> RecordingSender:
    return RecordingSender()


@pytest.fixture
def wiring(settings: Settings, sender: RecordingSender, engines: Engines) -> Iterator[Wiring]:
    """The service without a server: jobs wait until ``jobs.run_all()``."""
    made = wire(settings)
    with engines.lend(made.database) as database:
        made.database = database
        made.sender = sender
        jobs = InlineEngine(database.engine)
        register_all(jobs, made)
        made.attach(jobs)
        yield made


@pytest.fixture
def jobs(wiring: Wiring) -> InlineEngine:
    assert isinstance(wiring.jobs, InlineEngine)
    return wiring.jobs


_apps: list[Flask] = []


@pytest.fixture
def app(wiring: Wiring) -> Flask:
    """The application over this test's wiring. One for the whole run, so that templates are compiled once."""
    if not _apps:
        _apps.append(create_app(wiring))
    (made,) = _apps
    made.extensions[EXTENSION] = wiring
    made.config["SECRET_KEY"] = wiring.settings.secret_key.get_secret_value()
    made.test_client_class = None
    return made


@pytest.fixture
def own_app(wiring: Wiring) -> Flask:
    """An application of this test's own, to which it may add."""
    return create_app(wiring)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def cast(wiring: Wiring, request: pytest.FixtureRequest) -> Cast:
    """The people and keys that most tests ask about; ``database_url`` has put them into the database."""
    dialect = wiring.database.engine.dialect.name
    made: Cast = request.getfixturevalue("sqlite_cast" if dialect == "sqlite" else "postgres_cast")[-1]
    return copy.deepcopy(made)
