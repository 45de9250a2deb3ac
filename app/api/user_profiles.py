"""User profiles: found or made by platform identity (Contract: section 6)."""

from typing import Any

from flask import Response

from app.api import auth, jsonapi
from app.api.blueprints import public
from app.api.community_servers import platform_of
from app.api.parse import JSON_API
from app.api.schemas import ProfileDocument, ProfileLookup
from app.core import profiles
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
        profile = profiles.find(session, platform, user_id, scope)
    if profile is None:
        with wired().database.writing() as session:
            profile = profiles.look_up(session, caller.actor, platform, user_id, scope)
    return jsonapi.answer(jsonapi.document(show(profile)))


def show(profile: Profile) -> dict[str, Any]:
    """The resource object of a profile."""
    attributes = {
        "platform": profile.platform,
        "platform_user_id": profile.platform_user_id,
        "provider_scope": profile.provider_scope or None,
        "display_name": profile.display_name,
        "trust_level": profile.trust_level,
        "metadata": profile.extra or None,
        "created_at": profile.created_at,
        "updated_at": profile.updated_at,
    }
    return jsonapi.resource("user-profiles", profile.id, attributes, null=("display_name",))
