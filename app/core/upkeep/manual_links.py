"""Links members to platform profiles manually, for members who cannot enter a code (docs/moderate/admin.md).

The effect is the same as with a code (``linking``): the profile's ratings become the member's.
"""

import uuid
from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.models import Account, Note, Profile, Rating
from app.core.people import members, profiles
from app.core.permissions import Actor, Permission, allows, require
from app.core.upkeep import linking

SHOWN = 20


def search(session: Session, actor: Actor, community_id: uuid.UUID, words: str) -> Sequence[Profile]:
    """Platform profiles that rated or wrote here and whose name or id contains ``words``; linked ones too."""
    require(actor, Permission.MANAGE_PEOPLE, community_id)
    if not words.strip():
        return []
    return session.scalars(
        sa.select(Profile)
        .where(
            _is_active_in(community_id),
            sa.or_(
                Profile.display_name.icontains(words.strip(), autoescape=True),
                Profile.platform_user_id.icontains(words.strip(), autoescape=True),
            ),
        )
        .order_by(Profile.display_name, Profile.id)
        .limit(SHOWN)
    ).all()


def link(
    session: Session, actor: Actor, membership_id: uuid.UUID, profile_id: uuid.UUID, reason: str
) -> Profile:
    """Link a profile that is active in the member's community to their account.

    Raises:
        NotFound: the member or the profile is unknown here.
        Forbidden: the profile is also active in a community that the actor does not administer.
        Conflict: it is linked already, or the account has the most profiles allowed.
    """
    member = members.get(session, actor, membership_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    community_id = member.membership.community_id
    profile = _locked(session, profile_id)
    is_here = sa.select(Profile.id).where(Profile.id == profile_id, _is_active_in(community_id))
    if profile is None or session.scalar(is_here) is None:
        raise NotFound("profile")
    if profile.account_id == member.account.id:
        return profile
    if profile.account_id is not None:
        raise Conflict("This profile is linked to another account; unlink it there first", profile.id)
    _check_administers(actor, linking.communities_of(session, profile))
    account = session.get_one(Account, member.account.id)
    return linking.join(session, actor, profile, account, reason=reason)


def unlink(
    session: Session, actor: Actor, membership_id: uuid.UUID, profile_id: uuid.UUID, reason: str
) -> Profile:
    """Unlink a member's profile; from now on it is a separate rater.

    Raises:
        NotFound: it is not linked to this member.
        Forbidden: the link also affects a community that the actor does not administer.
    """
    member = members.get(session, actor, membership_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    profile = _locked(session, profile_id)
    if profile is None or profile.platform == profiles.WEB or profile.account_id != member.account.id:
        raise NotFound("linked profile")
    _check_administers(actor, linking.recorded_in(session, profile))
    linking.detach(session, actor, profile, reason=reason)
    return profile


def _locked(session: Session, profile_id: uuid.UUID) -> Profile | None:
    """The profile's current row; nobody can rate with it until the transaction ends (``profiles.hold_canonical``)."""
    serialise(session, profile_id)
    return session.get(Profile, profile_id, populate_existing=True)


def _is_active_in(community_id: uuid.UUID) -> sa.ColumnElement[bool]:
    rated = sa.select(Rating.rater_id).where(Rating.community_id == community_id)
    wrote = sa.select(Note.author_id).where(Note.community_id == community_id)
    return sa.and_(
        Profile.platform.not_in((profiles.WEB, profiles.SERVICE_PLATFORM)),
        sa.or_(Profile.id.in_(rated), Profile.id.in_(wrote)),
    )


def _check_administers(actor: Actor, communities: Collection[uuid.UUID]) -> None:
    if not all(allows(actor, Permission.MANAGE_PEOPLE, community_id) for community_id in communities):
        raise Forbidden(linking.NOT_YOURS)
