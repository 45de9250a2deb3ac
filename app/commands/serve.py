"""``serve``."""

import click

from app.commands.opening import prepared_settings
from app.process import startup


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Instead of BRIDGENOTE_HOST.")
@click.option("--port", type=click.IntRange(1, 65535), help="Instead of BRIDGENOTE_PORT.")
@click.option(
    "--demo/--no-demo",
    default=False,
    help="Seed a demo community when the database is empty; show its sign-ins. Of several, the last one counts.",
)
def serve(host: str | None, port: int | None, demo: bool) -> None:
    """Migrate, then serve the API and the dashboard until Ctrl-C or SIGTERM.

    While there is no admin, it prints a link that creates the first one; it works once, for an hour.
    """
    startup.serve(prepared_settings(host=host, port=port), demo=demo)
