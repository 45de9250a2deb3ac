"""Invitations: an admin names an address and a role; whoever reads mail there accepts (ASVS 6.3)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, mail
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.mail import Kind
from app.core.models import Account, AccountLink, Community, Membership
from app.core.people import accounts, mailed_links
from app.core.people.mailed_links import LinkOver
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import LinkPurpose, Role

OBJECT = "invitation"
"""What history calls it. The address stands in ``account_links`` alone, never in history."""


@dataclass(frozen=True)
class Pending:
    """An invitation that nobody has accepted yet. ``failed_at``: its mail was given up."""

    id: uuid.UUID
    email: str
    role: Role
    invited_by: str | None
    created_at: datetime
    expires_at: datetime
    sent_at: datetime | None
    failed_at: datetime | None


@dataclass(frozen=True)
class Offer:
    """What an invitation's page shows. ``account_id``: the confirmed account with that address, if there is one."""

    email: str
    role: Role
    community: Community
    invited_by: str | None
    account_id: uuid.UUID | None


def invite(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    email: str,
    role: Role,
    reason: str = "",
    *,
    by_mail: bool = True,
) -> AccountLink:
    """Have an invitation mailed; one that waits for the same address gives way to it.

    Without ``by_mail`` nothing is sent: ``account_links.mint`` gives the token, to be handed over otherwise.

    Raises:
        Invalid: no address, or somebody who has that role or a higher one here already.
        Forbidden: the role is above the actor's own, or the actor may not manage people.
    """
    require(actor, Permission.MANAGE_PEOPLE, community_id)
    refuse_above_own(actor, community_id, role)
    address = limits.email(email)
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    serialise(session, community_id)
    held = session.scalar(
        sa.select(Membership.role)
        .join(Account, Account.id == Membership.account_id)
        .where(Account.email == address, Membership.community_id == community_id)
    )
    if held is not None:
        raise Invalid.field("email", f"belongs to somebody who is {held} here already", email)
    for earlier in session.scalars(_waiting(community_id).where(AccountLink.email == address)):
        _end(session, actor, earlier)
    link = mailed_links.begin(
        session,
        LinkPurpose.INVITE,
        address,
        community_id=community_id,
        role=role,
        invited_by_id=actor.account_id,
    )
    if by_mail:
        mail.ask(session, Kind.INVITE, link_id=link.id)
    history.record(
        session,
        actor,
        community_id,
        "invitation.sent",
        OBJECT,
        link.id,
        after={"role": role.value},
        why=Why(reason),
    )
    return link


def withdraw(session: Session, actor: Actor, invitation_id: uuid.UUID) -> AccountLink:
    """Let an invitation work no more.

    Raises:
        NotFound: unknown, or another community's.
        Conflict: it was accepted or withdrawn already, or has expired.
    """
    link = session.get(AccountLink, invitation_id)
    if link is None or link.community_id is None or not actor.sees(link.community_id):
        raise NotFound("invitation")
    require(actor, Permission.MANAGE_PEOPLE, link.community_id, "invitation")
    serialise(session, link.community_id)
    session.refresh(link)
    if link.used_at or link.withdrawn_at or link.expires_at <= clock.now():
        raise Conflict("This invitation was accepted or is over", link.id)
    _end(session, actor, link)
    return link


def pending(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[Pending]:
    """The invitations that wait, newest first, with who sent them."""
    require(actor, Permission.MANAGE_PEOPLE, community_id)
    rows = session.execute(
        _waiting(community_id)
        .add_columns(Account.display_name)
        .outerjoin(Account, Account.id == AccountLink.invited_by_id)
        .order_by(AccountLink.created_at.desc(), AccountLink.id.desc())
    )
    return [
        Pending(
            link.id,
            link.email,
            link.role or Role.RATER,
            inviter,
            link.created_at,
            link.expires_at,
            link.sent_at,
            link.failed_at,
        )
        for link, inviter in rows
    ]


def look(session: Session, token: str) -> Offer:
    """What the link offers, without accepting it.

    Raises:
        LinkOver: it does not work any more; whoever sent it may no longer invite, either.
    """
    link = mailed_links.find(session, token, LinkPurpose.INVITE)
    community = session.get(Community, link.community_id) if link.community_id else None
    if community is None or link.role is None or not _stands(session, link):
        raise LinkOver
    inviter = session.get(Account, link.invited_by_id) if link.invited_by_id else None
    account = accounts.find(session, link.email)
    confirmed = account is not None and account.confirmed_at is not None
    return Offer(
        link.email,
        link.role,
        community,
        inviter.display_name if inviter else None,
        account.id if account is not None and confirmed else None,
    )


def accept(session: Session, account: Account, token: str) -> Membership:
    """Join as the invitation says, as the account of its address. A higher role that one has stays.

    Raises:
        LinkOver: the link does not work any more.
        Forbidden: the invitation is for another address.
    """
    offer = look(session, token)
    if account.email != offer.email:
        raise Forbidden(f"This invitation is for {offer.email}")
    serialise(session, offer.community.id)
    link = mailed_links.use(session, token, LinkPurpose.INVITE)
    link.account_id = account.id
    held = session.scalars(
        sa.select(Membership).where(
            Membership.account_id == account.id, Membership.community_id == offer.community.id
        )
    ).first()
    if held is not None and held.role.rank >= offer.role.rank:
        return held
    # The memberships may be about to begin: the actor needs none of them to accept.
    actor = Actor(kind="account", name=account.display_name, account_id=account.id)
    cause = f"invitation {link.id}"
    return accounts.give_role(session, actor, account, offer.community.id, offer.role, cause=cause)


def accept_new(session: Session, token: str, display_name: str, password_hash: str) -> Account:
    """Create the account of the invitation's address, or confirm the one that waits, and join with it.

    The link was mailed there, so the address is confirmed thereby. ``password_hash`` is ``accounts.hash_password``'s.

    Raises:
        LinkOver: the link does not work any more.
        Conflict: the address has a confirmed account, which has to sign in.
        Invalid: the name is blank or too long.
    """
    offer = look(session, token)
    if offer.account_id is not None:
        raise Conflict("This address has an account. Sign in to accept", offer.account_id)
    limits.text(display_name, "display_name", limits.NAME_MAX)
    account = accounts.find(session, offer.email)
    if account is None:
        account = accounts.insert(session, offer.email, password_hash, display_name, confirmed=True)
    elif account.disabled_at is not None:
        raise LinkOver
    else:
        account.password_hash, account.display_name = password_hash, display_name
        account.confirmed_at = clock.now()
        mailed_links.drop(session, account.id, LinkPurpose.CONFIRM, LinkPurpose.RESET)
    accept(session, account, token)
    return account


def refuse_above_own(actor: Actor, community_id: uuid.UUID, role: Role) -> None:
    """Nobody grants a role above their own.

    Raises:
        Forbidden: this role is.
    """
    if actor.kind == "system":
        return
    own = actor.role_in(community_id)
    if own is None or own.rank < role.rank:
        raise Forbidden("You may not give a role above your own")


def _stands(session: Session, link: AccountLink) -> bool:
    """Whether whoever sent it could send it today: an admin who was removed leaves no open doors."""
    if link.invited_by_id is None:
        return True
    inviter = accounts.get(session, link.invited_by_id)
    if inviter.disabled_at is not None or link.community_id is None or link.role is None:
        return False
    actor = accounts.actor_for(inviter)
    try:
        require(actor, Permission.MANAGE_PEOPLE, link.community_id)
        refuse_above_own(actor, link.community_id, link.role)
    except (NotFound, Forbidden):
        return False
    return True


def _waiting(community_id: uuid.UUID) -> sa.Select[AccountLink]:
    return sa.select(AccountLink).where(
        AccountLink.purpose == LinkPurpose.INVITE,
        AccountLink.community_id == community_id,
        AccountLink.used_at.is_(None),
        AccountLink.withdrawn_at.is_(None),
        AccountLink.expires_at > clock.now(),
    )


def _end(session: Session, actor: Actor, link: AccountLink) -> None:
    link.withdrawn_at = clock.now()
    session.flush()
    assert link.community_id is not None  # noqa: S101 - invitations have one; narrows the type
    history.record(session, actor, link.community_id, "invitation.withdrawn", OBJECT, link.id)
