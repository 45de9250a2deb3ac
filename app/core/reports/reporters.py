"""What is known of a reporter when a report comes in: how often they were right, their side, since when, if muted."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.helpfulness.eligibility import Person
from app.core.models import Community, MutedReporter, RaterParameters, Report, Request, ScoringState
from app.core.people import profiles
from app.core.reports.weighing import NEWCOMER_FOR, share
from app.core.types import UtcDateTime
from app.core.vocabulary import ReportState

LAST = 300
"""Only so many of a reporter's latest reports are read: enough for a share, and a bound on the work."""


@dataclass(frozen=True)
class Standing:
    """A reporter in one community. ``weight`` is 0.0 of a muted one; ``open`` are their reports without an outcome."""

    weight: float
    side: int
    is_newcomer: bool
    open: int


def _statement() -> sa.Select[Any]:
    """What is known of a reporter: how their latest reports ended, their side, whether they are muted.

    On which side: where the fit in force places the person; a separate model of notes that act goes first.
    """
    community = sa.bindparam("community", type_=sa.Uuid())
    people = sa.bindparam("people", expanding=True, type_=sa.Uuid())
    latest = (
        sa.select(Report.state)
        .where(
            Report.reporter_id == sa.bindparam("reporter", type_=sa.Uuid()), Report.community_id == community
        )
        .order_by(Report.reported_at.desc(), Report.id.desc())
        .limit(LAST)
        .subquery()
    )
    counts = [
        sa.func.coalesce(sa.func.sum(sa.case((latest.c.state == state.value, 1), else_=0)), 0)
        for state in (ReportState.UPHELD, ReportState.REJECTED, ReportState.OPEN)
    ]
    in_force = sa.select(ScoringState.model_version).where(ScoringState.community_id == community)
    factor = (
        sa.select(sa.func.coalesce(RaterParameters.acting_factor, RaterParameters.factor))
        .where(
            RaterParameters.community_id == community,
            RaterParameters.version == in_force.scalar_subquery(),
            RaterParameters.profile_id.in_(people),
            RaterParameters.kept,
        )
        .limit(1)
    )
    muted = sa.exists().where(
        MutedReporter.community_id == community,
        MutedReporter.profile_id.in_(people),
        MutedReporter.until > sa.bindparam("now", type_=UtcDateTime()),
    )
    return sa.select(*counts, factor.scalar_subquery(), muted).select_from(latest)


_STANDING = _statement()
"""Built once: building it took as long as running it."""


def standing_of(session: Session, community: Community, person: Person, person_id: uuid.UUID) -> Standing:
    """What a report of this person weighs now. One statement, and another for people first seen today."""
    row = session.execute(
        _STANDING,
        {"community": community.id, "reporter": person_id, "people": list(person.ids), "now": clock.now()},
    ).one()
    upheld, rejected, is_open, factor, muted = tuple[Any, ...](row)
    return Standing(
        weight=0.0 if muted else share(int(upheld), int(rejected)),
        side=0 if not factor else 1 if factor > 0 else -1,
        is_newcomer=_is_newcomer(session, community, person),
        open=int(is_open),
    )


def _is_newcomer(session: Session, community: Community, person: Person) -> bool:
    """Whether the service saw the person only today: neither as rater or reporter, nor as the author of a post."""
    since = clock.now() - NEWCOMER_FOR
    if person.first_seen <= since:
        return False
    names = _names_in(community, person)
    if not names:
        return True
    wrote = sa.select(Request.id).where(
        Request.community_id == community.id,
        Request.platform_author_id.in_(names),
        Request.requested_at <= since,
    )
    return session.execute(wrote.limit(1)).first() is None


def _names_in(community: Community, person: Person) -> Sequence[str]:
    return [
        profile.platform_user_id
        for profile in person.profiles
        if profile.platform == community.platform and profile.platform != profiles.WEB
    ]
