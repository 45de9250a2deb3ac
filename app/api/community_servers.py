"""Community servers: look up by platform id, read, open on first contact (docs/integrate/api.md)."""

import uuid
from dataclasses import replace
from typing import Any

import flask
from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, jsonapi
from app.api.auth import Caller
from app.api.blueprints import opens_communities, public
from app.api.errors import Located
from app.api.schemas.communities import CommunityAttributes, CommunityDocument, CommunityLookup
from app.core.communities import communities
from app.core.errors import Conflict, Malformed, NotFound
from app.core.ids import parse_id
from app.core.models import Community, ThresholdSet
from app.core.permissions import Actor
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import FIELDS
from app.wiring import wired

DEFAULT_PLATFORM = "discord"


class NotOpened(NotFound):
    """An unknown community, which this call does not open because it names no platform."""

    def __init__(self) -> None:
        super().__init__("community server")
        self.detail += "; to open it, name its platform in X-Adapter-Platform"


def platform_of(caller: Caller, parameter: str | None = None) -> str:
    """Return the platform of a call: the parameter, else X-Adapter-Platform, else ``discord``."""
    return parameter or caller.platform or DEFAULT_PLATFORM


def query_problem(name: str, msg: str) -> Located:
    """Create the 422 error for one query parameter of this request."""
    return Located.at_path("query", name, msg=msg, value=flask.request.args.get(name))


def find(session: Session, caller: Caller, reference: str) -> Community:
    """Return the caller's community with this UUID, platform id or slug.

    Raises:
        NotFound: there is none, or it is not the caller's.
        Malformed: two platforms of the caller use this id, and X-Adapter-Platform names neither.
    """
    return session.get_one(Community, find_id(session, caller, reference))


def find_known(caller: Caller, reference: str) -> uuid.UUID | None:
    """Return the id of a community, or None if there is none; ``find_or_open`` then opens or refuses it.

    Called before the writing session begins, to keep that session short.
    """
    with wired().database.reading() as session:
        try:
            return find_id(session, caller, reference)
        except NotFound:
            return None


def find_id(session: Session, caller: Caller, reference: str) -> uuid.UUID:
    """Return the id of the community that ``find`` would return. Raises the same errors."""
    try:
        return communities.resolve_id(session, caller.actor, reference, caller.platform)
    except Conflict as ambiguous:
        # Clients would understand 409 as "submitted before" (docs/integrate/api.md).
        raise Malformed(ambiguous.detail) from ambiguous


def find_or_open(
    session: Session,
    caller: Caller,
    reference: str,
    *,
    platform: str | None = None,
    known_id: uuid.UUID | None = None,
) -> tuple[uuid.UUID, Actor]:
    """Return the community's id and the actor. Opens a community with an unknown platform id if the key may.

    ``known_id``: the id that ``find_known`` returned, if it found one; nothing is looked up then.
    It is opened on ``platform``. None, for whatever submits content, means the platform in X-Adapter-Platform, and then
    X-Adapter-Scope must not name another community: a typing error in ``reference`` opens no community. The returned
    actor has access to the new community. An unknown UUID never opens one. Call it in a writing session.

    Raises:
        NotFound: unknown or foreign, and the key may not open it, or the call names no platform.
        Malformed: X-Adapter-Scope names another community; or as ``find``.
    """
    actor = caller.actor
    if known_id is not None:
        return known_id, actor
    try:
        return find_id(session, caller, reference), actor
    except NotFound:
        if parse_id(reference) is not None or not actor.may_open_communities:
            raise
    community, _ = communities.look_up(
        session, actor, platform or _platform_named(caller, reference), reference
    )
    if actor.communities is not None:
        actor = replace(actor, communities=actor.communities | {community.id})
    return community.id, actor


def _platform_named(caller: Caller, reference: str) -> str:
    """Return the platform on which this call opens the community ``reference``. Raises as ``find_or_open``."""
    scope = caller.asserted.scope
    if scope is not None and scope != reference:
        raise Malformed(
            "X-Adapter-Scope names another community than community_server_id, which is not known"
        )
    if caller.platform is None:
        raise NotOpened
    return caller.platform


@public.get("/community-servers/lookup")
@public.input(CommunityLookup, location="query")
@public.answers(CommunityDocument, also=[404])
@opens_communities
def look_up_community(query_data: CommunityLookup) -> Response:
    """Find a community by its platform's id. A key that may open communities opens an unknown one."""
    caller = auth.caller()
    platform = platform_of(caller, query_data.platform)
    platform_id = query_data.platform_community_server_id
    with wired().database.reading() as session:
        community = communities.find_or_refuse(session, caller.actor, platform, platform_id)
        if community is not None:
            return jsonapi.answer_resource(show(community, threshold_sets.current(session, community.id)))
    with wired().database.writing() as session:
        community, _ = communities.look_up(session, caller.actor, platform, platform_id)
        return jsonapi.answer_resource(show(community, threshold_sets.current(session, community.id)))


@public.get("/community-servers/<reference>")
@public.answers(CommunityDocument, also=[400, 404])
def read_community(reference: str) -> Response:
    """Read a community with its current category configuration."""
    with wired().database.reading() as session:
        community = find(session, auth.caller(), reference)
        return jsonapi.answer_resource(show(community, threshold_sets.current(session, community.id)))


def show(community: Community, thresholds: ThresholdSet) -> dict[str, Any]:
    """Return the resource object of a community. ``thresholds`` is its current threshold set, with the categories."""
    return jsonapi.shown(
        "community-servers",
        CommunityAttributes,
        community,
        is_active=community.is_active and community.archived_at is None,
        config_version=thresholds.version,
        categories=[
            {"name": category.name}
            | {
                declared.api: getattr(category, name)
                for name, declared in FIELDS.items()
                if declared.api is not None
            }
            for category in thresholds.categories
        ],
    )
