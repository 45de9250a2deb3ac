"""``verify-draw``."""

import uuid

import click

from app.commands.opening import opened_wiring
from app.core.errors import Conflict, NotFound
from app.core.panels import verifying


@click.command("verify-draw")
@click.argument("reference", type=click.UUID)
def verify_draw(reference: uuid.UUID) -> None:
    """Repeat the draw of a panel that has ended. REFERENCE is the id of the panel, of its action or of its rationale.

    Exits with 1 when the draw does not follow from its seed and from who could be drawn.
    """
    with opened_wiring() as wiring, wiring.database.reading() as session:
        try:
            repeated = verifying.repeat(session, reference)
        except NotFound as error:
            raise click.ClickException("No panel, action or rationale with a panel has this id.") from error
        except Conflict as error:
            raise click.ClickException(f"{error.detail}.") from error
    click.echo(f"Panel {repeated.panel_id}")
    click.echo(f"Seed {repeated.seed}")
    click.echo(f"{repeated.eligible} people could be drawn, digest {repeated.digest}")
    click.echo(f"{repeated.asked} were asked, {repeated.passed_over} could not be asked")
    for fault in repeated.faults:
        click.echo(fault)
    if repeated.faults:
        raise click.exceptions.Exit(1)
    click.echo("The draw follows from the seed.")
