"""User profiles: found or made by platform identity, linked to accounts (Contract: section 6)."""

from typing import Any

from flask import Response

from app.api import auth, jsonapi
from app.api.blueprints import public
from app.api.community_servers import platform_of
from app.api.errors import Located
from app.api.parse import JSON_API
from app.api.schemas import ProfileDocument, ProfileLink, ProfileLookup
from app.core import linking, profiles
from app.core.errors import Invalid, Problem
from app.core.models import Profile
from app.wiring import wired


@public.get("/user-profiles/lookup")
@public.input(ProfileLookup, location="query")
@public.output(ProfileDocument, content_type=JSON_API)
@public.doc(responses=[404])
def look_up_profile(query_data: ProfileLookup) -> Response:
    """Find a person by platform identity, or make their profile; a read-only key only finds."""
    caller = auth.caller()
    platform = platform_of(caller, query_data.platform)
    user_id, scope = query_data.platform_user_id, query_data.provider_scope
    with wired().database.reading() as session:
        if scope is None:
            home = caller.home or auth.only_community(session, caller.actor)
            scope = profiles.scope_in(platform, home)
        profile = profiles.find(session, platform, user_id, scope)
    if profile is None:
        with wired().database.writing() as session:
            profile = profiles.look_up(session, caller.actor, platform, user_id, scope)
    return jsonapi.answer(jsonapi.document(show(profile)))


@public.post("/user-profiles/link")
@public.input(ProfileLink)
@public.output(ProfileDocument, content_type=JSON_API)
@public.doc(responses=[400, 404, 409])
def link_profile(json_data: ProfileLink) -> Response:
    """Link the acting user's profile to the account that shows the code; from then on both are one rater.

    Said again, it changes nothing. A code that is wrong, used or expired is 422, and too many of them are 429.
    """
    caller = auth.caller()
    profile_id = caller.actor.profile_id
    identity = caller.identity_in(caller.home)
    said = {"Platform": caller.platform, "User-Id": caller.asserted.user_id}
    if identity is not None and not profiles.is_complete(identity):
        said["Scope"] = None
    missing = [f"X-Adapter-{name}" for name, value in said.items() if value is None]
    if missing or profile_id is None:
        msg = "Field required: it says whose profile is linked"
        raise Located(*(Problem("missing", ("header", name), msg) for name in missing))
    auth.check_count("link_codes", str(caller.key_id))
    try:
        with wired().database.writing() as session:
            profile = session.get_one(Profile, profile_id)
            linking.link(session, caller.actor, profile, json_data.code)
            shown = show(profile)
    except Invalid:
        auth.count("link_codes", str(caller.key_id))
        raise
    return jsonapi.answer(jsonapi.document(shown))


def show(profile: Profile) -> dict[str, Any]:
    """The resource object of a profile."""
    attributes = {
        "platform": profile.platform,
        "platform_user_id": profile.platform_user_id,
        "provider_scope": profile.provider_scope or None,
        "display_name": profile.display_name,
        "trust_level": profile.trust_level,
        "is_linked": profile.account_id is not None,
        "metadata": profile.extra or None,
        "created_at": profile.created_at,
        "updated_at": profile.updated_at,
    }
    return jsonapi.resource("user-profiles", profile.id, attributes, null=("display_name",))
