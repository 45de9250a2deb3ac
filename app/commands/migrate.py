"""``migrate``."""

import click

from app.commands.opening import prepared_settings
from app.process import runtime


@click.command("migrate")
def migrate() -> None:
    """Bring the database to the version of this code."""
    click.echo(f"The database is at version {runtime.migrate(prepared_settings())}.")
