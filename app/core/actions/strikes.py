"""Strikes: points against an author in one community (docs/moderate/authors.md).

A category gives points when an action filed under it is applied, and takes them back when that is overturned.
Moderators add and lift strikes by hand. ``strike_steps`` follows what the points of an author reach.
"""

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import strike_steps
from app.core.db import serialise, serialise_and_reload
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.history.reason import NO_REASON, Reason
from app.core.ids import new_id
from app.core.models import Action, Category, Request, Strike
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ActionType

DAYS = 90
"""How long a strike counts that a moderator adds without a category."""


def counting(at: datetime) -> sa.ColumnElement[bool]:
    """SQL condition: the strike counts at that time."""
    return sa.and_(Strike.lifted_at.is_(None), Strike.expires_at > at)


def points_of(session: Session, community_id: uuid.UUID, author: str) -> int:
    """How many points of an author count now."""
    return points_by_author(session, community_id, [author]).get(author, 0)


def points_by_author(session: Session, community_id: uuid.UUID, authors: Collection[str]) -> dict[str, int]:
    """How many points of these authors count now, by author; those without are left out."""
    rows = session.execute(
        sa.select(Strike.platform_author_id, sa.func.sum(Strike.points))
        .where(
            Strike.community_id == community_id,
            Strike.platform_author_id.in_(authors),
            counting(clock.now()),
        )
        .group_by(Strike.platform_author_id)
    )
    return {author: int(points) for author, points in rows}


def of_author(
    session: Session, community_id: uuid.UUID, author: str, *, limit: int = 100
) -> Sequence[Strike]:
    """An author's strikes that count now, newest first. The caller has checked that the actor may know of them."""
    return session.scalars(
        sa.select(Strike)
        .where(
            Strike.community_id == community_id,
            Strike.platform_author_id == author,
            counting(clock.now()),
        )
        .order_by(Strike.created_at.desc(), Strike.id.desc())
        .limit(limit)
    ).all()


def give(session: Session, action: Action) -> Strike | None:
    """Give the author the points of the category of an action that was just applied; None if there are none.

    The caller holds the community's lock, and an action is applied once; so is its strike given.
    """
    author = action.platform_author_id
    if author is None or action.action_type is ActionType.UNHIDE or action.strike_step is not None:
        return None
    given = session.execute(
        sa.select(Category.strike_points, Category.strike_days).where(
            Category.threshold_set_id == threshold_sets.in_force(action.community_id),
            Category.name == action.filed_under,
            Category.strike_points > 0,
        )
    ).first()
    if given is None:
        return None
    points, days = given
    strike = Strike(
        id=new_id(),
        community_id=action.community_id,
        platform_author_id=author,
        points=points,
        category=action.filed_under,
        action_id=action.id,
        created_at=clock.now(),
        expires_at=clock.now() + timedelta(days=days),
    )
    return _store(session, SYSTEM, strike, action.request_id)


def take_back(session: Session, action: Action) -> None:
    """Take back the points that an action gave, because it was overturned. A repeated call changes nothing."""
    strike = session.scalars(
        sa.select(Strike).where(Strike.action_id == action.id, Strike.lifted_at.is_(None))
    ).first()
    if strike is not None:
        _lift(session, SYSTEM, strike, Reason(cause=lazy_gettext("the action was overturned")))


def add(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    author: str,
    points: int,
    *,
    reason: Reason,
    category: str | None = None,
) -> Strike:
    """Add a strike by hand.

    Raises:
        Forbidden: the actor is not signed in.
        Invalid: the points are out of bounds, the reason is missing, the community has no such category, the author has
            no post here, or more strikes than can be kept.
    """
    require(actor, Permission.MODERATE, community_id, "author")
    if actor.account_id is None:
        raise Forbidden(_("Only a signed-in moderator can add a strike"))
    limits.text(reason.reason, "reason", limits.REASON_MAX)
    if isinstance(points, bool) or not 1 <= points <= limits.STRIKE_POINTS_MAX:
        raise Invalid.field(
            "points", _("must be a whole number from 1 to %(most)s", most=limits.STRIKE_POINTS_MAX), points
        )
    days = DAYS
    if category is not None:
        known = {one.name: one for one in threshold_sets.current(session, community_id).categories}
        if category not in known:
            raise Invalid.field("category", _("must be one of this community's categories"), category[:50])
        days = known[category].strike_days
    serialise(session, community_id)
    by_hand = sa.select(sa.func.count()).where(
        Strike.community_id == community_id,
        Strike.platform_author_id == author,
        Strike.account_id.is_not(None),
    )
    limits.room(limits.STRIKES, session.scalar(by_hand) or 0, "points")
    newest = session.scalar(
        sa.select(Request.id)
        .where(
            Request.community_id == community_id,
            Request.platform_author_id == author,
            Request.withdrawn_at.is_(None),
        )
        .order_by(Request.requested_at.desc())
        .limit(1)
    )
    if newest is None:
        raise Invalid.field("author", _("has no post in this community"))
    now = clock.now()
    strike = Strike(
        id=new_id(),
        community_id=community_id,
        platform_author_id=author,
        points=points,
        category=category,
        reason=reason.reason,
        account_id=actor.account_id,
        account_name=actor.name,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return _store(session, actor, strike, newest, reason=reason)


def find(
    session: Session, actor: Actor, community_id: uuid.UUID, author: str, strike_id: uuid.UUID
) -> Strike:
    """A strike of this author. Raises NotFound for unknown ones and those of others alike."""
    require(actor, Permission.MODERATE, community_id, "strike")
    strike = session.get(Strike, strike_id)
    if strike is None or (strike.community_id, strike.platform_author_id) != (community_id, author):
        raise NotFound("strike")
    return strike


def lift(session: Session, actor: Actor, strike: Strike, *, reason: Reason) -> Strike:
    """Lift a strike: it no longer counts.

    Raises:
        Invalid: the reason is missing.
        Conflict: it does not count any more.
    """
    require(actor, Permission.MODERATE, strike.community_id, "strike")
    limits.text(reason.reason, "reason", limits.REASON_MAX)
    serialise_and_reload(session, strike)
    if strike.lifted_at is not None or strike.expires_at <= clock.now():
        raise Conflict(_("This strike does not count any more"), strike.id)
    strike.lifted_by_id, strike.lifted_by_name = actor.account_id, actor.name
    strike.lift_reason = reason.reason
    _lift(session, actor, strike, reason)
    return strike


def _store(
    session: Session, actor: Actor, strike: Strike, request_id: uuid.UUID, *, reason: Reason = NO_REASON
) -> Strike:
    session.add(strike)
    session.flush()
    after = {
        "points": strike.points,
        "category": strike.category,
        "expires_at": clock.iso(strike.expires_at),
    }
    strike_steps.record(session, actor, strike, "added", after, reason=reason)
    points = points_of(session, strike.community_id, strike.platform_author_id)
    strike_steps.follow_rise(session, strike, request_id, points)
    return strike


def _lift(session: Session, actor: Actor, strike: Strike, reason: Reason) -> None:
    strike.lifted_at = clock.now()
    session.flush()
    after = {"points": strike.points, "category": strike.category}
    strike_steps.record(session, actor, strike, "lifted", after, reason=reason)
    points = points_of(session, strike.community_id, strike.platform_author_id)
    strike_steps.follow_fall(session, strike.community_id, strike.platform_author_id, points)
