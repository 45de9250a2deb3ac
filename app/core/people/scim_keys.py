"""The key of a sign-in provider's SCIM client: one a provider, shown once, stored as a hash (docs/run/scim.md)."""

import re
import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, ids, security_events
from app.core.db import serialise
from app.core.errors import NotFound
from app.core.models import IdentityProvider
from app.core.permissions import Actor, require_service_admin
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _

PREFIX = "bns_"
_FORM = re.compile(PREFIX + r"[A-Za-z0-9_-]{20,100}")


def make(session: Session, actor: Actor, provider_id: uuid.UUID) -> str:
    """Make the provider's key, which replaces an earlier one at once. Return its text, which is stored nowhere.

    Raises:
        Forbidden: the actor is no service admin.
        NotFound: there is no such provider.
    """
    provider = _provider(session, actor, provider_id)
    text = PREFIX + ids.new_token()
    provider.scim_token_hash, provider.scim_token_made_at = ids.token_digest(text), clock.now()
    session.flush()
    security_events.log_at_commit(session, SecurityEvent.SCIM_KEY_CREATED, actor, provider_id=provider_id)
    return text


def remove(session: Session, actor: Actor, provider_id: uuid.UUID) -> None:
    """Remove the provider's key: the next call with it is refused. Without one this changes nothing.

    Raises:
        Forbidden, NotFound: as ``make``.
    """
    provider = _provider(session, actor, provider_id)
    if provider.scim_token_hash is None:
        return
    provider.scim_token_hash = provider.scim_token_made_at = None
    session.flush()
    security_events.log_at_commit(session, SecurityEvent.SCIM_KEY_REMOVED, actor, provider_id=provider_id)


def authenticate(session: Session, text: str) -> IdentityProvider | None:
    """The provider whose key this is; None for anything else."""
    if not _FORM.fullmatch(text):
        return None
    return session.scalars(
        sa.select(IdentityProvider).where(
            IdentityProvider.scim_token_hash == ids.token_digest(text), IdentityProvider.removed_at.is_(None)
        )
    ).first()


def _provider(session: Session, actor: Actor, provider_id: uuid.UUID) -> IdentityProvider:
    """The provider as it is now, locked."""
    require_service_admin(actor, _("Only a service admin makes and removes keys for SCIM"))
    serialise(session, provider_id)
    provider = session.get(IdentityProvider, provider_id, populate_existing=True)
    if provider is None or provider.removed_at is not None:
        raise NotFound("provider")
    return provider
