"""A process that runs jobs: what tests start, kill and start again.

    python -m tests.faults.engine_app DATABASE_URL EXECUTOR_ID FOLDER CODE_VERSION

Bodies write lines to ``FOLDER/ran``. ``hold`` does not end before ``FOLDER/gate`` exists.
"""

import os
import signal
import sys
import threading
from pathlib import Path

from app.core.db import Database
from app.jobs.engine import Engine

BEAT_SECONDS = 0.2


class Ran:
    """A file to which any process appends lines, each in one write."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ran"

    def add(self, line: str) -> None:
        with self._path.open("ab", buffering=0) as file:
            file.write(f"{line}\n".encode())

    def lines(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []


def make_engine(url: str, executor_id: str, folder: Path, code: str) -> tuple[Engine, threading.Event]:
    """The engine, and the event that lets ``hold`` go without the gate."""
    ran = Ran(folder)
    ended = threading.Event()

    def note_old(text: str) -> None:
        ran.add(f"old {text}")

    def note_new(text: str) -> None:
        line = " ".join(["new", text])
        ran.add(line)

    def hold(text: str) -> None:
        ran.add(f"begun {text} {executor_id} {os.getpid()}")
        while not (folder / "gate").exists() and not ended.wait(0.02):
            pass
        ran.add(f"done {text} {executor_id}")

    database = Database(url)
    engine = Engine(database.engine, executor_id=executor_id, slots=4, beat_seconds=BEAT_SECONDS)
    engine.register("note", note_new if code == "new" else note_old)
    engine.register("hold", hold)
    return engine, ended


def main(url: str, executor_id: str, folder: Path, code: str) -> None:
    engine, ended = make_engine(url, executor_id, folder, code)
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    engine.start()
    print("ready", flush=True)
    ended.wait()
    engine.stop(drain=5)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])
