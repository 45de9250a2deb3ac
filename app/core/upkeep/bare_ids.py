"""Bare user ids: an id that a call sends without a platform means a user of the community's own platform.

Before 0.1.0 such an id named a profile of platform ``discord`` in every community. What those profiles wrote and
rated is moved, community by community, when the person next writes or rates there.
"""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.db import serialise
from app.core.models import Community, Note, Profile, Rating
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.upkeep import linking


def ensure(session: Session, actor: Actor, identity: profiles.Identity, community: Community) -> Profile:
    """The profile of an identity in a community, created when unknown, with all that it did there before."""
    profile = profiles.ensure(session, *identity)
    take_over(session, actor, profile, community)
    return profile


def take_over(session: Session, actor: Actor, profile: Profile, community: Community) -> None:
    """Give a profile of the community's platform what a bare id of the same user did in this community before.

    Changes nothing for other profiles, nor for a former profile that is linked to an account: it is a person of
    Discord. Call it in a writing session, before anything else locks the community.
    """
    if profile.platform != community.platform or community.platform == profiles.FORMER_PLATFORM:
        return
    if profile.provider_scope != profiles.scope_in(profile.platform, community):
        return  # named by its UUID here: a person of another forum, and not whom the bare id meant
    former = session.scalars(_FORMER, {"user_id": profile.platform_user_id}).first()
    if former is None or not _is_active(session, former, profile, community):
        return
    serialise(session, former.id)
    person = profiles.hold_canonical(session, profile)
    if _is_active(session, former, person, community):
        linking.take_over(session, actor, former, person, community.id)
        session.expire_all()


# Built once: every rating sends it, and to build it takes longer than to send it.
_FORMER = sa.select(Profile).where(
    Profile.platform == profiles.FORMER_PLATFORM,
    Profile.provider_scope == "",
    Profile.platform_user_id == sa.bindparam("user_id"),
    Profile.account_id.is_(None),
)


def _is_active(session: Session, former: Profile, profile: Profile, community: Community) -> bool:
    """Whether the former profile has ratings here, or notes that can be moved."""
    rated = sa.exists().where(Rating.rater_id == former.id, Rating.community_id == community.id)
    wrote = sa.exists().where(
        Note.author_id == former.id, Note.community_id == community.id, linking.can_move(profile.id)
    )
    return bool(session.scalar(sa.select(sa.or_(rated, wrote))))
