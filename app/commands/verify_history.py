"""``verify-history``."""

import click

from app.commands.opening import opened_wiring
from app.core.communities import communities
from app.core.history import chain as history
from app.core.permissions import SYSTEM


@click.command("verify-history")
def verify_history() -> None:
    """Walk every community's history; names the first entry that is not as it was written, and exits with 1."""
    broken = 0
    with opened_wiring() as wiring, wiring.database.reading() as session:
        for community in communities.visible(session, SYSTEM):
            where = f"{community.name} ({community.platform}/{community.platform_community_server_id})"
            count, fault = history.verify(session, community.id)
            if fault is None:
                click.echo(f"{where}: {count} entries, unbroken.")
                continue
            broken += 1
            click.echo(
                f"{where}: altered at entry {fault.number} (id {fault.entry_id}): {fault.why}. "
                f"{count} entries before it hold."
            )
    if broken:
        raise click.exceptions.Exit(1)
