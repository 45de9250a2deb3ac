"""People that a body names beside, or instead of, the acting user (Contract: section 4)."""

from sqlalchemy.orm import Session

from app.api import community_servers
from app.api.auth import OWN_PLATFORMS, Caller
from app.api.errors import Located
from app.core import profiles
from app.core.errors import Forbidden
from app.core.ids import parse_id
from app.core.models import Profile


def known(session: Session, caller: Caller, reference: str | None) -> Profile | None:
    """The person that ``reference`` or the acting user names, when we have met them. Makes nobody."""
    if reference is None:
        return session.get(Profile, caller.actor.profile_id) if caller.actor.profile_id else None
    identity = parse_id(reference)
    profile = session.get(Profile, identity) if identity is not None else None
    return profile or profiles.find(session, community_servers.platform_of(caller), reference)


def check(caller: Caller, profile: Profile | None, reference: str | None, field: str) -> None:
    """Refuse a body that names nobody, somebody beside the acting user, or a person of our own.

    Accounts of the dashboard and the service itself speak for themselves alone: no key speaks for them.
    """
    acting = caller.actor.profile_id
    if reference is None and acting is None:
        msg = "Field required when no acting user is named by X-Adapter-Platform and X-Adapter-User-Id"
        raise Located.at("body", "data", "attributes", field, msg=msg, type="missing")
    if acting is not None and reference is not None and (profile is None or profile.id != acting):
        raise Forbidden(f"{field} must be the acting user")
    platform = profile.platform if profile is not None else community_servers.platform_of(caller)
    if platform in OWN_PLATFORMS:
        raise Forbidden(f"Nobody acts as a user of platform {platform} through an API key")


def ensure(session: Session, caller: Caller, reference: str | None, field: str) -> Profile:
    """The person, made when a platform's user id is unknown; checked. Call it in a writing session."""
    profile = known(session, caller, reference)
    check(caller, profile, reference, field)
    if profile is None:
        profile = profiles.by_reference(
            session, reference or "", community_servers.platform_of(caller), field
        )
    return profile
