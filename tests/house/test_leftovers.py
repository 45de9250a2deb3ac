"""A test run that is killed leaves no server behind."""

import signal
import subprocess

import psycopg

from tests import postgres
from tests.faults.waiting import eventually


def _is_gone(server: postgres.Server) -> bool:
    try:
        server.admin().close()
    except psycopg.OperationalError:
        return not server.folder.exists()
    return False


def test_postgresql_ends_with_the_process_it_was_started_for_however_that_ends() -> None:
    run = subprocess.Popen(["sleep", "600"])
    try:
        server = postgres.running_until_the_end_of(run.pid)
        server.admin().close()
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    eventually(lambda: _is_gone(server), "the server and its folder are gone")


def test_postgresql_ends_with_the_block_that_needs_it() -> None:
    with postgres.running() as server:
        server.admin().close()
    assert _is_gone(server)
