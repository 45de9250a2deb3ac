"""Sign-up, confirmation, password reset, and changes of e-mail address or password.

No function reveals whether an e-mail address has an account: the caller always gets the same answer, and the
details go to the address by mail. Passwords arrive hashed (``passwords.hash_password``), because hashing is slow and
must not happen inside a transaction.
"""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import clock, limits, mail, security_events
from app.core.errors import Conflict, Invalid, NotFound
from app.core.mail import Kind
from app.core.models import Account, Membership, Removal
from app.core.people import accounts, mailed_links, sessions
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import LinkPurpose, SessionEnd

BATCH = 100
"""Accounts deleted in one transaction."""


def sign_up(session: Session, address: str, display_name: str, password_hash: str) -> None:
    """Create an account that waits for confirmation. If one exists, its owner gets a mail that says so.

    Until the address is confirmed, a stranger may have typed it. Each link therefore confirms the password of its own
    sign-up: the person who opens the mail that they requested gets the password they chose. ``address`` is
    normalised by ``limits.email``.

    Raises:
        Invalid: the name is blank or too long.
    """
    limits.text(display_name, "display_name", limits.NAME_MAX)
    account = accounts.find(session, address)
    if account is None:
        try:
            account = accounts.insert(session, address, password_hash, display_name)
        except Conflict:  # another request inserted the same address at the same moment
            sign_up(session, address, display_name, password_hash)
            return
    if account.confirmed_at or account.disabled_at:
        mail.ask(session, Kind.ADDRESS_TAKEN, account_id=account.id)
        return
    _mail_confirmation(session, account, password_hash, display_name)


def send_again(session: Session, address: str) -> None:
    """Mail another confirmation link. The caller has just checked the password."""
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
    """Confirm the account's e-mail address; from now on it can sign in.

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


def request_reset(session: Session, address: str) -> None:
    """Mail a link to choose a new password. An address without an account costs the same time and gets no mail."""
    account = accounts.find(session, address)
    known = account is not None and account.disabled_at is None
    if account is not None and known:
        mailed_links.drop(session, account.id, LinkPurpose.RESET)
    link = mailed_links.begin(
        session, LinkPurpose.RESET, address, account.id if account is not None and known else None
    )
    mail.ask(session, Kind.RESET, link_id=link.id)


def reset(session: Session, token: str, password_hash: str) -> Account:
    """Set a new password and end every session. This also confirms the address, because the link came by mail.

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
    sessions.end_all(session, account.id, reason=SessionEnd.PASSWORD)
    mail.ask(session, Kind.PASSWORD_CHANGED, account_id=account.id)
    security_events.log_at_commit(session, SecurityEvent.PASSWORD_CHANGED, account_id=account.id, by="reset")
    session.flush()
    return account


def change_password(session: Session, account: Account, password_hash: str, keep: uuid.UUID) -> None:
    """Set a new password and end every session except ``keep``, the one that asked for it.

    The caller has checked the current password (``passwords.has_password``).
    """
    account.password_hash = password_hash
    mailed_links.drop(session, account.id, LinkPurpose.RESET, LinkPurpose.CHANGE_EMAIL)
    sessions.end_all(session, account.id, reason=SessionEnd.PASSWORD, but=keep)
    mail.ask(session, Kind.PASSWORD_CHANGED, account_id=account.id)
    security_events.log_at_commit(session, SecurityEvent.PASSWORD_CHANGED, account_id=account.id, by="owner")


def ask_new_email(session: Session, account: Account, email: str) -> str:
    """Mail a link to a new e-mail address; the old one stays in use until the link is opened.

    Returns the normalised new address.

    Raises:
        Invalid: not an e-mail address, or the account's current one.
    """
    address = limits.email(email)
    if address == account.email:
        raise Invalid.field("email", _("is your address already"), email)
    mailed_links.drop(session, account.id, LinkPurpose.CHANGE_EMAIL)
    taken = accounts.find(session, address)
    if taken is not None and taken.confirmed_at is not None:
        # Notify the owner of that address; the person who asked gets the same answer as always.
        mail.ask(session, Kind.ADDRESS_TAKEN, account_id=taken.id)
        return address
    link = mailed_links.begin(session, LinkPurpose.CHANGE_EMAIL, address, account.id)
    mail.ask(session, Kind.CHANGE_EMAIL, link_id=link.id)
    return address


def confirm_email(session: Session, token: str) -> Account:
    """Replace the account's e-mail address with the confirmed one, and notify the old address.

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
        # An unconfirmed account does not own the address; the person who opened this mail does.
        accounts.discard(session, taken)
    previous = account.email if account.confirmed_at is not None else None
    try:
        with session.begin_nested():
            link.previous_email, account.email = previous, link.email
            account.confirmed_at = account.confirmed_at or clock.now()
    except IntegrityError:  # another account confirmed the address at the same moment
        raise mailed_links.LinkOver from None
    mailed_links.drop(session, account.id, LinkPurpose.RESET, LinkPurpose.CHANGE_EMAIL)
    security_events.log_at_commit(session, SecurityEvent.EMAIL_CHANGED, account_id=account.id)
    if previous is not None:
        mail.ask(session, Kind.EMAIL_CHANGED, link_id=link.id)
    return account


def make_sign_in_link(session: Session, address: str) -> str:
    """Make a link that signs a service admin in once, for when nothing else does. Return its token; earlier links end.

    Raises:
        NotFound: no service admin who can sign in has this address.
    """
    account = accounts.find(session, limits.email(address))
    if account is None or not account.service_admin or account.disabled_at is not None:
        raise NotFound(f"a service admin with the address {address} was")
    mailed_links.drop(session, account.id, LinkPurpose.SIGN_IN)
    link = mailed_links.begin(session, LinkPurpose.SIGN_IN, account.email, account.id)
    minted = mailed_links.mint(session, link.id)
    assert minted is not None  # noqa: S101 - it was begun just now; narrows the type
    security_events.log_at_commit(session, SecurityEvent.SIGN_IN_LINK_MADE, account_id=account.id)
    return minted[1]


def use_sign_in_link(session: Session, token: str) -> Account:
    """The account of a link that the command line made. It works once.

    Raises:
        LinkOver: the link does not work any more, or its account is no service admin's.
    """
    link = mailed_links.use(session, token, LinkPurpose.SIGN_IN)
    account = session.get(Account, link.account_id)
    if account is None or account.disabled_at is not None or not account.service_admin:
        raise mailed_links.LinkOver
    return account


def warn_of_failures(session: Session, account_id: uuid.UUID) -> None:
    """Mail the account's owner that many sign-ins failed. At most once a day (UTC)."""
    key = f"{Kind.SIGN_IN_FAILURES}:{account_id}:{clock.now():%Y-%m-%d}"
    mail.ask(session, Kind.SIGN_IN_FAILURES, account_id=account_id, key=key)


def prune_unconfirmed(session: Session, before: datetime) -> int:
    """Delete accounts created before ``before`` and never confirmed. Return how many; at most ``BATCH`` per call.

    Disabled accounts stay, and with them erased ones, which other rows may refer to (``upkeep.erasure``).
    """
    unconfirmed = session.scalars(
        sa.select(Account)
        .where(
            Account.confirmed_at.is_(None),
            Account.created_at < before,
            Account.disabled_at.is_(None),
            ~Account.email.endswith(limits.UNCONFIRMED),
            # An account with a role waits for its owner, and whom an admin removed stays removed.
            Account.id.not_in(sa.select(Membership.account_id)),
            Account.id.not_in(sa.select(Removal.account_id)),
        )
        .limit(BATCH)
    ).all()
    for account in unconfirmed:
        accounts.discard(session, account)
    return len(unconfirmed)


def rename(session: Session, account: Account, display_name: str) -> None:
    """Change the display name that others see.

    Raises:
        Invalid: blank or too long.
    """
    account.display_name = limits.text(display_name.strip(), "display_name", limits.NAME_MAX)
    session.flush()
