"""Sign-in providers: added, tried, enabled and removed by service admins, or set by the server (docs/run/sign-in.md).

A provider signs people in while it is enabled. It can be enabled once a service admin has signed in there as a try.
Subjects are its issuer's, so issuer and client id never change: another issuer is another provider.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import bulk, clock, limits, security_events
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.ids import new_id
from app.core.models import IdentityProvider, SignIn
from app.core.people import ways_in
from app.core.people.openid import Client
from app.core.people.ways_in import LOCK, SETS_SIGN_IN
from app.core.permissions import Actor, require_service_admin
from app.core.sealing import Sealer
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import SessionEnd

_SET_BY_SERVER = uuid.UUID("5d9c1a52-7a0e-5c3f-9f5e-6f1f3c3a9b38")
"""The namespace of the ids of providers that the server's settings name."""
SERVER_SETS = lazy_gettext("The server's settings set this provider. Change it there")
Verb = Callable[[Session, Actor, uuid.UUID], IdentityProvider]
"""The type of ``enable``, ``disable`` and ``identities.remove_provider``."""


@dataclass(frozen=True)
class Draft:
    """A provider's settings as they were entered. ``client_secret`` empty: none, or the one that is kept."""

    label: str
    issuer: str
    client_id: str
    client_secret: str = ""
    scopes: str = "openid profile email"
    groups_claim: str = "groups"
    creates_accounts: bool = True


def listed(session: Session) -> Sequence[IdentityProvider]:
    """The providers that were not removed, by label."""
    statement = sa.select(IdentityProvider).where(IdentityProvider.removed_at.is_(None))
    return session.scalars(statement.order_by(IdentityProvider.label, IdentityProvider.id)).all()


def enabled(session: Session) -> Sequence[IdentityProvider]:
    """The providers that people sign in with, by label."""
    return [provider for provider in listed(session) if provider.enabled_at is not None]


def get(session: Session, provider_id: uuid.UUID, *, is_enabled: bool = False) -> IdentityProvider:
    """A provider that was not removed. Raises NotFound; with ``is_enabled`` also for one that is switched off."""
    provider = session.get(IdentityProvider, provider_id)
    if provider is None or provider.removed_at is not None or (is_enabled and provider.enabled_at is None):
        raise NotFound("provider")
    return provider


def client_of(provider: IdentityProvider, sealer: Sealer) -> Client:
    """This service as the provider's client, with the opened secret. Raises SealBroken."""
    secret = ""
    if provider.client_secret is not None:
        secret = sealer.open(provider.client_secret, str(provider.id))
    return Client(
        issuer=provider.issuer,
        client_id=provider.client_id,
        client_secret=secret,
        scopes=provider.scopes,
        groups_claim=provider.groups_claim,
        discovered=provider.discovered or {},
    )


def is_set_by_server(provider: IdentityProvider) -> bool:
    """Whether the server's settings made this row: its id is derived from them."""
    return provider.id == _server_id(provider.issuer, provider.client_id)


def check(draft: Draft) -> Draft:
    """Return the draft without needless spaces. Raises Invalid."""
    scopes = " ".join(dict.fromkeys(draft.scopes.split()))
    limits.text(draft.label, "label", 100)
    for name, most in (("issuer", 500), ("client_id", 255)):
        value = getattr(draft, name)
        limits.text(value, name, most)
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise Invalid.field(name, _("must be written without spaces and accents"), value)
    if draft.client_secret:
        limits.text(draft.client_secret, "client_secret", limits.SECRET_MAX)
        if not (draft.client_secret.isascii() and draft.client_secret.isprintable()):
            raise Invalid.field("client_secret", _("must be written without accents"))
    if "openid" not in scopes.split():
        raise Invalid.field("scopes", _("must include openid"), draft.scopes)
    limits.text(scopes, "scopes", 500)
    limits.text(draft.groups_claim, "groups_claim", 100, least=0)
    return replace(draft, label=draft.label.strip(), scopes=scopes, groups_claim=draft.groups_claim.strip())


def add(
    session: Session, actor: Actor, sealer: Sealer, draft: Draft, discovered: Mapping[str, Any]
) -> IdentityProvider:
    """Add a provider, switched off. ``discovered`` is its discovery document, read and checked just before.

    Raises:
        Forbidden: the actor is no service admin.
        Invalid: a value is not allowed, there are too many, or the issuer has a provider with this client id.
    """
    require_service_admin(actor, SETS_SIGN_IN)
    draft = check(draft)
    serialise(session, LOCK)
    limits.room(limits.PROVIDERS, len(listed(session)), "issuer")
    _refuse_same_label(session, draft)
    provider = IdentityProvider(
        id=new_id(),
        issuer=draft.issuer,
        client_id=draft.client_id,
        discovered=dict(discovered),
        discovered_at=clock.now(),
    )
    _apply(provider, sealer, draft)
    try:
        with session.begin_nested():
            session.add(provider)
    except IntegrityError:
        raise Invalid.field("issuer", _("has a provider with this client id already"), draft.issuer) from None
    log(session, SecurityEvent.PROVIDER_ADDED, actor, provider)
    return provider


def change(
    session: Session, actor: Actor, sealer: Sealer, provider_id: uuid.UUID, draft: Draft, etag: int
) -> IdentityProvider:
    """Change everything but issuer and client id.

    Raises:
        Forbidden: the actor is no service admin, or the server sets this provider.
        Invalid: a value is not allowed.
        Conflict: it was changed since the page was opened.
    """
    provider = changeable(session, actor, provider_id)
    if provider.etag != etag:
        raise Conflict(_("This provider was changed meanwhile. Load the page again"), provider.id)
    draft = check(replace(draft, issuer=provider.issuer, client_id=provider.client_id))
    _refuse_same_label(session, draft, but=provider.id)
    _apply(provider, sealer, draft)
    provider.etag += 1
    session.flush()
    log(session, SecurityEvent.PROVIDER_CHANGED, actor, provider)
    return provider


def record_discovered(session: Session, provider_id: uuid.UUID, discovered: Mapping[str, Any]) -> None:
    """Store a discovery document that was read and checked just now."""
    provider = get(session, provider_id)
    provider.discovered, provider.discovered_at = dict(discovered), clock.now()


def record_try(session: Session, actor: Actor, provider_id: uuid.UUID) -> None:
    """Record that a service admin signed in at the provider as a try, and all was right."""
    require_service_admin(actor, SETS_SIGN_IN)
    get(session, provider_id).tried_at = clock.now()


def enable(session: Session, actor: Actor, provider_id: uuid.UUID) -> IdentityProvider:
    """Let people sign in with the provider.

    Raises:
        Conflict: it was not tried yet.
    """
    provider = changeable(session, actor, provider_id)
    if provider.enabled_at is not None:
        return provider
    if is_set_by_server(provider):
        raise Forbidden(SERVER_SETS)
    if provider.tried_at is None:
        raise Conflict(
            _("Try the provider first: sign in there once, and see what it says of you"), provider.id
        )
    provider.enabled_at = clock.now()
    log(session, SecurityEvent.PROVIDER_ENABLED, actor, provider)
    return provider


def disable(session: Session, actor: Actor, provider_id: uuid.UUID) -> IdentityProvider:
    """Let no one sign in with the provider any more, and end the sessions that began there.

    Raises:
        Conflict: passwords are off, and it is the only way in for service admins.
    """
    provider = changeable(session, actor, provider_id)
    if provider.enabled_at is None:
        return provider
    ways_in.keep_a_way_in(session, provider.id)
    switch_off(session, actor, provider)
    return provider


def set_by_server(session: Session, sealer: Sealer, draft: Draft | None) -> IdentityProvider | None:
    """Make the provider of the server's settings a row that is enabled, and disable those of earlier settings.

    Its discovery document is read when it is first needed.
    """
    serialise(session, LOCK)
    wanted = _server_id(draft.issuer, draft.client_id) if draft is not None else None
    for row in listed(session):
        if is_set_by_server(row) and row.id != wanted:
            row.enabled_at = row.client_secret = None
            end_sessions(session, row.id)
    if draft is None or wanted is None:
        return None
    draft = check(draft)
    provider = session.get(IdentityProvider, wanted)
    if provider is None:
        provider = IdentityProvider(id=wanted, issuer=draft.issuer, client_id=draft.client_id)
        session.add(provider)
    _apply(provider, sealer, draft)
    if not draft.client_secret:
        provider.client_secret = None
    provider.removed_at = None
    provider.enabled_at = provider.enabled_at or clock.now()
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(
            _(
                "%(issuer)s was added under Sign-in with the same client id; remove it there first",
                issuer=draft.issuer,
            )
        ) from None
    return provider


def end_sessions(
    session: Session,
    provider_id: uuid.UUID,
    *,
    account_id: uuid.UUID | None = None,
    provider_session: str | None = None,
) -> int:
    """End sessions that began at the provider: all, an account's, or those of one session there. Returns how many.

    A session of which the provider did not say to which of its own it belongs may be the one: it ends too.
    """
    statement = sa.update(SignIn).where(SignIn.provider_id == provider_id, SignIn.ended_at.is_(None))
    if account_id is not None:
        statement = statement.where(SignIn.account_id == account_id)
    if provider_session is not None:
        unsaid = SignIn.provider_session.is_(None)
        statement = statement.where(sa.or_(SignIn.provider_session == provider_session, unsaid))
    return bulk.change(session, statement.values(ended_at=clock.now(), end_reason=SessionEnd.PROVIDER))


def changeable(session: Session, actor: Actor, provider_id: uuid.UUID) -> IdentityProvider:
    """The provider, locked and as it is now, if the actor may change it."""
    require_service_admin(actor, SETS_SIGN_IN)
    serialise(session, LOCK)
    provider = get(session, provider_id)
    session.refresh(provider)
    if is_set_by_server(provider) and provider.enabled_at is not None:
        raise Forbidden(SERVER_SETS)
    return provider


def switch_off(session: Session, actor: Actor, provider: IdentityProvider) -> None:
    """Let no one sign in there any more, and end the sessions that began there. The caller has checked that it may."""
    provider.enabled_at = None
    end_sessions(session, provider.id)
    log(session, SecurityEvent.PROVIDER_DISABLED, actor, provider)


def _refuse_same_label(session: Session, draft: Draft, but: uuid.UUID | None = None) -> None:
    """Two buttons that say the same would leave people guessing."""
    for other in listed(session):
        if other.id != but and other.label.casefold() == draft.label.casefold():
            raise Invalid.field("label", _("is that of another provider"), draft.label)


def _apply(provider: IdentityProvider, sealer: Sealer, draft: Draft) -> None:
    provider.label, provider.scopes = draft.label, draft.scopes
    provider.groups_claim, provider.creates_accounts = draft.groups_claim, draft.creates_accounts
    if draft.client_secret:
        provider.client_secret = sealer.seal(draft.client_secret, str(provider.id))


def _server_id(issuer: str, client_id: str) -> uuid.UUID:
    return uuid.uuid5(_SET_BY_SERVER, f"{issuer} {client_id}")


def log(session: Session, event: SecurityEvent, actor: Actor, provider: IdentityProvider) -> None:
    """Log a security event about the provider once the transaction commits."""
    security_events.log_at_commit(session, event, actor, provider_id=provider.id)
