"""``verify-history``."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from app.commands.opening import opened_wiring
from app.core import clock
from app.core.communities import communities
from app.core.errors import Invalid
from app.core.history import chain as history
from app.core.history import heads
from app.core.history.heads import Head
from app.core.models import Community
from app.core.permissions import SYSTEM
from app.wiring import Wiring


@click.command("verify-history")
@click.option("--only-new", is_flag=True, help="Only what was written since it was last found unbroken.")
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
    with wiring.database.reading() as session:
        first, _ = history.start_of(session, community.id, only_new=only_new)
        count, fault = history.verify(session, community.id, only_new=only_new)
        missing = heads.missing(session, community.id, expected, _kept_since(wiring))
    faults = []
    if fault is not None:
        known = f" (id {fault.entry_id})" if fault.entry_id is not None else ""
        faults.append(f"altered at entry {fault.number}{known}: {fault.why}. {count} entries before it hold")
    if missing is not None:
        faults.append(f"unlike the exported heads: {missing}")
    if not faults:
        with wiring.database.writing() as session:
            history.remember_verified(session, community.id, first + count)
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
