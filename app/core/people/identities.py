"""Accounts as providers know them: signing in, connecting, refreshing, ending (docs/run/sign-in.md).

An account is found by provider and subject, never by its address: otherwise a person who gets an address at any
provider could take over the account that has it. An account that exists is connected only while its owner is signed in.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import bulk, clock, ids, limits, security_events
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.models import (
    Account,
    Identity,
    IdentityProvider,
    Passkey,
    ProviderGroupMember,
    SignIn,
    SignInStep,
)
from app.core.people import accounts, group_roles, passwords, providers
from app.core.people.openid import Claims, LoggedOut
from app.core.permissions import Actor
from app.core.sealing import Sealer
from app.core.security_events import SecurityEvent
from app.core.vocabulary import SignInStepPurpose

REFRESH_EVERY = timedelta(minutes=15)
SILENCE = timedelta(hours=24)
"""How long roles and sessions stay while a provider cannot be asked about a person."""
BATCH = 100
"""Identities that are refreshed in one run."""


class AddressKnown(Forbidden):
    """The person is unknown, but their address has an account."""


class Replayed(Conflict):
    """A logout token was sent before."""


@dataclass(frozen=True)
class Connection:
    """A provider, and the account's identity there, if it is connected."""

    provider: IdentityProvider
    identity: Identity | None


def find(session: Session, provider_id: uuid.UUID, subject: str) -> Identity | None:
    """The identity with exactly this subject: case counts."""
    found = session.scalars(
        sa.select(Identity).where(Identity.provider_id == provider_id, Identity.subject == subject)
    ).first()
    return found if found is not None and found.subject == subject else None


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
        raise Forbidden("Your account here is switched off. Ask an admin")
    _keep(session, sealer, identity, claims)
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
        raise Conflict(f"This account at {provider.label} is connected with another account here")
    if identity is None:
        other = sa.select(Identity.id).where(
            Identity.provider_id == provider.id, Identity.account_id == account_id
        )
        if session.scalar(other.limit(1)) is not None:
            raise Conflict(f"You are connected with another account at {provider.label}. Disconnect it first")
        identity = _insert(session, provider, account, claims.subject)
        security_events.log_at_commit(
            session, SecurityEvent.IDENTITY_CONNECTED, account_id=account_id, provider_id=provider.id
        )
    _keep(session, sealer, identity, claims)
    session.flush()
    group_roles.apply(session, provider.id, account_id)
    return identity


def disconnect(session: Session, account_id: uuid.UUID, identity_id: uuid.UUID) -> IdentityProvider:
    """Disconnect the account from a provider: the roles that its groups gave go, and so do the sessions from there.

    Raises:
        NotFound: the identity is not the account's.
        Conflict: it is the account's only way in, or the last way in for service admins.
    """
    serialise(session, providers.LOCK)
    serialise(session, account_id)
    identity = session.get(Identity, identity_id)
    if identity is None or identity.account_id != account_id:
        raise NotFound("connection")
    provider = session.get_one(IdentityProvider, identity.provider_id)
    account = session.get_one(Account, account_id, populate_existing=True)
    if not _has_another_way(session, account, identity):
        raise Conflict(
            f"{provider.label} is your only way to sign in. Add a password, a passkey or another provider first"
        )
    bulk.change(session, sa.delete(ProviderGroupMember).where(ProviderGroupMember.identity_id == identity.id))
    identity.claimed_groups = []
    session.flush()
    group_roles.apply(session, provider.id, account_id)
    session.delete(identity)
    session.flush()
    if account.service_admin and not providers.passwords_are_on(session):
        providers.keep_a_way_in(session)
    providers.end_sessions(session, provider.id, account_id=account_id)
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
    providers.keep_a_way_in(session, provider.id)
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


def due(session: Session, limit: int = BATCH) -> Sequence[Identity]:
    """Identities that were not refreshed for a while, those that were tried longest ago first."""
    return session.scalars(
        sa.select(Identity)
        .join(IdentityProvider, IdentityProvider.id == Identity.provider_id)
        .where(
            Identity.refresh_token.is_not(None),
            Identity.refreshed_at < clock.now() - REFRESH_EVERY,
            IdentityProvider.enabled_at.is_not(None),
            IdentityProvider.removed_at.is_(None),
        )
        .order_by(Identity.updated_at, Identity.id)
        .limit(limit)
    ).all()


def claim(session: Session, identity: Identity) -> bool:
    """Claim an identity for one refresh: a refresh token that is sent twice looks stolen to the provider."""
    return bool(
        bulk.change(
            session,
            sa.update(Identity)
            .where(Identity.id == identity.id, Identity.updated_at == identity.updated_at)
            .values(updated_at=clock.now()),
        )
    )


def record_refreshed(
    session: Session, sealer: Sealer, identity_id: uuid.UUID, former: bytes, claims: Claims
) -> None:
    """Store what a refresh said, unless the person signed in meanwhile (``former``: the token that was sent)."""
    identity = _unchanged(session, identity_id, former)
    if identity is None:
        return
    _keep(session, sealer, identity, claims)
    if claims.refresh_token is None:  # not rotated: the one that was sent goes on
        identity.refresh_token = former
    session.flush()
    group_roles.apply(session, identity.provider_id, identity.account_id)


def record_over(session: Session, identity_id: uuid.UUID, former: bytes) -> None:
    """The provider no longer vouches for the person: their groups, its roles and the sessions from there end."""
    identity = _unchanged(session, identity_id, former)
    if identity is None:
        return
    identity.claimed_groups, identity.refresh_token = [], None
    session.flush()
    group_roles.apply(session, identity.provider_id, identity.account_id)
    ended = providers.end_sessions(session, identity.provider_id, account_id=identity.account_id)
    security_events.log_at_commit(
        session,
        SecurityEvent.PROVIDER_ENDED,
        account_id=identity.account_id,
        provider_id=identity.provider_id,
        sessions=ended,
    )


def is_silent_too_long(identity: Identity) -> bool:
    """Whether the provider could not be asked about this person for longer than roles may stay (``SILENCE``)."""
    return identity.refreshed_at is not None and clock.now() - identity.refreshed_at > SILENCE


def log_out(session: Session, provider_id: uuid.UUID, token: LoggedOut, lives_until: datetime) -> int:
    """End the sessions that a back-channel logout names. Returns how many.

    Raises:
        Replayed: the token was sent before.
    """
    from_id = f"{provider_id} {token.token_id}"
    try:
        with session.begin_nested():
            session.add(
                SignInStep(
                    token_hash=ids.token_digest(from_id),
                    purpose=SignInStepPurpose.PROVIDER,
                    provider_id=provider_id,
                    details={},
                    expires_at=lives_until,
                )
            )
    except IntegrityError:
        raise Replayed("This logout token was used before") from None
    identity = find(session, provider_id, token.subject) if token.subject is not None else None
    if token.subject is not None and identity is None:
        return 0
    account_ids = (
        [identity.account_id] if identity is not None else _signed_in_by(session, provider_id, token)
    )
    ended = 0
    for account_id in account_ids:
        ended += providers.end_sessions(
            session, provider_id, account_id=account_id, provider_session=token.session
        )
        _forget_refresh(session, provider_id, account_id)
        security_events.log_at_commit(
            session,
            SecurityEvent.PROVIDER_ENDED,
            account_id=account_id,
            provider_id=provider_id,
            sessions=ended,
        )
    return ended


def _signed_in_by(session: Session, provider_id: uuid.UUID, token: LoggedOut) -> Sequence[uuid.UUID]:
    """The accounts with a session that began with this session at the provider."""
    theirs = sa.select(SignIn.account_id).where(
        SignIn.provider_session == token.session, SignIn.provider_id == provider_id
    )
    return session.scalars(theirs.distinct()).all()


def _forget_refresh(session: Session, provider_id: uuid.UUID, account_id: uuid.UUID) -> None:
    """Drop the refresh token once no session from the provider is left.

    The provider may end the token with its session; that says nothing about the person's groups.
    """
    is_open = sa.select(SignIn.id).where(
        SignIn.account_id == account_id, SignIn.provider_id == provider_id, SignIn.ended_at.is_(None)
    )
    if session.scalar(is_open.limit(1)) is None:
        bulk.change(
            session,
            sa.update(Identity)
            .where(Identity.account_id == account_id, Identity.provider_id == provider_id)
            .values(refresh_token=None),
        )


def _create_account(session: Session, provider: IdentityProvider, claims: Claims) -> Account:
    """Make an account for an unknown person.

    With an address that the provider verified, the account owns it. If the provider does not say, the account signs in
    with the address unconfirmed, so that no mail goes there and its owner is not kept out.
    """
    if not claims.email:
        raise Forbidden(f"{provider.label} sent no email address, which a new account needs")
    if claims.email_verified is False:
        raise Forbidden(
            f"{provider.label} has not verified your email address. Verify it there, then sign in again"
        )
    try:
        address = limits.email(claims.email)
    except Invalid:
        raise Forbidden(f"{provider.label} sent an email address that cannot be used here") from None
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
            "Your address has an account here, which is not connected with this provider. Sign in as you did before, "
            f"then connect {provider.label} in Settings"
        )
    if not provider.creates_accounts:
        raise Forbidden(
            f"No account here is connected with your account at {provider.label}, and it does not create new ones. "
            "Ask an admin for an invitation"
        )
    name = (claims.name or address.split("@")[0])[: limits.NAME_MAX]
    try:
        if claims.email_verified:
            return accounts.insert(session, address, passwords.NO_PASSWORD, name, confirmed=True)
        return accounts.insert_unconfirmed_member(session, address, passwords.NO_PASSWORD, name)
    except Conflict:  # another request inserted the address at the same moment
        raise Forbidden("Another sign-in made an account with your address just now. Sign in again") from None
    except Invalid:
        raise Forbidden(f"{provider.label} sent an email address that is too long") from None


def _insert(session: Session, provider: IdentityProvider, account: Account, subject: str) -> Identity:
    identity = Identity(account_id=account.id, provider_id=provider.id, subject=subject, claimed_groups=[])
    try:
        with session.begin_nested():
            session.add(identity)
    except IntegrityError:  # another request of the same person was first
        raise Conflict("You signed in twice at the same moment. Sign in again") from None
    return identity


def _keep(session: Session, sealer: Sealer, identity: Identity, claims: Claims) -> None:
    """Store the groups and the refresh token that the provider has just sent."""
    if claims.groups is not None:
        identity.claimed_groups = list(claims.groups)
    session.flush()
    identity.refresh_token = (
        sealer.seal(claims.refresh_token, str(identity.id)) if claims.refresh_token is not None else None
    )
    identity.refreshed_at = clock.now()


def _unchanged(session: Session, identity_id: uuid.UUID, former: bytes) -> Identity | None:
    identity = session.get(Identity, identity_id, populate_existing=True)
    return identity if identity is not None and identity.refresh_token == former else None


def _has_another_way(session: Session, account: Account, identity: Identity) -> bool:
    """Whether the account's owner can sign in without this identity."""
    if account.password_hash != passwords.NO_PASSWORD and providers.passwords_are_on(session):
        return True
    passkey = sa.select(Passkey.id).where(Passkey.account_id == account.id, Passkey.refused_at.is_(None))
    other = (
        sa.select(Identity.id)
        .join(IdentityProvider, IdentityProvider.id == Identity.provider_id)
        .where(
            Identity.account_id == account.id,
            Identity.id != identity.id,
            Identity.deactivated_at.is_(None),
            IdentityProvider.enabled_at.is_not(None),
            IdentityProvider.removed_at.is_(None),
        )
    )
    return any(session.scalar(way.limit(1)) is not None for way in (passkey, other))
