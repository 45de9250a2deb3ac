"""Input and output models of communities and of people's profiles (docs/integrate/api.md)."""

from typing import Annotated, Any, get_type_hints

from pydantic import Field, create_model

from app.api.schemas.documents import (
    Created,
    Time,
    Updated,
    Uuid,
    document_of,
    resource_of,
)
from app.api.shapes import (
    STORABLE,
    Body,
    ForeignId,
    Id,
    JsonObject,
    Platform,
    Query,
    Shown,
    like,
)
from app.core import limits
from app.core.thresholds.drafts import FIELDS, CategoryDraft

# Community servers

PLATFORM_DEFAULT = "The platform, such as `discourse`; if not given, X-Adapter-Platform, then `discord`."


class CommunityLookup(Query):
    """``platform`` defaults to X-Adapter-Platform, then ``discord``."""

    platform: Platform | None = Field(None, description=PLATFORM_DEFAULT)
    platform_community_server_id: ForeignId = Field(
        description="The community's id on its platform, exactly as sent."
    )


_TYPES = get_type_hints(CategoryDraft)
_PARTS: dict[str, Any] = {
    declared.api: (_TYPES[name], Field(description=declared.meaning))
    for name, declared in FIELDS.items()
    if declared.api is not None
}
CategoryShown: Any = create_model(
    "CategoryShown",
    __base__=Shown,
    __doc__="Current thresholds of one category. Without ``tier1_threshold`` it never acts by itself.",
    __module__=__name__,
    name=(str, Field(description="The category, such as `spam`: lower case, digits and underscores.")),
    **_PARTS,
)


class CommunityAttributes(Shown):
    """A community with its current category configuration."""

    platform: str = Field(description="The platform, such as `discourse`.")
    platform_community_server_id: str = like(CommunityLookup, "platform_community_server_id")
    slug: str = Field(description="The community's name in addresses: lower case, digits and dashes.")
    name: str = Field(description=f"The name on the platform, at most {limits.NAME_MAX} characters.")
    description: str | None = Field(description="What the community is about; null if nothing was said.")
    is_active: bool = Field(description="False if it was opened so or is archived: nobody joins it.")
    is_public: bool = Field(
        description="Whether anybody with an account may join as a rater and read what is under review."
    )
    config_version: int = Field(
        ge=1, description="The number of the thresholds in force; each change counts one up."
    )
    # A class that is made above.
    categories: list[CategoryShown] = Field(description="The thresholds in force, one entry a category.")
    created_at: Created
    updated_at: Updated


_community = resource_of("CommunityServer", "community-servers", CommunityAttributes)
CommunityDocument = document_of("CommunityServer", _community)


# User profiles


class ProfileLookup(Query):
    """``platform`` defaults to X-Adapter-Platform, then ``discord``.

    ``provider_scope`` is the server that the user id belongs to, on platforms where each server numbers its own users.
    Its default is the platform's id of the community in X-Adapter-Scope, or else of the key's only community.
    """

    platform: Platform | None = Field(None, description=PLATFORM_DEFAULT)
    platform_user_id: ForeignId = Field(description="The user's id on the platform, exactly as sent.")
    provider_scope: Annotated[str, Field(max_length=limits.ID_MAX), STORABLE] | None = Field(
        None, description="The server that numbers its own users, by the platform's id of the community."
    )


class ProfileLink(Body):
    """The code that the dashboard shows the person. Case, spaces and dashes do not matter."""

    resource = "user-profiles"
    plain = True
    loose = True

    code: Annotated[str, Field(min_length=1, max_length=limits.ID_MAX), STORABLE] = Field(
        description="Shown in the dashboard under Settings; works once, for 10 minutes."
    )


class ProfileAttributes(Shown):
    """A person on a platform. ``is_linked``: whether the profile is linked to an account of the dashboard."""

    platform: str = Field(description="The platform; `web` for people who signed up in the dashboard.")
    platform_user_id: str = like(ProfileLookup, "platform_user_id")
    provider_scope: str | None = like(ProfileLookup, "provider_scope", None)
    display_name: str | None = Field(
        description="The name that was last sent with the user; null if none ever was."
    )
    trust_level: int | None = Field(
        None,
        ge=0,
        le=limits.TRUST_LEVEL_MAX,
        description=f"The trust level that the platform last sent, from 0 to {limits.TRUST_LEVEL_MAX}.",
    )
    is_linked: bool = Field(description="Whether the profile is linked to an account of the dashboard.")
    metadata: JsonObject | None = Field(None, description="What else is stored with the profile.")
    created_at: Created
    updated_at: Updated


class StandingQuery(Query):
    """Which community it is about."""

    community: Id | None = Field(
        None,
        alias="community_server_id",
        description="The community, by our UUID. Default: X-Adapter-Scope, then the key's only community.",
    )


class ShownStrike(Shown):
    """A strike that counts now."""

    points: int = Field(ge=1, le=limits.STRIKE_POINTS_MAX, description="How many points it has.")
    category: str | None = Field(description="The category that gave it; null if a moderator named none.")
    action_id: Uuid | None = Field(
        description="The action that gave it, by our UUID; null if a moderator added it."
    )
    expires_at: Time = Field(description="Until when it counts.")


class StandingAttributes(Shown):
    """The standing of an author in one community."""

    posts: int = Field(ge=0, description="Posts by this author, without those that were withdrawn.")
    hidden: int = Field(ge=0, description="How many of them are hidden now.")
    open: int = Field(ge=0, description="How many wait in the review queue.")
    reports: int = Field(
        ge=0, description="Reports of their newest 2,000 posts, without those that were withdrawn."
    )
    strikes: list[ShownStrike] = Field(
        max_length=100, description="The strikes that count now, newest first."
    )
    is_silenced: bool = Field(description="Whether a silence is in force.")
    silenced_until: Time | None = Field(
        description="When the silence in force ends; null if there is none, or it has no end."
    )
    created_at: Created
    updated_at: Updated


_standing = resource_of("AuthorStanding", "author-standings", StandingAttributes)
StandingDocument = document_of("AuthorStanding", _standing)
_profile = resource_of("UserProfile", "user-profiles", ProfileAttributes)
ProfileDocument = document_of("UserProfile", _profile)
