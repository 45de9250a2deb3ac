"""People of platforms: profiles are looked up, created and linked, and named in bodies (docs/integrate/api.md)."""

from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, jsonapi
from app.api.auth import OWN_PLATFORMS, Caller
from app.api.blueprints import public
from app.api.community_servers import platform_of
from app.api.errors import Located
from app.api.schemas.communities import (
    ProfileAttributes,
    ProfileDocument,
    ProfileLink,
    ProfileLookup,
    StandingAttributes,
    StandingDocument,
    StandingQuery,
)
from app.core import clock, limits
from app.core.communities import communities
from app.core.errors import Forbidden, Invalid, Problem
from app.core.ids import parse_id, require_id
from app.core.models import Community, Profile
from app.core.people import profiles
from app.core.people.profiles import Identity
from app.core.review import author_pages
from app.core.upkeep import linking
from app.wiring import wired


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


@public.get("/user-profiles/lookup")
@public.input(ProfileLookup, location="query")
@public.answers(ProfileDocument, also=[404])
def look_up_profile(query_data: ProfileLookup) -> Response:
    """Find a person's profile by platform identity, or create it. A read-only key never creates one.

    404 if ``provider_scope`` is not one of the key's communities, and for an account (platform ``web``) that belongs to
    none of them: the answer is the same whether such a person exists or not.
    """
    caller = auth.caller()
    platform = platform_of(caller, query_data.platform)
    with wired().database.reading() as session:
        if query_data.provider_scope:
            scope = communities.provider_scope(session, caller.actor, platform, query_data.provider_scope)
        else:
            home = caller.home or communities.only_one(session, caller.actor)
            scope = profiles.scope_in(platform, home)
        identity = Identity(platform, query_data.platform_user_id, scope)
        profile = profiles.find_known(session, caller.actor, identity)
    if profile is None:
        with wired().database.writing() as session:
            profile = profiles.look_up(session, caller.actor, identity)
    return jsonapi.answer(jsonapi.document(show(profile)))


@public.post("/user-profiles/link")
@public.input(ProfileLink)
@public.answers(ProfileDocument, also=[400, 404, 409])
def link_profile(json_data: ProfileLink) -> Response:
    """Link the acting user's profile to the account that shows the code; from then on both are one rater.

    Repeating the call changes nothing. A wrong, used or expired code is 422; too many of them are 429.
    """
    caller = auth.caller()
    profile_id = caller.actor.profile_id
    identity = caller.identity_in(caller.home)
    required = {"Platform": caller.platform, "User-Id": caller.asserted.user_id}
    if identity is not None and not profiles.is_complete(identity):
        required["Scope"] = None
    missing = [f"X-Adapter-{name}" for name, value in required.items() if value is None]
    if missing or profile_id is None:
        msg = "Field required: it says whose profile is linked"
        raise Located(*(Problem("missing", ("header", name), msg) for name in missing))
    auth.count("link_codes", str(caller.key_id), only_check=True)
    try:
        with wired().database.writing() as session:
            profile = session.get_one(Profile, profile_id)
            linking.link(session, caller.actor, profile, json_data.code)
            shown = show(profile)
    except Invalid:
        auth.count("link_codes", str(caller.key_id))
        raise
    return jsonapi.answer(jsonapi.document(shown))


@public.get("/user-profiles/<profile_id>/standing")
@public.input(StandingQuery, location="query")
@public.answers(StandingDocument, also=[404])
def read_standing(profile_id: str, query_data: StandingQuery) -> Response:
    """Read the standing of an author in a community: posts, reports, strikes and silence. Only for staff.

    404 if the profile is unknown, or not of a user of this community's platform.
    """
    caller = auth.caller()
    with wired().database.reading() as session:
        if query_data.community is not None:
            community = communities.get(session, caller.actor, query_data.community)
        else:
            found = caller.home or communities.only_one(session, caller.actor)
            if found is None:
                msg = (
                    "Field required: this API key acts in several communities, and X-Adapter-Scope names none"
                )
                raise Located.at_path("query", "community_server_id", msg=msg, type="missing")
            community = found
        profile_uuid = require_id(profile_id, "user profile")
        standing = author_pages.standing(session, caller.actor, community, profile_uuid)
        given = [
            {
                "points": strike.points,
                "category": strike.category,
                "action_id": jsonapi.json_value(strike.action_id),
                "expires_at": clock.iso(strike.expires_at),
            }
            for strike in standing.strikes
        ]
        shown = jsonapi.shown("author-standings", StandingAttributes, standing, strikes=given)
        return jsonapi.answer(jsonapi.document(shown))


def show(profile: Profile) -> dict[str, Any]:
    """Return the resource object of a profile.

    On platforms that number users per server, an id without a server may be different people for different
    integrations. What one call said about such a user is not shown to others.
    """
    is_identified = profiles.is_complete(
        Identity(profile.platform, profile.platform_user_id, profile.provider_scope)
    )
    return jsonapi.shown(
        "user-profiles",
        ProfileAttributes,
        profile,
        provider_scope=profile.provider_scope or None,
        display_name=profile.display_name if is_identified else None,
        trust_level=profile.trust_level if is_identified else None,
        is_linked=profile.account_id is not None and is_identified,
        metadata=(profile.extra or None) if is_identified else None,
    )
