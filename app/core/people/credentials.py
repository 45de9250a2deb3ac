"""How people get an account and keep it theirs: sign-up, confirmation, reset, a new address or password.

Nothing here tells whether an address has an account: whoever asks gets the same answer, the address gets the mail.
Passwords come hashed (``accounts.hash_password``), for hashing takes its time and a transaction should not.
"""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import clock, limits, mail
from app.core.errors import Conflict, Invalid
from app.core.mail import Kind
from app.core.models import Account, Membership
from app.core.people import accounts, mailed_links, sessions
from app.core.vocabulary import LinkPurpose

BATCH = 100
"""Accounts forgotten in one transaction."""


def sign_up(session: Session, address: str, display_name: str, password_hash: str) -> None:
    """Create an account that waits for its confirmation; somebody who has one is told so by mail.

    Until the address is confirmed anybody may have typed it, so each link confirms the password of its own sign-up:
    whoever opens the mail they asked for gets the password they chose. ``address`` is ``rules.email``'s.

    Raises:
        Invalid: the name is blank or too long.
    """
    limits.text(display_name, "display_name", limits.NAME_MAX)
    account = accounts.find(session, address)
    if account is None:
        try:
            account = accounts.insert(session, address, password_hash, display_name)
        except Conflict:  # somebody else typed it at the same moment
            sign_up(session, address, display_name, password_hash)
            return
    if account.confirmed_at or account.disabled_at:
        mail.ask(session, Kind.ADDRESS_TAKEN, account_id=account.id)
        return
    _mail_confirmation(session, account, password_hash, display_name)


def send_again(session: Session, address: str) -> None:
    """Mail another confirmation link, to somebody who has just shown the password."""
    account = accounts.find(session, address)
    if account is not None and account.confirmed_at is None and account.disabled_at is None:
        _mail_confirmation(session, account, account.password_hash, account.display_name)


def _mail_confirmation(session: Session, account: Account, password_hash: str, display_name: str) -> None:
    account.password_hash, account.display_name = password_hash, display_name
    link = mailed_links.begin(
        session,
        LinkPurpose.CONFIRM,
        account.email,
        account.id,
        password_hash=password_hash,
        display_name=display_name,
    )
    mail.ask(session, Kind.CONFIRM, link_id=link.id)


def confirm(session: Session, token: str) -> Account:
    """The address is theirs: they can sign in from now on.

    Raises:
        LinkOver: the link does not work any more.
    """
    link = mailed_links.use(session, token, LinkPurpose.CONFIRM)
    account = session.get(Account, link.account_id)
    if account is None or account.disabled_at is not None or account.email != link.email:
        raise mailed_links.LinkOver
    if account.confirmed_at is None:
        account.password_hash = link.password_hash or account.password_hash
        account.display_name = link.display_name or account.display_name
        account.confirmed_at = clock.now()
    mailed_links.drop(session, account.id, LinkPurpose.CONFIRM)
    session.flush()
    return account


def forgot(session: Session, address: str) -> None:
    """Mail a link to choose a new password. An address without account costs the same and gets nothing."""
    account = accounts.find(session, address)
    known = account is not None and account.disabled_at is None
    if account is not None and known:
        mailed_links.drop(session, account.id, LinkPurpose.RESET)
    link = mailed_links.begin(
        session, LinkPurpose.RESET, address, account.id if account is not None and known else None
    )
    mail.ask(session, Kind.RESET, link_id=link.id)


def reset(session: Session, token: str, password_hash: str) -> Account:
    """Set a new password, end every session, and confirm the address, for the link came by mail.

    Raises:
        LinkOver: the link does not work any more.
    """
    link = mailed_links.use(session, token, LinkPurpose.RESET)
    account = session.get(Account, link.account_id) if link.account_id else None
    if account is None or account.disabled_at is not None or account.email != link.email:
        raise mailed_links.LinkOver
    account.password_hash = password_hash
    account.confirmed_at = account.confirmed_at or clock.now()
    mailed_links.drop(session, account.id, LinkPurpose.CONFIRM, LinkPurpose.RESET, LinkPurpose.CHANGE_EMAIL)
    sessions.end_all(session, account.id)
    mail.ask(session, Kind.PASSWORD_CHANGED, account_id=account.id)
    session.flush()
    return account


def change_password(session: Session, account: Account, password_hash: str, keep: uuid.UUID) -> None:
    """Set a new password and end every session but the one in which it was asked for.

    The caller has checked the current one (``accounts.has_password``).
    """
    account.password_hash = password_hash
    mailed_links.drop(session, account.id, LinkPurpose.RESET, LinkPurpose.CHANGE_EMAIL)
    sessions.end_all(session, account.id, but=keep)
    mail.ask(session, Kind.PASSWORD_CHANGED, account_id=account.id)


def ask_new_email(session: Session, account: Account, email: str) -> str:
    """Mail a link to a new address; the old one holds until it is used. The new address, as it will be kept.

    Raises:
        Invalid: no address, or the one in force.
    """
    address = limits.email(email)
    if address == account.email:
        raise Invalid.field("email", "is your address already", email)
    mailed_links.drop(session, account.id, LinkPurpose.CHANGE_EMAIL)
    taken = accounts.find(session, address)
    if taken is not None and taken.confirmed_at is not None:
        # Whoever has that address is told; whoever asked is told the same as always.
        mail.ask(session, Kind.ADDRESS_TAKEN, account_id=taken.id)
        return address
    link = mailed_links.begin(session, LinkPurpose.CHANGE_EMAIL, address, account.id)
    mail.ask(session, Kind.CHANGE_EMAIL, link_id=link.id)
    return address


def confirm_email(session: Session, token: str) -> Account:
    """Sign in with the new address from now on; the old one gets a notice.

    Raises:
        LinkOver: the link does not work any more, or the address has an account by now.
    """
    link = mailed_links.use(session, token, LinkPurpose.CHANGE_EMAIL)
    account = session.get(Account, link.account_id)
    if account is None or account.disabled_at is not None:
        raise mailed_links.LinkOver
    taken = accounts.find(session, link.email)
    if taken is not None:
        if taken.confirmed_at is not None:
            raise mailed_links.LinkOver
        # An account that nobody confirmed is nobody's: the address is whose mail this is.
        accounts.discard(session, taken)
    try:
        with session.begin_nested():
            link.previous_email, account.email = account.email, link.email
    except IntegrityError:  # somebody else confirmed it at the same moment
        raise mailed_links.LinkOver from None
    mailed_links.drop(session, account.id, LinkPurpose.RESET, LinkPurpose.CHANGE_EMAIL)
    mail.ask(session, Kind.EMAIL_CHANGED, link_id=link.id)
    return account


def prune_unconfirmed(session: Session, before: datetime) -> int:
    """Forget accounts made before this moment that nobody ever confirmed; how many, a batch at a time."""
    found = session.scalars(
        sa.select(Account)
        .where(
            Account.confirmed_at.is_(None),
            Account.created_at < before,
            # One that was given a role waits for its owner.
            Account.id.not_in(sa.select(Membership.account_id)),
        )
        .limit(BATCH)
    ).all()
    for account in found:
        accounts.discard(session, account)
    return len(found)


def rename(session: Session, account: Account, display_name: str) -> None:
    """The name that others read.

    Raises:
        Invalid: blank or too long.
    """
    account.display_name = limits.text(display_name.strip(), "display_name", limits.NAME_MAX)
    session.flush()
