"""Profiles: people as a platform identifies them; found or created by platform identity (docs/integrate/api.md)."""

import uuid
from collections.abc import Collection
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from app.core import limits
from app.core.db import serialise
from app.core.errors import NotFound
from app.core.ids import new_id, parse_id
from app.core.models import Account, Community, Membership, Note, Profile, Rating
from app.core.permissions import Actor

WEB = "web"
SERVICE_PLATFORM = "bridgenote"
SERVICE_USER = "service"
USER_PROFILE = "user profile"
GLOBAL_PLATFORMS = frozenset(
    {
        WEB,
        SERVICE_PLATFORM,
        "bluesky",
        "discord",
        "facebook",
        "github",
        "instagram",
        "linkedin",
        "matrix",
        "reddit",
        "slack",
        "telegram",
        "threads",
        "tiktok",
        "twitch",
        "twitter",
        "whatsapp",
        "x",
        "youtube",
    }
)
"""Platforms whose user ids mean the same person in every community.

On every other platform, such as forum software, each server numbers its own users from 1. There a profile's
``provider_scope`` is the community's platform id (decision 0015).
"""


class Identity(NamedTuple):
    """A person's id on a platform; ``provider_scope`` is empty where user ids are unique without it."""

    platform: str
    user_id: str
    provider_scope: str = ""


def scope_in(platform: str, community: Community | None) -> str:
    """The ``provider_scope`` of this platform's user ids in a community; empty when not needed or not known."""
    if platform in GLOBAL_PLATFORMS or community is None or community.platform != platform:
        return ""
    return community.platform_community_server_id


def is_complete(identity: Identity) -> bool:
    """Whether it identifies one person, rather than one user of each server with this number."""
    return identity.platform in GLOBAL_PLATFORMS or identity.provider_scope != ""


def _by_identity(identity: Identity) -> sa.Select[Profile]:
    return sa.select(Profile).where(
        Profile.platform == identity.platform,
        Profile.provider_scope == identity.provider_scope,
        Profile.platform_user_id == identity.user_id,
    )


def find(session: Session, platform: str, user_id: str, provider_scope: str = "") -> Profile | None:
    return session.scalars(_by_identity(Identity(platform, user_id, provider_scope))).first()


def ensure(
    session: Session,
    platform: str,
    user_id: str,
    provider_scope: str = "",
    *,
    display_name: str | None = None,
    trust_level: int | None = None,
    account_id: uuid.UUID | None = None,
) -> Profile:
    """The profile of a platform identity, created when unknown. A given name and trust level are updated."""
    limits.platform(platform)
    limits.foreign_id(user_id, "platform_user_id")
    profile = find(session, platform, user_id, provider_scope) or _adopted(
        session, Identity(platform, user_id, provider_scope)
    )
    if profile is None:
        profile = Profile(
            id=new_id(),
            platform=platform,
            provider_scope=provider_scope,
            platform_user_id=user_id,
            display_name=display_name,
            trust_level=trust_level,
            account_id=account_id,
        )
        try:
            with session.begin_nested():
                session.add(profile)
        except IntegrityError:
            existing = find(session, platform, user_id, provider_scope)
            if existing is None:
                raise
            profile = existing
    if display_name is not None and profile.display_name != display_name:
        profile.display_name = display_name
    if trust_level is not None and profile.trust_level != trust_level:
        profile.trust_level = trust_level
    return profile


def of_account(session: Session, account: Account) -> Profile:
    """The profile with which an account rates and writes in the browser: platform ``web``, id = account id."""
    return ensure(session, WEB, str(account.id), display_name=account.display_name, account_id=account.id)


def of_service(session: Session) -> Profile:
    """The service's own profile, author of rationale notes."""
    return ensure(session, SERVICE_PLATFORM, SERVICE_USER, display_name="Bridgenote")


SERVICE_PROFILE = (
    sa.select(Profile.id)
    .where(
        Profile.platform == SERVICE_PLATFORM,
        Profile.provider_scope == "",
        Profile.platform_user_id == SERVICE_USER,
    )
    .scalar_subquery()
)
"""For a statement: the id of the service's own profile, None before ``of_service`` made it."""


def _adopted(session: Session, identity: Identity) -> Profile | None:
    """Set the scope of a profile that was created before its scope was known, and return it.

    Only if all its ratings and notes are in the community of that scope. A profile that was active in other
    communities too, or in none, may be another person's and is left as it is: None.
    """
    if not identity.provider_scope or identity.platform in GLOBAL_PLATFORMS:
        return None
    profile = find(session, identity.platform, identity.user_id)
    if profile is None:
        return None
    communities = session.execute(
        sa.select(Community.platform, Community.platform_community_server_id).where(
            Community.id.in_(active_in(profile))
        )
    ).all()
    if [tuple(community) for community in communities] != [(identity.platform, identity.provider_scope)]:
        return None
    try:
        with session.begin_nested():
            profile.provider_scope = identity.provider_scope
    except IntegrityError:
        return find(session, *identity)
    return profile


def active_in(profile: Profile) -> sa.CompoundSelect[uuid.UUID]:
    """SELECT of the ids of the communities in which this profile rated or wrote."""
    rated = sa.select(Rating.community_id).where(Rating.rater_id == profile.id)
    wrote = sa.select(Note.community_id).where(Note.author_id == profile.id)
    return sa.union(rated, wrote)


def canonical(session: Session, profile: Profile) -> Profile:
    """The profile that represents a person: that of the linked account, otherwise the profile itself."""
    if profile.account_id is None or profile.platform == WEB:
        return profile
    return find(session, WEB, str(profile.account_id)) or profile


def hold_canonical(session: Session, profile: Profile) -> Profile:
    """Like ``canonical``, but locked until the transaction ends. For verbs that store what a person writes.

    ``linking.link`` moves the person's earlier writing under the same lock, so nothing is stored under the old
    profile meanwhile. Call it before ``serialise`` of a community.
    """
    if profile.platform == WEB:
        return profile
    serialise(session, profile.id)
    row = sa.select(Profile).where(Profile.id == profile.id)
    session.scalars(row.execution_options(populate_existing=True)).first()
    return canonical(session, profile)


def are_one(session: Session, first: uuid.UUID, second: uuid.UUID) -> bool:
    """Whether two profiles are the same person: the same profile, or linked to the same account."""
    if first == second:
        return True
    accounts = session.scalars(sa.select(Profile.account_id).where(Profile.id.in_((first, second)))).all()
    return len(accounts) == 2 and accounts[0] is not None and accounts[0] == accounts[1]


def named(actor: Actor, references: Collection[str]) -> sa.Select[Any]:
    """SELECT of the ids of all profiles that a reference may mean: a UUID, or a user id on any platform.

    ``is_meant`` then says which of them it means in a community.

    What a linked person writes is stored under their account's profile, so that one is included, but only if the
    actor may know the referenced profile: user 7 of another forum may be linked to an account that writes here.
    """
    identities = [identity for reference in references if (identity := parse_id(reference)) is not None]
    mentioned = aliased(Profile)
    matches = sa.or_(mentioned.platform_user_id.in_(references), mentioned.id.in_(identities))
    accounts = sa.select(mentioned.account_id).where(
        matches, mentioned.account_id.is_not(None), known_to(actor, mentioned)
    )
    return sa.select(Profile.id).where(
        sa.or_(
            Profile.platform_user_id.in_(references),
            Profile.id.in_(identities),
            sa.and_(Profile.platform == WEB, Profile.account_id.in_(accounts)),
        )
    )


def is_meant(
    actor: Actor,
    references: Collection[str],
    platform: str | None,
    profile_id: sa.orm.InstrumentedAttribute[uuid.UUID],
    community_id: sa.orm.InstrumentedAttribute[uuid.UUID],
) -> sa.ColumnElement[bool]:
    """SQL condition: one of the references means this profile in this community (docs/integrate/api.md).

    ``platform`` is that of the user ids; None: each community's own. The id of an account is always understood, and a
    profile without a scope is the person of that number in each community. Combine it with ``named``, which finds the
    rows.
    """
    identities = [identity for reference in references if (identity := parse_id(reference)) is not None]
    mentioned, person = aliased(Profile), aliased(Profile)
    is_here = (mentioned.platform == Community.platform) & (
        mentioned.provider_scope == Community.platform_community_server_id
    )
    is_own = (mentioned.platform == (platform or Community.platform)) & (
        is_here | (mentioned.provider_scope == "")
    )
    by_user_id = mentioned.platform_user_id.in_(references) & (is_own | (mentioned.platform == WEB))
    of_account = sa.exists().where(
        person.id == profile_id,
        person.platform == WEB,
        person.account_id == mentioned.account_id,
        known_to(actor, mentioned),
    )
    return sa.exists().where(
        Community.id == community_id,
        mentioned.id.in_(identities) | by_user_id,
        (mentioned.id == profile_id) | of_account,
    )


def known_to(actor: Actor, profile: type[Profile] = Profile) -> sa.ColumnElement[bool]:
    """SQL condition: the actor may know of this profile (docs/integrate/api.md).

    Accounts: members of the actor's communities. People of one server: if that server is one of those communities.
    People whose user ids mean the same everywhere: all.
    """
    member = sa.exists().where(Membership.account_id == profile.account_id)
    server = sa.exists().where(
        Community.platform == profile.platform,
        Community.platform_community_server_id == profile.provider_scope,
    )
    if actor.communities is not None:
        member = member.where(Membership.community_id.in_(actor.communities))
        server = server.where(Community.id.in_(actor.communities))
    return sa.case(
        (profile.platform == WEB, member),
        (profile.provider_scope == "", sa.true()),
        else_=server,
    )


def get_known(session: Session, actor: Actor, profile_id: uuid.UUID) -> Profile | None:
    """The profile with this id; None when it is unknown, or the actor may not know of it."""
    return session.scalars(sa.select(Profile).where(Profile.id == profile_id, known_to(actor))).first()


def find_known(session: Session, actor: Actor, identity: Identity) -> Profile | None:
    """The profile of a platform identity; None when it is unknown, or the actor may not know of it."""
    return session.scalars(_by_identity(identity).where(known_to(actor))).first()


def look_up(session: Session, actor: Actor, identity: Identity) -> Profile:
    """Find or create a profile; a read-only key never creates one.

    The platforms ``web`` and ``bridgenote`` are our own: integrations cannot create profiles there.

    Raises:
        NotFound: there is none and the actor may not create it, or the actor may not know of it.
    """
    limits.platform(identity.platform)
    limits.foreign_id(identity.user_id, "platform_user_id")
    profile = find_known(session, actor, identity)
    if profile is not None:
        return profile
    if actor.read_only or identity.platform in {WEB, SERVICE_PLATFORM}:
        raise NotFound(USER_PROFILE)
    return ensure(session, *identity)
