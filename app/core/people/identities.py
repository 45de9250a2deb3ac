"""Accounts as providers know them: found at a sign-in, connected and disconnected (docs/run/sign-in.md).

An account is found by provider and subject, never by its address: otherwise a person who gets an address at any
provider could take over the account that has it. An account that exists is connected only while its owner is signed in.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import bulk, clock, limits, mail, security_events
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.mail import Kind
from app.core.models import (
    Account,
    Identity,
    IdentityProvider,
    ProviderGroupMember,
)
from app.core.people import accounts, group_roles, passwords, providers, ways_in
from app.core.people.openid import Claims
from app.core.permissions import Actor
from app.core.sealing import Sealer
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _


class AddressKnown(Forbidden):
    """The person is unknown, but their address has an account."""


@dataclass(frozen=True)
class Connection:
    """A provider, and the account's identity there, if it is connected."""

    provider: IdentityProvider
    identity: Identity | None


def find(session: Session, provider_id: uuid.UUID, subject: str) -> Identity | None:
    """The identity with exactly this subject: case counts."""
    return session.scalars(
        sa.select(Identity).where(Identity.provider_id == provider_id, Identity.subject == subject)
    ).first()


def sign_in(session: Session, sealer: Sealer, provider: IdentityProvider, claims: Claims) -> Account:
    """The account of the person who has just signed in at the provider; a new one for an unknown person.

    Their groups take effect. The caller begins the session afterwards.

    Raises:
        AddressKnown: the person is unknown, and the address is an account's.
        Forbidden: the provider makes no accounts, gives no usable address, or the account is switched off.
    """
    identity = find(session, provider.id, claims.subject)
    if identity is None:
        account = _create_account(session, provider, claims)
        identity = _insert(session, provider, account, claims.subject)
    else:
        account = session.get_one(Account, identity.account_id)
    if account.disabled_at is not None or identity.deactivated_at is not None:
        raise Forbidden(_("Your account here is switched off. Ask an admin"))
    keep_claims(session, sealer, identity, claims)
    identity.last_used_at = clock.now()
    session.flush()
    group_roles.apply(session, provider.id, account.id)
    return account


def connect(
    session: Session, sealer: Sealer, provider: IdentityProvider, account_id: uuid.UUID, claims: Claims
) -> Identity:
    """Connect the account of the person who is signed in here and has just signed in there. Repeating it is harmless.

    Raises:
        Conflict: that identity belongs to another account, or the account has another one at this provider.
    """
    serialise(session, account_id)
    account = session.get_one(Account, account_id)
    identity = find(session, provider.id, claims.subject)
    if identity is not None and identity.account_id != account_id:
        raise Conflict(
            _("This account at %(provider)s is connected with another account here", provider=provider.label)
        )
    if identity is None:
        other = sa.select(Identity.id).where(
            Identity.provider_id == provider.id, Identity.account_id == account_id
        )
        if session.scalar(other.limit(1)) is not None:
            raise Conflict(
                _(
                    "You are connected with another account at %(provider)s. Disconnect it first",
                    provider=provider.label,
                )
            )
        identity = _insert(session, provider, account, claims.subject)
        mail.ask(session, Kind.PROVIDER_CONNECTED, account_id=account_id)
        security_events.log_at_commit(
            session, SecurityEvent.IDENTITY_CONNECTED, account_id=account_id, provider_id=provider.id
        )
    keep_claims(session, sealer, identity, claims)
    session.flush()
    group_roles.apply(session, provider.id, account_id)
    return identity


def disconnect(session: Session, account_id: uuid.UUID, identity_id: uuid.UUID) -> IdentityProvider:
    """Disconnect the account from a provider: the roles that its groups gave go, and so do the sessions from there.

    Raises:
        NotFound: the identity is not the account's.
        Conflict: it is the account's only way in, or the last way in for service admins.
    """
    serialise(session, ways_in.LOCK)
    serialise(session, account_id)
    identity = session.get(Identity, identity_id)
    if identity is None or identity.account_id != account_id:
        raise NotFound("connection")
    provider = session.get_one(IdentityProvider, identity.provider_id)
    account = session.get_one(Account, account_id, populate_existing=True)
    if not ways_in.has_way_in(session, account, but=identity.id):
        raise Conflict(
            _(
                "%(provider)s is your only way to sign in. Add a password, a passkey or another provider first",
                provider=provider.label,
            )
        )
    bulk.change(session, sa.delete(ProviderGroupMember).where(ProviderGroupMember.identity_id == identity.id))
    identity.claimed_groups = []
    session.flush()
    group_roles.apply(session, provider.id, account_id)
    session.delete(identity)
    session.flush()
    if account.service_admin and not ways_in.passwords_are_on(session):
        ways_in.keep_a_way_in(session)
    providers.end_sessions(session, provider.id, account_id=account_id)
    mail.ask(session, Kind.PROVIDER_DISCONNECTED, account_id=account_id)
    security_events.log_at_commit(
        session, SecurityEvent.IDENTITY_DISCONNECTED, account_id=account_id, provider_id=provider.id
    )
    return provider


def connections(session: Session, account_id: uuid.UUID) -> Sequence[Connection]:
    """The providers that are enabled or that the account is connected with, by label."""
    rows = session.execute(
        sa.select(IdentityProvider, Identity)
        .outerjoin(
            Identity, sa.and_(Identity.provider_id == IdentityProvider.id, Identity.account_id == account_id)
        )
        .where(
            IdentityProvider.removed_at.is_(None),
            sa.or_(IdentityProvider.enabled_at.is_not(None), Identity.id.is_not(None)),
        )
        .order_by(IdentityProvider.label, IdentityProvider.id)
    )
    return [Connection(provider, identity) for provider, identity in rows]


def counts(session: Session) -> Mapping[uuid.UUID, int]:
    """How many accounts are connected with each provider."""
    rows = session.execute(sa.select(Identity.provider_id, sa.func.count()).group_by(Identity.provider_id))
    return {provider_id: number for provider_id, number in rows}


def remove_provider(session: Session, actor: Actor, provider_id: uuid.UUID) -> IdentityProvider:
    """Remove a provider with its secrets and what it said of people. Accounts stay; the roles that it gave go.

    Raises:
        Forbidden: the actor is no service admin, or the server sets this provider.
        Conflict: passwords are off, and it is the only way in for service admins.
    """
    provider = providers.changeable(session, actor, provider_id)
    ways_in.keep_a_way_in(session, provider.id)
    if provider.enabled_at is not None:
        providers.switch_off(session, actor, provider)
    provider.removed_at = clock.now()
    provider.client_secret = provider.scim_token_hash = provider.discovered = None
    bulk.change(
        session,
        sa.update(Identity)
        .where(Identity.provider_id == provider.id)
        .values(refresh_token=None, claimed_groups=[]),
    )
    group_roles.apply_later(session, provider.id)
    providers.log(session, SecurityEvent.PROVIDER_REMOVED, actor, provider)
    return provider


def _create_account(session: Session, provider: IdentityProvider, claims: Claims) -> Account:
    """Make an account for an unknown person.

    With an address that the provider verified, the account owns it. If the provider does not say, the account signs in
    with the address unconfirmed, so that no mail goes there and its owner is not kept out.
    """
    if not claims.email:
        raise Forbidden(
            _("%(provider)s sent no email address, which a new account needs", provider=provider.label)
        )
    if claims.email_verified is False:
        raise Forbidden(
            _(
                "%(provider)s has not verified your email address. Verify it there, then sign in again",
                provider=provider.label,
            )
        )
    try:
        address = limits.email(claims.email)
    except Invalid:
        raise Forbidden(
            _("%(provider)s sent an email address that cannot be used here", provider=provider.label)
        ) from None
    known, member = accounts.find(session, address), accounts.find_unconfirmed_member(session, address)
    if (
        known is not None
        and claims.email_verified
        and known.confirmed_at is None
        and known.disabled_at is None
    ):
        # As in ``credentials.confirm_email``: the person who typed the address into a sign-up does not own it.
        accounts.discard(session, known)
        known = None
    if known is not None or member is not None:
        raise AddressKnown(
            _(
                "Your address has an account here, which is not connected with this provider. "
                "Sign in as you did before, then connect %(provider)s in Settings",
                provider=provider.label,
            )
        )
    if not provider.creates_accounts:
        raise Forbidden(
            _(
                "No account here is connected with your account at %(provider)s, and it does not create new ones. "
                "Ask an admin for an invitation",
                provider=provider.label,
            )
        )
    name = (claims.name or address.split("@")[0])[: limits.NAME_MAX]
    try:
        if claims.email_verified:
            return accounts.insert(session, address, passwords.NO_PASSWORD, name, confirmed=True)
        return accounts.insert_unconfirmed_member(session, address, passwords.NO_PASSWORD, name)
    except Conflict:  # another request inserted the address at the same moment
        raise Forbidden(
            _("Another sign-in made an account with your address just now. Sign in again")
        ) from None
    except Invalid:
        raise Forbidden(
            _("%(provider)s sent an email address that is too long", provider=provider.label)
        ) from None


def _insert(session: Session, provider: IdentityProvider, account: Account, subject: str) -> Identity:
    identity = Identity(account_id=account.id, provider_id=provider.id, subject=subject, claimed_groups=[])
    try:
        with session.begin_nested():
            session.add(identity)
    except IntegrityError:  # another request of the same person was first
        raise Conflict(_("You signed in twice at the same moment. Sign in again")) from None
    return identity


def keep_claims(session: Session, sealer: Sealer, identity: Identity, claims: Claims) -> None:
    """Store the groups and the refresh token that the provider has just sent."""
    if claims.groups is not None:
        identity.claimed_groups = list(claims.groups)
    session.flush()
    identity.refresh_token = (
        sealer.seal(claims.refresh_token, str(identity.id)) if claims.refresh_token is not None else None
    )
    identity.refreshed_at = clock.now()
