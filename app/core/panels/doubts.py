"""Reasons to doubt the ratings that are about to decide a review (docs/moderate/panels.md).

Organised raters choose what they rate, so a few people can be most of the raters of one post. These are the traces
that leaves. Each costs at most a query, and only when a review would be decided.

If many new raters rate one post at once, a panel or moderators decide it (docs/develop/consensus.md): a person who
creates many raters must not be able to decide with them.
"""

import uuid
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from scipy.special import bdtr, bdtrc
from sqlalchemy.orm import Session, aliased

from app.core import clock, texts
from app.core.actions import actions
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.helpfulness import note_scores
from app.core.helpfulness.note_scores import Fit, Scored
from app.core.history.reason import Reason
from app.core.models import Action, Note, Profile, Rating
from app.core.permissions import SYSTEM
from app.core.scoring import Regime
from app.core.scoring.sums import CORRELATED
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ReviewGroup

CHANCE = 0.01
"""A share of raters from one side that chance gives less often than this is a reason for doubt."""
COLD = lazy_gettext("Too few ratings in this community yet to tell viewpoints apart.")
BEFORE = lazy_gettext("A drawn panel decided this before.")


def find(session: Session, note: Note, scored: Scored) -> str | None:
    """Why a panel should decide instead of these ratings, as a sentence; None without a reason.

    A burst of new raters is one more reason, which ``suspicious`` finds.
    """
    model = scored.fit.model_of(note)
    if model.regime is Regime.COLD:
        return COLD
    return (
        _one_sided(session, scored)
        or _in_step(scored)
        or _arrived_together(session, note, scored.fit.settings)
    )


def chance_of(count: int, total: int, share: float) -> float:
    """How likely chance alone gives a count as far from ``share`` of ``total`` as this one, on either side."""
    below = float(bdtr(count, total, share))
    above = float(bdtrc(count - 1, total, share)) if count else 1.0
    return min(1.0, 2 * min(below, above))


def _one_sided(session: Session, scored: Scored) -> str | None:
    sides = scored.sums.sides
    one, total = sides.negative.total, sides.negative.total + sides.positive.total
    share = _share_of_one(session, scored.fit)
    if share is None or not total or chance_of(one, total, share) >= CHANCE:
        return None
    return _(
        "%(most)s of the %(total)s raters with a known viewpoint are of one side.",
        most=texts.number(max(one, total - one)),
        total=texts.number(total),
    )


def _share_of_one(session: Session, fit: Fit) -> float | None:
    """The share of one side among the community's raters; None where sides are not known."""
    factors = note_scores.acting_factors(fit)
    if factors is None:
        return None
    factor, is_known = factors
    counts = sa.select(sa.func.count(), sa.func.count().filter(factor < 0)).where(is_known)
    total, one = session.execute(counts).one()
    return one / total if 0 < one < total else None


def _in_step(scored: Scored) -> str | None:
    settings, counted = scored.fit.settings, scored.sums.counted
    alike = round(scored.sums.row[CORRELATED.start])
    if alike < settings.burst_raters or alike <= settings.burst_share * counted:
        return None
    return _(
        "%(alike)s of the %(total)s raters rate in step.",
        alike=texts.number(alike),
        total=texts.number(counted),
    )


def _arrived_together(session: Session, note: Note, settings: CommunitySettings) -> str | None:
    """Whether most raters of the note were first seen within one span of ``burst_hours``, and others were not."""
    span = timedelta(hours=settings.burst_hours)
    arrivals = sorted(
        session.scalars(
            note_scores.counting(note)
            .order_by(None)
            .with_only_columns(_first_seen())
            .select_from(Rating)
            .join(Profile, Profile.id == Rating.rater_id)
        )
    )
    most, since = most_within(arrivals, span)
    if most < settings.burst_raters or most <= settings.burst_share * len(arrivals) or since is None:
        return None
    others = sa.or_(Profile.created_at < since, Profile.created_at > since + span)
    if not _has_raters(session, note.community_id, others, settings.burst_known):
        return None
    return _(
        "%(most)s of the %(total)s raters were first seen within %(hours)s hours.",
        most=texts.number(most),
        total=texts.number(len(arrivals)),
        hours=texts.number(settings.burst_hours),
    )


def most_within(moments: list[datetime], span: timedelta) -> tuple[int, datetime | None]:
    """The most of these sorted moments within one span, and when that span begins."""
    most, since, first = 0, None, 0
    for last, moment in enumerate(moments):
        while moment - moments[first] > span:
            first += 1
        if last - first + 1 > most:
            most, since = last - first + 1, moments[first]
    return most, since


@dataclass(frozen=True)
class Burst:
    """Of the ``recent`` ratings of the last ``minutes``, ``newcomers`` are by raters first seen within ``hours``."""

    newcomers: int
    recent: int
    minutes: int
    hours: int


def divert_to_staff(session: Session, action: Action, note: Note) -> bool:
    """Send the review to staff if a burst of new raters is about to decide it. Return whether staff decides.

    Called right before an automatic decision. A review that was sent to staff stays there, so the same ratings cannot
    decide it after the burst.
    """
    if action.review_group is ReviewGroup.STAFF:
        return True
    with community_settings.in_language(session, action.community_id):
        cause = burst_cause(session, action, note)
    if cause is None:
        return False
    actions.send_to_staff(session, SYSTEM, action, reason=Reason(cause=cause))
    return True


def burst_cause(session: Session, action: Action, note: Note) -> str | None:
    """The burst of new raters among the note's ratings as a sentence; None without one."""
    burst = suspicious(session, action, note)
    if burst is None:
        return None
    return _(
        "burst of new raters: %(newcomers)s of the %(recent)s ratings of the last %(minutes)s minutes are by raters "
        "first seen within %(hours)s hours",
        **{name: texts.number(value) for name, value in asdict(burst).items()},
    )


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
    if not _has_raters(session, action.community_id, Profile.created_at <= new_since, settings.burst_known):
        return None
    return Burst(newcomers, recent, settings.burst_minutes, settings.burst_hours)


def _first_seen() -> sa.ColumnElement[datetime]:
    """When a rater was first seen: the earliest creation time of the profiles linked to their account."""
    linked = aliased(Profile)
    earliest = sa.select(sa.func.min(linked.created_at)).where(linked.account_id == Profile.account_id)
    return sa.func.coalesce(earliest.scalar_subquery(), Profile.created_at, type_=Profile.created_at.type)


def _has_raters(session: Session, community_id: uuid.UUID, which: sa.ColumnElement[bool], least: int) -> bool:
    """Whether at least ``least`` raters of the community have a profile that meets the condition."""
    raters = (
        sa.select(Rating.rater_id)
        .join(Profile, Profile.id == Rating.rater_id)
        .where(Rating.community_id == community_id, which)
        .distinct()
        .limit(least)
    )
    return (session.scalar(sa.select(sa.func.count()).select_from(raters.subquery())) or 0) >= least
