"""The service as its users meet it: a process of its own over an empty folder."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TypeVar

from app.core.classify.corpus import SAMPLES
from app.process import runtime
from app.settings import Settings
from app.wiring import Wiring
from tests.warm import Process

ROOT = Path(__file__).parents[2]
UNDO_SECONDS = 12
"""Long enough to press Undo on a busy machine, short enough to wait for."""
PATIENCE = 90.0
"""Seconds after which what should have happened counts as not happening."""
START_PATIENCE = 240.0

DOUBTFUL = SAMPLES["toxicity"]
"""Posts that go to raters and are shown without a veil."""

Found = TypeVar("Found")


def wait_for(what: str, look: Callable[[], Found | None], patience: float = PATIENCE) -> Found:
    """The first thing that ``look`` finds, asked again and again for so many seconds.

    Ever less often: on a busy machine the asking would cost what is waited for, and reach the API's rate limit.
    """
    end, pause = time.monotonic() + patience, 0.05
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < end, f"{what} did not happen within {patience:g} s"
        time.sleep(pause)
        pause = min(1.2 * pause, 0.5)


@dataclass
class Service:
    """The running process. ``wiring`` opens the same database, to make accounts and keys."""

    url: str
    log: Path
    wiring: Wiring
    numbers: Iterator[int] = field(default_factory=lambda: count(1))


@contextmanager
def running(folder: Path) -> Iterator[Service]:
    """Start the service over an empty folder, and end it by its id. Needs the fixture ``warm_processes``."""
    port, log = _free_port(), folder / "server.log"
    own = {
        "BRIDGENOTE_ENVIRONMENT": "development",
        "BRIDGENOTE_DATA_DIR": str(folder / "var"),
        "BRIDGENOTE_HOST": "127.0.0.1",
        "BRIDGENOTE_PORT": str(port),
        "BRIDGENOTE_WEB_PROCESSES": "1",
        "BRIDGENOTE_WEBHOOK_ALLOW_HOSTS": "127.0.0.1",
        "BRIDGENOTE_SERVICE_ALLOW_HOSTS": "127.0.0.1",
        "BRIDGENOTE_MODELS_DIR": str(folder / "models"),
        "BRIDGENOTE_UNDO_SECONDS": str(UNDO_SECONDS),
        "BRIDGENOTE_RATE_LIMIT_RATINGS": "500 per minute",  # keys are pressed faster than people press them
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("BRIDGENOTE_")}
    with log.open("wb") as output:
        process = Process(
            "app",
            "serve",
            cwd=folder,  # no .env of a working copy is read
            env=inherited | own,
            stdout=output,
            stderr=output,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for("the start of the server", lambda: _answers(url, process, log), START_PATIENCE)
        settings = Settings(_env_file=None, environment="development", data_dir=folder / "var").ready()
        with runtime.opened(settings) as wiring:
            yield Service(url, log, wiring)
    finally:
        process.send_signal(signal.SIGINT)  # the quick end; SIGTERM lets idle connections linger
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        forget_counts(port)


def forget_counts(port: int) -> None:
    """Remove what an ended server counted: only the next one at its port would, and there will be none."""
    for left in Path("/dev/shm").glob(f"bridgenote-{os.getuid()}-{port}-*"):
        shutil.rmtree(left, ignore_errors=True)


def _answers(url: str, process: Process, log: Path) -> bool:
    assert process.poll() is None, f"the server ended while it started:\n{log.read_text()}"
    return answers(int(url.rpartition(":")[2]))


def answers(port: int) -> bool:
    """Whether a page is there. Asked ten times a second, so it costs little."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/sign-in")
        return connection.getresponse().status == 200
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
