"""A real server on a free port over a fresh folder, and callers that keep their connections."""

import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Service:
    """A running server: its port, its folder and a key for it."""

    port: int
    folder: Path
    key: str


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise SystemExit("the server did not start")


@contextlib.contextmanager
def running(
    command: Sequence[str], port: int, environment: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)
        try:
            wait_for(port, process)
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def service(**settings: str) -> Iterator[Service]:
    """Our server as it is by default, but for the limits that a benchmark would run into."""
    with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as name:
        folder, port = Path(name), free_port()
        environment = {
            **os.environ,
            "BRIDGENOTE_DATA_DIR": str(folder / "var"),
            "BRIDGENOTE_PORT": str(port),
            "BRIDGENOTE_RATE_LIMIT_KEY": "100000000 per minute",
            "BRIDGENOTE_RATE_LIMIT_RATINGS": "100000000 per minute",
            "BRIDGENOTE_LOG_LEVEL": "WARNING",
            **settings,
        }
        mint = [sys.executable, "-m", "app", "mint-key", "--name", "bench", "--template", "adapter"]
        said = subprocess.run(mint, env=environment, check=True, capture_output=True, text=True).stdout
        with running([sys.executable, "-m", "app", "serve"], port, environment, folder / "log"):
            yield Service(port, folder, said.split()[-1])


@dataclass(frozen=True)
class Figures:
    """What a load came to: calls a second over all callers, and milliseconds a call."""

    rate: float
    p50: float
    p99: float


class Caller:
    """One connection, kept open."""

    def __init__(self, port: int, headers: dict[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Content-Type": "application/json", **(headers or {})}

    def call(
        self, method: str, path: str, body: object = None, *, raw: bytes | None = None
    ) -> tuple[int, bytes]:
        text = raw if body is None else json.dumps(body)
        self._connection.request(method, path, text, self._headers)
        response = self._connection.getresponse()
        return response.status, response.read()


def load(
    port: int,
    one: Callable[[Caller, int], tuple[int, bytes]],
    *,
    calls: int,
    callers: int = 8,
    headers: dict[str, str] | None = None,
) -> Figures:
    """``calls`` calls by ``callers`` connections at once; every answer must be a success."""
    numbers = iter(range(calls))
    lock, times, failures = threading.Lock(), [], []

    def run() -> None:
        caller = Caller(port, headers)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            start = time.perf_counter()
            status, body = one(caller, number)
            taken = time.perf_counter() - start
            with lock:
                times.append(taken)
                if status >= 300:
                    failures.append((status, body[:200]))

    threads = [threading.Thread(target=run) for _ in range(callers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - start
    if failures:
        raise SystemExit(f"{len(failures)} calls failed, the first with {failures[0]}")
    times.sort()
    return Figures(
        len(times) / taken, statistics.median(times) * 1000, times[int(0.99 * (len(times) - 1))] * 1000
    )
