"""Invitations: an admin names an e-mail address and a role; its owner accepts by a mailed link (ASVS 6.3)."""

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
from app.core.history.reason import Reason
from app.core.mail import Kind
from app.core.models import Account, AccountLink, Community, Membership
from app.core.people import accounts, mailed_links
from app.core.people.mailed_links import LinkOver
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _
from app.core.vocabulary import LinkPurpose, Role

OBJECT = "invitation"
"""The object type in history. The e-mail address is only in ``account_links``, never in history."""


@dataclass(frozen=True)
class Pending:
    """An invitation that has not been accepted yet. ``failed_at``: when sending its mail was given up."""

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
    """What an invitation's page shows. ``account_id``: the confirmed account with that e-mail address, if any.

    ``confirms``: whether accepting proves to own the address. A link that was shown to the inviter instead of mailed
    proves nothing, except that a service admin vouches for it.
    """

    email: str
    role: Role
    community: Community
    invited_by: str | None
    account_id: uuid.UUID | None
    confirms: bool


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
    """Create an invitation and mail it. It replaces a pending one for the same e-mail address.

    Without ``by_mail`` nothing is sent: ``mailed_links.mint`` returns the token, to be passed on in another way. The
    address of a new member then stays unconfirmed, unless a service admin invited them.

    Raises:
        Invalid: not an e-mail address, its account already has a role here, or too many invitations are open.
        Forbidden: the role is above the actor's own, or the actor may not manage people.
    """
    require(actor, Permission.MANAGE_PEOPLE, community_id)
    refuse_above_own(actor, community_id, role)
    address = limits.email(email)
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    serialise(session, community_id)
    current_role = session.scalar(
        sa.select(Membership.role)
        .join(Account, Account.id == Membership.account_id)
        .where(
            # A mailed link would prove to own the address, which such a member has not done.
            Account.email.in_((address,) if by_mail else (address, address + limits.UNCONFIRMED)),
            Membership.community_id == community_id,
        )
    )
    if current_role is not None:
        raise Invalid.field(
            "email",
            _("belongs to a member of this community already"),
            email,
        )
    for earlier in session.scalars(_waiting(community_id).where(AccountLink.email == address)):
        _end(session, actor, earlier)
    waiting = sa.select(sa.func.count()).select_from(_waiting(community_id).subquery())
    limits.room(limits.INVITATIONS, session.scalar(waiting) or 0, "email")
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
        reason=Reason(reason),
    )
    return link


def withdraw(session: Session, actor: Actor, invitation_id: uuid.UUID) -> AccountLink:
    """Withdraw an invitation, so that its link no longer works.

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
        raise Conflict(_("This invitation was accepted or is over"), link.id)
    _end(session, actor, link)
    return link


def pending(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[Pending]:
    """The pending invitations with the names of the inviters, newest first."""
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


def find_offer(session: Session, token: str) -> Offer:
    """What the invitation's link offers, without accepting it.

    Raises:
        LinkOver: the link does not work any more, or the inviter may no longer invite.
    """
    link = mailed_links.find(session, token, LinkPurpose.INVITE)
    community = session.get(Community, link.community_id) if link.community_id else None
    if community is None or link.role is None or not _is_still_allowed(session, link):
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
        confirms=link.sent_at is not None or inviter is None or inviter.service_admin,
    )


def accept(session: Session, account: Account, token: str) -> Membership:
    """Join the community with the invitation's role. A higher role that the account already has stays.

    Raises:
        LinkOver: the link does not work any more.
        Forbidden: the invitation is for another e-mail address.
    """
    offer = find_offer(session, token)
    if account.id != offer.account_id:
        raise Forbidden(_("This invitation is for %(email)s", email=offer.email))
    return _join(session, account, offer, token)


def _join(session: Session, account: Account, offer: Offer, token: str) -> Membership:
    serialise(session, offer.community.id)
    link = mailed_links.use(session, token, LinkPurpose.INVITE)
    link.account_id = account.id
    membership = session.scalars(
        sa.select(Membership).where(
            Membership.account_id == account.id, Membership.community_id == offer.community.id
        )
    ).first()
    if membership is not None and membership.role.rank >= offer.role.rank:
        if membership.provider_id is not None:
            # What people give stays when the provider takes its own.
            membership.given_role = max(
                membership.given_role or offer.role, offer.role, key=lambda role: role.rank
            )
        return membership
    # The account may have no membership at all yet: the actor needs none to accept.
    actor = Actor(kind="account", name=account.display_name, account_id=account.id)
    cause = f"invitation {link.id}"
    return accounts.give_role(session, actor, account, offer.community.id, offer.role, cause=cause)


def accept_new(session: Session, token: str, display_name: str, password_hash: str) -> Account:
    """Create or confirm the account of the invitation's e-mail address, and join with it.

    If the link was mailed to the address, that confirms it. Otherwise (``Offer.confirms``) the new member signs in with
    the address, but it stays unconfirmed: it gets no mail, no invitation matches it, and a sign-up that waits for its
    confirmation is left alone. ``password_hash`` comes from ``passwords.hash_password``.

    Raises:
        LinkOver: the link does not work any more.
        Conflict: the address has a confirmed account, which must sign in instead; or another member signs in with it
            unconfirmed.
        Invalid: the name is blank or too long, or the address too long to be kept unconfirmed.
    """
    offer = find_offer(session, token)
    if offer.account_id is not None:
        raise Conflict(_("This address has an account. Sign in to accept"), offer.account_id)
    limits.text(display_name, "display_name", limits.NAME_MAX)
    if not offer.confirms:
        member = accounts.insert_unconfirmed_member(session, offer.email, password_hash, display_name)
        _join(session, member, offer, token)
        return member
    account = accounts.find(session, offer.email)
    if account is None:
        account = accounts.insert(session, offer.email, password_hash, display_name, confirmed=True)
    elif account.disabled_at is not None:
        raise LinkOver
    else:
        account.password_hash, account.display_name = password_hash, display_name
        account.confirmed_at = clock.now()
        mailed_links.drop(session, account.id, LinkPurpose.CONFIRM, LinkPurpose.RESET)
    _join(session, account, offer, token)
    return account


def refuse_above_own(actor: Actor, community_id: uuid.UUID, role: Role) -> None:
    """Refuse to grant a role above the actor's own.

    Raises:
        Forbidden: ``role`` is above it.
    """
    if actor.kind == "system":
        return
    actor_role = actor.role_in(community_id)
    if actor_role is None or actor_role.rank < role.rank:
        raise Forbidden(_("You may not give a role above your own"))


def _is_still_allowed(session: Session, link: AccountLink) -> bool:
    """Whether the inviter could still send it: a removed admin's invitations stop working."""
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
