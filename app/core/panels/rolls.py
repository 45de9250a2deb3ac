"""Rolls: everybody in a community who could be drawn now (docs/moderate/panels.md)."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.communities import settings as community_settings
from app.core.helpfulness import note_scores
from app.core.ids import new_id
from app.core.models import (
    Account,
    Community,
    Membership,
    Panel,
    PanelRoll,
    Profile,
    RaterParameters,
    Rating,
    SignIn,
)
from app.core.panels import draw
from app.core.panels.draw import Side
from app.core.people import keys, profiles
from app.core.people.accounts import can_sign_in
from app.core.vocabulary import EventName, WhoDecides
from app.core.webhooks import events

LEAST = 15
"""With fewer people who could be drawn there is no panel."""
LASTS = timedelta(hours=1)
"""Panels that open within this time share a roll: making one reads all ratings of the community."""
KNOWN_FOR = timedelta(days=7)
ACTIVE_WITHIN = timedelta(days=30)
RATINGS = 3
PRACTICE = 4
"""The answers on the welcome page that make up the practice."""


@dataclass
class _Person:
    """What is known of a person who may be drawn; ``rated`` and ``last_at`` are of this community."""

    profile_id: uuid.UUID
    profiles: list[sa.Row[Any]] = field(default_factory=list)
    rated: int = 0
    last_at: datetime | None = None
    since: datetime | None = None
    has_practised: bool = False
    is_member: bool = False

    def seen(self, moment: datetime | None) -> None:
        if moment is not None and (self.last_at is None or moment > self.last_at):
            self.last_at = moment


def newest(session: Session, community_id: uuid.UUID) -> PanelRoll | None:
    """The community's roll of the last hour, or None."""
    return session.scalars(
        sa.select(PanelRoll)
        .where(PanelRoll.community_id == community_id, PanelRoll.made_at > clock.now() - LASTS)
        .order_by(PanelRoll.made_at.desc())
        .limit(1)
    ).first()


def make(session: Session, community_id: uuid.UUID) -> PanelRoll:
    """List everybody who could be drawn; not yet stored. It only reads, so it can run outside of any lock."""
    raters = draw.written(_with_sides(session, community_id, _eligible(session, community_id)))
    return PanelRoll(
        id=new_id(),
        community_id=community_id,
        people=len(raters) // draw.ENTRY_BYTES,
        digest=draw.digest(raters),
        raters=raters,
        made_at=clock.now(),
    )


def prune(session: Session) -> None:
    """Delete the rolls that are old and that no panel needs."""
    bulk.change(
        session,
        sa.delete(PanelRoll).where(
            PanelRoll.made_at < clock.now() - LASTS,
            sa.not_(sa.exists().where(Panel.roll_id == PanelRoll.id)),
        ),
    )


def misses_users(session: Session, community: Community) -> bool:
    """Whether panels decide and an integration has a key, but no webhook could ask the platform's users."""
    settings = community_settings.for_community(community, community_settings.defaults(session))
    return (
        settings.who_decides != WhoDecides.EVERYONE
        and keys.some_name(session, community.id)
        and not events.is_subscribed(session, community.id, EventName.PANEL_DRAWN)
    )


def _eligible(session: Session, community_id: uuid.UUID) -> list[uuid.UUID]:
    community = session.get_one(Community, community_id)
    settings = community_settings.for_community(community, community_settings.defaults(session))
    now = clock.now()
    is_platform_reached = events.is_subscribed(session, community_id, EventName.PANEL_DRAWN)
    chosen = []
    for person in _people(session, community_id):
        known_since = min([row.created_at for row in person.profiles] + [person.since or now])
        trusts = [row.trust_level for row in person.profiles if row.platform == community.platform]
        trust = max((level for level in trusts if level is not None), default=None)
        on_platform = any(row.platform == community.platform for row in person.profiles)
        age = now - min((row.created_at for row in person.profiles), default=now)
        if (
            (person.rated >= RATINGS or person.has_practised)
            and known_since <= now - KNOWN_FOR
            and person.last_at is not None
            and person.last_at >= now - ACTIVE_WITHIN
            and (person.is_member or (is_platform_reached and on_platform))
            and (
                settings.min_trust_level is None or (trust is not None and trust >= settings.min_trust_level)
            )
            and (settings.min_age_days is None or age >= timedelta(days=settings.min_age_days))
        ):
            chosen.append(person.profile_id)
    return chosen


def _people(session: Session, community_id: uuid.UUID) -> Iterable[_Person]:
    """Members, and everybody who rated here; linked profiles are one person (docs/integrate/api.md)."""
    rated = {
        rater_id: (count, last)
        for rater_id, count, last in session.execute(
            sa.select(Rating.rater_id, sa.func.count(), sa.func.max(Rating.created_at))
            .where(Rating.community_id == community_id)
            .group_by(Rating.rater_id)
        )
    }
    members = {
        account_id: (since, practice)
        for account_id, since, practice in session.execute(
            sa.select(Membership.account_id, Membership.created_at, Membership.practice)
            .join(Account, Account.id == Membership.account_id)
            .where(
                Membership.community_id == community_id,
                can_sign_in(),
            )
        )
    }
    seen = _last_seen(session, community_id)
    raters = sa.select(Rating.rater_id).where(Rating.community_id == community_id)
    accounts = sa.select(Membership.account_id).where(Membership.community_id == community_id)
    by_account: dict[uuid.UUID, list[sa.Row[Any]]] = defaultdict(list)
    alone: list[sa.Row[Any]] = []
    for row in session.execute(
        sa.select(
            Profile.id, Profile.platform, Profile.account_id, Profile.trust_level, Profile.created_at
        ).where(
            Profile.platform != profiles.SERVICE_PLATFORM,
            sa.or_(Profile.id.in_(raters), Profile.account_id.in_(accounts)),
        )
    ):
        (by_account[row.account_id] if row.account_id is not None else alone).append(row)
    for row in alone:
        # An account of the dashboard that was erased or left keeps a profile without an account: nobody to ask.
        if row.platform != profiles.WEB:
            yield _with_ratings(_Person(row.id, [row]), rated)
    for account_id, own in by_account.items():
        web = next((row for row in own if row.platform == profiles.WEB), own[0])
        person = _with_ratings(_Person(web.id, own), rated)
        person.seen(seen.get(account_id))
        if account_id in members:
            person.is_member = True
            person.since, practice = members[account_id]
            person.has_practised = len(practice or {}) >= PRACTICE
        yield person


def _with_ratings(person: _Person, rated: Mapping[uuid.UUID, tuple[int, datetime]]) -> _Person:
    for row in person.profiles:
        count, last = rated.get(row.id, (0, None))
        person.rated += count
        person.seen(last)
    return person


def _last_seen(session: Session, community_id: uuid.UUID) -> dict[uuid.UUID, datetime]:
    rows = session.execute(
        sa.select(SignIn.account_id, sa.func.max(SignIn.last_seen_at))
        .join(Membership, Membership.account_id == SignIn.account_id)
        .where(Membership.community_id == community_id)
        .group_by(SignIn.account_id)
    )
    return {account_id: last for account_id, last in rows}


def _with_sides(
    session: Session, community_id: uuid.UUID, people: Sequence[uuid.UUID]
) -> list[tuple[uuid.UUID, Side]]:
    """The people with their sides by the model that judges what acts; unknown where the fit found no camps."""
    known = note_scores.acting_factors(note_scores.in_force(session, community_id))
    if known is None:
        return [(person, Side.UNKNOWN) for person in people]
    factor, is_known = known
    rows = session.execute(sa.select(RaterParameters.profile_id, factor).where(is_known))
    factors = {profile_id: value for profile_id, value in rows}
    return [(person, _side(factors.get(person))) for person in people]


def _side(factor: float | None) -> Side:
    return Side.UNKNOWN if factor is None else Side.ONE if factor < 0 else Side.OTHER
