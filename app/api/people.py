"""People that a body names beside, or instead of, the acting user (docs/integration.md)."""

from sqlalchemy.orm import Session

from app.api import community_servers
from app.api.auth import OWN_PLATFORMS, Caller
from app.api.errors import Located
from app.core import limits
from app.core.errors import Forbidden
from app.core.ids import parse_id
from app.core.models import Community
from app.core.people import profiles
from app.core.people.profiles import Identity


def meant(
    session: Session, caller: Caller, reference: str | None, community: Community, field: str
) -> Identity:
    """Whom ``reference``, else the acting user, means in this community: our UUID or the platform's user id.

    Refuses a body that names nobody, somebody beside the acting user, or a person of our own: accounts of the
    dashboard and the service itself speak for themselves alone, no key speaks for them.
    """
    acting = caller.identity_in(community)
    identity = acting if reference is None else _named(session, caller, reference, community, field)
    if identity is None:
        msg = "Field required when no acting user is named by X-Adapter-Platform and X-Adapter-User-Id"
        raise Located.at("body", "data", "attributes", field, msg=msg, type="missing")
    if acting is not None and identity != acting:
        raise Forbidden(f"{field} must be the acting user")
    if identity.platform in OWN_PLATFORMS:
        raise Forbidden(f"Nobody acts as a user of platform {identity.platform} through an API key")
    return identity


def _named(session: Session, caller: Caller, reference: str, community: Community, field: str) -> Identity:
    limits.foreign_id(reference, field)
    uuid = parse_id(reference)
    # The id of a profile that the key may not know of is a user id of the platform, as an unknown one is.
    profile = profiles.get_known(session, caller.actor, uuid) if uuid is not None else None
    if profile is None:
        platform = community_servers.platform_of(caller)
        return Identity(platform, reference, profiles.scope_in(platform, community))
    # A profile that was looked up without a community means the person of that id in this one.
    scope = profile.provider_scope or profiles.scope_in(profile.platform, community)
    return Identity(profile.platform, profile.platform_user_id, scope)
