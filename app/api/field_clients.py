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
from app.api.schemas.requests import Time, Uuid
from app.api.shapes import NOT_BLANK, STORABLE, Body, ForeignId, JsonObject, Platform, Query
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

    platform: Platform
    platform_community_server_id: ForeignId
    name: Name
    description: Description | None = None
    settings: JsonObject | None = Field(None, description="At most 64 KB of JSON.")
    is_active: bool = True
    is_public: bool = Field(
        False,
        description="Whether anybody with an account may join as a rater and read what is under review.",
    )


class CommunityName(Body):
    """A community's current name on its platform. With ``server_stats`` null the last figures stay."""

    name: Name
    server_stats: JsonObject | None = Field(None, description="At most 64 KB of JSON.")


class CommunityNameQuery(Query):
    """``platform`` is needed only if two platforms of the key use the same id."""

    platform: Platform | None = None


class Flat(BaseModel):
    """A flat body in a response. The tests check every response against its model."""

    model_config = ConfigDict(extra="forbid")


class FlatCommunity(Flat):
    """A community with its ``id`` beside its other members."""

    id: Uuid
    platform: str
    platform_community_server_id: str
    slug: str
    name: str
    description: str | None
    settings: JsonObject
    server_stats: JsonObject | None
    is_active: bool
    is_public: bool
    created_at: Time
    updated_at: Time


class RatingThresholds(Flat):
    """A note needs ``min_ratings_needed`` ratings before it gets a status. A rater has one rating per note."""

    min_ratings_needed: int
    min_raters_per_note: int


class Activity(Flat):
    """Activity totals. Each ``…_last_7_days`` is part of the total of the same name."""

    requests: int
    requests_last_7_days: int
    actions: int
    notes: int
    ratings: int
    ratings_last_7_days: int
    raters: int


class Consensus(Flat):
    """How reviews end. ``agreement``: share of ratings that match the note's status, 0.0–1.0; null while unknown."""

    in_review: int
    second_look: int
    decided_in_review: int
    decided_to_act: int
    decided_not_to_act: int
    notes_needing_ratings: int
    notes_helpful: int
    notes_not_helpful: int
    agreement: float | None


class Reviewer(Flat):
    """``accuracy``: share of this rater's ratings that match the note's status, 0.0–1.0; null while unknown."""

    username: str
    review_count: int
    accuracy: float | None


class ScoringAnalysis(Flat):
    """``classification``: number of actions by category, the most frequent first."""

    activity: Activity
    classification: dict[str, int]
    consensus: Consensus
    top_reviewers: list[Reviewer]


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
