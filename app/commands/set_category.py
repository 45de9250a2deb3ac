"""``set-category``."""

from dataclasses import replace

import click

from app.commands.naming import community_of
from app.commands.opening import opened_wiring
from app.core.permissions import SYSTEM
from app.core.policies import policies
from app.core.policies.drafts import CategoryDraft, draft_of
from app.core.vocabulary import Verb

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
@click.option("--reason", default="Set on the command line", show_default=True)
def set_category(
    platform: str,
    community: str,
    name: str,
    tier2: float,
    tier1: float | None,
    tier1_action: str | None,
    tier2_action: str | None,
    reason: str,
) -> None:
    """Set a category's thresholds and actions, making it when unknown: a new version of the thresholds.

    What is not given keeps its value, save --tier1: without it the category never acts by itself.
    """
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            place = community_of(session, platform, community)
            categories = policies.current(session, place.id).categories
            existing = next((draft_of(category) for category in categories if category.name == name), None)
            draft = replace(existing or CategoryDraft(name, tier2), tier1=tier1, tier2=tier2, enabled=True)
            if tier1_action is not None:
                draft = replace(draft, tier1_action=Verb(tier1_action))
            if tier2_action is not None:
                draft = replace(draft, tier2_action=Verb(tier2_action))
            thresholds = policies.set_category(session, SYSTEM, place.id, draft, reason)
        alone = "never by itself" if tier1 is None else f"by itself above {tier1:g} ({draft.tier1_action})"
        click.echo(f"{place.name}, version {thresholds.version}:")
        click.echo(f"{name} goes to raters above {tier2:g} ({draft.tier2_action}), and acts {alone}.")
