"""``backup`` and ``restore``."""

from pathlib import Path

import click

from app.commands.backup import backups
from app.commands.opening import prepared_settings
from app.core import security_events
from app.core.security_events import SecurityEvent
from app.process import logs, runtime


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, writable=True, path_type=Path))
def backup(file: Path) -> None:
    """Write the whole database and the stored files of attachments to FILE, while the service runs.

    Keep the encryption key elsewhere: it is not in the file, which is signed with it, and a restore needs it.
    """
    settings = prepared_settings()
    size = backups.back_up(settings, file)
    runtime.record_backup(settings)
    click.echo(f"{file}: {size / 1024**2:.1f} MB. The encryption key is not in it: keep that elsewhere.")


@click.command("restore")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace a database that is not empty.")
@click.option(
    "--score-waiting", is_flag=True, help="Score what waited, even what may have been decided since."
)
@click.option("--unsigned", is_flag=True, help="Go on although no encryption key of this service signed it.")
def restore(file: Path, force: bool, score_waiting: bool, unsigned: bool) -> None:
    """Put the backup FILE in the place of the database; no server or worker may run.

    Nothing that was decided is sent again: what the backup had still to send is parked, for you to replay.
    """
    result = backups.restore(
        prepared_settings(), file, force=force, score_waiting=score_waiting, unsigned=unsigned, say=click.echo
    )
    security_events.log(
        SecurityEvent.RESTORED, revision=result.revision, is_history_intact=not result.broken, forced=force
    )
    suspended = result.suspended
    click.echo(f"Restored, at version {result.revision}.")
    scored = (
        "are being scored" if score_waiting else "were not scored yet and are marked failed: try them again"
    )
    if result.files:
        click.echo(f"  {result.files} files of attachments are back.")
    for count, what in (
        (
            suspended.deliveries,
            "deliveries are parked: replay them on the Deliveries page once you know they never arrived",
        ),
        (suspended.holds, "held decisions lapsed; their moderators are notified"),
        (suspended.requests, f"requests {scored}"),
        (suspended.bulk, "bulk overturns and replays were stopped"),
        (suspended.sign_ins, "sign-ins ended; everybody signs in anew"),
        (
            result.sealed,
            "stored secrets do not open with this encryption key: set the key of the backup's time",
        ),
    ):
        if count:
            click.echo(f"  {count} {what}.")
    click.echo("  API keys revoked and people erased after the backup are back: revoke and erase them again.")
    for what, lines in (("admins", result.powers.admins), ("live API keys", result.powers.keys)):
        click.echo(f"  The {what} now; check that you know them:" if lines else f"  There are no {what} now.")
        for line in lines:
            click.echo(f"    {logs.one_line(line)}")
    if result.broken:
        raise click.ClickException(f"The history of {', '.join(result.broken)} is not as it was written")
