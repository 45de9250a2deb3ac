"""A signed-in person opens a community and becomes its admin (docs/moderate/admin.md)."""

from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from app.core import limits
from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.ids import new_id
from app.core.models import Community
from app.core.people import accounts, keys
from app.core.people.profiles import SERVICE_PLATFORM, WEB
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import Role, WhoDecides


@dataclass(frozen=True)
class Founding:
    """The values of a new community; with ``platform_id`` None an id is created, for platform ``web``."""

    name: str
    platform: str = WEB
    platform_id: str | None = None
    description: str | None = None
    is_public: bool = False


def may_found(actor: Actor, *, open_to_all: bool) -> bool:
    """Whether this actor may open communities; ``open_to_all`` is a setting of the service."""
    return actor.kind == "account" and (open_to_all or actor.service_admin)


def found_community(session: Session, actor: Actor, values: Founding, *, open_to_all: bool) -> Community:
    """Open a community with the shipped thresholds; the actor becomes its admin.

    Drawn panels decide its reviews, unless the caller names the platform's id: that platform's users might not be
    reached.

    If an integration opens communities itself, or reaches all future ones, only service admins may choose platform
    ids. Otherwise somebody could claim a platform's id here first and receive its posts.

    Raises:
        Forbidden: the account is not confirmed, or only service admins open communities here.
        Invalid: a value is not valid, or the platform's id is taken.
    """
    if not may_found(actor, open_to_all=open_to_all) or actor.account_id is None:
        raise Forbidden("Only a service admin opens communities here")
    account = accounts.get(session, actor.account_id)
    if account.confirmed_at is None or account.disabled_at is not None:
        raise Forbidden("Confirm your email address first")
    limits.platform(values.platform)
    if values.platform == SERVICE_PLATFORM:
        raise Invalid.field("platform", "is the service's own", values.platform)
    is_claim = values.platform_id is not None or values.platform != WEB
    if is_claim and not actor.service_admin and keys.some_open_communities(session):
        name = "platform_id" if values.platform == WEB else "platform"
        raise Invalid.field(
            name, "is named by a service admin or the integration here. Keep web, and leave the id empty"
        )
    if values.platform_id is None and values.platform != WEB:
        raise Invalid.field("platform_id", "is needed for this platform")
    platform_id = values.platform_id or str(new_id())
    limits.foreign_id(platform_id, "platform_id")
    opener = replace(actor, may_open_communities=True)
    try:
        community = communities.create(
            session,
            opener,
            values.platform,
            platform_id,
            values.name,
            description=values.description,
            is_public=values.is_public,
        )
    except Conflict as taken:
        raise Invalid.field("platform_id", "is another community's already", platform_id) from taken
    if values.platform_id is None:
        _begin_with_panels(session, actor, community)
    accounts.give_role(session, SYSTEM, account, community.id, Role.ADMIN, cause="opened the community")
    return community


def _begin_with_panels(session: Session, actor: Actor, community: Community) -> None:
    """Let panels decide: everybody rates in the dashboard here, so everybody can be drawn (docs/moderate/panels.md)."""
    before = community_settings.read(session, community.id).who_decides
    if before == WhoDecides.PANEL:
        return
    community.settings = {**community.settings, "who_decides": WhoDecides.PANEL.value}
    session.flush()
    history.record(
        session,
        actor,
        community.id,
        "community.revised",
        "community",
        community.id,
        before={"who_decides": before},
        after={"who_decides": WhoDecides.PANEL.value},
        why=Why(cause="opened for the dashboard, where everybody can be drawn"),
    )
