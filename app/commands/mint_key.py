"""``mint-key``."""

import contextlib
import os
import stat
import sys

import click

from app.commands.naming import community_of, pairs
from app.commands.opening import opened_wiring
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate


@click.command("mint-key")
@click.option("--name", required=True, help="What it is for, as the list of keys shows it.")
@click.option("--template", type=click.Choice([template.value for template in KeyTemplate]), required=True)
@click.option("--platform", "platforms", multiple=True, metavar="P", help="The platform of each --community.")
@click.option(
    "--community",
    "community_ids",
    multiple=True,
    metavar="ID",
    help="A community the key may act in, repeatable. Without: every one, and an adapter may open new ones.",
)
@click.option("--days", type=click.IntRange(1, 365), help="It expires after so many days; otherwise never.")
def mint_key(
    name: str, template: str, platforms: tuple[str, ...], community_ids: tuple[str, ...], days: int | None
) -> None:
    """Create an API key. The last line of the output is the key; it is shown this once."""
    names = pairs(platforms, community_ids)
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            where = [community_of(session, *pair).id for pair in names] or None
            minted = keys.mint(session, SYSTEM, name, KeyTemplate(template), where, days=days)
        _keep_private()
        scope = ", ".join("/".join(pair) for pair in names) or "every community"
        click.echo(f"Key {name!r} ({template}) for {scope}. Keep it: it is not shown again.")
        click.echo(minted.text)


def _keep_private() -> None:
    """Let nobody else read the new file, if the output goes to one (``> key.txt``)."""
    with contextlib.suppress(OSError):  # no file at all
        output = os.fstat(sys.stdout.fileno())
        if stat.S_ISREG(output.st_mode) and output.st_size == 0:
            os.fchmod(sys.stdout.fileno(), 0o600)
