"""Starts a PostgreSQL server for the test run: Debian's programs, on a free port, with its own folder.

``initdb`` refuses root, so under root everything runs as the ``postgres`` user.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg


def binaries() -> Path:
    """Return the folder of the newest installed server's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path is None:
        raise RuntimeError("PostgreSQL is not installed; `make test` installs it (package postgresql)")
    return Path(on_path).parent


def _as_postgres(*command: str | Path) -> list[str]:
    words = [str(word) for word in command]
    return ["runuser", "-u", "postgres", "--", *words] if os.geteuid() == 0 else words


@dataclass
class Server:
    folder: Path
    port: int

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def admin(self) -> psycopg.Connection:
        return psycopg.connect(
            f"postgresql://postgres@127.0.0.1:{self.port}/postgres", autocommit=True, connect_timeout=5
        )

    def create(self, template: str = "template0") -> str:
        """Create a database as a copy of ``template`` and return its name."""
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
            "-c wal_level=minimal -c max_wal_senders=0 -c fsync=off -c synchronous_commit=off "
            "-c full_page_writes=off -c max_connections=300 -c timezone=UTC"
        )
        subprocess.run(
            _as_postgres(
                binaries() / "pg_ctl", "-D", self.folder / "data", "-w", "-s", "-o", options,
                "-l", self.folder / "log", "start",
            ),
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self, mode: str = "immediate") -> None:
        subprocess.run(
            _as_postgres(binaries() / "pg_ctl", "-D", self.folder / "data", "-m", mode, "-w", "-s", "stop"),
            check=False,
            cwd=self.folder,
        )


@contextmanager
def running() -> Iterator[Server]:
    """Run a new server during the block."""
    folder = Path(tempfile.mkdtemp(prefix="bridgenote-pg-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        folder.chmod(0o700)
        subprocess.run(
            _as_postgres(
                binaries() / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
                "--locale=C.UTF-8", "--no-sync",
            ),
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = Server(folder, port)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
