"""Authors and raters named in a body, in addition to or instead of the acting user (docs/integrate/api.md)."""

from sqlalchemy.orm import Session

from app.api.auth import OWN_PLATFORMS, Caller
from app.api.errors import Located
from app.core import limits
from app.core.errors import Forbidden
from app.core.ids import parse_id
from app.core.models import Community
from app.core.people import profiles
from app.core.people.profiles import Identity


def resolve_identity(
    session: Session, caller: Caller, reference: str | None, community: Community, field: str
) -> Identity:
    """Return the identity that ``reference`` (our UUID or the platform's user id) has in this community.

    Without ``reference`` it is the acting user. A user id is one of the platform in X-Adapter-Platform, else of the
    community's own platform (docs/integrate/api.md). Raises ``Located`` if there is neither, and ``Forbidden`` if
    ``reference`` is not the acting user, or is an account of the dashboard or the service: no key acts for those.
    """
    acting = caller.identity_in(community)
    identity = acting if reference is None else _parse_reference(session, caller, reference, community, field)
    if identity is None:
        msg = "Field required when no acting user is named by X-Adapter-Platform and X-Adapter-User-Id"
        raise Located.at_path("body", "data", "attributes", field, msg=msg, type="missing")
    if acting is not None and identity != acting:
        raise Forbidden(f"{field} must be the acting user")
    if identity.platform in OWN_PLATFORMS:
        raise Forbidden(f"Nobody acts as a user of platform {identity.platform} through an API key")
    return identity


def _parse_reference(
    session: Session, caller: Caller, reference: str, community: Community, field: str
) -> Identity:
    limits.foreign_id(reference, field)
    uuid = parse_id(reference)
    # A UUID of a profile that the key may not see is treated like an unknown one: as the platform's user id.
    profile = profiles.get_known(session, caller.actor, uuid) if uuid is not None else None
    if profile is None:
        platform = caller.platform or community.platform
        return Identity(platform, reference, profiles.scope_in(platform, community))
    # For a profile without a scope, use the person with the same user id in this community.
    scope = profile.provider_scope or profiles.scope_in(profile.platform, community)
    return Identity(profile.platform, profile.platform_user_id, scope)
