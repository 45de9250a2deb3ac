"""``doctor``: whether what the service stands on is there."""

import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass

from app import runtime
from app.core.db import Database
from app.settings import Settings

LEAST_FREE_BYTES = 200 * 1024 * 1024


@dataclass(frozen=True)
class Finding:
    what: str
    well: bool
    detail: str


def examine(settings: Settings) -> list[Finding]:
    """Look at everything, whatever is wrong with the rest."""
    checks: tuple[tuple[str, Callable[[Settings], str]], ...] = (
        ("data folder", _data_folder),
        ("database", _database),
        ("port", _port),
    )
    findings = []
    for what, check in checks:
        try:
            findings.append(Finding(what, True, check(settings)))
        except Exception as error:
            reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
            findings.append(Finding(what, False, reason))
    return findings


def _data_folder(settings: Settings) -> str:
    folder = settings.data_dir.resolve()
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} cannot be written to")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        raise OSError(f"{folder} has only {free // 1024**2} MB free")
    return f"{folder}, {free // 1024**2} MB free"


def _database(settings: Settings) -> str:
    database = Database(settings.sqlalchemy_url)
    try:
        at, wanted = runtime.revision(database.engine), runtime.head()
    finally:
        database.dispose()
    if at != wanted:
        raise RuntimeError(
            f"at version {at or 'none'}, this code wants {wanted}: run `python -m app migrate`"
        )
    return f"{database.engine.dialect.name} at version {at}"


def _port(settings: Settings) -> str:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        raise OSError(f"{settings.host}:{settings.port}: {error.strerror or error}") from None
    return f"{settings.host}:{settings.port} is free"
