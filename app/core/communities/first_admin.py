"""The one-time link that creates the first admin of a new service (docs/run/first-hour.md).

While there is no admin, ``serve`` creates a link at each start. It works once, within an hour, and stops working as
soon as there is any admin.
"""

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.communities import founding
from app.core.communities.founding import Founding
from app.core.db import serialise
from app.core.errors import Conflict
from app.core.models import Account, AccountLink, Community, Membership
from app.core.people import accounts, mailed_links
from app.core.people.mailed_links import LinkOver
from app.core.vocabulary import LinkPurpose, Role

_PURPOSE = LinkPurpose.FIRST_ADMIN


def is_needed(session: Session) -> bool:
    """Whether there is no admin yet, of the service or of any community.

    A disabled account counts: disabling an admin must not make this link available again.
    """
    admins = sa.select(Account.id).where(Account.service_admin).limit(1)
    of_communities = sa.select(Membership.id).where(Membership.role == Role.ADMIN).limit(1)
    return session.scalar(admins) is None and session.scalar(of_communities) is None


def begin(session: Session) -> str | None:
    """Create a link, replacing any earlier one. Return its token, or None once there is an admin."""
    serialise(session, accounts.ADMINS_LOCK)
    session.execute(
        sa.update(AccountLink)
        .where(
            AccountLink.purpose == _PURPOSE,
            AccountLink.used_at.is_(None),
            AccountLink.withdrawn_at.is_(None),
        )
        .values(withdrawn_at=clock.now())
        .execution_options(synchronize_session=False)
    )
    if not is_needed(session):
        return None
    # No e-mail address is known yet: the person who opens the link enters theirs.
    link = mailed_links.begin(session, _PURPOSE, email="")
    minted = mailed_links.mint(session, link.id)
    return minted[1] if minted is not None else None


def works(session: Session, token: str) -> bool:
    """Whether the link can be used now."""
    try:
        check(session, token)
    except LinkOver:
        return False
    return True


def check(session: Session, token: str) -> None:
    """Raise if the link cannot be used.

    Raises:
        LinkOver: it was used or replaced, has expired, or there is an admin.
    """
    mailed_links.find(session, token, _PURPOSE)
    if not is_needed(session):
        raise LinkOver


def create(
    session: Session,
    token: str,
    address: str,
    display_name: str,
    password_hash: str,
    *,
    community_name: str = "",
) -> tuple[Account, Community | None]:
    """Create the first admin's account, already confirmed, and, if named, their community.

    ``address`` is normalised by ``limits.email``; ``password_hash`` comes from ``passwords.hash_password``. An
    unconfirmed account with this address is taken over, because nobody has proved to own it.

    Raises:
        LinkOver: the link does not work any more.
        Conflict: the address has a confirmed account; its owner must sign in and open the link again.
        Invalid: a name is blank or too long.
    """
    _use(session, token)
    limits.text(display_name, "display_name", limits.NAME_MAX)
    account = accounts.find(session, address)
    if account is None:
        account = accounts.insert(
            session, address, password_hash, display_name, confirmed=True, service_admin=True
        )
    elif account.confirmed_at is not None or account.disabled_at is not None:
        raise Conflict(
            "This address has an account already. Sign in with it, then open the link again", account.id
        )
    else:
        account.password_hash, account.display_name = password_hash, display_name
        account.confirmed_at = clock.now()
        accounts.make_service_admin(session, account)
        mailed_links.drop(session, account.id, LinkPurpose.CONFIRM, LinkPurpose.RESET)
        session.flush()
    return account, _community(session, account.id, community_name)


def promote(
    session: Session, token: str, account_id: uuid.UUID, *, community_name: str = ""
) -> Community | None:
    """Make a signed-in account the first admin and, if named, open a community.

    Raises:
        LinkOver: the link does not work any more.
        Invalid: the community's name is too long.
    """
    _use(session, token)
    account = accounts.get(session, account_id)
    accounts.make_service_admin(session, account)
    session.flush()
    return _community(session, account_id, community_name)


def _use(session: Session, token: str) -> None:
    # When two requests use the link at once, or one does while `create-account` runs, the second finds an admin.
    serialise(session, accounts.ADMINS_LOCK)
    check(session, token)
    mailed_links.use(session, token, _PURPOSE)


def _community(session: Session, account_id: uuid.UUID, name: str) -> Community | None:
    if not name.strip():
        return None
    actor = accounts.actor_for(accounts.get(session, account_id))
    return founding.found_community(session, actor, Founding(name.strip()), open_to_all=True)
