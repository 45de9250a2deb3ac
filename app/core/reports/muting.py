"""Moderators mute reporters: for some days their reports are kept and answered, but weigh nothing."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, limits
from app.core.db import serialise
from app.core.errors import Invalid, NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Account, MutedReporter, Profile, Report
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _
from app.core.vocabulary import ReportState

COUNTED_FOR = timedelta(days=90)
SHOWN = 100


def mute(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, days: int, reason: str
) -> MutedReporter:
    """Let a person's reports weigh nothing for some days, also those that are open. Again: a new end and reason.

    Raises:
        NotFound: this person reported nothing in the community.
        Invalid: the days or the reason.
    """
    require(actor, Permission.MODERATE, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    if not 1 <= days <= limits.MUTE_DAYS_MAX:
        raise Invalid.field(
            "days", _("must be a whole number from 1 to %(most)s", most=limits.MUTE_DAYS_MAX), days
        )
    _require_reporter(session, community_id, profile_id)
    serialise(session, community_id)
    until = clock.now() + timedelta(days=days)
    muted = session.get(MutedReporter, (community_id, profile_id), populate_existing=True)
    before = {"until": clock.iso(muted.until)} if muted is not None else {}
    account = session.get_one(Account, actor.account_id)
    if muted is None:
        muted = MutedReporter(community_id=community_id, profile_id=profile_id)
    muted.until, muted.reason, muted.created_at = until, reason, clock.now()
    muted.account_id, muted.account_name = account.id, account.display_name
    session.add(muted)
    bulk.change(
        session,
        sa.update(Report)
        .where(
            Report.reporter_id == profile_id,
            Report.community_id == community_id,
            Report.state == ReportState.OPEN,
        )
        .values(weight=0.0, updated_at=Report.updated_at),
    )
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "reporter.muted",
        "profile",
        profile_id,
        before=before,
        after={"until": clock.iso(until)},
        reason=Reason(reason),
    )
    return muted


def unmute(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, reason: str
) -> None:
    """End a mute early. Reports that came in meanwhile stay without weight.

    Raises:
        NotFound: the person is not muted.
    """
    require(actor, Permission.MODERATE, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    serialise(session, community_id)
    muted = session.get(MutedReporter, (community_id, profile_id), populate_existing=True)
    if muted is None or muted.until <= clock.now():
        raise NotFound("muted reporter")
    before = {"until": clock.iso(muted.until)}
    session.delete(muted)
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "reporter.unmuted",
        "profile",
        profile_id,
        before=before,
        after={},
        reason=Reason(reason),
    )


@dataclass(frozen=True)
class Reporter:
    """A person who reported lately: how many of their reports are open and how the others ended; their mute, if any."""

    profile: Profile
    number: int
    open: int
    upheld: int
    rejected: int
    muted: MutedReporter | None


def reporters(session: Session, actor: Actor, community_id: uuid.UUID) -> list[Reporter]:
    """Who reported most in the last 90 days, and everyone who is muted. Three statements."""
    require(actor, Permission.SEE_QUEUE, community_id)
    now = clock.now()
    muted = {
        row.profile_id: row
        for row in session.scalars(
            sa.select(MutedReporter).where(
                MutedReporter.community_id == community_id, MutedReporter.until > now
            )
        )
    }
    rows = session.execute(
        _counts(community_id)
        .where(Report.reported_at >= now - COUNTED_FOR)
        .order_by(sa.func.count().desc(), Report.reporter_id)
        .limit(SHOWN)
    ).all()
    counted: dict[uuid.UUID, tuple[int, int, int, int]] = {
        row[0]: (row[1], int(row[2]), int(row[3]), int(row[4])) for row in rows
    }
    people = session.scalars(sa.select(Profile).where(Profile.id.in_({*counted, *muted})))
    found = [
        Reporter(profile, *counted.get(profile.id, (0, 0, 0, 0)), muted.get(profile.id)) for profile in people
    ]
    return sorted(found, key=lambda one: (one.muted is None, -one.number, one.profile.id))


def reporter(session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID) -> Reporter:
    """One reporter. Raises NotFound for a person who reported nothing in the community."""
    require(actor, Permission.SEE_QUEUE, community_id)
    _require_reporter(session, community_id, profile_id)
    since = Report.reported_at >= clock.now() - COUNTED_FOR
    row = session.execute(_counts(community_id).where(Report.reporter_id == profile_id, since)).first()
    values = [int(value) for value in row[1:]] if row is not None else [0, 0, 0, 0]
    number, is_open, upheld, rejected = values
    muted = session.get(MutedReporter, (community_id, profile_id))
    is_muted = muted is not None and muted.until > clock.now()
    profile = session.get_one(Profile, profile_id)
    return Reporter(profile, number, is_open, upheld, rejected, muted if is_muted else None)


def _counts(community_id: uuid.UUID) -> sa.Select[Any]:
    states = (ReportState.OPEN, ReportState.UPHELD, ReportState.REJECTED)
    columns: list[Any] = [
        Report.reporter_id,
        sa.func.count(),
        *(sa.func.sum(sa.case((Report.state == state, 1), else_=0)) for state in states),
    ]
    return sa.select(*columns).where(Report.community_id == community_id).group_by(Report.reporter_id)


def _require_reporter(session: Session, community_id: uuid.UUID, profile_id: uuid.UUID) -> None:
    known = sa.select(Report.id).where(Report.reporter_id == profile_id, Report.community_id == community_id)
    if session.scalar(known.limit(1)) is None:
        raise NotFound("reporter")
