"""How a community begins: opened by a signed-in person, or with the first admin of a new service.

While there is no admin, ``serve`` creates a one-time link at each start (docs/run/first-hour.md). It works once, within
an hour, and stops working as soon as there is any admin.
"""

import uuid
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, limits
from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Account, AccountLink, Community, Membership
from app.core.people import accounts, keys, mailed_links
from app.core.people.mailed_links import LinkOver
from app.core.people.profiles import SERVICE_PLATFORM, WEB
from app.core.permissions import SYSTEM, Actor
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import LinkPurpose, Role, WhoDecides

_PURPOSE = LinkPurpose.FIRST_ADMIN


def is_needed(session: Session) -> bool:
    """Whether there is no admin yet, of the service or of any community.

    A disabled account counts: disabling an admin must not make this link available again.
    """
    admins = sa.select(Account.id).where(Account.service_admin).limit(1)
    of_communities = sa.select(Membership.id).where(Membership.role == Role.ADMIN).limit(1)
    return session.scalar(admins) is None and session.scalar(of_communities) is None


def begin(session: Session) -> str | None:
    """Create a link, replacing any earlier one. Return its token, or None once there is an admin."""
    serialise(session, accounts.ADMINS_LOCK)
    bulk.change(
        session,
        sa.update(AccountLink)
        .where(
            AccountLink.purpose == _PURPOSE,
            AccountLink.used_at.is_(None),
            AccountLink.withdrawn_at.is_(None),
        )
        .values(withdrawn_at=clock.now()),
    )
    if not is_needed(session):
        return None
    # No e-mail address is known yet: the person who opens the link enters theirs.
    link = mailed_links.begin(session, _PURPOSE, email="")
    minted = mailed_links.mint(session, link.id)
    return minted[1] if minted is not None else None


def works(session: Session, token: str) -> bool:
    """Whether the link can be used now."""
    try:
        check(session, token)
    except LinkOver:
        return False
    return True


def check(session: Session, token: str) -> None:
    """Raise if the link cannot be used.

    Raises:
        LinkOver: it was used or replaced, has expired, or there is an admin.
    """
    mailed_links.find(session, token, _PURPOSE)
    if not is_needed(session):
        raise LinkOver


def create(
    session: Session,
    token: str,
    address: str,
    display_name: str,
    password_hash: str,
    *,
    community_name: str = "",
) -> tuple[Account, Community | None]:
    """Create the first admin's account, already confirmed, and, if named, their community.

    ``address`` is normalised by ``limits.email``; ``password_hash`` comes from ``passwords.hash_password``. An
    unconfirmed account with this address is taken over, because nobody has proved to own it.

    Raises:
        LinkOver: the link does not work any more.
        Conflict: the address has a confirmed account; its owner must sign in and open the link again.
        Invalid: a name is blank or too long.
    """
    _use(session, token)
    limits.text(display_name, "display_name", limits.NAME_MAX)
    account = accounts.find(session, address)
    if account is None:
        account = accounts.insert(
            session, address, password_hash, display_name, confirmed=True, service_admin=True
        )
    elif account.confirmed_at is not None or account.disabled_at is not None:
        raise Conflict(
            _("This address has an account already. Sign in with it, then open the link again"), account.id
        )
    else:
        account.password_hash, account.display_name = password_hash, display_name
        account.confirmed_at = clock.now()
        accounts.make_service_admin(session, account)
        mailed_links.drop(session, account.id, LinkPurpose.CONFIRM, LinkPurpose.RESET)
        session.flush()
    return account, _community(session, account.id, community_name)


def promote(
    session: Session, token: str, account_id: uuid.UUID, *, community_name: str = ""
) -> Community | None:
    """Make a signed-in account the first admin and, if named, open a community.

    Raises:
        LinkOver: the link does not work any more.
        Invalid: the community's name is too long.
    """
    _use(session, token)
    account = accounts.get(session, account_id)
    accounts.make_service_admin(session, account)
    session.flush()
    return _community(session, account_id, community_name)


def _use(session: Session, token: str) -> None:
    # When two requests use the link at once, or one does while `create-account` runs, the second finds an admin.
    serialise(session, accounts.ADMINS_LOCK)
    check(session, token)
    mailed_links.use(session, token, _PURPOSE)


def _community(session: Session, account_id: uuid.UUID, name: str) -> Community | None:
    if not name.strip():
        return None
    actor = accounts.actor_for(accounts.get(session, account_id))
    return found_community(session, actor, Founding(name.strip()), open_to_all=True)


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
    ids. Otherwise a stranger could claim a platform's id here first and receive its posts.

    Raises:
        Forbidden: the account is not confirmed, or only service admins open communities here.
        Invalid: a value is not valid, or the platform's id is taken.
    """
    if not may_found(actor, open_to_all=open_to_all) or actor.account_id is None:
        raise Forbidden(_("Only a service admin opens communities here"))
    account = accounts.get(session, actor.account_id)
    if account.confirmed_at is None or account.disabled_at is not None:
        raise Forbidden(_("Confirm your email address first"))
    limits.platform(values.platform)
    if values.platform == SERVICE_PLATFORM:
        raise Invalid.field("platform", _("is the service's own"), values.platform)
    is_claim = values.platform_id is not None or values.platform != WEB
    if is_claim and not actor.service_admin and keys.some_open_communities(session):
        name = "platform_id" if values.platform == WEB else "platform"
        raise Invalid.field(
            name, _("is named by a service admin or the integration here. Keep web, and leave the id empty")
        )
    if values.platform_id is None and values.platform != WEB:
        raise Invalid.field("platform_id", _("is needed for this platform"))
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
        raise Invalid.field("platform_id", _("is another community's already"), platform_id) from taken
    if values.platform_id is None:
        _begin_with_panels(session, actor, community)
    accounts.give_role(
        session, SYSTEM, account, community.id, Role.ADMIN, cause=lazy_gettext("opened the community")
    )
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
        reason=Reason(cause=lazy_gettext("opened for the dashboard, where everybody can be drawn")),
    )
