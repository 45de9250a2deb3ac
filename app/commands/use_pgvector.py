"""``use-pgvector``: lets PostgreSQL search the vectors of fact-checks instead of each process's memory."""

import click
import sqlalchemy.exc as sa_exc

from app.commands.opening import opened_wiring
from app.core.db import Database
from app.core.factcheck import pgvectors


@click.command("use-pgvector")
@click.option(
    "--off", "is_off", is_flag=True, help="Search in memory again; removes the copies and their indexes."
)
def use_pgvector(is_off: bool) -> None:
    """Search the vectors of fact-checks in PostgreSQL, with its extension pgvector (docs/run/operations.md).

    The vectors are copied and indexed in the background. Until then, posts are compared in memory as before. Processes
    that run jobs need a connection past a PgBouncer in transaction mode, because indexes are made there.
    """
    with opened_wiring() as wiring:
        if is_off:
            _switch_off(wiring.database)
        else:
            with wiring.database.reading() as session:
                found = pgvectors.extension(session)
            _switch_on(wiring.database, found)


def _switch_on(database: Database, found: pgvectors.Extension | None) -> None:
    if found is None:
        raise click.ClickException(
            "This database has no pgvector: it needs PostgreSQL with the extension's package. "
            "Nothing was changed, and posts are compared in memory"
        )
    if not found.is_recent:
        oldest = ".".join(map(str, pgvectors.OLDEST))
        raise click.ClickException(
            f"pgvector {found.installed or found.offered} is too old: it needs {oldest} or newer"
        )
    try:
        with database.writing() as session:
            pgvectors.switch_on(session)
    except sa_exc.ProgrammingError as error:
        raise click.ClickException(
            "The service's role may not do this. Let a superuser run “CREATE EXTENSION vector” in this database, and "
            f"grant the role CREATE on the database; then repeat this command ({str(error.orig).splitlines()[0]})"
        ) from error
    click.echo(
        "Vectors are copied and indexed in the background; `doctor` says when PostgreSQL searches them."
    )


def _switch_off(database: Database) -> None:
    with database.writing() as session:
        is_done = not pgvectors.is_on(session) or pgvectors.switch_off(session)
    if not is_done:
        raise click.ClickException(
            "An index is being made just now, so nothing was removed. Repeat this command in some minutes"
        )
    click.echo("Posts are compared in memory.")
