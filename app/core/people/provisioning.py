"""People whom a sign-in provider creates, changes and deactivates by SCIM 2.0 (docs/run/scim.md).

A person is an ``Identity`` with a ``user_name``: a provider sees only those that it sent itself. ``subject`` is the
``externalId``, the same as the ``sub`` of a sign-in, and the ``user_name`` where none was sent. Name and address of an
account that existed before, or that has a way of its own to sign in, stay its owner's.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session, selectinload

from app.core import bulk, clock, limits, security_events
from app.core.db import serialise
from app.core.errors import Conflict, NotFound
from app.core.models import (
    Account,
    ApiKey,
    Identity,
    IdentityProvider,
    Membership,
    Passkey,
    ProviderGroup,
    ProviderGroupMember,
)
from app.core.people import accounts, group_roles, identities, key_admin, keys, mailed_links, members
from app.core.people.passwords import NO_PASSWORD
from app.core.security_events import SecurityEvent
from app.core.vocabulary import LinkPurpose, SessionEnd


class Taken(Conflict):
    """A value that must be unique is another person's or group's."""


class Fixed(Conflict):
    """A value that cannot change any more."""


@dataclass(frozen=True)
class PersonFields:
    """What a provider says of a person. ``external_id`` None: ``user_name`` is used."""

    user_name: str
    external_id: str | None
    display_name: str
    email: str
    active: bool

    @property
    def subject(self) -> str:
        return self.external_id or self.user_name


@dataclass(frozen=True)
class Person:
    """A person as their provider sees them; ``groups`` by id and name."""

    identity: Identity
    account: Account
    groups: Sequence[tuple[uuid.UUID, str]]

    @property
    def fields(self) -> PersonFields:
        identity, account = self.identity, self.account
        name = identity.user_name or ""
        is_active = account.disabled_at is None and identity.deactivated_at is None
        external_id = identity.subject if identity.subject != name else None
        return PersonFields(name, external_id, account.display_name, account.sign_in_name, is_active)


_COLUMNS: Mapping[str, InstrumentedAttribute[Any]] = {
    "user_name": Identity.user_name,
    "display_name": Account.display_name,
    "email": Account.email,
}
"""What people can be found by without case; ``externalId`` is compared exactly."""


def get(session: Session, provider_id: uuid.UUID, identity_id: uuid.UUID) -> Person:
    """One person of the provider. Raises NotFound for unknown ones and those of others alike."""
    row = session.execute(_people(provider_id).where(Identity.id == identity_id)).first()
    if row is None:
        raise NotFound("user")
    return _with_groups(session, [(row[0], row[1])])[0]


def listed(
    session: Session, provider_id: uuid.UUID, equals: Sequence[tuple[str, Any]], offset: int, size: int
) -> tuple[int, Sequence[Person]]:
    """How many people match, and a page of them in the order of their creation; four queries however many rows.

    ``equals``: fields of ``PersonFields`` or ``id``, each with the value that it must have.
    """
    statement = _people(provider_id)
    for name, value in equals:
        if name == "id":
            condition = Identity.id == value
        elif name == "active":
            is_active = sa.and_(Account.disabled_at.is_(None), Identity.deactivated_at.is_(None))
            condition = is_active if value else ~is_active
        elif name == "external_id":
            condition = Identity.subject == value
        else:
            condition = same(_COLUMNS[name], value)
        statement = statement.where(condition)
    total = session.scalar(statement.with_only_columns(sa.func.count(Identity.id))) or 0
    rows = session.execute(statement.order_by(Identity.id).offset(offset).limit(size)) if size else ()
    return total, _with_groups(session, [(identity, account) for identity, account in rows])


def create(session: Session, provider: IdentityProvider, fields: PersonFields) -> Person:
    """Create a person with an account that has no password. The provider vouches for the address.

    Somebody who has signed in at the provider with this subject already keeps their account; so does somebody whom it
    had deleted.

    Raises:
        Invalid: a name or the address is not valid, or the provider has too many people.
        Taken: the user name or the subject is another person's, or the address has an account.
    """
    address = _checked(fields)
    serialise(session, provider.id)
    identity = identities.find(session, provider.id, fields.subject)
    if identity is not None and identity.user_name is not None:
        raise Taken(f"The externalId {fields.subject} is another person's")
    _refuse_taken_name(session, provider.id, fields.user_name)
    count = session.scalar(_people(provider.id).with_only_columns(sa.func.count(Identity.id))) or 0
    limits.room(limits.PROVISIONED, count, "userName")
    if identity is None:
        account = _new_account(session, address, fields.display_name)
        identity = Identity(account_id=account.id, provider_id=provider.id, subject=fields.subject)
        session.add(identity)
        security_events.log_at_commit(
            session,
            SecurityEvent.ACCOUNT_PROVISIONED,
            group_roles.provider_actor(provider),
            account_id=account.id,
            provider_id=provider.id,
        )
    identity.user_name = fields.user_name
    session.flush()
    _set_active(session, provider, identity, fields.active)
    group_roles.apply(session, provider.id, identity.account_id)
    return get(session, provider.id, identity.id)


def update(
    session: Session, provider: IdentityProvider, identity_id: uuid.UUID, fields: PersonFields
) -> Person:
    """Change what the provider says of a person.

    Raises:
        NotFound, Invalid, Taken: as ``get`` and ``create``.
        Fixed: ``external_id`` would change of a person who has signed in with it, or can sign in without it: who gets
            it would have that account.
        Conflict: the last service admin would be deactivated.
    """
    serialise(session, provider.id)
    person = get(session, provider.id, identity_id)
    if person.fields == fields:
        return person
    address = _checked(fields)
    identity, account = person.identity, person.account
    is_providers = _is_providers(session, account, provider.id)
    is_fixed = identity.last_used_at is not None or not is_providers
    subject = fields.external_id or (identity.subject if is_fixed else fields.user_name)
    if subject != identity.subject:
        if is_fixed:
            raise Fixed(
                "The externalId of a person who has signed in with it, or in another way, cannot change"
            )
        if identities.find(session, provider.id, subject) is not None:
            raise Taken(f"The externalId {subject} is another person's")
    if fields.user_name.lower() != (identity.user_name or "").lower():
        _refuse_taken_name(session, provider.id, fields.user_name)
    identity.subject, identity.user_name = subject, fields.user_name
    identity.updated_at = clock.now()
    if is_providers:
        account.display_name = fields.display_name
        if address != account.sign_in_name:
            _change_address(session, provider, account, address)
    session.flush()
    _set_active(session, provider, identity, fields.active)
    return get(session, provider.id, identity_id)


def remove(session: Session, provider: IdentityProvider, identity_id: uuid.UUID) -> None:
    """Deactivate a person, take them out of all groups, and forget their user name, so that SCIM finds them no more.

    The account and what it wrote stay; ``erase-user`` erases a person.

    Raises:
        NotFound: as ``get``.
        Conflict: the last service admin would be deactivated.
    """
    serialise(session, provider.id)
    identity = get(session, provider.id, identity_id).identity
    _set_active(session, provider, identity, False)
    identity.user_name = None
    session.flush()
    bulk.change(session, sa.delete(ProviderGroupMember).where(ProviderGroupMember.identity_id == identity.id))
    group_roles.apply(session, provider.id, identity.account_id)


def same(column: InstrumentedAttribute[Any], text: str) -> sa.ColumnElement[bool]:
    """SQL condition: the column has this text, without regard to case."""
    # SQLite lowers only ASCII letters.
    return sa.or_(column == text, sa.func.lower(column) == text.lower())


def _people(provider_id: uuid.UUID) -> sa.Select[Identity, Account]:
    return (
        sa.select(Identity, Account)
        .join(Account, Account.id == Identity.account_id)
        .where(Identity.provider_id == provider_id, Identity.user_name.is_not(None))
    )


def _with_groups(session: Session, rows: Sequence[tuple[Identity, Account]]) -> list[Person]:
    groups: dict[uuid.UUID, list[tuple[uuid.UUID, str]]] = {identity.id: [] for identity, _ in rows}
    for identity_id, group_id, name in session.execute(
        sa.select(ProviderGroupMember.identity_id, ProviderGroup.id, ProviderGroup.name)
        .join(ProviderGroup, ProviderGroup.id == ProviderGroupMember.group_id)
        .where(ProviderGroupMember.identity_id.in_(groups))
        .order_by(ProviderGroup.name)
    ):
        groups[identity_id].append((group_id, name))
    return [Person(identity, account, groups[identity.id]) for identity, account in rows]


def _checked(fields: PersonFields) -> str:
    """Check the values and return the normalised address."""
    limits.text(fields.user_name, "userName", limits.NAME_MAX)
    limits.text(fields.subject, "externalId", limits.NAME_MAX)
    limits.text(fields.display_name, "displayName", limits.NAME_MAX)
    return limits.email(fields.email, "emails")


def _refuse_taken_name(session: Session, provider_id: uuid.UUID, user_name: str) -> None:
    others = _people(provider_id).with_only_columns(Identity.id).where(same(Identity.user_name, user_name))
    if session.scalar(others.limit(1)) is not None:
        raise Taken(f"The userName {user_name} is another person's")


def _new_account(session: Session, address: str, display_name: str) -> Account:
    """The account of a new person: a new one, or a sign-up that nobody confirmed."""
    account = accounts.find(session, address)
    if account is None:
        try:
            return accounts.insert(session, address, NO_PASSWORD, display_name, confirmed=True)
        except Conflict:
            account = accounts.find(session, address)
    if account is None or account.confirmed_at is not None or account.disabled_at is not None:
        raise Taken(
            f"{address} has an account already. Its owner signs in with it and then connects this provider"
        )
    account.password_hash, account.display_name, account.confirmed_at = NO_PASSWORD, display_name, clock.now()
    mailed_links.drop(session, account.id, LinkPurpose.CONFIRM, LinkPurpose.RESET)
    return account


def _is_providers(session: Session, account: Account, provider_id: uuid.UUID) -> bool:
    """Whether the provider may say how the account is called and reached: it has no other way to sign in."""
    if account.password_hash != NO_PASSWORD or account.service_admin:
        return False
    others = sa.select(Identity.id).where(
        Identity.account_id == account.id, Identity.provider_id != provider_id
    )
    passkeys = sa.select(Passkey.id).where(Passkey.account_id == account.id, Passkey.refused_at.is_(None))
    return not any(session.scalar(way.limit(1)) for way in (others, passkeys))


def _change_address(session: Session, provider: IdentityProvider, account: Account, address: str) -> None:
    if accounts.find(session, address) not in (None, account):
        raise Taken(f"{address} is the address of another account")
    try:
        with session.begin_nested():
            account.email, account.confirmed_at = address, account.confirmed_at or clock.now()
    except IntegrityError:
        raise Taken(f"{address} is the address of another account") from None
    mailed_links.drop(session, account.id, LinkPurpose.RESET, LinkPurpose.CHANGE_EMAIL)
    security_events.log_at_commit(
        session,
        SecurityEvent.EMAIL_CHANGED,
        group_roles.provider_actor(provider),
        account_id=account.id,
        provider_id=provider.id,
    )


def _set_active(session: Session, provider: IdentityProvider, identity: Identity, active: bool) -> None:
    """Deactivate or reactivate. An account that people disabled stays so until they enable it."""
    since = identity.deactivated_at
    if active == (since is None):
        return
    actor, account_id = group_roles.provider_actor(provider), identity.account_id
    serialise(session, members.SERVICE)
    account = session.get_one(Account, account_id, populate_existing=True)
    if since is not None:
        identity.deactivated_at = None
        session.flush()
        if account.disabled_at is not None and account.disabled_at >= since and _all_active(session, account):
            members.set_disabled(session, actor, account_id, False, f"Reactivated by {provider.label}")
        return
    if account.disabled_at is None and members.is_last_service_admin(session, account):
        raise Conflict("The last service admin cannot be deactivated. Appoint another one first")
    made = _keys_of(session, account_id)
    _lock_communities(session, account_id, made)
    identity.deactivated_at = clock.now()
    reason = f"Deactivated by {provider.label}"
    members.set_disabled(session, actor, account_id, True, reason, session_end=SessionEnd.PROVIDER)
    for key in made:
        key_admin.revoke(session, actor, key.id, f"Its creator was deactivated by {provider.label}")


def _all_active(session: Session, account: Account) -> bool:
    """Whether no provider has the account deactivated."""
    inactive = Identity.account_id == account.id, Identity.deactivated_at.is_not(None)
    return session.scalar(sa.select(Identity.id).where(*inactive).limit(1)) is None


def _keys_of(session: Session, account_id: uuid.UUID) -> Sequence[ApiKey]:
    """The keys that the account created and that still work."""
    return session.scalars(
        sa.select(ApiKey)
        .where(ApiKey.created_by_id == account_id, keys.is_live())
        .options(selectinload(ApiKey.communities))
        .order_by(ApiKey.id)
    ).all()


def _lock_communities(session: Session, account_id: uuid.UUID, made: Sequence[ApiKey]) -> None:
    """Lock all communities in whose history the deactivation is recorded, in the order that all verbs take."""
    theirs = session.scalars(sa.select(Membership.community_id).where(Membership.account_id == account_id))
    for community_id in sorted({*theirs, *(one for key in made for one in keys.reached(session, key))}):
        serialise(session, community_id)
