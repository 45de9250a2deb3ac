"""Commands that set a service up: keys, accounts, categories. Each opens the community it names when unknown."""

import sys
from collections.abc import Sequence
from dataclasses import replace

import click
from email_validator import EmailNotValidError, validate_email
from sqlalchemy.orm import Session

from app.cli import opened_wiring
from app.core.communities import communities
from app.core.models import Community
from app.core.people import accounts, keys
from app.core.permissions import SYSTEM
from app.core.policies import policies
from app.core.vocabulary import KeyTemplate, Role, Verb

_VERBS = click.Choice([verb.value for verb in Verb])


@click.command("mint-key")
@click.option("--name", required=True, help="What it is for, as the list of keys shows it.")
@click.option("--template", type=click.Choice([one.value for one in KeyTemplate]), required=True)
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
    pairs = _pairs(platforms, community_ids)
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            where = [_community(session, *pair).id for pair in pairs] or None
            minted = keys.mint(session, SYSTEM, name, KeyTemplate(template), where, days=days)
        scope = ", ".join("/".join(pair) for pair in pairs) or "every community"
        click.echo(f"Key {name!r} ({template}) for {scope}. Keep it: it is not shown again.")
        click.echo(minted.text)


@click.command("create-account")
@click.option("--email", required=True)
@click.option(
    "--password", required=True, help="`-` reads it from standard input, so no list of processes shows it."
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    help="In the community; `admin` without a community is admin everywhere.",
)
@click.option("--platform", metavar="P", help="The community's platform, such as discourse.")
@click.option("--community", metavar="ID", help="The platform's own id of the community.")
def create_account(
    email: str, password: str, role: str | None, platform: str | None, community: str | None
) -> None:
    """Create a confirmed account; prints its id. In a community it is a rater unless --role says otherwise."""
    pairs = _pairs([platform] if platform else [], [community] if community else [])
    wanted = Role(role) if role else Role.RATER
    if role is not None and wanted is not Role.ADMIN and not pairs:
        raise click.UsageError(f"--role {role} needs --platform and --community: where it holds")
    if password == "-":  # noqa: S105 - not a password, the sign for standard input
        password = sys.stdin.readline().rstrip("\r\n")
    try:
        validate_email(email, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        raise click.UsageError(f"--email: {error}") from None
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            everywhere = wanted is Role.ADMIN and not pairs
            account = accounts.create(session, email, password, confirmed=True, service_admin=everywhere)
            for pair in pairs:
                accounts.give_role(session, SYSTEM, account, _community(session, *pair).id, wanted)
        click.echo(str(account.id))


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
    """Set a category's thresholds and actions, making it when unknown: a new version of the policy.

    What is not given keeps its value, save --tier1: without it the category never acts by itself.
    """
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            place = _community(session, platform, community)
            known = policies.current(session, place.id).categories
            found = next((policies.draft_of(one) for one in known if one.name == name), None)
            draft = replace(
                found or policies.CategoryDraft(name, tier2), tier1=tier1, tier2=tier2, enabled=True
            )
            if tier1_action is not None:
                draft = replace(draft, tier1_action=Verb(tier1_action))
            if tier2_action is not None:
                draft = replace(draft, tier2_action=Verb(tier2_action))
            policy = policies.set_category(session, SYSTEM, place.id, draft, reason)
        alone = "never by itself" if tier1 is None else f"by itself above {tier1:g} ({draft.tier1_action})"
        click.echo(f"{place.name}, version {policy.version}:")
        click.echo(f"{name} goes to raters above {tier2:g} ({draft.tier2_action}), and acts {alone}.")


def _pairs(platforms: Sequence[str], community_ids: Sequence[str]) -> list[tuple[str, str]]:
    """(platform, id) of each community named; one --platform may serve several --community."""
    if platforms and not community_ids:
        raise click.UsageError("--platform needs a --community: the platform's own id of it")
    if community_ids and not platforms:
        raise click.UsageError("--community needs a --platform, such as discourse")
    if len(platforms) == 1:
        platforms = list(platforms) * len(community_ids)
    if len(platforms) != len(community_ids):
        raise click.UsageError("Give one --platform for all, or one --platform for each --community")
    return list(zip(platforms, community_ids, strict=True))


def _community(session: Session, platform: str, community_id: str) -> Community:
    """The community with this platform id, opened when unknown."""
    return communities.look_up(session, SYSTEM, platform, community_id)[0]
