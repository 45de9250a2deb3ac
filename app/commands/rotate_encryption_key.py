"""``rotate-encryption-key``: encrypts every stored secret with a new key, while the service runs.

Safe to interrupt and to repeat: each encrypted value contains its key's id, so the next run finds the remaining ones.
"""

import os
import secrets
from pathlib import Path

import click

from app.commands.opening import prepared_settings, read_settings
from app.core import security_events
from app.core.db import Database
from app.core.security_events import SecurityEvent
from app.core.upkeep import resealing
from app.process import runtime
from app.settings import Settings
from app.wiring import make_sealer

NEW, OLD = "BRIDGENOTE_ENCRYPTION_KEY", "BRIDGENOTE_PREVIOUS_ENCRYPTION_KEY"


@click.command("rotate-encryption-key")
def rotate_encryption_key() -> None:
    """Seal every stored secret with the new key, while the service runs.

    Set BRIDGENOTE_ENCRYPTION_KEY to the new key and BRIDGENOTE_PREVIOUS_ENCRYPTION_KEY to the old one, restart every
    server and worker, then run this. A key that was generated into the data folder is replaced there by a new one.
    """
    settings = prepared_settings()
    with runtime.opened(settings) as wiring, wiring.database.reading() as session:
        outdated = resealing.outdated(session, wiring.sealer)
    if not read_settings({}).encryption_key.get_secret_value():
        settings = _with_new_file(settings, is_resumed=outdated > 0)
    elif outdated and not settings.previous_encryption_key.get_secret_value():
        raise click.UsageError(f"{outdated} secrets are sealed with another key: set {OLD} to it")
    resealed, broken = _reseal_all(settings)
    security_events.log(SecurityEvent.ENCRYPTION_KEY_ROTATED, resealed=resealed, unopened=broken)
    click.echo(f"{resealed} secrets were sealed anew with the key in force; {broken} could not be opened.")
    if broken:
        raise click.ClickException(
            f"{broken} secrets open with neither key: set {OLD} to theirs, or give these webhooks new secrets"
        )
    if settings.previous_encryption_key.get_secret_value():
        click.echo(f"Nothing needs the old key any more: remove {OLD} and restart.")


def _reseal_all(settings: Settings) -> tuple[int, int]:
    """Re-encrypt all secrets in batches, each in its own transaction.

    Returns how many were re-encrypted, and how many could not be decrypted.
    """
    database, sealer, total = (
        Database(settings.sqlalchemy_url, **settings.database_options),
        make_sealer(settings),
        0,
    )
    try:
        while True:
            with database.writing() as session:
                resealed, broken = resealing.reseal(session, sealer)
            total += resealed
            if resealed == 0:
                return total, len(broken)
    finally:
        database.dispose()


def _with_new_file(settings: Settings, *, is_resumed: bool) -> Settings:
    """Write a new key to the data folder, keep the old one next to it, and return the settings with both.

    A resumed rotation continues with the key it generated before. Running servers can decrypt with both keys: they read
    the folder again when a value needs an unknown key.
    """
    folder = settings.data_dir
    if not is_resumed:
        # Write the old key first, so that it is not lost if we are interrupted between the two.
        _write(folder / "previous_encryption_key", settings.encryption_key.get_secret_value())
        _write(folder / "encryption_key", secrets.token_urlsafe(32))
        click.echo(f"A new key is in {folder / 'encryption_key'}; the old one is beside it.")
    return prepared_settings()


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
