"""Paths outside the public API that existing integrations call. Bodies and responses are flat JSON, no JSON:API.

Keys and rules are the same as in the public API; the OpenAPI document lists them under a separate tag
(docs/integrate/api.md).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from flask import Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app.api import auth, community_servers
from app.api.blueprints import ALIAS_PREFIX, guarded, opens_communities
from app.api.jsonapi import json_value
from app.api.schemas.communities import CommunityAttributes
from app.api.schemas.documents import Created, Updated, Uuid
from app.api.shapes import NOT_BLANK, STORABLE, Body, ForeignId, JsonObject, Platform, Query, like
from app.core import limits
from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.errors import NotFound
from app.core.insights import insights
from app.core.models import Community
from app.wiring import wired

Name = Annotated[str, Field(min_length=1, max_length=limits.NAME_MAX, json_schema_extra=NOT_BLANK), STORABLE]
Description = Annotated[str, Field(max_length=limits.SUMMARY_MAX), STORABLE]


class CommunityCreate(Body):
    """A community to open, as a plain object."""

    creates = True

    platform: Platform = like(CommunityAttributes, "platform")
    platform_community_server_id: ForeignId = like(CommunityAttributes, "platform_community_server_id")
    name: Name = like(CommunityAttributes, "name")
    description: Description | None = Field(
        None, description=f"What the community is about, at most {limits.SUMMARY_MAX:,} characters."
    )
    settings: JsonObject | None = Field(
        None, description="What the integration keeps with the community, at most 64 KB of JSON."
    )
    is_active: bool = Field(True, description="False: nobody can join the community as a rater.")
    is_public: bool = like(CommunityAttributes, "is_public", False)


class CommunityName(Body):
    """A community's current name on its platform. With ``server_stats`` null the last figures stay."""

    name: Name = like(CommunityAttributes, "name")
    server_stats: JsonObject | None = Field(
        None, description="Figures of the platform about the community, at most 64 KB of JSON."
    )


class CommunityNameQuery(Query):
    """``platform`` is needed only if two platforms of the key use the same id."""

    platform: Platform | None = Field(
        None, description="The platform; needed only if two platforms of the key use the same id."
    )


class Flat(BaseModel):
    """A flat body in a response. The tests check every response against its model."""

    model_config = ConfigDict(extra="forbid")


class FlatCommunity(Flat):
    """A community with its ``id`` beside its other members."""

    id: Uuid = Field(description="Our UUID of the community.")
    platform: str = like(CommunityAttributes, "platform")
    platform_community_server_id: str = like(CommunityAttributes, "platform_community_server_id")
    slug: str = like(CommunityAttributes, "slug")
    name: str = like(CommunityAttributes, "name")
    description: str | None = like(CommunityAttributes, "description")
    settings: JsonObject = like(CommunityCreate, "settings")
    server_stats: JsonObject | None = like(CommunityName, "server_stats")
    is_active: bool = like(CommunityAttributes, "is_active")
    is_public: bool = like(CommunityAttributes, "is_public")
    created_at: Created
    updated_at: Updated


class RatingThresholds(Flat):
    """A note needs ``min_ratings_needed`` ratings before it gets a status. A rater has one rating per note."""

    min_ratings_needed: int = Field(
        ge=1, description="How many ratings a note needs before it gets a status."
    )
    min_raters_per_note: int = Field(
        ge=1, description="How many people must have rated it; the same, as each rates a note once."
    )


class Activity(Flat):
    """Activity totals. Each ``…_last_7_days`` is part of the total of the same name."""

    requests: int = Field(ge=0, description="How many requests were submitted and not withdrawn.")
    requests_last_7_days: int = Field(ge=0, description="How many of them in the last 7 days.")
    actions: int = Field(ge=0, description="How many actions scores or people opened.")
    notes: int = Field(ge=0, description="How many notes there are, deleted ones left out.")
    ratings: int = Field(ge=0, description="How many ratings the current texts of notes have.")
    ratings_last_7_days: int = Field(ge=0, description="How many of them are of the last 7 days.")
    raters: int = Field(ge=0, description="How many people those ratings are from.")


class Consensus(Flat):
    """How reviews end, and how much raters agree."""

    in_review: int = Field(ge=0, description="How many actions are under review now.")
    second_look: int = Field(ge=0, description="How many actions get a second look now.")
    decided_in_review: int = Field(ge=0, description="How many requests people decided (Tier 2).")
    decided_to_act: int = Field(ge=0, description="How many of them ended with an action.")
    decided_not_to_act: int = Field(ge=0, description="How many of them ended without one.")
    notes_needing_ratings: int = Field(ge=0, description="How many notes are `NEEDS_MORE_RATINGS`.")
    notes_helpful: int = Field(ge=0, description="How many notes are `CURRENTLY_RATED_HELPFUL`.")
    notes_not_helpful: int = Field(ge=0, description="How many notes are `CURRENTLY_RATED_NOT_HELPFUL`.")
    agreement: float | None = Field(
        ge=0,
        le=1,
        description="Share of ratings that match the note's status, from 0 to 1; null while unknown.",
    )


class Reviewer(Flat):
    """A person who rated, with how much."""

    username: str = Field(description="The person's name, or the platform's id of them if no name is known.")
    review_count: int = Field(ge=0, description="How many ratings of current texts are theirs.")
    accuracy: float | None = Field(
        ge=0, le=1, description="Share of them that match the note's status, from 0 to 1; null while unknown."
    )


class ScoringAnalysis(Flat):
    """Figures of one community."""

    activity: Activity = Field(description="How much there is of everything.")
    classification: dict[str, int] = Field(
        description="How many actions there are by category, the most frequent first."
    )
    consensus: Consensus = Field(description="How many reviews wait or have ended, and how.")
    top_reviewers: list[Reviewer] = Field(
        description=f"The {insights.TOP_REVIEWERS} people who rated most, the most active first."
    )


V1 = "/api/v1"

clients = guarded("field_clients", tag="Clients in the field")


@clients.post(f"{V1}/community-servers")
@clients.input(CommunityCreate)
@clients.output(FlatCommunity, 201)
@clients.doc(responses=[400, 409])
@opens_communities
def create_community(json_data: CommunityCreate) -> Response:
    """Open a community: 201; 409 if it exists. Needs a key that may open communities."""
    fields = json_data.model_dump(exclude={"platform", "platform_community_server_id", "settings"})
    with wired().database.writing() as session:
        community = communities.create(
            session,
            auth.actor(),
            json_data.platform,
            json_data.platform_community_server_id,
            supplied=json_data.settings or {},
            **fields,
        )
        return answer(show(community), 201)


@clients.patch(f"{V1}/community-servers/<any_id:platform_community_server_id>/name")
@clients.input(CommunityName)
@clients.input(CommunityNameQuery, location="query")
@clients.output(FlatCommunity)
@clients.doc(responses=[400, 404])
def rename_community(
    platform_community_server_id: str, json_data: CommunityName, query_data: CommunityNameQuery
) -> Response:
    """Update a community's name and figures from its platform."""
    with wired().database.writing() as session:
        community = _find(session, platform_community_server_id, query_data.platform)
        communities.rename(session, auth.actor(), community, json_data.name, json_data.server_stats)
        return answer(show(community))


def _find(session: Session, platform_id: str, platform: str | None) -> Community:
    if platform is None:
        return community_servers.find(session, auth.caller(), platform_id)
    if "\x00" in platform_id:
        raise NotFound("community server")
    community = communities.find(session, platform, platform_id)
    if community is None or not auth.actor().sees(community.id):
        raise NotFound("community server")
    return community


@clients.get(f"{V1}/config/rating-thresholds")
@clients.output(RatingThresholds)
def read_rating_thresholds() -> Response:
    """How many ratings a note needs before it gets a status.

    Of the community in ``X-Adapter-Scope``, else of the key's only community, else the service's default.
    """
    caller = auth.caller()
    ids = caller.actor.communities
    community_id = caller.scope_id or (next(iter(ids)) if ids is not None and len(ids) == 1 else None)
    settings = wired().community_defaults
    if community_id is not None:
        with wired().database.reading() as session:
            settings = community_settings.read(session, community_id)
    # A rater has one rating per note, so both figures are the same.
    needed = settings.min_ratings
    return answer({"min_ratings_needed": needed, "min_raters_per_note": needed})


@clients.get(f"{ALIAS_PREFIX}/community-servers/<reference>/scoring-analysis")
@clients.output(ScoringAnalysis)
@clients.doc(responses=[400, 404])
def read_scoring_analysis(reference: str) -> Response:
    """Figures of one community: activity, categories, consensus and the most active raters."""
    with wired().database.reading() as session:
        community = community_servers.find(session, auth.caller(), reference)
        analysis = insights.scoring_analysis(session, auth.actor(), community.id)
    return answer(asdict(analysis))


def answer(body: Mapping[str, Any], status: int = 200) -> Response:
    """Return a response with a flat body, ``application/json``."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(text, status, mimetype="application/json")


def show(community: Community) -> dict[str, Any]:
    """Return the flat object of a community."""
    own = {
        "settings": community.supplied,
        "is_active": community.is_active and community.archived_at is None,
    }
    return {
        name: json_value(own[name] if name in own else getattr(community, name))
        for name in FlatCommunity.model_fields
    }
