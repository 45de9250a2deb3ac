"""``create-account``."""

import sys

import click
from email_validator import EmailNotValidError, validate_email

from app.commands.naming import community_of, pairs
from app.commands.opening import opened_wiring
from app.core.people import accounts
from app.core.permissions import SYSTEM
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
