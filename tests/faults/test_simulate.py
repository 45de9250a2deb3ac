"""The traffic simulator against a real server: what it plays is what an integration does."""

import os
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.core.db import Database
from app.core.models import Attempt
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate
from app.jobs.engine import Engine
from app.settings import Settings
from tests.faults.service import Service, free_port
from tests.warm import Process

SUBMITTED = 16


def _simulate(*options: str) -> subprocess.CompletedProcess[str]:
    process = Process(
        "app",
        "simulate",
        *options,
        env={**os.environ, "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        said, errors = process.communicate(240)
    finally:
        process.kill()
    return subprocess.CompletedProcess(options, process.wait(), said, errors)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_run_ends_with_everything_submitted_decided_and_acknowledged(
    database_url: str, tmp_path: Path
) -> None:
    port, hook = free_port(), free_port()
    settings = Settings(
        _env_file=None, environment="test", data_dir=tmp_path / "var", database_url=database_url, port=port
    ).ready()
    database = Database(database_url)
    engine = Engine(database.engine, executor_id="test")
    engine.prepare()
    engine.stop()
    with database.writing() as session:
        key = keys.mint(session, SYSTEM, "simulator", KeyTemplate.ADAPTER, None).text
    service = Service(settings, tmp_path / "serve.log", allow_hosts=f"127.0.0.1:{hook}")
    service.start()
    try:
        where = ["--url", f"http://127.0.0.1:{port}", "--key", key]
        options = ("--count", str(SUBMITTED), "--rate", "10", "--raters", "8", "--wait", "180")
        done = _simulate(*where, *options, "--receiver-port", str(hook))
        refused = _simulate(*where, "--count", "1", "--receiver-port", str(free_port()))
    finally:
        service.end()
    with database.reading() as session:
        unanswered = session.scalar(sa.select(sa.func.count()).where(Attempt.status.is_(None)))
    database.dispose()
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {
        cells[0].strip(): cells[1].strip()
        for line in done.stdout.splitlines()
        if len(cells := line.strip("│ ").split("│")) >= 2
    }
    assert rows["submitted"] == rows["scored"] == str(SUBMITTED)
    assert int(rows["decided in all"]) > 0
    assert int(rows["acknowledged"]) > 0
    # On a slow machine an answer can come too late for the service, which then has to say it again.
    assert int(rows["delivered more than once"]) <= (unanswered or 0)
    assert refused.returncode == 1
    assert "BRIDGENOTE_WEBHOOK_ALLOW_HOSTS" in refused.stderr


def test_nobody_at_the_other_end_is_one_clear_line() -> None:
    done = _simulate(
        "--url", f"http://127.0.0.1:{free_port()}", "--key", "bnk_x", "--receiver-port", str(free_port())
    )
    assert done.returncode == 1
    assert "cannot reach" in done.stderr
    assert "Traceback" not in done.stderr
