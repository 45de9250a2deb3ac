"""``worker``."""

import click

from app.commands.opening import prepared_settings
from app.process import startup


@click.command("worker")
def worker() -> None:
    """Run jobs and deliveries without serving, until Ctrl-C or SIGTERM.

    For servers that run none themselves (BRIDGENOTE_JOBS_IN_PROCESS=false). Start as many as you like.
    """
    startup.work(prepared_settings())
