"""Ways to sign in: whether passwords are on, and what would be left without one of them."""

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import security_events
from app.core.db import serialise
from app.core.errors import Conflict
from app.core.models import Account, Identity, IdentityProvider, Passkey, SignInRules
from app.core.people import accounts, passwords
from app.core.permissions import Actor, require_service_admin
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

LOCK = uuid.UUID("00000000-0000-7000-8000-000000000038")
"""The lock for changes of providers and of the switch for passwords."""
SETS_SIGN_IN = lazy_gettext("Only a service admin sets how people sign in")
NO_WAY_LEFT = lazy_gettext(
    "Passwords are off, and no service admin could sign in without this provider. Switch passwords on first"
)


def _lets_in() -> sa.ColumnElement[bool]:
    """SQL condition on ``Identity`` joined to its provider: its person can sign in there."""
    return sa.and_(
        Identity.deactivated_at.is_(None),
        IdentityProvider.enabled_at.is_not(None),
        IdentityProvider.removed_at.is_(None),
    )


def passwords_are_on(session: Session) -> bool:
    """Whether people may sign in with passwords."""
    rules = session.get(SignInRules, 1)
    return rules is None or rules.passwords


def locked_rules(session: Session) -> SignInRules:
    """The service's rules for sign-ins, locked and as they are now."""
    serialise(session, LOCK)
    rules = session.get(SignInRules, 1, populate_existing=True)
    if rules is None:
        rules = SignInRules(id=1)
        session.add(rules)
        session.flush()
    return rules


def set_passwords(session: Session, actor: Actor, on: bool) -> None:
    """Switch passwords on or off for the whole service.

    Raises:
        Forbidden: the actor is no service admin.
        Conflict: no service admin could sign in without one.
    """
    require_service_admin(actor, SETS_SIGN_IN)
    rules = locked_rules(session)
    if rules.passwords == on:
        return
    if not on and not admin_has_a_provider(session):
        raise Conflict(
            _(
                "First enable a provider, and connect a service admin's account with it in Settings: "
                "otherwise no service admin could sign in"
            )
        )
    rules.passwords = on
    rules.etag += 1
    security_events.log_at_commit(session, SecurityEvent.PASSWORDS_SWITCHED, actor, on=on)


def admin_has_a_provider(session: Session, without: uuid.UUID | None = None) -> bool:
    """Whether a service admin can sign in at an enabled provider, other than ``without``."""
    statement = (
        sa.select(Account.id)
        .join(Identity, Identity.account_id == Account.id)
        .join(IdentityProvider, IdentityProvider.id == Identity.provider_id)
        .where(
            Account.service_admin,
            accounts.can_sign_in(),
            _lets_in(),
            IdentityProvider.id != without,
        )
    )
    return session.scalar(statement.limit(1)) is not None


def keep_a_way_in(session: Session, without: uuid.UUID | None = None) -> None:
    """Raise Conflict if passwords are off and no service admin could sign in, without this provider."""
    if not passwords_are_on(session) and not admin_has_a_provider(session, without):
        raise Conflict(NO_WAY_LEFT)


def has_way_in(session: Session, account: Account, *, but: uuid.UUID | None = None) -> bool:
    """Whether the account can sign in: with a password, a passkey, or a provider that is not of identity ``but``."""
    if account.password_hash != passwords.NO_PASSWORD and passwords_are_on(session):
        return True
    passkey = sa.select(Passkey.id).where(Passkey.account_id == account.id, Passkey.refused_at.is_(None))
    other = (
        sa.select(Identity.id)
        .join(IdentityProvider, IdentityProvider.id == Identity.provider_id)
        .where(
            Identity.account_id == account.id,
            Identity.id != but,
            _lets_in(),
        )
    )
    return any(session.scalar(way.limit(1)) is not None for way in (passkey, other))
