"""Community servers: looked up by platform id, read, opened on first contact (docs/integration.md)."""

import uuid
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, jsonapi
from app.api.auth import Caller
from app.api.blueprints import opens_communities, public
from app.api.errors import Located
from app.api.parse import JSON_API
from app.api.schemas.requests import CommunityDocument, CommunityLookup
from app.core.communities import communities
from app.core.errors import Conflict, Malformed, NotFound
from app.core.ids import parse_id
from app.core.models import Community, ThresholdSet
from app.core.permissions import Actor
from app.core.policies import policies
from app.wiring import wired

DEFAULT_PLATFORM = "discord"


def platform_of(caller: Caller, given: str | None = None) -> str:
    """The platform that a call speaks of: as given, else X-Adapter-Platform, else ``discord``."""
    return given or caller.platform or DEFAULT_PLATFORM


def query_problem(name: str, msg: str) -> Located:
    """A 422 about one query parameter."""
    return Located.at("query", name, msg=msg)


def find(session: Session, caller: Caller, reference: str) -> Community:
    """The community with our UUID, the platform's id or its slug, among the caller's.

    Raises:
        NotFound: unknown or foreign.
        Malformed: two platforms of the caller use this id, and X-Adapter-Platform names neither.
    """
    return session.get_one(Community, find_id(session, caller, reference))


def find_known(caller: Caller, reference: str) -> uuid.UUID | None:
    """The id of a community that is there. None: ``find_or_open`` says what becomes of it.

    Asked before a writing session, which then need not be held for the question.
    """
    with wired().database.looking() as connection:
        try:
            return find_id(connection, caller, reference)
        except NotFound:
            return None


def find_id(session: Session | sa.Connection, caller: Caller, reference: str) -> uuid.UUID:
    """The id of the community that ``find`` finds; refused alike."""
    try:
        return communities.resolve_id(session, caller.actor, reference, caller.platform)
    except Conflict as ambiguous:
        # 409 would read as "submitted before" (docs/integration.md).
        raise Malformed(ambiguous.detail) from ambiguous


def find_or_open(session: Session, caller: Caller, reference: str) -> tuple[uuid.UUID, Actor]:
    """The community's id, opened when a platform id is unknown and the key may; and the actor, who then sees it.

    An unknown UUID never opens one. Call it in a writing session.
    """
    actor = caller.actor
    try:
        return find_id(session, caller, reference), actor
    except NotFound:
        if parse_id(reference) is not None or not actor.may_open_communities:
            raise
    community, _ = communities.look_up(session, actor, platform_of(caller), reference)
    if actor.communities is not None:
        actor = replace(actor, communities=actor.communities | {community.id})
    return community.id, actor


@public.get("/community-servers/lookup")
@public.input(CommunityLookup, location="query")
@public.output(CommunityDocument, content_type=JSON_API)
@public.doc(responses=[404])
@opens_communities
def look_up_community(query_data: CommunityLookup) -> Response:
    """Find a community by its platform's id; a key that may open communities opens an unknown one."""
    caller = auth.caller()
    platform = platform_of(caller, query_data.platform)
    platform_id = query_data.platform_community_server_id
    with wired().database.reading() as session:
        community = communities.find_or_refuse(session, caller.actor, platform, platform_id)
        if community is not None:
            return _answer(community, policies.current(session, community.id))
    with wired().database.writing() as session:
        community, _ = communities.look_up(session, caller.actor, platform, platform_id)
        return _answer(community, policies.current(session, community.id))


@public.get("/community-servers/<reference>")
@public.output(CommunityDocument, content_type=JSON_API)
@public.doc(responses=[400, 404])
def read_community(reference: str) -> Response:
    """Read a community with the category configuration in force."""
    with wired().database.reading() as session:
        community = find(session, auth.caller(), reference)
        return _answer(community, policies.current(session, community.id))


def _answer(community: Community, thresholds: ThresholdSet) -> Response:
    return jsonapi.answer(
        jsonapi.document(show(community, thresholds), at=f"/community-servers/{community.id}")
    )


def show(community: Community, thresholds: ThresholdSet) -> dict[str, Any]:
    """The resource object of a community; ``thresholds`` is the version in force, with its categories."""
    attributes = {
        "platform": community.platform,
        "platform_community_server_id": community.platform_community_server_id,
        "slug": community.slug,
        "name": community.name,
        "description": community.description,
        "is_active": community.is_active and community.archived_at is None,
        "is_public": community.is_public,
        "config_version": thresholds.version,
        "categories": [
            {
                "name": category.name,
                "enabled": category.enabled,
                "tier1_threshold": category.tier1,
                "tier2_threshold": category.tier2,
                "tier1_action": category.tier1_action.value,
                "tier2_action": category.tier2_action.value,
                "review_group": category.review_group.value,
            }
            for category in thresholds.categories
        ],
        "created_at": community.created_at,
        "updated_at": community.updated_at,
    }
    return jsonapi.resource("community-servers", community.id, attributes, null=("description",))
