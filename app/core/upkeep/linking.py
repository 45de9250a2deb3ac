"""Links platform profiles to the account that shows a code: one person is one rater (docs/integrate/api.md).

What a linked person rates and writes, on any platform, is stored under the account's own profile
(``profiles.hold_canonical``). Earlier ratings and notes of the platform profile move there; where both had rated
one note, the newer rating stays. Unlinking moves nothing back, because that person gave them.
"""

import uuid
from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.helpfulness import refits
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import (
    Account,
    Community,
    HistoryEntry,
    Membership,
    Note,
    Profile,
    Rating,
)
from app.core.people import mailed_links, member_lists, profiles
from app.core.permissions import Actor, Permission, allows, require
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.upkeep import moving

NOT_THE_KEYS = lazy_gettext("This profile is active in communities that this API key may not act in")
NOT_YOURS = lazy_gettext("This profile is active in communities that you do not administer")
SHOWN = 20
"""Profiles found by a search."""
OTHER_PLATFORM = lazy_gettext("None of the communities that you act for is of this profile's platform")


def linked_to(session: Session, account_id: uuid.UUID) -> Sequence[Profile]:
    """The platform profiles of an account, oldest first."""
    return session.scalars(
        sa.select(Profile)
        .where(Profile.account_id == account_id, Profile.platform != profiles.WEB)
        .order_by(Profile.created_at, Profile.id)
    ).all()


def link(session: Session, actor: Actor, profile: Profile, code: str) -> Profile:
    """Link a platform profile to the account that shows ``code``. Repeating it changes nothing.

    Raises:
        Invalid: the code is wrong, used by another profile, or expired; the same error for all.
        Conflict: the profile is linked to another account, or the account has the most profiles allowed.
        Forbidden: the profile does not belong to a platform, or is active in a community that is not the actor's.
    """
    if profile.platform in {profiles.WEB, profiles.SERVICE_PLATFORM}:
        raise Forbidden(_("Profiles of platform %(platform)s cannot be linked", platform=profile.platform))
    # The lock of ``profiles.hold_canonical``: nobody can rate with this profile while its ratings move.
    serialise(session, profile.id)
    session.refresh(profile)
    row = mailed_links.usable_code(session, profile, code)
    account = session.get_one(Account, row.account_id)
    if profile.account_id is not None and profile.account_id != account.id:
        raise Conflict(_("This profile is linked to another account; it can be unlinked there"), profile.id)
    is_new = profile.account_id is None
    row.used_at, row.profile_id = row.used_at or clock.now(), profile.id
    session.flush()
    return join(session, actor, profile, account) if is_new else profile


def join(session: Session, actor: Actor, profile: Profile, account: Account, *, reason: str = "") -> Profile:
    """Link a profile to the account and move its notes and ratings. The caller has locked and read the profile.

    Raises:
        Conflict, Forbidden: as ``link``.
    """
    rated_in = communities_of(session, profile)
    _check_platform(session, actor, profile)
    _check_reach(session, actor, account, rated_in)
    person = profiles.of_account(session, account)
    doubtful = moving.doubtful_notes(session, profile, person)
    member_of = _memberships(session, account)
    community_ids = sorted(
        {community_id for community_id in member_of if actor.sees(community_id)} | rated_in
    )
    for community_id in sorted({*community_ids, *doubtful.values()}):
        serialise(session, community_id)
    profile.account_id = account.id
    session.flush()
    for community_id in community_ids:
        history.record(
            session,
            actor,
            community_id,
            "profile.linked",
            "profile",
            profile.id,
            after={"account_profile_id": str(person.id)},
            reason=Reason(reason),
        )
    moving.move(session, actor, profile, person, doubtful, cause=f"linked profile {profile.id}")
    for community_id in sorted(rated_in):
        refits.ask(session, community_id)
    return profile


def unlink(session: Session, actor: Actor, profile_id: uuid.UUID) -> Profile:
    """Unlink a profile from the actor's own account; from now on it is a separate rater.

    Raises:
        NotFound: it is not linked to the actor's account.
    """
    profile = session.get(Profile, profile_id)
    if profile is not None:
        serialise(session, profile.id)
        session.refresh(profile)
    if (
        profile is None
        or profile.platform == profiles.WEB
        or profile.account_id is None
        or profile.account_id != actor.account_id
    ):
        raise NotFound("linked profile")
    detach(session, actor, profile)
    return profile


def detach(session: Session, actor: Actor, profile: Profile, *, reason: str = "") -> None:
    """Unlink a profile; from now on it is a separate rater. The caller has locked and read it."""
    profile.account_id = None
    session.flush()
    for community_id in sorted(recorded_in(session, profile)):
        history.record(
            session, actor, community_id, "profile.unlinked", "profile", profile.id, reason=Reason(reason)
        )


def recorded_in(session: Session, profile: Profile) -> Sequence[uuid.UUID]:
    """The communities whose history records that this profile was linked."""
    return session.scalars(
        sa.select(HistoryEntry.community_id)
        .where(
            HistoryEntry.object_type == "profile",
            HistoryEntry.object_id == profile.id,
            HistoryEntry.what == "profile.linked",
        )
        .distinct()
    ).all()


def _check_platform(session: Session, actor: Actor, profile: Profile) -> None:
    """If a platform has communities here, only their keys and admins may link the platform's profiles.

    Otherwise anybody could open a community and link people who have not come here yet to their own account.
    """
    if actor.communities is None or profile.provider_scope:
        return
    on_platform = sa.select(Community.id).where(Community.platform == profile.platform).limit(1)
    on_platform_mine = on_platform.where(Community.id.in_(actor.communities))
    if session.scalar(on_platform_mine) is None and session.scalar(on_platform) is not None:
        raise Forbidden(OTHER_PLATFORM)


def _check_reach(session: Session, actor: Actor, account: Account, active_in: Collection[uuid.UUID]) -> None:
    """Refuse to move ratings of communities that are not the actor's, or to gather many profiles in one account."""
    if not all(actor.sees(community_id) for community_id in active_in):
        raise Forbidden(NOT_YOURS if actor.kind == "account" else NOT_THE_KEYS)
    if len(linked_to(session, account.id)) >= limits.LINKED_PROFILES.number:
        raise Conflict(
            _(
                "This account has %(number)s linked profiles; more cannot be linked",
                number=limits.LINKED_PROFILES.number,
            )
        )


def _memberships(session: Session, account: Account) -> Collection[uuid.UUID]:
    return session.scalars(
        sa.select(Membership.community_id).where(Membership.account_id == account.id)
    ).all()


def communities_of(session: Session, profile: Profile) -> set[uuid.UUID]:
    """The communities where this profile rated or wrote."""
    return set(session.scalars(profiles.active_in(profile)))


def search_profiles(session: Session, actor: Actor, community_id: uuid.UUID, words: str) -> Sequence[Profile]:
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


def link_member(
    session: Session, actor: Actor, membership_id: uuid.UUID, profile_id: uuid.UUID, reason: str
) -> Profile:
    """Link a profile that is active in the member's community to their account.

    Raises:
        NotFound: the member or the profile is unknown here.
        Forbidden: the profile is also active in a community that the actor does not administer.
        Conflict: it is linked already, or the account has the most profiles allowed.
    """
    member = member_lists.get(session, actor, membership_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    community_id = member.membership.community_id
    profile = _locked(session, profile_id)
    is_here = sa.select(Profile.id).where(Profile.id == profile_id, _is_active_in(community_id))
    if profile is None or session.scalar(is_here) is None:
        raise NotFound("profile")
    if profile.account_id == member.account.id:
        return profile
    if profile.account_id is not None:
        raise Conflict(_("This profile is linked to another account; unlink it there first"), profile.id)
    _check_administers(actor, communities_of(session, profile))
    account = session.get_one(Account, member.account.id)
    return join(session, actor, profile, account, reason=reason)


def unlink_member(
    session: Session, actor: Actor, membership_id: uuid.UUID, profile_id: uuid.UUID, reason: str
) -> Profile:
    """Unlink a member's profile; from now on it is a separate rater.

    Raises:
        NotFound: it is not linked to this member.
        Forbidden: the link also affects a community that the actor does not administer.
    """
    member = member_lists.get(session, actor, membership_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    profile = _locked(session, profile_id)
    if profile is None or profile.platform == profiles.WEB or profile.account_id != member.account.id:
        raise NotFound("linked profile")
    _check_administers(actor, recorded_in(session, profile))
    detach(session, actor, profile, reason=reason)
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
        raise Forbidden(NOT_YOURS)
