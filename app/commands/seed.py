"""``seed``."""

import click

from app.commands.opening import prepared_settings
from app.demo import seed as seeding
from app.process import runtime, startup


@click.command("seed")
@click.option("--demo", is_flag=True, help="A demonstration community with people and six weeks of content.")
def seed(demo: bool) -> None:
    """Fill an empty database; one that is not empty stays as it is. Without --demo: one community, still silent."""
    settings = prepared_settings()
    if demo and not settings.is_demo_allowed:
        raise click.ClickException("Demo sign-ins exist only in development, on a loopback address")
    with runtime.opened(settings) as wiring:
        if demo:
            demo_data = seeding.seed(
                wiring.database,
                wiring.classifiers,
                wiring.sealer,
                settings.data_dir,
                startup.keep_picture(wiring),
            )
            message = startup.demo_lines(demo_data) if demo_data is not None else ""
        else:
            with wiring.database.writing() as session:
                message = (
                    f"Opened community {seeding.FIRST}." if seeding.open_first_community(session) else ""
                )
    click.echo(message or "The database is not empty: nothing was done.")
