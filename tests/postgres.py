"""A PostgreSQL server for the tests: Debian's, on a free port, in a folder of its own, ended with the run.

A small process beside it (``postgres_watch.py``) ends it, so that a run that is killed leaves no server and no folder.

``initdb`` refuses root, so under root everything runs as the ``postgres`` user.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

_WATCH = Path(__file__).with_name("postgres_watch.py")


def binaries() -> Path:
    """The newest installed server's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path is None:
        raise RuntimeError("PostgreSQL is not installed; `make test` installs it (package postgresql)")
    return Path(on_path).parent


def as_postgres(*command: str | Path) -> list[str]:
    words = [str(word) for word in command]
    return ["runuser", "-u", "postgres", "--", *words] if os.geteuid() == 0 else words


@dataclass
class Server:
    folder: Path
    port: int
    options: str = "-c wal_level=minimal -c max_wal_senders=0"

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def admin(self) -> psycopg.Connection:
        return psycopg.connect(
            f"postgresql://postgres@127.0.0.1:{self.port}/postgres", autocommit=True, connect_timeout=60
        )

    def create(self, template: str = "template0") -> str:
        """The name of a new database, copied from ``template``."""
        name = f"t_{uuid.uuid4().hex}"
        with self.admin() as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def drop(self, name: str) -> None:
        with self.admin() as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} "
            "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=300 "
            f"-c timezone=UTC {self.options}"
        )
        subprocess.run(
            as_postgres(
                binaries() / "pg_ctl", "-D", self.folder / "data", "-w", "-s", "-o", options,
                "-l", self.folder / "log", "start",
            ),
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self, mode: str = "immediate") -> None:
        subprocess.run(self.stop_command(mode), check=False, cwd=self.folder)

    def stop_command(self, mode: str = "immediate") -> list[str]:
        return as_postgres(
            binaries() / "pg_ctl", "-D", self.folder / "data", "-m", mode, "-w", "-s", "stop"
        )  # fmt: skip


REPLICATING = "-c wal_level=replica -c max_wal_senders=4 -c synchronous_commit=on"
"""What is committed is sent to replicas at once."""


@contextmanager
def running(options: str = Server.options) -> Iterator[Server]:
    """A fresh server for as long as the block lasts, and no longer than this process."""
    with _watched_folder() as folder:
        yield _started(folder, options)


@contextmanager
def replica_of(primary: Server) -> Iterator[Server]:
    """A streaming replica of a server with the options ``REPLICATING``, for as long as the block lasts."""
    with _watched_folder() as folder:
        subprocess.run(
            as_postgres(
                binaries() / "pg_basebackup", "-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres",
                "-D", folder / "data", "-R", "-c", "fast", "--no-sync",
            ),
            check=True,
            cwd=folder,
        )  # fmt: skip
        server = Server(folder, free_port(), primary.options)
        server.start()
        yield server


@contextmanager
def _watched_folder() -> Iterator[Path]:
    folder = _new_folder()
    watch = _watch(os.getpid(), folder)
    try:
        yield folder
    finally:
        os.kill(watch, signal.SIGTERM)
        os.waitpid(watch, 0)


def running_until_the_end_of(pid: int) -> Server:
    """A fresh server that ends with the process of this id, however that ends."""
    folder = _new_folder()
    _watch(pid, folder)
    return _started(folder)


def _new_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="bridgenote-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    folder.chmod(0o700)
    return folder


def _watch(pid: int, folder: Path) -> int:
    """Start the process that ends the server with the process ``pid``; its id.

    It begins before there is a server, so whatever kills us from here on, nothing is left. It has a session of its own,
    which no Ctrl+C at a terminal reaches.
    """
    command = [sys.executable, "-I", "-S", str(_WATCH), str(pid), str(folder)]
    command += Server(folder, 0).stop_command()
    silence = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=silence, setsid=True)


def _started(folder: Path, options: str = Server.options) -> Server:
    subprocess.run(
        as_postgres(
            binaries() / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C.UTF-8", "--no-sync",
        ),
        check=True,
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    server = Server(folder, free_port(), options)
    server.start()
    return server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
