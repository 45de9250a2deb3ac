"""``create-account``, ``sign-in-link``, ``reset-sign-in`` and ``erase-user``."""

import sys
import uuid

import click
from email_validator import EmailNotValidError, validate_email

from app.commands.opening import community_of, opened_wiring, pairs
from app.core import limits
from app.core.errors import NotFound
from app.core.people import accounts, credentials, second_factors
from app.core.people.profiles import Identity
from app.core.permissions import SYSTEM
from app.core.upkeep import erasure
from app.core.vocabulary import Role


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
    communities = pairs([platform] if platform else [], [community] if community else [])
    granted_role = Role(role) if role else Role.RATER
    if role is not None and granted_role is not Role.ADMIN and not communities:
        raise click.UsageError(f"--role {role} needs --platform and --community: where it holds")
    if password == "-":  # noqa: S105 - not a password, the sign for standard input
        password = sys.stdin.readline().rstrip("\r\n")
    try:
        validate_email(email, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        raise click.UsageError(f"--email: {error}") from None
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            everywhere = granted_role is Role.ADMIN and not communities
            account = accounts.create(session, email, password, confirmed=True, service_admin=everywhere)
            for pair in communities:
                accounts.give_role(session, SYSTEM, account, community_of(session, *pair).id, granted_role)
        click.echo(str(account.id))


@click.command("sign-in-link")
@click.argument("email")
def sign_in_link(email: str) -> None:
    """Print a link that signs a service admin in once, for when no provider works and passwords are off."""
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            token = credentials.make_sign_in_link(session, email)
        click.echo(f"{wiring.settings.base_url}/sign-in/link/{token}")
        click.echo(f"It works once, for {limits.SIGN_IN_LINK_MINUTES} minutes.", err=True)


@click.command("reset-sign-in")
@click.argument("email")
@click.option("--reason", required=True, help="How you made sure that it is them; histories show it.")
def reset_sign_in(email: str, reason: str) -> None:
    """Remove the passkeys and codes of a person who lost them; their password alone signs them in again."""
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            address = limits.email(email)
            account = accounts.find(session, address) or accounts.find_unconfirmed_member(session, address)
            if account is None:
                raise NotFound("account")
            second_factors.reset(session, SYSTEM, account.id, reason)
        click.echo(f"The second factors of {account.sign_in_name} are removed. They got a mail.")


class _DryRun(Exception):
    """Raised to roll the transaction back."""


@click.command("erase-user")
@click.option("--email", help="The person's e-mail address here.")
@click.option("--account", "account_id", type=click.UUID, help="Or their account's id.")
@click.option("--platform", metavar="P", help="Or as a platform knows them: the platform, with --user-id.")
@click.option("--user-id", metavar="ID", help="Their id there.")
@click.option(
    "--provider-scope",
    default="",
    metavar="ID",
    help="The community's id there, where each counts its own users.",
)
@click.option("--note-texts", is_flag=True, help="The text of their notes too; ratings of them stay.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def erase_user(
    email: str | None,
    account_id: uuid.UUID | None,
    platform: str | None,
    user_id: str | None,
    provider_scope: str,
    note_texts: bool,
    dry_run: bool,
) -> None:
    """Erase a person: names, address, sign-ins, roles, links and their words in history.

    Their ratings and decisions stay without a name, so no score changes.
    """
    identifiers = [email is not None, account_id is not None, platform is not None]
    if sum(identifiers) != 1 or (platform is None) != (user_id is None):
        raise click.UsageError("Name the person by --email, by --account, or by --platform and --user-id")
    erased: erasure.Erased | None = None
    try:
        with opened_wiring() as wiring:
            if platform is not None and user_id is not None:
                whom: uuid.UUID | Identity | None = Identity(platform, user_id, provider_scope)
            else:
                whom = account_id
                if email is not None:
                    address = limits.email(email)
                    with wiring.database.reading() as session:
                        account = accounts.find(session, address)
                        account = account or accounts.find_unconfirmed_member(session, address)
                        whom = account.id if account is not None else None
            if whom is None:
                raise NotFound("account")
            if dry_run:
                with wiring.database.writing() as session:
                    erased = erasure.erase_within(session, SYSTEM, whom, note_texts=note_texts)
                    raise _DryRun
            erased = erasure.erase(wiring.database, SYSTEM, whom, note_texts=note_texts)
            erased.gone["mails in the folder"] = wiring.forget(erased)
    except _DryRun:
        pass
    assert erased is not None  # noqa: S101 - for the type checker: anything else has raised
    click.echo("Would be erased:" if dry_run else "Erased:")
    for what, rows in erased.gone.items():
        click.echo(f"  {rows:>6} {what}")
    click.echo("Stays, without a name:")
    for what, rows in erased.kept.items():
        click.echo(f"  {rows:>6} {what}")
    if dry_run:
        click.echo("Nothing was changed.")
