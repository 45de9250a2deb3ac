"""``verify-history``."""

import click

from app.commands.opening import opened_wiring
from app.core.communities import communities
from app.core.history import chain as history
from app.core.permissions import SYSTEM


@click.command("verify-history")
@click.option("--only-new", is_flag=True, help="Only what was written since it was last found unbroken.")
def verify_history(*, only_new: bool) -> None:
    """Walk every community's history; names the first entry that is not as it was written, and exits with 1."""
    broken = 0
    with opened_wiring() as wiring:
        with wiring.database.reading() as session:
            visible = communities.visible(session, SYSTEM)
        for community in visible:
            where = f"{community.name} ({community.platform}/{community.platform_community_server_id})"
            with wiring.database.reading(in_transaction=True) as session:
                first, _ = history.start_of(session, community.id, only_new=only_new)
                count, fault = history.verify(session, community.id, only_new=only_new)
            if fault is None:
                with wiring.database.writing() as session:
                    history.remember_verified(session, community.id, first + count)
                click.echo(f"{where}: {count} {'new ' if only_new else ''}entries, unbroken.")
                continue
            broken += 1
            known = f" (id {fault.entry_id})" if fault.entry_id is not None else ""
            click.echo(
                f"{where}: altered at entry {fault.number}{known}: {fault.why}. "
                f"{count} entries before it hold."
            )
    if broken:
        raise click.exceptions.Exit(1)
