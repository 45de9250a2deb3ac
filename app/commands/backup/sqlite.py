"""Backup and restore of an SQLite file with SQLite's own functions."""

import contextlib
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from app.commands.backup import signature
from app.core.errors import Conflict, Invalid
from app.core.models import OwnDataFile

Done = TypeVar("Done")

IN_USE = "The database is in use: end every server, worker and command first"


def write(database: Path, target: Path) -> None:
    """Write the database, in one read transaction, to the empty file ``target``, without files of own data.

    Others can write meanwhile (WAL). SQLite's backup API is not used: it starts again whenever another process writes.
    """
    _check_there(database)
    with _opened(database) as connection:
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.DatabaseError as error:
            raise Conflict(f"The backup cannot be written: {error}") from error
    with _opened(target) as connection:
        _check_whole(connection, "PRAGMA quick_check(1)")
        connection.execute("PRAGMA secure_delete=ON")
        with contextlib.suppress(sqlite3.OperationalError):  # an older database has no such table
            connection.execute(f"DELETE FROM {OwnDataFile.__tablename__}")  # noqa: S608 - a name of ours


def restore(
    backup: Path,
    database: Path,
    *,
    force: bool,
    check: Callable[[str | None], None],
    finish: Callable[[str], Done],
) -> Done:
    """Replace ``database`` with ``backup``, after ``finish(url)`` has run on a copy. See ``backups.restore``.

    The copy replaces the database in one SQLite transaction, so if the process is killed, one of them is complete.
    """
    database.parent.mkdir(parents=True, exist_ok=True)
    _check_free(database, force)
    copy = database.with_name(f".{database.name}.{secrets.token_hex(4)}.restoring")
    try:
        os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        shutil.copyfile(backup, copy)
        os.truncate(copy, signature.content_size(copy))
        with _opened(copy) as connection:
            _check_whole(connection, "PRAGMA integrity_check(1)")
            check(revision(connection))
        result = finish(f"sqlite:///{copy}")
        _put_in_place(copy, database, force)
        return result
    finally:
        for suffix in ("", "-wal", "-shm", "-journal", "-turns"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)


def _put_in_place(copy: Path, database: Path, force: bool) -> None:
    os.close(os.open(database, os.O_WRONLY | os.O_CREAT, 0o600))
    with _opened(copy) as source, _exclusively(database, force) as target:
        # Write the copy's log into the file, because only the pages of the file are copied.
        source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        source.backup(target)
        target.execute("PRAGMA synchronous=FULL")
        target.execute("PRAGMA user_version=0")


def _check_there(database: Path) -> None:
    if not database.is_file():
        raise Conflict(f"There is no database at {database}")


def _check_free(database: Path, force: bool) -> None:
    if database.is_file() and database.stat().st_size > 0:
        with _exclusively(database, force):
            pass


@contextlib.contextmanager
def _exclusively(database: Path, force: bool) -> Iterator[sqlite3.Connection]:
    """Yield the only connection to a database; others are locked out in the block. Raises Conflict if it is in use."""
    with _opened(database) as connection:
        connection.execute("PRAGMA busy_timeout=500")
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        try:
            # Leaving WAL mode fails if any other connection exists, even an idle one of a server.
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            raise Conflict(IN_USE) from None
        if mode != "delete":
            raise Conflict(IN_USE)
        if not force and connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise Conflict(f"{database} is not empty: --force replaces what is there")
        yield connection


@contextlib.contextmanager
def locked(database: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that only reads; others are locked out of the database in the block.

    It leaves the journal mode, and so the file, as it is. Raises Conflict if there is no file, or it is in use.
    """
    _check_there(database)
    with _opened(database) as connection:
        connection.execute("PRAGMA busy_timeout=500")
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA query_only=ON")
        try:
            # The first read takes the lock. Each connection of a server holds a shared one, even an idle one.
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            raise Conflict(IN_USE) from None
        yield connection


def revision(connection: sqlite3.Connection) -> str | None:
    """Return the version of the database; None if it is not one of ours."""
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:
        return None
    return str(row[0]) if row else None


def _check_whole(connection: sqlite3.Connection, how: str) -> None:
    try:
        verdict = connection.execute(how).fetchone()[0]
    except sqlite3.DatabaseError as error:
        verdict = str(error)
    if verdict != "ok":
        raise Invalid.field("file", f"is damaged: {verdict}")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        yield connection
    finally:
        connection.close()
