"""Python processes that start at once: forked from one that has imported what takes long to import.

A start of the service computes for two to three seconds before its first line runs, and the fault tests start nearly a
hundred. What is forked is a process like any other: it has its own id, signals, files and environment, and nothing of
ours but imported modules. Tests of the start itself start an interpreter of their own.

    python -m tests.warm SOCKET PID

answers at SOCKET until the process PID is gone, and then kills what it started.
"""

import faulthandler
import functools
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from prometheus_client import values

from app.web import import_pages

SETTING = "BRIDGENOTE_TEST_WARM"
"""In the environment: where the process answers."""
WHERE_ARE_YOU = signal.SIGRTMIN
"""A process that gets this signal writes what each of its threads does to its error stream. gunicorn uses others."""
_LONG = (
    "app.commands.main",
    "app.process.startup",
    "app.demo.seed",
    "app.process.serve",
    "app.jobs.engine",
    "app.jobs.dispatcher",
    "app.jobs.registry",
    "app.application",
)
"""What takes long to import."""
_MOST = 1 << 18
"""Bytes of a message: a command and its environment."""


def run(socket_path: Path, pid: int) -> None:
    """Start the process that the others are forked from, for as long as process ``pid`` lives."""
    silence = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "tests.warm", str(socket_path), str(pid)],
        # NumPy would start threads, which a fork does not copy. The service has it so, too.
        {**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        file_actions=silence,
        setsid=True,
    )
    deadline = time.monotonic() + 120
    while not socket_path.exists():
        assert time.monotonic() < deadline, "the warm process does not answer"
        time.sleep(0.05)


class Process:
    """What ``subprocess.Popen`` is to a process, for one that is forked: ``Process("app", "serve")``."""

    def __init__(
        self,
        module: str,
        *arguments: object,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        start_new_session: bool = False,
    ) -> None:
        self.args = [module, *map(str, arguments)]
        self.returncode: int | None = None
        self.stdout, output = _end_of(stdout, 1)
        self.stderr, errors = _end_of(stderr, 2)
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.connect(os.environ[SETTING])
        told = {
            "args": self.args,
            "env": dict(os.environ if env is None else env),
            "cwd": str(cwd or Path.cwd()),
            "new_session": start_new_session,
        }
        socket.send_fds(self._channel, [json.dumps(told).encode()], [0, output, errors])
        for number, given in ((output, stdout), (errors, stderr)):
            if given == subprocess.PIPE:
                os.close(number)
        self.pid = int(self._channel.recv(64))

    def poll(self) -> int | None:
        if self.returncode is None:
            self._hear(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._hear(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def _hear(self, timeout: float | None) -> None:
        """What the parent says when the process has ended."""
        self._channel.settimeout(timeout)
        try:
            said = self._channel.recv(64)
        except (TimeoutError, BlockingIOError):
            return
        self.returncode = int(said or -signal.SIGKILL)
        self._channel.close()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Everything that it still writes, once it has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        said: dict[Any, str] = {self.stdout: "", self.stderr: ""}
        with selectors.DefaultSelector() as selector:
            for stream in (self.stdout, self.stderr):
                if stream is not None and not stream.closed:
                    selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                left = None if deadline is None else deadline - time.monotonic()
                found = selector.select(left)
                if not found and left is not None and left <= 0:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                for key, _ in found:
                    stream = key.fileobj
                    part = os.read(key.fd, 65_536).decode()
                    said[stream] += part
                    if not part:
                        selector.unregister(stream)
                        stream.close()  # type: ignore[union-attr]
        self.wait(None if deadline is None else max(0.1, deadline - time.monotonic()))
        return said[self.stdout], said[self.stderr]


def _end_of(given: int | IO[bytes] | None, standard: int) -> tuple[IO[str] | None, int]:
    """Our end of a pipe, if one is wanted, and the descriptor for the process."""
    if given == subprocess.PIPE:
        ours, theirs = os.pipe()
        return os.fdopen(ours, buffering=1), theirs
    if given is None:
        return None, standard
    return None, given if isinstance(given, int) else given.fileno()


def _import_all() -> None:
    for name in _LONG:
        importlib.import_module(name)
    import_pages()
    # The Prometheus client looks into the environment when it is imported, for where counts are kept. Here there is
    # none yet, so each process looks before its first count.
    values.ValueClass = _new_value


def _new_value(*given: Any, **named: Any) -> Any:
    return _value_class()(*given, **named)


@functools.cache
def _value_class() -> Any:
    return values.get_value_class()  # type: ignore[no-untyped-call]


def _serve(path: Path, pid: int) -> dict[str, Any]:
    """Fork for whoever asks. Returns in the forked processes alone: what each of them is to do."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    partial = path.with_suffix(".new")
    listener.bind(str(partial))
    listener.listen(64)
    partial.rename(path)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    run_end = os.pidfd_open(pid)
    for one in (listener, woken, run_end):
        selector.register(one, selectors.EVENT_READ)
    children: dict[int, socket.socket] = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj == run_end:
                for child in children:
                    os.kill(child, signal.SIGKILL)
                os._exit(0)
            if key.fileobj == woken:
                os.read(woken, 4096)
            if key.fileobj is listener:
                channel, _ = listener.accept()
                said, descriptors, _, _ = socket.recv_fds(channel, _MOST, 3)
                child = os.fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for number, descriptor in enumerate(descriptors):
                        os.dup2(descriptor, number)
                    selector.close()
                    for one in (listener, channel, *children.values()):
                        one.close()
                    for number in (woken, waker, run_end, *descriptors):
                        os.close(number)
                    told: dict[str, Any] = json.loads(said)
                    return told
                for descriptor in descriptors:
                    os.close(descriptor)
                children[child] = channel
                channel.send(str(child).encode())
        _bury(children)


def _bury(children: dict[int, socket.socket]) -> None:
    """Say of each process that ended how it did."""
    for child in list(children):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with children.pop(child) as channel:
                try:
                    channel.send(str(os.waitstatus_to_exitcode(status)).encode())
                except OSError:
                    continue  # whoever asked is gone


def main(path: Path, pid: int) -> None:
    _import_all()
    gc.collect()
    gc.freeze()
    told = _serve(path, pid)
    if told["new_session"]:
        os.setsid()
    os.chdir(told["cwd"])
    os.environ.clear()
    os.environ.update(told["env"])
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115 - as long as the process
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    faulthandler.register(WHERE_ARE_YOU, file=sys.stderr)
    module, *arguments = told["args"]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
