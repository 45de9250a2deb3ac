"""Accounts: created, found, their passwords and roles, and who they are as actors (docs/run/reliability.md)."""

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, selectinload

from app.core import clock, limits, security_events
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.ids import new_id, parse_id
from app.core.models import Account, AccountLink, Community, Membership, Notice, Removal
from app.core.people import passwords
from app.core.permissions import Actor
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import Role

ADMINS_LOCK = uuid.UUID("00000000-0000-7000-8000-000000000002")
"""The lock for creating a service admin, so that there can be only one first admin (``first_admin``)."""
BAD_SIGN_IN = "Email address or password is wrong"


class WrongCredentials(Unauthenticated):
    """The sign-in failed. ``account_id``: the account with that address, if any; callers must not reveal it."""

    def __init__(self, account_id: uuid.UUID | None) -> None:
        super().__init__(BAD_SIGN_IN)
        self.account_id = account_id


class Unconfirmed(Unauthenticated):
    """The password is right, but the e-mail address has not been confirmed yet."""

    def __init__(self, account_id: uuid.UUID) -> None:
        super().__init__(_("Your email address is not confirmed yet"))
        self.account_id = account_id


def create(
    session: Session,
    email: str,
    password: str,
    *,
    display_name: str | None = None,
    confirmed: bool = False,
    service_admin: bool = False,
) -> Account:
    """Create an account.

    Raises:
        Invalid: a malformed e-mail address; a password too short, too common or equal to the address.
        Conflict: the e-mail address already has an account.
    """
    address = limits.email(email)
    hashed = passwords.hash_password(password, address)
    if find(session, address) is not None:
        raise Conflict(_("%(address)s already has an account", address=address))
    return insert(session, address, hashed, display_name, confirmed=confirmed, service_admin=service_admin)


def insert(
    session: Session,
    address: str,
    password_hash: str,
    display_name: str | None = None,
    *,
    confirmed: bool = False,
    service_admin: bool = False,
) -> Account:
    """Insert the row of a new account. ``address`` is normalised by ``limits.email``.

    Raises:
        Conflict: the address has an account, perhaps created just now.
    """
    if service_admin:
        serialise(session, ADMINS_LOCK)
    account = Account(
        id=new_id(),
        email=address,
        display_name=limits.text(display_name or address.split("@")[0], "display_name", limits.NAME_MAX),
        password_hash=password_hash,
        service_admin=service_admin,
        confirmed_at=clock.now() if confirmed else None,
    )
    try:
        with session.begin_nested():
            session.add(account)
    except IntegrityError:
        raise Conflict(_("%(address)s already has an account", address=address)) from None
    if service_admin:
        make_service_admin(session, account)
    return account


def make_service_admin(session: Session, account: Account) -> None:
    """Make the account a service admin. Callers check that they may."""
    account.service_admin = True
    security_events.log_at_commit(session, SecurityEvent.SERVICE_ADMIN_MADE, account_id=account.id)


def insert_unconfirmed_member(
    session: Session, address: str, password_hash: str, display_name: str
) -> Account:
    """Insert the account of a member who signs in with ``address`` without having proved to own it.

    Raises:
        Conflict: another member does so.
        Invalid: the address is too long.
    """
    stored = address + limits.UNCONFIRMED
    if len(stored) > limits.EMAIL_MAX:
        raise Invalid.field("display_name", _("cannot be saved: the invitation's address is too long"))
    try:
        return insert(session, stored, password_hash, display_name)
    except Conflict:
        raise Conflict(
            _(
                "Another member signs in with this address without having confirmed it. Ask a service admin to invite "
                "you, or ask for an invitation to another address of yours"
            )
        ) from None


def find(session: Session, address: str) -> Account | None:
    """The account with this e-mail address, normalised by ``limits.email``; None when there is none.

    Not the one of a member whose address is unconfirmed (``find_unconfirmed_member``).
    """
    # Earlier versions stored domains in the form in which they were entered.
    forms = {address}
    with suppress(UnicodeError):
        forms.add(limits.ascii_email(address))
    return session.scalars(sa.select(Account).where(Account.email.in_(forms))).first()


def find_unconfirmed_member(session: Session, address: str) -> Account | None:
    """The member who signs in with this address, normalised by ``limits.email``, without having proved to own it."""
    return session.scalars(sa.select(Account).where(Account.email == address + limits.UNCONFIRMED)).first()


def can_sign_in() -> sa.ColumnElement[bool]:
    """SQL condition: the account can sign in. Only confirmed ones get mail."""
    by_link = Account.email.endswith(limits.UNCONFIRMED)
    return sa.and_(Account.disabled_at.is_(None), sa.or_(Account.confirmed_at.is_not(None), by_link))


def email_of(session: Session, account_id: str) -> str | None:
    """The e-mail address of an account by its id from a cookie; None when the account does not exist."""
    identity = parse_id(account_id)
    return session.scalar(sa.select(Account.email).where(Account.id == identity)) if identity else None


def give_role(
    session: Session,
    actor: Actor,
    account: Account,
    community_id: uuid.UUID,
    role: Role,
    *,
    cause: str = "",
) -> Membership:
    """Give an account this role in a community, replacing its previous one. Callers check permissions.

    It is the account's own, also where a provider's groups gave the previous one (``people.group_roles``).
    """
    membership = session.scalars(
        sa.select(Membership).where(
            Membership.account_id == account.id, Membership.community_id == community_id
        )
    ).first()
    before = membership.role.value if membership else None
    if membership is None:
        membership = Membership(account_id=account.id, community_id=community_id, role=role)
        session.add(membership)
        session.execute(
            sa.delete(Removal).where(Removal.account_id == account.id, Removal.community_id == community_id)
        )
    membership.role, membership.provider_id, membership.given_role = role, None, None
    session.flush()
    if before != role.value:
        history.record(
            session,
            actor,
            community_id,
            "role.given",
            "account",
            account.id,
            before={"role": before},
            after={"role": role.value},
            reason=Reason(cause=cause),
        )
        log_role_change(session, actor, account.id, community_id, before, role.value)
    return membership


def log_role_change(
    session: Session,
    actor: Actor,
    account_id: uuid.UUID,
    community_id: uuid.UUID,
    before: str | None,
    after: str | None,
) -> None:
    """Log a changed, given or taken role as a security event; None is no role."""
    fields = {"account_id": account_id, "community_id": community_id, "role_before": before or "none"}
    event = SecurityEvent.ROLE_CHANGED
    security_events.log_at_commit(session, event, actor, **fields, role_after=after or "none")


def sign_in_name(email: str) -> str:
    """The form of an entered address by which accounts are found; if it is none, what was entered, cut short."""
    try:
        return limits.email(email)
    except Invalid:
        # PostgreSQL stores no NUL, so no account has one.
        return email.replace("\0", "").strip()[: limits.EMAIL_MAX]


def verify_credentials(session: Session, email: str, password: str) -> Account:
    """The account with this e-mail address and password.

    Every failure below raises the same error after the same time, so that callers cannot probe for accounts.

    Raises:
        WrongCredentials: unknown address, wrong password, disabled account.
        Unconfirmed: the password is right, but the address has not been confirmed.
    """
    address = sign_in_name(email)
    owner, member = find(session, address), find_unconfirmed_member(session, address)
    # If a member signs in with the address unconfirmed, both passwords are checked, whether or not it has an owner.
    for account in (owner, member) if member is not None else (owner,):
        if passwords.has_password(account, password) and account is not None and account.disabled_at is None:
            if account.confirmed_at is None and account is not member:
                raise Unconfirmed(account.id)
            return account
    known = owner or member
    raise WrongCredentials(known.id if known is not None else None)


def discard(session: Session, account: Account) -> None:
    """Delete an account that was never confirmed, with its links, notices, memberships and removals."""
    for model in (AccountLink, Notice, Membership, Removal):
        session.execute(sa.delete(model).where(model.account_id == account.id))
    session.execute(sa.delete(Account).where(Account.id == account.id))


def actor_for(account: Account, profile_id: uuid.UUID | None = None) -> Actor:
    """The account as an actor. ``account.memberships`` must be loaded."""
    roles: Mapping[uuid.UUID, Role] = {m.community_id: m.role for m in account.memberships}
    return Actor(
        kind="account",
        name=account.display_name,
        account_id=account.id,
        profile_id=profile_id,
        roles=roles,
        service_admin=account.service_admin,
        communities=None if account.service_admin else frozenset(roles),
        may_open_communities=account.service_admin,
    )


def deferred_actor(session: Session, account_id: uuid.UUID, community_id: uuid.UUID) -> Actor:
    """The account as an actor for what it asked for earlier and a job carries out now in one community.

    The roles are today's, and in an archived community the actor may change nothing. The caller holds the community's
    lock.

    Raises:
        Forbidden: the account is disabled.
    """
    account = get(session, account_id, again=True)
    if account.disabled_at is not None:
        raise Forbidden(_("the account was disabled"))
    community = session.get_one(Community, community_id, populate_existing=True)
    closed = frozenset({community_id}) if community.archived_at is not None else frozenset[uuid.UUID]()
    return replace(actor_for(account), archived=closed)


def get(session: Session, account_id: uuid.UUID, *, again: bool = False) -> Account:
    """The account with its memberships. ``again``: as they are now, though the session has read them before.

    Raises:
        NotFound: there is no such account.
    """
    account = session.scalars(
        sa.select(Account)
        .where(Account.id == account_id)
        .options(selectinload(Account.memberships))
        .execution_options(populate_existing=again)
    ).first()
    if account is None:
        raise NotFound("account")
    return account


def has_any(session: Session) -> bool:
    return session.scalar(sa.select(Account.id).limit(1)) is not None
