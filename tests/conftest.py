"""Fixtures for all tests. Each test with ``database_url`` runs on SQLite and on PostgreSQL."""

import copy
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient

from app import create_app, migrations
from app.core import clock
from app.core.db import Database, make_engine
from app.core.people import accounts
from app.core.webhooks.sending import Outcome
from app.jobs.registry import register_all
from app.settings import Settings
from app.wiring import EXTENSION, Wiring, wire
from tests import postgres
from tests.cast import Cast, assemble
from tests.databases import ReusedDatabase
from tests.inline_engine import InlineEngine

# Almost every test creates five people, and no test needs Argon2id's slowness.
accounts.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(autouse=True)
def present() -> Iterator[None]:
    """Reset the clock that a test moved."""
    yield
    clock.set_source(None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file; each test works on a copy."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    engine = make_engine(f"sqlite:///{path}")
    migrations.upgrade(engine)
    InlineEngine(engine).prepare()
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres_server: postgres.Server) -> str:
    """A migrated, empty PostgreSQL database; each test works on a copy."""
    name = postgres_server.create()
    engine = make_engine(postgres_server.url(name))
    migrations.upgrade(engine)
    InlineEngine(engine).prepare()
    engine.dispose()
    return name


@pytest.fixture(scope="session")
def sqlite_cast(sqlite_template: Path) -> tuple[Path, Cast]:
    """The template with the cast in it: creating the cast for each test would take longer than most tests."""
    path = sqlite_template.with_name("cast.db")
    shutil.copyfile(sqlite_template, path)
    database = Database(f"sqlite:///{path}")
    made = assemble(database)
    database.dispose()
    return path, made


@pytest.fixture(scope="session")
def postgres_cast(postgres_server: postgres.Server, postgres_template: str) -> tuple[str, Cast]:
    """The template with the cast in it."""
    name = postgres_server.create(postgres_template)
    database = Database(postgres_server.url(name))
    made = assemble(database)
    database.dispose()
    return name, made


@pytest.fixture(scope="session")
def reused_database(
    postgres_server: postgres.Server, postgres_template: str, postgres_cast: tuple[str, Cast]
) -> Iterator[ReusedDatabase]:
    """The PostgreSQL database that the tests of this worker use one after the other."""
    database = ReusedDatabase(postgres_server, postgres_template, postgres_cast[0])
    yield database
    database.drop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a migrated database for this test alone: with the cast if the test uses it, else empty."""
    with_cast = "cast" in request.fixturenames
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("sqlite_template")
        if with_cast:
            template, _ = request.getfixturevalue("sqlite_cast")
        path = tmp_path / "test.db"
        shutil.copyfile(template, path)
        return f"sqlite:///{path}"
    database: ReusedDatabase = request.getfixturevalue("reused_database")
    database.reset(with_cast=with_cast)
    return database.url


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        _env_file=None,
        environment="test",
        data_dir=tmp_path / "var",
        database_url=database_url,
        rate_limit_enabled=False,
    ).ready()


@dataclass
class RecordingSender:
    """Fake of the webhook sender: records deliveries and answers with ``status``."""

    status: int = 200
    sent: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)

    def send(self, url: str, body: bytes, headers: object, deadline: float) -> Outcome:
        self.sent.append((url, body, dict(headers)))  # type: ignore[call-overload]
        return Outcome(status=self.status, milliseconds=1, excerpt="", error=None, retry_after=None)


@pytest.fixture
def sender() -> RecordingSender:
    return RecordingSender()


@pytest.fixture
def wiring(settings: Settings, sender: RecordingSender) -> Iterator[Wiring]:
    """The service without a server. Jobs run only when the test calls ``jobs.run_all()``."""
    made = wire(settings)
    made.sender = sender
    jobs = InlineEngine(made.database.engine)
    register_all(jobs, made)
    made.attach(jobs)
    yield made
    made.database.dispose()


@pytest.fixture
def jobs(wiring: Wiring) -> InlineEngine:
    assert isinstance(wiring.jobs, InlineEngine)
    return wiring.jobs


_apps: list[Flask] = []


@pytest.fixture
def app(wiring: Wiring) -> Flask:
    """The application with this test's wiring. It is created once for the whole run, so templates compile once."""
    if not _apps:
        _apps.append(create_app(wiring))
    (made,) = _apps
    made.extensions[EXTENSION] = wiring
    made.config["SECRET_KEY"] = wiring.settings.secret_key.get_secret_value()
    made.test_client_class = None
    return made


@pytest.fixture
def own_app(wiring: Wiring) -> Flask:
    """A new application that this test may change."""
    return create_app(wiring)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def cast(wiring: Wiring, request: pytest.FixtureRequest) -> Cast:
    """The people and keys of most tests; ``database_url`` has already stored them."""
    dialect = wiring.database.engine.dialect.name
    made: Cast = request.getfixturevalue("sqlite_cast" if dialect == "sqlite" else "postgres_cast")[1]
    return copy.deepcopy(made)
