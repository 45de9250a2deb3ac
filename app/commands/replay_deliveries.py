"""``replay-deliveries``."""

from datetime import UTC, datetime

import click

from app.commands.opening import opened_wiring
from app.core.communities import communities
from app.core.errors import NotFound
from app.core.permissions import SYSTEM
from app.core.vocabulary import DeliveryState
from app.core.webhooks import replays
from app.core.webhooks.deliveries import REPLAYABLE, Filters

_DAY = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


@click.command("replay-deliveries")
@click.option("--platform", required=True, metavar="P", help="The community's platform, such as discourse.")
@click.option("--community", required=True, metavar="ID", help="The platform's own id of the community.")
@click.option("--state", type=click.Choice([state.value for state in REPLAYABLE]), required=True)
@click.option("--since", type=_DAY, help="Put into the queue at this time or later, in UTC.")
@click.option("--until", type=_DAY, help="Put into the queue before this time, in UTC.")
@click.option("--dry-run", is_flag=True, help="Only say how many there are.")
def replay_deliveries(
    platform: str, community: str, state: str, since: datetime | None, until: datetime | None, dry_run: bool
) -> None:
    """Send a community's deliveries again: those that failed (dead), parked by a restore, or delivered.

    Each keeps its event id. What goes to a disabled webhook stays as it is.
    """
    filters = Filters(
        state=DeliveryState(state),
        since=since.replace(tzinfo=UTC) if since else None,
        until=until.replace(tzinfo=UTC) if until else None,
    )
    with opened_wiring() as wiring:
        with wiring.database.reading() as session:
            place = communities.find(session, platform, community)
            if place is None:
                raise NotFound("community server")
            preview = replays.preview(session, SYSTEM, place.id, filters)
        if preview.shut_out:
            click.echo(f"Left out, for their webhook is disabled or removed: {preview.shut_out}.")
        if dry_run:
            click.echo(f"Can be sent again: {preview.total}.")
            return
        with wiring.database.writing() as session:
            total = replays.begin(session, SYSTEM, place.id, filters).total
    click.echo(f"Back in the queue, for the next server or worker to send: {total}.")
