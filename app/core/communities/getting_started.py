"""First steps of a community: computed from its data, never from a stored checkmark.

The list of first steps uses this, and so does every page that reports a missing step.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.communities import settings as community_settings
from app.core.errors import NotFound
from app.core.models import (
    Account,
    AccountLink,
    ApiKey,
    Community,
    Decision,
    Hold,
    KeyCommunity,
    Membership,
    Profile,
    Rating,
    ReasonTemplate,
    Request,
    Webhook,
)
from app.core.people.accounts import can_sign_in
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import KeyTemplate, LinkPurpose

POLLS_WITHIN = timedelta(hours=1)
"""An integration that has not polled for this long counts as not polling."""


@dataclass(frozen=True)
class Hearing:
    """Who would receive a decision: the community's webhooks, and the time of its keys' last poll."""

    webhooks: int
    active: int
    answered: bool
    polled_at: datetime | None

    @property
    def polls(self) -> bool:
        return self.polled_at is not None and clock.now() - self.polled_at <= POLLS_WITHIN

    @property
    def is_heard(self) -> bool:
        """Whether a webhook is enabled or an integration polls."""
        return self.active > 0 or self.polls


@dataclass(frozen=True)
class Raters:
    """``count``: people who can rate, counted up to ``needed``; ``invited``: open invitations."""

    count: int
    needed: int
    invited: int

    @property
    def are_enough(self) -> bool:
        return self.count >= self.needed


@dataclass(frozen=True)
class Standing:
    """Everything that the list of first steps shows."""

    has_key: bool
    has_post: bool
    hearing: Hearing
    decided: bool
    is_held: bool
    raters: Raters
    has_policy_text: bool
    has_reasons: bool


def standing(session: Session, actor: Actor, community_id: uuid.UUID) -> Standing:
    """The state of the community's first steps; five queries at most."""
    require(actor, Permission.SEE_SETTINGS, community_id)
    community = session.get_one(Community, community_id)
    has_post, decided, is_held, has_reasons = session.execute(
        sa.select(
            sa.exists().where(Request.community_id == community_id, Request.withdrawn_at.is_(None)),
            sa.exists().where(Decision.community_id == community_id),
            sa.exists().where(Hold.community_id == community_id),
            sa.exists().where(ReasonTemplate.community_id == community_id, ReasonTemplate.active),
        )
    ).one()
    return Standing(
        has_key=has_key(session, community_id),
        has_post=has_post,
        hearing=hearing(session, community_id),
        decided=decided,
        is_held=is_held,
        raters=raters(session, community),
        has_policy_text=bool((community.policy_text or "").strip()),
        has_reasons=has_reasons,
    )


def has_key(session: Session, community_id: uuid.UUID) -> bool:
    """Whether an integration can submit posts: a valid adapter key reaches the community."""
    live = sa.select(ApiKey.id).where(_live(community_id), ApiKey.template == KeyTemplate.ADAPTER)
    return session.scalar(live.limit(1)) is not None


def hearing(session: Session, community_id: uuid.UUID) -> Hearing:
    """Who would receive a decision in the community."""
    webhooks, active, answered = session.execute(
        sa.select(
            sa.func.count(),
            sa.func.count().filter(Webhook.is_active),
            sa.func.count().filter(Webhook.is_active, Webhook.last_success_at.is_not(None)),
        ).where(Webhook.community_id == community_id, Webhook.deleted_at.is_(None))
    ).one()
    polled_at = session.scalar(sa.select(sa.func.max(ApiKey.last_polled_at)).where(_live(community_id)))
    return Hearing(webhooks, active, answered > 0, polled_at)


def raters(session: Session, community: Community) -> Raters:
    """How many people can rate here: members, and people of the platform who have rated through a key.

    Counted only up to the number that a decision needs.
    """
    needed = community_settings.for_community(community, community_settings.defaults(session)).min_ratings
    members = sa.select(sa.func.count()).where(
        Membership.community_id == community.id,
        Account.id == Membership.account_id,
        can_sign_in(),
    )
    invited = sa.select(sa.func.count()).where(
        AccountLink.community_id == community.id,
        AccountLink.purpose == LinkPurpose.INVITE,
        AccountLink.used_at.is_(None),
        AccountLink.withdrawn_at.is_(None),
        AccountLink.expires_at > clock.now(),
    )
    count, waiting = session.execute(sa.select(members.scalar_subquery(), invited.scalar_subquery())).one()
    if count < needed:
        platform = (
            sa.select(Rating.rater_id)
            .join(Profile, Profile.id == Rating.rater_id)
            .where(Rating.community_id == community.id, Profile.account_id.is_(None))
            .distinct()
            .limit(needed)
        )
        count += session.scalar(sa.select(sa.func.count()).select_from(platform.subquery())) or 0
    return Raters(count, needed, waiting)


def set_hidden(session: Session, actor: Actor, community_id: uuid.UUID, hidden: bool) -> None:
    """Hide the list of first steps from the start page and navigation, or show it again."""
    require(actor, Permission.SEE_SETTINGS, community_id)
    community = session.get(Community, community_id)
    if community is None:
        raise NotFound("community")
    community.getting_started_hidden_at = clock.now() if hidden else None
    session.flush()


def _live(community_id: uuid.UUID) -> sa.ColumnElement[bool]:
    """SQL condition: the key reaches the community and is valid now."""
    here = sa.exists().where(KeyCommunity.key_id == ApiKey.id, KeyCommunity.community_id == community_id)
    return sa.and_(
        sa.or_(ApiKey.everywhere, here),
        ApiKey.revoked_at.is_(None),
        sa.or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > clock.now()),
    )
