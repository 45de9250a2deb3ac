"""One author in one community: their profile, figures and standing (docs/moderate/authors.md)."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.actions import silences, strikes
from app.core.author_facts import NO_FACTS, AuthorFacts, author_facts
from app.core.errors import NotFound
from app.core.models import Action, Community, Profile, Report, Request, Strike
from app.core.models.decisions import HIDDEN, QUEUED
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ActionType, ReportState

REPORTED = 2_000
"""Reports are counted about so many of an author's posts: with 5,000 it takes 22,000 blocks."""


@dataclass(frozen=True)
class Figures:
    """An author's figures. ``first_at``: when their first post was submitted; ``open``: items in the review queue.

    ``points``: of strikes that count now. ``silenced``: the silence in force that ends last.
    """

    posts: int = 0
    first_at: datetime | None = None
    hidden: int = 0
    open: int = 0
    points: int = 0
    silenced: Action | None = None


@dataclass(frozen=True)
class Standing:
    """An author's standing in a community. ``id`` and both times are their profile's.

    ``silenced_until`` None: there is no silence, or it has no end.
    """

    id: uuid.UUID
    posts: int
    hidden: int
    open: int
    reports: int
    strikes: Sequence[Strike]
    is_silenced: bool
    silenced_until: datetime | None
    created_at: datetime
    updated_at: datetime


def standing(session: Session, actor: Actor, community: Community, profile_id: uuid.UUID) -> Standing:
    """The standing of a profile's person in this community: zeros for one who wrote nothing here.

    Raises NotFound if the profile is unknown or of another community.
    """
    require(actor, Permission.MODERATE, community.id, "user profile")
    profile = _find(session, actor, community, profile_id)
    author = profile.platform_user_id
    found = figures(session, community.id, author)
    return Standing(
        profile.id,
        found.posts,
        found.hidden,
        found.open,
        reports_about(session, community.id, author),
        strikes.of_author(session, community.id, author),
        found.silenced is not None,
        found.silenced.until if found.silenced is not None else None,
        profile.created_at,
        profile.updated_at,
    )


def author_of(
    session: Session, actor: Actor, community: Community, profile_id: uuid.UUID
) -> tuple[Profile, str]:
    """The profile, and the id under which this person writes in the community.

    Raises NotFound if the profile is unknown, of another community, or of a person who wrote and reported nothing here.
    """
    require(actor, Permission.SEE_HISTORY, community.id, "author")
    profile = _find(session, actor, community, profile_id)
    if not _has_written(session, community.id, profile.platform_user_id):
        reported = sa.select(Report.id).where(
            Report.reporter_id == profile.id, Report.community_id == community.id
        )
        if session.scalar(reported.limit(1)) is None:
            raise NotFound("author")
    return profile, profile.platform_user_id


def _find(session: Session, actor: Actor, community: Community, profile_id: uuid.UUID) -> Profile:
    """The profile with this id of a user of the community's platform, as the community counts its users."""
    profile = profiles.get_known(session, actor, profile_id)
    scope = profiles.scope_in(community.platform, community)
    if profile is None or profile.platform != community.platform or profile.provider_scope not in ("", scope):
        raise NotFound("user profile")
    return profile


def profile_of(session: Session, actor: Actor, community: Community, author: str) -> Profile:
    """The profile of an author of this community, made if there is none.

    Raises NotFound if no post of the community is by this author.
    """
    require(actor, Permission.SEE_HISTORY, community.id, "author")
    if not _has_written(session, community.id, author):
        raise NotFound("author")
    return profiles.ensure(
        session, community.platform, author, profiles.scope_in(community.platform, community)
    )


def _has_written(session: Session, community_id: uuid.UUID, author: str) -> bool:
    return session.scalar(sa.select(by_author(community_id, author).exists())) is True


def by_author(community_id: uuid.UUID, author: str) -> sa.Select[Any]:
    return sa.select(Request.id).where(
        Request.community_id == community_id,
        Request.platform_author_id == author,
        Request.withdrawn_at.is_(None),
    )


def linked_to(session: Session, actor: Actor, profile: Profile) -> Sequence[Profile]:
    """The other profiles of this person that the actor may know of: all are linked to one account."""
    if profile.account_id is None:
        return []
    return session.scalars(
        sa.select(Profile)
        .where(Profile.account_id == profile.account_id, Profile.id != profile.id, profiles.known_to(actor))
        .order_by(Profile.platform, Profile.platform_user_id)
    ).all()


def figures(session: Session, community_id: uuid.UUID, author: str) -> Figures:
    """The author's figures; at most five queries, each on an index of this author's rows."""
    posts, first_at = session.execute(
        by_author(community_id, author).with_only_columns(sa.func.count(), sa.func.min(Request.requested_at))
    ).one()
    return Figures(
        posts=posts,
        first_at=first_at,
        hidden=counts(session, community_id, [author], HIDDEN).get(author, 0),
        open=counts(session, community_id, [author], QUEUED).get(author, 0),
        points=strikes.points_of(session, community_id, author),
        silenced=silence_of(session, community_id, author),
    )


def counts(session: Session, community_id: uuid.UUID, authors: Collection[str], which: str) -> dict[str, int]:
    if not authors:
        return {}
    rows = session.execute(
        sa.select(Action.platform_author_id, sa.func.count())
        .where(Action.community_id == community_id, Action.platform_author_id.in_(authors), sa.text(which))
        .group_by(Action.platform_author_id)
    )
    return {author: count for author, count in rows if author}


def silence_of(session: Session, community_id: uuid.UUID, author: str) -> Action | None:
    """The author's silence in force that ends last; one without end comes first."""
    return session.scalars(
        sa.select(Action)
        .where(
            Action.community_id == community_id,
            Action.platform_author_id == author,
            Action.action_type == sa.literal(ActionType.SILENCE, literal_execute=True),
            Action.action_state.in_(silences.IN_FORCE),
            Action.ended_at.is_(None),
        )
        .order_by(Action.until.is_not(None), Action.until.desc())
        .limit(1)
    ).first()


def reports_about(session: Session, community_id: uuid.UUID, author: str) -> int:
    """How many reports there are about the author's newest posts (``REPORTED``), without those that were withdrawn."""
    newest = by_author(community_id, author).order_by(Request.requested_at.desc()).limit(REPORTED)
    statement = sa.select(sa.func.count(Report.id)).where(
        Report.request_id.in_(newest), Report.state != ReportState.WITHDRAWN
    )
    return session.scalar(statement) or 0


def facts_of(session: Session, community_id: uuid.UUID, author: str) -> AuthorFacts:
    """What the integration said of the author with their newest post that says anything among the last few."""
    rows = session.scalars(
        by_author(community_id, author)
        .with_only_columns(Request.extra)
        .order_by(Request.requested_at.desc())
        .limit(5)
    )
    return next((facts for extra in rows if (facts := author_facts(extra)) != NO_FACTS), NO_FACTS)
