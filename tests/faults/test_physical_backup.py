"""The commands of docs/run/large-databases.md, block by block: base backup, log, a restore to a moment in between."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from app.commands.backup import backups, command
from app.commands.main import cli
from app.core.communities import communities
from app.core.db import Database
from app.core.models import Delivery, Request
from app.core.outbound import AllowList
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import DeliveryState, KeyTemplate
from app.core.webhooks import registrations as webhooks
from app.process import runtime
from app.settings import Settings
from app.wiring import make_sealer
from tests import postgres
from tests.api.conftest import SPAM, submission
from tests.api.test_guide import blocks
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "run" / "large-databases.md"
MOMENT = "2026-03-01 09:12:00+00"
"""The moment in the page's example."""


@dataclass
class Hook:
    """A receiver that counts what it accepted, by the event's id, and can refuse all."""

    server: ThreadingHTTPServer
    accepts: bool = True
    accepted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def _listening() -> Iterator[Hook]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            (hook.accepted if hook.accepts else hook.refused).append(body["event_id"])
            self.send_response(200 if hook.accepts else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: Any) -> None:
            """Failures speak through the test."""

    hook = Hook(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
    thread = threading.Thread(target=hook.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hook
    finally:
        hook.server.shutdown()
        thread.join()
        hook.server.server_close()


def _run(server: postgres.Server, script: str, **environment: str) -> None:
    """Run commands of the page as the user of PostgreSQL, who stops at the first that fails."""
    words = {
        "PATH": f"{postgres.binaries()}:{os.environ['PATH']}",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(server.port),
        "PGUSER": "postgres",
        "PGDATA": str(server.folder / "data"),
        "HOME": str(server.folder),
        **environment,
    }
    given = [f"{name}={value}" for name, value in words.items()]
    ran = subprocess.run(
        postgres.as_postgres("env", *given, "bash", "-euo", "pipefail", "-c", script),
        cwd=server.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _service_does(settings: Settings, script: str, service_environment: Mapping[str, str]) -> str:
    """Run commands of the page as the user of the service; all they wrote."""
    environment = os.environ | {
        "BRIDGENOTE_DATA_DIR": str(settings.data_dir),
        "BRIDGENOTE_DATABASE_URL": settings.database_url,
        "BRIDGENOTE_PORT": str(settings.port),
        "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}",
        **service_environment,
    }
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture
def server() -> Iterator[postgres.Server]:
    """A server whose options are in its own file, as those of a real one are: the page's commands start it again."""
    with postgres.running(postgres.REPLICATING) as made:
        with (made.folder / "data" / "postgresql.conf").open("a") as file:
            file.write(
                f"\nport = {made.port}\nlisten_addresses = '127.0.0.1'\n"
                f"unix_socket_directories = '{made.folder}'\nmax_connections = 300\n"
            )
        yield made


def test_the_pages_commands_restore_a_moment_and_nothing_is_said_twice(
    server: postgres.Server, tmp_path: Path
) -> None:
    set_up, daily, back, then = blocks(PAGE, "sh")[:4]
    backup = {"BACKUP": str(server.folder / "backup")}
    base = {**backup, "BASE": f"{backup['BACKUP']}/base"}
    with _listening() as hook:
        settings = Settings(
            _env_file=None,
            environment="test",
            data_dir=tmp_path / "var",
            database_url=server.url(server.create()),
            port=free_port(),
        ).ready()
        runtime.migrate(settings)
        database = Database(settings.sqlalchemy_url)
        with database.writing() as session:
            community = communities.open_community(session, SYSTEM, "forum", "forum-1")
            key = keys.mint(session, SYSTEM, "forum", KeyTemplate.ADAPTER, [community.id]).text
            webhooks.register(
                session,
                SYSTEM,
                make_sealer(settings),
                AllowList.parse(hook.host),
                community,
                f"http://{hook.host}/hook",
                "a secret",
            )
        environment = {
            "BRIDGENOTE_WEBHOOK_ALLOW_HOSTS": hook.host,
            "BRIDGENOTE_WEBHOOK_RETRY_DELAYS": ",".join(["3"] * 20),
        }
        service = Service(settings, tmp_path / "serve.log", hook.host, environment)

        def decide(name: str) -> None:
            answer = httpx.post(
                f"http://127.0.0.1:{settings.port}/api/public/v1/requests",
                json=submission(name, SPAM),
                headers={"Authorization": f"Bearer {key}"},
            )
            assert answer.status_code == 201, answer.text

        def is_quiet() -> bool:
            with database.reading() as session:
                states = set(session.scalars(sa.select(Delivery.state)))
            return states == {DeliveryState.DELIVERED}

        try:
            _run(server, set_up, **backup)
            database.engine.dispose()
            service.start()
            decide("before-the-copy")
            eventually(lambda: hook.accepted and is_quiet(), "it is delivered")
            _run(server, daily.replace("base-$(date +%F)", "base"), **backup)
            hook.accepts = False
            decide("after-the-copy")
            eventually(lambda: hook.refused, "its delivery is tried")
            with psycopg.connect(settings.database_url.replace("+psycopg", "")) as connection:
                (moment,) = connection.execute("SELECT clock_timestamp()").fetchone() or ()
            hook.accepts = True
            eventually(is_quiet, "it is delivered after that moment")
            decide("after-the-moment")
            eventually(lambda: _is_known(database, "after-the-moment") and is_quiet(), "it is decided, too")
            service.end()
            database.engine.dispose()
            said = list(hook.accepted)
            assert len(said) == len(set(said))

            assert MOMENT in back
            _run(server, back.replace(MOMENT, moment.isoformat(sep=" ")), **base)
            told = _service_does(settings, then, environment)
            assert "deliveries are parked: replay them on the Deliveries page" in told
            assert "entries, unbroken" in told
            assert "\nfail" not in told
            assert _is_known(database, "after-the-copy")
            assert not _is_known(database, "after-the-moment"), "it came later"

            service.start()
            decide("after-the-restore")
            eventually(lambda: len(hook.accepted) > len(said), "what is new is delivered")
            time.sleep(4)  # longer than a retry would have waited
            assert len(hook.accepted) == len(set(hook.accepted)), "nothing is said twice"
            with database.reading() as session:
                parked = session.scalars(
                    sa.select(Delivery.event_id).where(Delivery.state == DeliveryState.PARKED)
                ).all()
            assert {str(one) for one in parked} <= set(said)
            assert parked, "what was due at that moment waits for a person"
        finally:
            service.end()
            database.dispose()


def _is_known(database: Database, name: str) -> bool:
    with database.reading() as session:
        return session.scalar(sa.select(Request.id).where(Request.request_id == name)) is not None


def test_a_database_in_use_or_of_sqlite_is_not_taken_over(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", database_url)
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(tmp_path / "var"))
    for arguments in (["--in-place", str(PAGE)], []):
        refused = CliRunner().invoke(cli, ["restore", *arguments])
        assert refused.exit_code == 2
        assert "Give either FILE or --in-place" in refused.output
    is_sqlite = database_url.startswith("sqlite")
    why = "Only PostgreSQL restores in place" if is_sqlite else "The database is in use by"
    engine = sa.create_engine(database_url)
    with engine.connect():
        refused = CliRunner().invoke(cli, ["restore", "--in-place"])
    engine.dispose()
    assert (refused.exit_code, why in refused.output) == (1, True)


def test_a_backup_of_a_large_database_names_the_other_way(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", database_url)
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(tmp_path / "var"))
    for large, is_named in ((command.LARGE, False), (1, not database_url.startswith("sqlite"))):
        monkeypatch.setattr(command, "LARGE", large)
        monkeypatch.setattr(backups.postgres, "write", lambda _url, path: path.write_bytes(b"PGDMP"))
        done = CliRunner().invoke(cli, ["backup", str(tmp_path / "some.backup")])
        assert done.exit_code == 0, done.output
        assert (command.PHYSICAL in done.output) is is_named
    assert PAGE.relative_to(ROOT).as_posix() in command.PHYSICAL
