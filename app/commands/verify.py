"""``verify-draw`` and ``verify-history``: each exits with 1 if what was stored does not follow."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from app.commands.opening import opened_wiring
from app.core import clock
from app.core.communities import communities
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history import heads
from app.core.history.heads import Head
from app.core.models import Community
from app.core.panels import results
from app.core.permissions import SYSTEM
from app.wiring import Wiring


@click.command("verify-draw")
@click.argument("reference", type=click.UUID)
def verify_draw(reference: uuid.UUID) -> None:
    """Repeat the draw of a panel that has ended. REFERENCE is the id of the panel, of its action or of its rationale.

    Exits with 1 when the draw does not follow from its seed and from who could be drawn.
    """
    with opened_wiring() as wiring, wiring.database.reading() as session:
        try:
            repeated = results.repeat(session, reference)
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


@click.command("verify-history")
@click.option(
    "--only-new",
    is_flag=True,
    help="Only what follows the last entry found unbroken; it goes on where a run was killed.",
)
@click.option(
    "--expect",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also compare with the heads exported each day to this file.",
)
def verify_history(*, only_new: bool, expect: Path | None) -> None:
    """Walk every community's history; names the first entry that is not as it was written, and exits with 1."""
    expected = _expected(expect) if expect is not None else {}
    broken = 0
    with opened_wiring() as wiring:
        with wiring.database.reading() as session:
            visible = communities.visible(session, SYSTEM)
        for community in visible:
            where = f"{community.name} ({community.platform}/{community.platform_community_server_id})"
            faults, summary = _faults(wiring, community, expected.pop(community.id, ()), only_new=only_new)
            broken += bool(faults)
            for line in faults or [summary]:
                click.echo(f"{where}: {line}.")
    for community_id, lost in expected.items():
        broken += 1
        newest = max(lost, key=lambda head: head.number)
        click.echo(
            f"Community {community_id}: not in this database; "
            f"entry {newest.number} was exported on {newest.day}."
        )
    if broken:
        raise click.exceptions.Exit(1)


def _faults(
    wiring: Wiring, community: Community, expected: Sequence[Head], *, only_new: bool
) -> tuple[list[str], str]:
    """What is wrong with a community's history, and the words for nothing."""
    count, fault = 0, None
    for found in history.stretches(wiring.database.reading, community.id, only_new=only_new):
        count, fault = count + found.count, found.broken
        if fault is None:
            with wiring.database.writing() as session:
                history.remember_verified(session, community.id, found.number)
    with wiring.database.reading() as session:
        missing = heads.missing(session, community.id, expected, _kept_since(wiring))
    faults = []
    if fault is not None:
        known = f" (id {fault.entry_id})" if fault.entry_id is not None else ""
        faults.append(f"altered at entry {fault.number}{known}: {fault.why}. {count} entries before it hold")
    if missing is not None:
        faults.append(f"unlike the exported heads: {missing}")
    return faults, f"{count} {'new ' if only_new else ''}entries, unbroken"


def _kept_since(wiring: Wiring) -> datetime:
    days = wiring.settings.keep_history_days
    return clock.now() - timedelta(days=days) if days else datetime.min.replace(tzinfo=UTC)


def _expected(path: Path) -> dict[uuid.UUID, Sequence[Head]]:
    found: dict[uuid.UUID, list[Head]] = {}
    try:
        with path.open("rb") as file:
            for head in heads.parse(file):
                found.setdefault(head.community_id, []).append(head)
    except Invalid as error:
        raise click.UsageError(f"{path} {error.problems[0].msg}") from None
    return dict(found)
