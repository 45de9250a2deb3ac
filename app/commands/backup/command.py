"""``backup``, ``restore`` and ``move-to``."""

from pathlib import Path

import click
import sqlalchemy as sa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from app.commands.backup import backups, moving
from app.commands.opening import prepared_settings
from app.core import security_events
from app.core.errors import Conflict
from app.core.security_events import SecurityEvent
from app.process import logs, runtime

GB = 1024**3
LARGE = 50 * GB
PHYSICAL = (
    "For large databases PostgreSQL's own way is faster and loses less: pg_basebackup and an archive of its log "
    "(docs/run/large-databases.md)."
)


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, writable=True, path_type=Path))
def backup(file: Path) -> None:
    """Write the whole database and the stored files of attachments to FILE, while the service runs.

    Keep the encryption key elsewhere: it is not in the file, which is signed with it, and a restore needs it.
    """
    settings = prepared_settings()
    if (size := backups.database_size(settings)) > LARGE:
        click.echo(f"The database has {size / GB:.0f} GB, and this writes all of it. {PHYSICAL}", err=True)
    size = backups.back_up(settings, file)
    runtime.record_backup(settings)
    click.echo(f"{file}: {size / 1024**2:.1f} MB. The encryption key is not in it: keep that elsewhere.")


@click.command("restore")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--in-place", is_flag=True, help="No FILE: PostgreSQL itself has put the database back.")
@click.option("--force", is_flag=True, help="Replace a database that is not empty.")
@click.option(
    "--score-waiting", is_flag=True, help="Score what waited, even what may have been decided since."
)
@click.option("--unsigned", is_flag=True, help="Go on although no encryption key of this service signed it.")
def restore(file: Path | None, in_place: bool, force: bool, score_waiting: bool, unsigned: bool) -> None:
    """Put the backup FILE in the place of the database; no server or worker may run.

    Nothing that was decided is sent again: what the backup had still to send is parked, for you to replay. With
    --in-place that alone is done, to a database that PostgreSQL has restored from its own backup and log.
    """
    if (file is not None) == in_place:
        raise click.UsageError("Give either FILE or --in-place")
    settings = prepared_settings()
    result = (
        backups.take_over(settings, score_waiting=score_waiting)
        if file is None
        else backups.restore(
            settings, file, force=force, score_waiting=score_waiting, unsigned=unsigned, say=click.echo
        )
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


@click.command("move-to")
@click.argument("url")
def move_to(url: str) -> None:
    """Copy the SQLite database into the empty PostgreSQL database at URL; no server or worker may run.

    The old file stays as it is. After an interruption the command begins from the start. Every user of this machine can
    see a password in URL; PGPASSWORD or ~/.pgpass can hold it instead.
    """
    settings = prepared_settings()
    placed = settings.model_copy(update={"database_url": url})
    if _kind(placed.sqlalchemy_url) != "postgresql":
        raise click.BadParameter("must be postgresql://USER@HOST/DATABASE", param_hint="URL")
    if _kind(settings.sqlalchemy_url) != "sqlite":
        raise Conflict("This service does not use SQLite: BRIDGENOTE_DATABASE_URL must name the old database")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        steps: list[TaskID] = []

        def show(what: str, rows: int, total: int | None) -> None:
            if total is not None:
                for step in steps[-1:]:
                    progress.stop_task(step)
                steps.append(progress.add_task(what, total=total or None))
            progress.update(steps[-1], description=what, advance=rows)

        moved = moving.move(settings, placed, show)
    click.echo(f"Moved {moved.rows:,} rows of {moved.tables} tables, and compared both databases.")
    click.echo("Next, for every server and worker:")
    click.echo("  1. Set BRIDGENOTE_DATABASE_URL to the new database.")
    click.echo(
        f"  2. Keep the data folder {settings.data_dir.resolve()}: keys, attachments and mails stay there."
    )
    click.echo("  3. Start the service, and run `doctor`. Jobs and deliveries go on where they were.")
    click.echo(
        f"{moving.file_of(settings)} is as it was. Never start the service on it again: both would send and decide."
    )
    if moved.broken:
        raise click.ClickException(
            f"The history of {', '.join(moved.broken)} is not as it was written, in the old database neither"
        )


def _kind(url: str) -> str:
    try:
        return sa.make_url(url).get_backend_name()
    except sa.exc.ArgumentError:
        return ""
