"""``mint-key``, ``set-category`` and ``replay-deliveries``: what operators do to one community."""

import contextlib
import os
import stat
import sys
from dataclasses import replace
from datetime import UTC, datetime

import click

from app.commands.opening import community_of, opened_wiring, pairs
from app.core.communities import communities
from app.core.errors import NotFound
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft, draft_of
from app.core.vocabulary import DeliveryState, KeyTemplate, Verb
from app.core.webhooks import replays
from app.core.webhooks.deliveries import REPLAYABLE, Filters


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
@click.option("--days", type=click.IntRange(1, 365), help="It expires after this many days; otherwise never.")
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


_VERBS = click.Choice([verb.value for verb in Verb])


@click.command("set-category")
@click.option("--platform", required=True, metavar="P", help="The community's platform, such as discourse.")
@click.option("--community", required=True, metavar="ID", help="The platform's own id of the community.")
@click.option("--name", required=True, help="The category: a to z, 0 to 9 and _.")
@click.option(
    "--tier2", required=True, type=float, help="Content scored above it goes to raters; 0.0 to 1.0."
)
@click.option("--tier1", type=float, help="Content scored above it is acted on at once. Without: never.")
@click.option("--tier1-action", type=_VERBS)
@click.option("--tier2-action", type=_VERBS)
@click.option("--author-text", help="What authors are told with a warning; empty for the shipped text.")
@click.option("--report-threshold", help="From which weight of reports on people are asked; empty for never.")
@click.option("--strike-points", type=int, help="What an applied action counts against its author; 0 to 10.")
@click.option("--strike-days", type=int, help="For how many days it counts.")
@click.option("--reason", default="Set on the command line", show_default=True)
def set_category(
    platform: str,
    community: str,
    name: str,
    tier2: float,
    tier1: float | None,
    tier1_action: str | None,
    tier2_action: str | None,
    author_text: str | None,
    strike_points: int | None,
    strike_days: int | None,
    report_threshold: str | None,
    reason: str,
) -> None:
    """Set a category's thresholds and actions, making it when unknown: a new version of the thresholds.

    What is not given keeps its value, save --tier1: without it the category never acts by itself.
    """
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            place = community_of(session, platform, community)
            categories = threshold_sets.current(session, place.id).categories
            existing = next((draft_of(category) for category in categories if category.name == name), None)
            draft = replace(existing or CategoryDraft(name, tier2), tier1=tier1, tier2=tier2, enabled=True)
            if tier1_action is not None:
                draft = replace(draft, tier1_action=Verb(tier1_action))
            if tier2_action is not None:
                draft = replace(draft, tier2_action=Verb(tier2_action))
            if author_text is not None:
                draft = replace(draft, author_text=author_text.strip() or None)
            if report_threshold is not None:
                draft = replace(draft, report_threshold=_number_or_never(report_threshold))
            if strike_points is not None:
                draft = replace(draft, strike_points=strike_points)
            if strike_days is not None:
                draft = replace(draft, strike_days=strike_days)
            thresholds = threshold_sets.set_category(session, SYSTEM, place.id, draft, reason)
        alone = "never by itself" if tier1 is None else f"by itself above {tier1:g} ({draft.tier1_action})"
        click.echo(f"{place.name}, version {thresholds.version}:")
        click.echo(f"{name} goes to raters above {tier2:g} ({draft.tier2_action}), and acts {alone}.")


def _number_or_never(text: str) -> float | None:
    """The number that was typed; None for an empty text."""
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number.", param_hint="'--report-threshold'") from None


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
        states=(DeliveryState(state),),
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
