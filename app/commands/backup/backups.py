"""Backup and restore: one file contains the whole database, with the job engine's tables, at one point in time.

A backup of SQLite is an SQLite database; a backup of PostgreSQL is a custom-format archive of ``pg_dump``. With stored
files of attachments it is a tar archive of the database and the files (``media``). Each ends in a signature
(``signature``). None contains the encryption key.
Keep it elsewhere: without it, the webhooks' secrets in the file cannot be read (decision 0021).
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app import migrations
from app.commands.backup import media, postgres, signature, sqlite
from app.core.communities import communities
from app.core.db import Database
from app.core.errors import Conflict, Invalid
from app.core.history import chain as history
from app.core.history.marks import Broken
from app.core.permissions import SYSTEM
from app.core.upkeep import resealing, restoring
from app.core.upkeep.restoring import Powers, Suspended
from app.process import runtime
from app.settings import Settings
from app.wiring import make_sealer, media_store, writes_to

MAGIC = {b"SQLite format 3\x00": "sqlite", b"PGDMP": "postgresql"}
"""The first bytes of each kind of backup."""

SQL_URL = "BRIDGENOTE_DATABASE_URL"


@dataclass(frozen=True)
class Restored:
    """Result of a restore. ``broken``: communities whose history does not verify; ``sealed``: number of secrets that
    the current encryption key cannot decrypt; ``powers``: who may do everything now; ``files``: number of files of
    attachments."""

    revision: str
    suspended: Suspended
    broken: list[str]
    sealed: int
    powers: Powers
    files: int = 0


def database_size(settings: Settings) -> int:
    """The bytes of the database on PostgreSQL; 0 on SQLite, whose backup is a copy of its file."""
    database = Database(settings.sqlalchemy_url, **settings.database_options)
    try:
        if database.engine.dialect.name != "postgresql":
            return 0
        with database.reading() as session:
            return int(session.scalar(sa.text("SELECT pg_database_size(current_database())")) or 0)
    finally:
        database.dispose()


def back_up(settings: Settings, path: Path) -> int:
    """Write a backup of the database and the stored files to ``path``, mode 0600, and return its size in bytes.

    The service may run meanwhile; the file contains what was committed when the backup began. ``path`` is replaced in
    one step at the end. Raises ``Conflict`` if the backup fails; ``path`` is then unchanged.
    """
    url = sa.make_url(settings.sqlalchemy_url)
    with _in_one_step(path) as unfinished:
        if url.get_backend_name() == "sqlite":
            sqlite.write(Path(url.database or ""), unfinished)
        else:
            postgres.write(url, unfinished)
        if not settings.media_url:
            media.bundle(unfinished, settings.media_folder)
        signature.sign(unfinished, settings.encryption_key.get_secret_value())
        size = unfinished.stat().st_size
    return size


def restore(
    settings: Settings,
    path: Path,
    *,
    force: bool = False,
    score_waiting: bool = False,
    unsigned: bool = False,
    say: Callable[[str], None] = lambda _line: None,
) -> Restored:
    """Replace the database with a backup, migrated to this code's version, with pending jobs and deliveries suspended.

    The database does not change before the last step. If the process is killed, the database is either complete, or the
    service refuses to start until a restore has finished.

    ``unsigned``: restore it even if none of this service's encryption keys signed it.

    Raises:
        Conflict: the database is in use, or not empty without ``force``; the backup is damaged, of newer code, or of
            before the baseline.
        Invalid: the file is not a backup, is not signed, or is a backup of the other kind of database.
    """
    say("Checking the backup.")
    kind_of(path)
    if not unsigned:
        signature.check(path, _signing_secrets(settings))
    # Before the database is replaced: nothing may have changed when a file turns out to be damaged.
    media.check_files(path)
    with media.database_of(path, settings.data_dir) as database:
        restored = _restore(settings, database, force=force, score_waiting=score_waiting, say=say)
    return replace(restored, files=media.restore_files(path, media_store(settings)))


def take_over(settings: Settings, *, score_waiting: bool = False) -> Restored:
    """Do what ``restore`` does after the database was put back by PostgreSQL's own means.

    Raises Conflict if it is in use, is none of this service, or is of another version than this code migrates.
    """
    url = sa.make_url(settings.sqlalchemy_url)
    if url.get_backend_name() != "postgresql":
        raise Conflict(f"Only PostgreSQL restores in place: {SQL_URL} names {url.get_backend_name()}")
    database = Database(settings.sqlalchemy_url, **settings.database_options)
    try:
        with database.engine.connect() as connection:
            postgres.check_unused(connection)
        _check_revision(runtime.revision(database.engine))
    finally:
        database.dispose()
    runtime.migrate(settings, filling=True)
    return _looked_at(settings, _suspended(settings, score_waiting))


def _restore(
    settings: Settings, path: Path, *, force: bool, score_waiting: bool, say: Callable[[str], None]
) -> Restored:
    url = sa.make_url(settings.sqlalchemy_url)
    kind = kind_of(path)
    if kind != url.get_backend_name():
        raise Invalid.field("file", f"is a backup of {kind}, and {SQL_URL} names {url.get_backend_name()}")

    def finish(database_url: str) -> Suspended:
        """Migrate the restored database at this URL and suspend its pending jobs and deliveries."""
        say("Bringing it to the version of this code.")
        placed = settings.model_copy(update={"database_url": database_url})
        runtime.migrate(placed, filling=True)
        return _suspended(placed, score_waiting)

    if kind == "sqlite":
        result = sqlite.restore(
            path, Path(url.database or ""), force=force, check=_check_revision, finish=finish
        )
    else:
        result = postgres.restore(path, url, force=force, check=_check_revision, finish=finish)
    return _looked_at(settings, result)


def kind_of(path: Path) -> str:
    """Return ``sqlite`` or ``postgresql``. Raises Invalid for any other file."""
    with path.open("rb") as file:
        file.seek(media.FIRST_CONTENT if media.is_archive(path) else 0)
        beginning = file.read(16)
    for magic, kind in MAGIC.items():
        if beginning.startswith(magic):
            return kind
    raise Invalid.field("file", "is no backup of this service")


def _check_revision(revision: str | None) -> None:
    if revision is None:
        raise Invalid.field("file", "holds no database of this service")
    if advice := migrations.way_to_migrate(revision):
        if migrations.is_older(revision):
            advice = f"Restore it with version {migrations.BRIDGE}, then upgrade to this one."
        raise Conflict(f"The backup is of version {revision}. {advice}")


def _suspended(settings: Settings, score_waiting: bool) -> Suspended:
    # Imported here, because importing the job engine's library takes a second.
    from app.jobs.engine import Engine

    database = Database(settings.sqlalchemy_url, **settings.database_options)
    engine = Engine(database.engine, executor_id="restore")
    database.enqueue = writes_to(engine)
    try:
        engine.stored.cancel_unfinished()
        with database.writing() as session:
            return restoring.suspend_pending(session, score_waiting=score_waiting)
    finally:
        engine.stop()
        database.dispose()


def _looked_at(settings: Settings, suspended: Suspended) -> Restored:
    database = Database(settings.sqlalchemy_url, **settings.database_options)
    sealer = make_sealer(settings)
    try:
        with database.reading() as session:
            broken = list(broken_histories(session))
            sealed = resealing.unreadable(session, sealer)
            powers = restoring.powers(session)
        return Restored(runtime.revision(database.engine) or "", suspended, broken, sealed, powers)
    finally:
        database.dispose()


def broken_histories(session: Session) -> dict[str, Broken]:
    """Walk every history; return the first fault of each that has one, by the community's name."""
    walked = (
        (community.name, history.verify(session, community.id)[1])
        for community in communities.visible(session, SYSTEM)
    )
    return {name: fault for name, fault in walked if fault is not None}


def _signing_secrets(settings: Settings) -> list[str]:
    """The encryption keys in force: that of the settings, the previous one, and those in the data folder."""
    named = (settings.encryption_key, settings.previous_encryption_key)
    texts = [secret.get_secret_value() for secret in named] + settings.kept_encryption_keys()
    return list(dict.fromkeys(filter(None, texts)))


@contextlib.contextmanager
def _in_one_step(path: Path) -> Iterator[Path]:
    """Yield a temporary file next to ``path``. It replaces ``path`` when the block ends; an error removes it."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield unfinished
        unfinished.chmod(0o600)
        _to_disk(unfinished)
        unfinished.replace(path)
        _to_disk(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
