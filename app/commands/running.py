"""``migrate``, ``seed``, ``serve`` and ``worker``: the service itself."""

import click

from app.commands.opening import prepared_settings
from app.demo import seed as seeding
from app.process import runtime, startup


@click.command("migrate")
def migrate() -> None:
    """Bring the database to the version of this code."""
    click.echo(f"The database is at version {runtime.migrate(prepared_settings())}.")


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


@click.command("worker")
def worker() -> None:
    """Run jobs and deliveries without serving, until Ctrl-C or SIGTERM.

    For servers that run none themselves (BRIDGENOTE_JOBS_IN_PROCESS=false). Start as many as you like.
    """
    startup.work(prepared_settings())
