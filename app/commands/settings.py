"""``settings``."""

import click

from app.commands import settings_table
from app.commands.opening import read_settings


@click.command("settings")
@click.option("--markdown", is_flag=True, help="The table of the documentation: without values.")
def settings(markdown: bool) -> None:
    """Show every setting: name, value, default, meaning. Secrets are masked."""
    if markdown:
        click.echo(settings_table.as_markdown(), nl=False)
        return
    settings_table.show(read_settings({}))
