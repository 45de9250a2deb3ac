"""Ends a PostgreSQL server of the tests, and removes its folder, when a process is gone, however it went.

    python -m tests.postgres_watch PID FOLDER COMMAND...

COMMAND stops the server. SIGTERM has the same effect at once. Imports nothing of ours, so that it starts quickly.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import time


def wait_for_end(pid: int) -> None:
    """Return when no process has this id any more."""
    try:
        if hasattr(os, "pidfd_open"):
            select.select([os.pidfd_open(pid)], [], [])
            return
        while True:
            os.kill(pid, 0)
            time.sleep(0.5)
    except ProcessLookupError:
        return


def main(pid: int, folder: str, stop: list[str]) -> None:
    def end(*_: object) -> None:
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    try:
        wait_for_end(pid)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.run(stop, cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
