"""The paths that existing integrations call besides the public ones: flat JSON both ways (docs/integration.md).

Same keys and same rules as everywhere; documented under a tag of their own.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers
from app.api.blueprints import ALIAS_PREFIX, guarded, opens_communities
from app.api.jsonapi import plain
from app.api.schemas.field_clients import (
    CommunityCreate,
    CommunityName,
    CommunityNameQuery,
    FlatCommunity,
    RatingThresholds,
    ScoringAnalysis,
)
from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.errors import NotFound
from app.core.insights import insights
from app.core.models import Community
from app.wiring import wired

V1 = "/api/v1"

clients = guarded("field_clients", tag="Clients in the field")


@clients.post(f"{V1}/community-servers")
@clients.input(CommunityCreate)
@clients.output(FlatCommunity, 201)
@clients.doc(responses=[400, 409])
@opens_communities
def create_community(json_data: CommunityCreate) -> Response:
    """Open a community: 201; 409 when it is there. Only a key that may open communities opens one."""
    given = json_data.model_dump(exclude={"platform", "platform_community_server_id", "settings"})
    with wired().database.writing() as session:
        community = communities.create(
            session,
            auth.actor(),
            json_data.platform,
            json_data.platform_community_server_id,
            supplied=json_data.settings or {},
            **given,
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
    """Take over a community's name and figures from its platform."""
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

    In the community that ``X-Adapter-Scope`` names, else in the key's only one, else where a community sets nothing.
    """
    caller = auth.caller()
    own = caller.actor.communities
    community_id = caller.scope_id or (next(iter(own)) if own is not None and len(own) == 1 else None)
    settings = wired().community_defaults
    if community_id is not None:
        with wired().database.reading() as session:
            settings = community_settings.read(session, community_id)
    # One rater has one rating per note, so both figures are the same.
    needed = settings.min_ratings
    return answer({"min_ratings_needed": needed, "min_raters_per_note": needed})


@clients.get(f"{ALIAS_PREFIX}/community-servers/<reference>/scoring-analysis")
@clients.output(ScoringAnalysis)
@clients.doc(responses=[400, 404])
def read_scoring_analysis(reference: str) -> Response:
    """Figures of one community: activity, categories, consensus, the raters who did most."""
    with wired().database.reading() as session:
        community = community_servers.find(session, auth.caller(), reference)
        found = insights.scoring_analysis(session, auth.actor(), community.id)
    return answer(asdict(found))


def answer(body: Mapping[str, Any], status: int = 200) -> Response:
    """The response that carries a flat body, ``application/json``."""
    written = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(written, status, mimetype="application/json")


def show(community: Community) -> dict[str, Any]:
    """The flat object of a community."""
    attributes = {
        "id": community.id,
        "platform": community.platform,
        "platform_community_server_id": community.platform_community_server_id,
        "slug": community.slug,
        "name": community.name,
        "description": community.description,
        "settings": community.supplied,
        "server_stats": community.server_stats,
        "is_active": community.is_active and community.archived_at is None,
        "is_public": community.is_public,
        "created_at": community.created_at,
        "updated_at": community.updated_at,
    }
    return {name: plain(value) for name, value in attributes.items()}
