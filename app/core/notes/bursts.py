"""Bursts: if many new raters rate one post at once, moderators decide it, not consensus (docs/develop/consensus.md).

Consensus can delete content, so a person who creates many raters at once must not be able to decide with them.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock
from app.core.actions import actions
from app.core.communities import settings as community_settings
from app.core.history.why import Why
from app.core.models import Action, Note, Profile, Rating
from app.core.permissions import SYSTEM
from app.core.vocabulary import ReviewGroup


@dataclass(frozen=True)
class Burst:
    """Of the ``recent`` ratings of the last ``minutes``, ``newcomers`` are by raters first seen within ``hours``."""

    newcomers: int
    recent: int
    minutes: int
    hours: int

    @property
    def cause(self) -> str:
        """The cause as a sentence, for history."""
        return (
            f"burst of new raters: {self.newcomers} of the {self.recent} ratings of the last {self.minutes} minutes "
            f"are by raters first seen within {self.hours} hours"
        )


def divert_to_staff(session: Session, action: Action, note: Note) -> bool:
    """Send the review to staff if a burst of new raters is about to decide it. Return whether staff decides.

    Called right before an automatic decision. A review that was sent to staff stays there, so the same ratings cannot
    decide it after the burst.
    """
    if action.review_group is ReviewGroup.STAFF:
        return True
    burst = suspicious(session, action, note)
    if burst is None:
        return False
    actions.send_to_staff(session, SYSTEM, action, why=Why(cause=burst.cause))
    return True


def suspicious(session: Session, action: Action, note: Note) -> Burst | None:
    """The burst of new raters among the note's ratings, or None.

    One query over the note's ratings (by the index that begins with ``note_id``). Only if they look like a burst, a
    second query checks that the community also has known raters: where everybody is new, nothing is a burst.
    """
    settings = community_settings.read(session, action.community_id)
    now = clock.now()
    new_since = now - timedelta(hours=settings.burst_hours)
    recent, newcomers = session.execute(
        sa.select(sa.func.count(), sa.func.count().filter(_first_seen() > new_since))
        .select_from(Rating)
        .join(Profile, Profile.id == Rating.rater_id)
        .where(
            Rating.note_id == note.id,
            Rating.note_version == note.version,
            Rating.exclusion_reason.is_(None),
            Rating.created_at > now - timedelta(minutes=settings.burst_minutes),
        )
    ).one()
    if newcomers < settings.burst_raters or newcomers <= settings.burst_share * recent:
        return None
    if not _has_known_raters(session, action.community_id, new_since, settings.burst_known):
        return None
    return Burst(newcomers, recent, settings.burst_minutes, settings.burst_hours)


def _first_seen() -> sa.ColumnElement[datetime]:
    """When a rater was first seen: the earliest creation time of the profiles linked to their account."""
    linked = aliased(Profile)
    earliest = sa.select(sa.func.min(linked.created_at)).where(linked.account_id == Profile.account_id)
    return sa.func.coalesce(earliest.scalar_subquery(), Profile.created_at)


def _has_known_raters(session: Session, community_id: uuid.UUID, before: datetime, least: int) -> bool:
    """Whether at least ``least`` of the community's raters have profiles created up to ``before``."""
    known = (
        sa.select(Rating.rater_id)
        .join(Profile, Profile.id == Rating.rater_id)
        .where(Rating.community_id == community_id, Profile.created_at <= before)
        .distinct()
        .limit(least)
    )
    return (session.scalar(sa.select(sa.func.count()).select_from(known.subquery())) or 0) >= least
