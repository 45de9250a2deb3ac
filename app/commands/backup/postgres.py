"""Backup and restore of a PostgreSQL database with ``pg_dump``, ``pg_restore`` and ``psql``."""

import glob
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TypeVar

import sqlalchemy as sa

from app.core.errors import Conflict
from app.core.models import OwnDataFile
from app.process.runtime import RESTORE_UNFINISHED

Done = TypeVar("Done")

DROP_ALL = """
DO $$ DECLARE one record; BEGIN
  DROP SCHEMA IF EXISTS dbos CASCADE;
  -- Parts go with their table.
  FOR one IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
    AND relkind IN ('r', 'p') AND NOT relispartition LOOP
    EXECUTE 'DROP TABLE public.' || quote_ident(one.relname) || ' CASCADE';
  END LOOP;
  -- The functions of our triggers stay when their tables go; those of extensions stay.
  FOR one IN SELECT oid::regprocedure::text AS name FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') LOOP
    EXECUTE 'DROP FUNCTION ' || one.name || ' CASCADE';
  END LOOP;
END $$;
"""


def write(url: sa.URL, target: Path) -> None:
    """Dump the database, in one snapshot, to ``target``. Other connections can read and write meanwhile.

    Files of own data are left out: they hold nothing that is not in other tables, and should be kept for a day only.
    """
    server_major = _server_major(url)
    program = _program("pg_dump", server_major)
    left_out = f"--exclude-table-data={OwnDataFile.__tablename__}"
    _run([program, "--format=custom", "--no-owner", "--no-privileges", left_out, f"--file={target}"], url)
    _run([_program("pg_restore", server_major), "--list", str(target)], url)


def restore(
    backup: Path,
    url: sa.URL,
    *,
    force: bool,
    check: Callable[[str | None], None],
    finish: Callable[[str], Done],
) -> Done:
    """Load ``backup`` into the database in one transaction, then ``finish(url)``. See ``backups.restore``."""
    major = _server_major(url)
    pg_restore, psql = _program("pg_restore", major), _program("psql", major)
    check(_revision(pg_restore, backup, url))
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            _check_free(connection, force)
        _load(pg_restore, psql, backup, url)
        result = finish(url.render_as_string(hide_password=False))
        with engine.begin() as connection:
            connection.execute(sa.text(f"DROP TABLE {RESTORE_UNFINISHED}"))
        return result
    finally:
        engine.dispose()


def check_unused(connection: sa.Connection) -> None:
    """Raise Conflict if this database has other connections."""
    others = connection.scalar(
        sa.text(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    )
    if others:
        raise Conflict(
            f"The database is in use by {others} other connection{'s' if others > 1 else ''}: end every "
            "server, worker and command first"
        )


def _check_free(connection: sa.Connection, force: bool) -> None:
    check_unused(connection)
    if not force and sa.inspect(connection).get_table_names():
        raise Conflict("The database is not empty: --force replaces what is there")


def _load(pg_restore: str, psql: str, backup: Path, url: sa.URL) -> None:
    """Load the whole backup or nothing: the script ends in COMMIT only if all of the backup could be read."""
    environment = _environment(url)
    reading = ["--no-owner", "--no-privileges", "--exit-on-error", "--file=-"]
    reader = subprocess.Popen(  # noqa: S603 - PostgreSQL's own program, no shell
        [pg_restore, *reading, str(backup)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    loader = subprocess.Popen(  # noqa: S603 - as above
        [psql, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--file=-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert loader.stdin is not None  # noqa: S101 - for the type checker: they are pipes
    assert reader.stdout is not None  # noqa: S101
    refused = b""
    with reader, loader:
        try:
            loader.stdin.write(f"BEGIN;\n{DROP_ALL}\n".encode())
            shutil.copyfileobj(reader.stdout, loader.stdin)
            refused = _rest(reader)
            if not refused:
                loader.stdin.write(
                    f"\nCREATE TABLE public.{RESTORE_UNFINISHED} (id integer);\nCOMMIT;\n".encode()
                )
            loader.stdin.close()
        except BrokenPipeError:
            # The loader refused something; its error is reported below.
            loader.stdin = None
            reader.kill()
        failed = _rest(loader)
    if refused or failed:
        raise Conflict(f"The backup cannot be loaded; nothing was changed: {_text(refused or failed)}")


def _rest(process: subprocess.Popen[bytes]) -> bytes:
    """Return the last error output of a failed process; empty if it did not fail."""
    message = _read(process.stderr)
    return (message or b"it ended without a word") if process.wait() else b""


def _read(stream: IO[bytes] | None) -> bytes:
    return stream.read() if stream is not None else b""


def _revision(pg_restore: str, backup: Path, url: sa.URL) -> str | None:
    dump = _run([pg_restore, "--data-only", "--table=alembic_version", "--file=-", str(backup)], url)
    match = re.search(r"^COPY public\.alembic_version .*?;\n(\S+)\n", dump, re.MULTILINE)
    return match.group(1) if match else None


def _server_major(url: sa.URL) -> int:
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            return int(connection.scalar(sa.text("SHOW server_version_num"))) // 10_000
    finally:
        engine.dispose()


def _program(name: str, server_major: int) -> str:
    """Return the path of a PostgreSQL program that is at least as new as the server, and patched.

    Raises Conflict, with advice, if there is none.
    """
    # Debian has a folder for each version's programs; the programs on the path only choose between them.
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda folder: -int(folder.split("/")[-2]))
    paths = [
        path
        for path in (shutil.which(name), *(shutil.which(name, path=directory) for directory in folders))
        if path
    ]
    versions = [_version(path) for path in paths]
    for path, version in zip(paths, versions, strict=True):
        if version[0] >= server_major and _is_patched(version):
            return path
    advice = (
        f"install PostgreSQL's programs of version {server_major} (Debian: postgresql-client-{server_major})"
    )
    if not paths:
        raise Conflict(f"The program {name} is missing: {advice}")
    major, minor = max(versions)
    if major < server_major:
        raise Conflict(f"{name} is of version {major} and the server of {server_major}: {advice}")
    patched = ", ".join(f"{one}.{least}" for one, least in _PATCHED.items() if one >= server_major)
    raise Conflict(
        f"{name} is of version {major}.{minor}, which lets a dump run commands on this machine "
        f"(CVE-2025-8714, CVE-2025-8715): install version {patched} or newer"
    )


_PATCHED = {13: 22, 14: 19, 15: 14, 16: 10, 17: 6}
"""By major version: the first minor version whose programs do not run what a dump smuggles in."""


def _is_patched(version: tuple[int, int]) -> bool:
    major, minor = version
    return major > max(_PATCHED) or minor >= _PATCHED.get(major, minor + 1)


def _version(path: str) -> tuple[int, int]:
    """The major and the minor version of a program; (0, 0) if it does not say."""
    command = [path, "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - as above
    match = re.search(r"\) (\d+)(?:\.(\d+))?", output)
    return (int(match.group(1)), int(match.group(2) or 0)) if match else (0, 0)


def _run(command: list[str], url: sa.URL) -> str:
    result = subprocess.run(command, env=_environment(url), capture_output=True, check=False)  # noqa: S603 - as above
    if result.returncode:
        raise Conflict(f"{Path(command[0]).name} failed: {_text(result.stderr)}")
    return result.stdout.decode("utf-8", "replace")


def _environment(url: sa.URL) -> Mapping[str, str]:
    """Return the connection parameters for libpq. Not on the command line, which every user of the machine can read."""
    variables = {
        "PGHOST": url.host,
        "PGPORT": str(url.port) if url.port else None,
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
    }
    options = {"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "host": "PGHOST", "port": "PGPORT"}
    variables |= {name: str(url.query[key]) for key, name in options.items() if key in url.query}
    return {**os.environ, **{name: value for name, value in variables.items() if value is not None}}


def _text(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else "no reason given"
