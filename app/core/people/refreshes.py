"""What a provider says of people between their sign-ins: refreshed groups, and sessions that it ends.

A provider is asked about each person every 15 minutes while it gave a refresh token (docs/run/sign-in.md).
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import bulk, clock, ids, security_events
from app.core.errors import Conflict
from app.core.models import Identity, IdentityProvider, SignIn, SignInStep
from app.core.people import group_roles, identities, providers
from app.core.people.openid import Claims, LoggedOut
from app.core.sealing import Sealer
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import SignInStepPurpose

REFRESH_EVERY = timedelta(minutes=15)
SILENCE = timedelta(hours=24)
"""How long roles and sessions stay while a provider cannot be asked about a person."""
BATCH = 100
"""Identities that are refreshed in one run."""


class Replayed(Conflict):
    """A logout token was sent before."""


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
    identities.keep_claims(session, sealer, identity, claims)
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


def lapse(session: Session, account_id: uuid.UUID, after: timedelta) -> None:
    """Forget what providers that cannot be asked again said of a person longer ago than ``after``; its roles end.

    For sign-ins in which no provider has a part: otherwise a person who left keeps by a password what its groups gave.
    """
    stale = session.scalars(
        sa.select(Identity)
        .join(IdentityProvider, IdentityProvider.id == Identity.provider_id)
        .where(
            Identity.account_id == account_id,
            Identity.refresh_token.is_(None),
            Identity.refreshed_at < clock.now() - after,
            IdentityProvider.enabled_at.is_not(None),
        )
        .order_by(Identity.provider_id)
    ).all()
    for identity in stale:
        if identity.claimed_groups:
            identity.claimed_groups = []
            session.flush()
            group_roles.apply(session, identity.provider_id, account_id)


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
        raise Replayed(_("This logout token was used before")) from None
    identity = identities.find(session, provider_id, token.subject) if token.subject is not None else None
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


def _unchanged(session: Session, identity_id: uuid.UUID, former: bytes) -> Identity | None:
    identity = session.get(Identity, identity_id, populate_existing=True)
    return identity if identity is not None and identity.refresh_token == former else None
