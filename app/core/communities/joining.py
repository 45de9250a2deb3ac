"""Join a public community as a rater, and leave it."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Account, Community, IdentityProvider, Membership, Removal
from app.core.people import accounts
from app.core.permissions import Actor
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import Role

CAUSE = lazy_gettext("joined a public community")
LEFT = lazy_gettext("left")


@dataclass(frozen=True)
class Choice:
    """A public community, and the role that the account has there, or None."""

    community: Community
    role: Role | None


def choices(
    session: Session, account: Account, *, words: str = "", after: uuid.UUID | None = None, size: int = 50
) -> tuple[Sequence[Choice], uuid.UUID | None]:
    """A page of public communities by name, and the id to pass as ``after`` for the next page (None at the end)."""
    listed = (
        sa.select(Community, Membership.role)
        .outerjoin(
            Membership,
            sa.and_(Membership.community_id == Community.id, Membership.account_id == account.id),
        )
        .where(Community.is_public, Community.is_active, Community.archived_at.is_(None))
    )
    if words.strip():
        listed = listed.where(Community.name.icontains(words.strip()[:100], autoescape=True))
    last = session.get(Community, after) if after is not None else None
    if last is not None:
        listed = listed.where(sa.tuple_(Community.name, Community.id) > sa.tuple_(last.name, last.id))
    rows = session.execute(listed.order_by(Community.name, Community.id).limit(size + 1)).all()
    page = [Choice(community, role) for community, role in rows[:size]]
    return page, page[-1].community.id if len(rows) > size else None


def join(session: Session, actor: Actor, account: Account, community_id: uuid.UUID) -> Community:
    """Become a rater there. An account that has a role keeps it.

    Raises:
        NotFound: no such community, or it is not public.
        Forbidden: an admin there removed the account; an invitation brings it back.
    """
    community = session.get(Community, community_id)
    if community is None or not community.is_public or not community.is_active or community.archived_at:
        raise NotFound("community")
    serialise(session, community_id)
    if _membership(session, account, community_id) is None:
        if session.get(Removal, (community_id, account.id)) is not None:
            raise Forbidden(_("An admin of this community removed you. Ask there for an invitation"))
        accounts.give_role(session, actor, account, community_id, Role.RATER, cause=CAUSE)
    return community


def leave(session: Session, actor: Actor, account: Account, community_id: uuid.UUID) -> Community:
    """Stop being a rater there. Ratings and notes stay.

    Raises:
        NotFound: the account is not a member.
        Conflict: it has a higher role, which others may rely on; or the groups of a provider give the role.
    """
    serialise(session, community_id)
    membership, community = _membership(session, account, community_id), session.get(Community, community_id)
    if membership is None or community is None:
        raise NotFound("community")
    if membership.role is not Role.RATER:
        raise Conflict(
            _(
                "You have a higher role than rater in %(community)s. Ask an admin there to take it first",
                community=community.name,
            )
        )
    if membership.provider_id is not None:
        label = session.get_one(IdentityProvider, membership.provider_id).label
        raise Conflict(
            _("The groups of %(provider)s give you your role here, and would do so again", provider=label)
        )
    session.delete(membership)
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "role.taken",
        "account",
        account.id,
        before={"role": membership.role.value},
        after={"role": None},
        reason=Reason(cause=LEFT),
    )
    accounts.log_role_change(session, actor, account.id, community_id, membership.role.value, None)
    return community


def _membership(session: Session, account: Account, community_id: uuid.UUID) -> Membership | None:
    return session.scalars(
        sa.select(Membership).where(
            Membership.account_id == account.id, Membership.community_id == community_id
        )
    ).first()
