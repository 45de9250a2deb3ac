"""Profiles: people as platforms know them, found or made by platform identity (Contract: sections 1 and 6)."""

import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import rules
from app.core.errors import Forbidden, Invalid, NotFound
from app.core.ids import new_id, parse_id
from app.core.models import Account, Profile
from app.core.permissions import Actor

WEB = "web"
SERVICE_PLATFORM = "bridgenote"
SERVICE_USER = "service"


def find(session: Session, platform: str, user_id: str, provider_scope: str = "") -> Profile | None:
    return session.scalars(
        sa.select(Profile).where(
            Profile.platform == platform,
            Profile.provider_scope == provider_scope,
            Profile.platform_user_id == user_id,
        )
    ).first()


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
    """The profile of a platform identity, made when unknown; name and trust level are kept up to date."""
    rules.platform(platform)
    rules.foreign_id(user_id, "platform_user_id")
    profile = find(session, platform, user_id, provider_scope)
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
            found = find(session, platform, user_id, provider_scope)
            if found is None:
                raise
            profile = found
    if display_name is not None and profile.display_name != display_name:
        profile.display_name = display_name
    if trust_level is not None and profile.trust_level != trust_level:
        profile.trust_level = trust_level
    return profile


def of_account(session: Session, account: Account) -> Profile:
    """The profile with which an account rates and writes in the browser: platform ``web``, id = account."""
    return ensure(session, WEB, str(account.id), display_name=account.display_name, account_id=account.id)


def of_service(session: Session) -> Profile:
    """The author of rationale notes."""
    return ensure(session, SERVICE_PLATFORM, SERVICE_USER, display_name="Bridgenote")


def by_reference(session: Session, reference: str, platform: str, field: str) -> Profile:
    """The profile named by our UUID or by a platform user id, made when a platform id is unknown."""
    rules.foreign_id(reference, field)
    identity = parse_id(reference)
    if identity is not None:
        profile = session.get(Profile, identity)
        if profile is not None:
            return profile
    return ensure(session, platform, reference)


def known(session: Session, reference: str) -> list[uuid.UUID]:
    """Ids of every profile that ``reference`` names: a UUID, or a user id on any platform. For filters."""
    identity = parse_id(reference)
    clauses: list[Any] = [Profile.platform_user_id == reference]
    if identity is not None:
        clauses.append(Profile.id == identity)
    return list(session.scalars(sa.select(Profile.id).where(sa.or_(*clauses))))


def look_up(session: Session, actor: Actor, platform: str, user_id: str, provider_scope: str = "") -> Profile:
    """Find or make a profile; a read-only key finds but never makes.

    The platforms ``web`` and ``bridgenote`` are our own: no integration makes people there.
    """
    rules.platform(platform)
    rules.foreign_id(user_id, "platform_user_id")
    if len(provider_scope) > rules.ID_MAX:
        raise Invalid.field("provider_scope", f"must be at most {rules.ID_MAX} characters")
    rules.storable(provider_scope, "provider_scope")
    profile = find(session, platform, user_id, provider_scope)
    if profile is not None:
        return profile
    if actor.read_only:
        raise NotFound("user profile")
    if platform in {WEB, SERVICE_PLATFORM}:
        raise Forbidden(f"Profiles of platform {platform} are made by this service alone")
    return ensure(session, platform, user_id, provider_scope)
