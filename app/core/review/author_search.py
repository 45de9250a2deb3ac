"""Search for the authors of one community by id or name; without a text those whose strikes count now."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import strikes
from app.core.models import Community, Profile, Request, Strike
from app.core.models.decisions import HIDDEN, QUEUED
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.review.author_pages import counts

FOUND = 30
"""The most authors that a search lists."""
_STEPS = 60
"""The most ids that a search by id looks at."""


@dataclass(frozen=True)
class FoundAuthor:
    """An author in a list. ``name``: what their profile calls them."""

    author: str
    name: str | None
    hidden: int
    open: int
    points: int


def search(session: Session, actor: Actor, community: Community, text: str) -> Sequence[FoundAuthor]:
    """Authors by the beginning of their id or a part of their name; without a text those whose strikes count now."""
    require(actor, Permission.SEE_HISTORY, community.id, "author")
    scopes = ("", profiles.scope_in(community.platform, community))
    known = sa.select(Profile.platform_user_id, Profile.display_name).where(
        Profile.platform == community.platform, Profile.provider_scope.in_(scopes)
    )
    if text:
        found = _by_id(session, community.id, text)
        writes = sa.exists().where(
            Request.community_id == community.id, Request.platform_author_id == Profile.platform_user_id
        )
        named = known.where(Profile.display_name.icontains(text, autoescape=True), writes).limit(FOUND)
        found = list(dict.fromkeys([*found, *(author for author, _ in session.execute(named))]))[:FOUND]
    else:
        found = _with_strikes(session, community.id)
    names = {
        author: name
        for author, name in session.execute(known.where(Profile.platform_user_id.in_(found)))
        if name
    }
    hidden = counts(session, community.id, found, HIDDEN)
    waiting = counts(session, community.id, found, QUEUED)
    points = strikes.points_by_author(session, community.id, found)
    return [
        FoundAuthor(
            author, names.get(author), hidden.get(author, 0), waiting.get(author, 0), points.get(author, 0)
        )
        for author in found
    ]


def _by_id(session: Session, community_id: uuid.UUID, text: str) -> list[str]:
    """Ids of authors that begin with the text, that very id first.

    It steps from one author to the next in the index of authors: to read each of their posts takes 1,000,000 blocks
    of 1,000,000 posts. The order need not be that of the letters, so it goes on after an id that begins otherwise.
    """
    author = Request.platform_author_id
    here = (Request.community_id == community_id, Request.withdrawn_at.is_(None))
    first = sa.select(author).where(*here, author >= text).order_by(author).limit(1).subquery()
    begin: sa.Select[Any] = sa.select(first.c.platform_author_id.label("author"), sa.literal(1).label("step"))
    steps = begin.cte("steps", recursive=True)
    following = sa.select(author).where(*here, author > steps.c.author).order_by(author).limit(1)
    onward: sa.Select[Any] = sa.select(following.scalar_subquery(), steps.c.step + 1)
    steps = steps.union_all(onward.where(steps.c.author.is_not(None), steps.c.step < _STEPS))
    found = session.scalars(
        sa.select(steps.c.author).where(steps.c.author.startswith(text, autoescape=True)).limit(FOUND)
    ).all()
    return sorted(found, key=lambda one: (one != text, one))


def _with_strikes(session: Session, community_id: uuid.UUID) -> list[str]:
    total = sa.func.sum(Strike.points)
    return list(
        session.scalars(
            sa.select(Strike.platform_author_id)
            .where(Strike.community_id == community_id, strikes.counting(clock.now()))
            .group_by(Strike.platform_author_id)
            .order_by(total.desc(), Strike.platform_author_id)
            .limit(FOUND)
        )
    )
