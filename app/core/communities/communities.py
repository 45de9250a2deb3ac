"""Communities: found by platform id, opened when unknown and the actor may."""

import re
import unicodedata
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import bulk, limits
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.history import chain as history
from app.core.ids import new_id, parse_id
from app.core.models import Account, Community, KeyCommunity
from app.core.people import profiles
from app.core.people.profiles import GLOBAL_PLATFORMS, USER_PROFILE
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets

SLUG_TRIES = 5


def get(session: Session, actor: Actor, community_id: uuid.UUID) -> Community:
    """The community. Raises NotFound for unknown and foreign ones alike."""
    community = session.get(Community, community_id) if actor.sees(community_id) else None
    if community is None:
        raise NotFound("community server")
    return community


def visible(session: Session, actor: Actor) -> Sequence[Community]:
    """The actor's communities, ordered by name."""
    listed = sa.select(Community).order_by(Community.name, Community.id)
    if actor.communities is not None:
        listed = listed.where(Community.id.in_(actor.communities))
    return session.scalars(listed).all()


def only_one(session: Session, actor: Actor) -> Community | None:
    """The actor's community if there is exactly one, else None."""
    if actor.communities is None or len(actor.communities) != 1:
        return None
    return session.get(Community, *actor.communities)


def by_ids(session: Session, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Community]:
    """The communities with these ids, by id, without a permission check: callers have already checked the rows."""
    rows = session.scalars(sa.select(Community).where(Community.id.in_(ids)))
    return {community.id: community for community in rows}


def find(session: Session, platform: str, platform_id: str) -> Community | None:
    return session.scalars(
        sa.select(Community).where(
            Community.platform == platform, Community.platform_community_server_id == platform_id
        )
    ).first()


def resolve(session: Session, actor: Actor, reference: str, platform: str | None = None) -> Community:
    """The community named by our UUID, the platform's id or its slug, among the actor's communities.

    ``platform`` decides between communities of two platforms with the same id. Our UUID wins over a platform's id.

    Raises:
        NotFound: unknown or foreign.
        Conflict: several communities have this id, and none of them is of ``platform``.
    """
    return session.get_one(Community, resolve_id(session, actor, reference, platform))


def resolve_id(session: Session, actor: Actor, reference: str, platform: str | None = None) -> uuid.UUID:
    """The id of the community that ``resolve`` returns, for callers that need only the id."""
    if not limits.may_be_stored_id(reference):
        raise NotFound("community server")
    named = sa.select(Community.id, Community.platform, Community.platform_community_server_id)
    identity = parse_id(reference)
    matches: list[Any] = []
    if identity is not None and actor.sees(identity):
        matches = [*session.execute(named.where(Community.id == identity))]
    if not matches:  # a platform may also use UUIDs as its communities' ids
        is_named = sa.or_(Community.platform_community_server_id == reference, Community.slug == reference)
        rows = session.execute(named.where(is_named).order_by(Community.id))
        matches = [row for row in rows if actor.sees(row.id)]
    same = [c for c in matches if platform is not None and c.platform == platform]
    exact = [c for c in same or matches if c.platform_community_server_id == reference]
    chosen = exact or same or matches
    if not chosen:
        raise NotFound("community server")
    if len(chosen) > 1:
        raise Conflict(_("Several communities carry this id; name the platform"))
    only: uuid.UUID = chosen[0].id
    return only


def look_up(session: Session, actor: Actor, platform: str, platform_id: str) -> tuple[Community, bool]:
    """The community of a platform, opened when unknown and the actor may. Return (community, whether it is new)."""
    limits.platform(platform)
    limits.foreign_id(platform_id, "platform_community_server_id")
    community = find_or_refuse(session, actor, platform, platform_id)
    if community is not None:
        return community, False
    return open_community(session, actor, platform, platform_id), True


def provider_scope(session: Session, actor: Actor, platform: str, reference: str) -> str:
    """The ``provider_scope`` of this platform's user ids on the server that ``reference`` names.

    The server must be one of the actor's communities, named by UUID, platform id or slug.

    Raises:
        NotFound: it is not one of them, or is of another platform.
    """
    try:
        community = resolve(session, actor, reference, platform)
    except Conflict:
        # Several of the actor's communities, none of them of this platform.
        community = None
    except NotFound:
        raise NotFound(USER_PROFILE) from None
    if platform not in GLOBAL_PLATFORMS and (community is None or community.platform != platform):
        raise NotFound(USER_PROFILE)
    return profiles.scope_in(platform, community)


def find_or_refuse(session: Session, actor: Actor, platform: str, platform_id: str) -> Community | None:
    """The community of a platform; None when there is none and the actor may open it.

    A UUID never opens one: it is more likely one of our ids, sent in the wrong place.

    Raises:
        NotFound: it is foreign, or there is none and the actor may not open it; both look the same.
    """
    community = find(session, platform, platform_id)
    if community is not None and actor.sees(community.id):
        return community
    may_open = actor.may_open_communities and not actor.read_only and parse_id(platform_id) is None
    if community is not None or not may_open:
        raise NotFound("community server")
    return None


def open_community(
    session: Session, actor: Actor, platform: str, platform_id: str, *, name: str | None = None, **fields: Any
) -> Community:
    """Open a community with the shipped thresholds; a key that opens one may act in it.

    A community opened by a key is not public unless ``fields`` contain ``is_public``: nobody can join it, or read
    what is under review there, until an operator makes it public or invites (docs/integrate/api.md).
    """
    community = _insert(session, actor, platform, platform_id, name or platform_id, fields)
    if community is None:
        # Another transaction opened it between our query and our insert; use that one.
        community = find(session, platform, platform_id)
        if community is None or not actor.sees(community.id):
            raise NotFound("community server")
    return community


def create(
    session: Session, actor: Actor, platform: str, platform_id: str, name: str, **fields: Any
) -> Community:
    """Open a community that must not exist yet; ``fields`` are ``description``, ``supplied``, ``is_…``.

    Raises:
        Invalid: a value is not allowed. From an integration, a UUID as the platform's id is not: it is more likely one
            of our ids. Communities that people open have one of our making.
        Conflict: it exists. Its id is included only for actors who see it.
        Forbidden: the actor may not open communities, whether or not a foreign one exists.
    """
    limits.text(name, "name", limits.NAME_MAX)
    if fields.get("description") is not None:
        limits.text(fields["description"], "description", limits.DESCRIPTION_MAX, least=0)
    if fields.get("supplied") is not None:
        limits.json_object(fields["supplied"], "settings")
    known = find(session, platform, platform_id)
    if known is not None and actor.sees(known.id):
        raise Conflict(_("This community server exists already"), known.id)
    if not actor.may_open_communities or actor.read_only:
        raise Forbidden(_("This API key may not open communities"))
    if known is not None:
        raise Conflict(_("This community server exists already"))
    if actor.kind == "key" and parse_id(platform_id) is not None:
        raise Invalid.field("platform_community_server_id", _("must not be a UUID"), platform_id)
    community = _insert(session, actor, platform, platform_id, name, fields)
    if community is None:
        raise Conflict(_("This community server exists already"))
    return community


def rename(
    session: Session,
    actor: Actor,
    community: Community,
    name: str,
    server_stats: Mapping[str, Any] | None = None,
) -> Community:
    """Store the platform's name and statistics of its community; ``server_stats`` None keeps the previous ones."""
    require(actor, Permission.SUBMIT, community.id, "community server")
    limits.text(name, "name", limits.NAME_MAX)
    if server_stats is not None:
        limits.json_object(server_stats, "server_stats")
    serialise(session, community.id)
    session.refresh(community)
    before = community.name
    community.name = name
    if server_stats is not None:
        community.server_stats = dict(server_stats)
    session.flush()
    if name != before:
        history.record(
            session,
            actor,
            community.id,
            "community.renamed",
            "community",
            community.id,
            before={"name": before},
            after={"name": name},
        )
    return community


def _insert(
    session: Session, actor: Actor, platform: str, platform_id: str, name: str, fields: Mapping[str, Any]
) -> Community | None:
    """Insert a community with its first thresholds; None when another transaction was first."""
    if actor.kind == "key":
        fields = {"is_public": False, **fields}
    limits.platform(platform)
    limits.foreign_id(platform_id, "platform_community_server_id")
    limits.text(name, "name", limits.NAME_MAX)
    community = None
    for _try in range(SLUG_TRIES):
        community = Community(
            id=new_id(),
            platform=platform,
            platform_community_server_id=platform_id,
            slug=_free_slug(session, name),
            name=name,
            **fields,
        )
        try:
            with session.begin_nested():
                session.add(community)
            break
        except IntegrityError:
            if find(session, platform, platform_id) is not None:
                return None
            # Another community of the same name took the slug meanwhile.
            community = None
    if community is None:
        raise Conflict(_("Several communities of this name are being opened right now"))
    if actor.key_id is not None and actor.communities is not None:
        session.add(KeyCommunity(key_id=actor.key_id, community_id=community.id))
    history.record(
        session,
        actor,
        community.id,
        "community.opened",
        "community",
        community.id,
        after={"platform": platform, "platform_community_server_id": platform_id},
    )
    threshold_sets.begin(session, community.id)
    return community


def _free_slug(session: Session, name: str) -> str:
    """A slug from the name, numbered when taken. It never looks like a UUID, so that a reference is unambiguous."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60] or "community"
    if parse_id(base) is not None:
        base = f"c-{base}"
    taken = set(
        session.scalars(
            sa.select(Community.slug).where(sa.or_(Community.slug == base, Community.slug.like(f"{base}-%")))
        )
    )
    if base not in taken:
        return base
    return next(f"{base}-{n}" for n in range(2, len(taken) + 3) if f"{base}-{n}" not in taken)


def record_worked_in(session: Session, account_id: uuid.UUID, community_id: uuid.UUID) -> None:
    """Store the account's last community, which opens first after signing in."""
    bulk.change(
        session, sa.update(Account).where(Account.id == account_id).values(last_community_id=community_id)
    )
