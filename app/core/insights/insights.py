"""Statistics over the stored data: for a community's staff, and for the operator of the service."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import tallies, tally_sums
from app.core.models import Delivery, Note, Profile, Rating, Request
from app.core.models.insights import TallyKind
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import (
    ActionState,
    DeliveryState,
    HelpfulnessLevel,
    NoteStatus,
    RequestStatus,
    ReviewGroup,
)

WEEK = timedelta(days=7)
TOP_REVIEWERS = 10
_STANDING = (
    TallyKind.REQUEST,
    TallyKind.ACTION,
    TallyKind.NOTE,
    TallyKind.DELIVERY,
    TallyKind.QUEUE,
)
_ANALYSED = (
    TallyKind.REQUEST,
    TallyKind.OPENED,
    TallyKind.REVIEWED,
    TallyKind.DECISION,
    TallyKind.NOTE,
)
_CLOCKS_APART = timedelta(hours=1)
"""More than the clocks of two machines differ by that serve one community."""

Word = TypeVar("Word", bound=StrEnum)

# A rating agreed with the outcome when it was on the side of the note's status; "somewhat" is on no side.
TOOK_A_SIDE = sa.and_(
    Rating.helpfulness_level != HelpfulnessLevel.SOMEWHAT_HELPFUL,
    Note.status != NoteStatus.NEEDS_MORE_RATINGS,
)
BORNE_OUT = sa.or_(
    sa.and_(
        Rating.helpfulness_level == HelpfulnessLevel.HELPFUL,
        Note.status == NoteStatus.CURRENTLY_RATED_HELPFUL,
    ),
    sa.and_(
        Rating.helpfulness_level == HelpfulnessLevel.NOT_HELPFUL,
        Note.status == NoteStatus.CURRENTLY_RATED_NOT_HELPFUL,
    ),
)


@dataclass(frozen=True)
class Reviewer:
    """``accuracy``: share of the rater's ratings that agreed with the note's status, 0.0 to 1.0; None if unknown."""

    username: str
    review_count: int
    accuracy: float | None


@dataclass(frozen=True)
class Analysis:
    """One community's statistics; the members are the fields that existing clients show (docs/integrate/api.md)."""

    activity: Mapping[str, int]
    classification: Mapping[str, int]
    consensus: Mapping[str, int | float | None]
    top_reviewers: Sequence[Reviewer]


@dataclass(frozen=True)
class Standing:
    """The current counts of an actor's communities. ``oldest_due`` in seconds: 0 when no delivery is late."""

    requests: Mapping[RequestStatus, int]
    actions: Mapping[ActionState, int]
    notes: Mapping[NoteStatus, int]
    deliveries: Mapping[DeliveryState, int]
    review_queue: Mapping[ReviewGroup, int]
    oldest_due: float


def scoring_analysis(session: Session, actor: Actor, community_id: uuid.UUID) -> Analysis:
    """Activity, categories, consensus and the most active raters, in seven queries whose cost hardly grows."""
    require(actor, Permission.READ, community_id, "community server")
    since = clock.now() - WEEK
    found = tallies.read(session, _ANALYSED, (community_id,))
    reviewed, opened = found[TallyKind.REVIEWED], found[TallyKind.OPENED]
    notes = _by_word(NoteStatus, found[TallyKind.NOTE])
    decided, without_action = (
        sum(found[TallyKind.DECISION].get(f"2 {kind}", 0) for kind in kinds)
        for kinds in (("action", "none"), ("none",))
    )
    recent_requests = session.scalar(
        sa.select(sa.func.count()).where(
            Request.community_id == community_id,
            Request.requested_at >= since,
            Request.withdrawn_at.is_(None),
        )
    )
    sums = tally_sums.of_community(session, community_id)
    return Analysis(
        activity={
            "requests": sum(found[TallyKind.REQUEST].values()),
            "requests_last_7_days": recent_requests or 0,
            "actions": sum(opened.values()),
            "notes": sum(notes.values()),
            "ratings": sums[TallyKind.RATING].total,
            "ratings_last_7_days": _recent_ratings(session, community_id, since),
            "raters": sums[TallyKind.RATING].names,
        },
        classification=_most_first({name: count for name, count in opened.items() if name and count}),
        consensus={
            "in_review": reviewed.get(ActionState.UNDER_REVIEW, 0),
            "second_look": reviewed.get(ActionState.RETRO_REVIEW, 0),
            "decided_in_review": decided,
            "decided_to_act": decided - without_action,
            "decided_not_to_act": without_action,
            "notes_needing_ratings": notes[NoteStatus.NEEDS_MORE_RATINGS],
            "notes_helpful": notes[NoteStatus.CURRENTLY_RATED_HELPFUL],
            "notes_not_helpful": notes[NoteStatus.CURRENTLY_RATED_NOT_HELPFUL],
            "agreement": _share(sums[TallyKind.BORNE_OUT].total, sums[TallyKind.SIDED].total),
        },
        top_reviewers=_top_reviewers(session, community_id),
    )


def standing(session: Session, actor: Actor) -> Standing:
    """The current counts of the actor's communities, by state, in two queries."""
    now = clock.now()
    late = sa.and_(
        sa.true() if actor.communities is None else Delivery.community_id.in_(actor.communities),
        Delivery.state == DeliveryState.DUE,
        Delivery.due_at <= now,
    )
    oldest: datetime | None = session.scalar(sa.select(sa.func.min(Delivery.due_at)).where(late))
    found = tallies.read(session, _STANDING, actor.communities)
    return Standing(
        requests=_by_word(RequestStatus, found[TallyKind.REQUEST]),
        actions=_by_word(ActionState, found[TallyKind.ACTION]),
        notes=_by_word(NoteStatus, found[TallyKind.NOTE]),
        deliveries=_by_word(DeliveryState, found[TallyKind.DELIVERY]),
        review_queue=_by_word(ReviewGroup, found[TallyKind.QUEUE]),
        oldest_due=0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()),
    )


def _by_word(words: type[Word], found: Mapping[str, int]) -> dict[Word, int]:
    """The number of rows with each value of an enum column; 0 for values that do not occur."""
    return {word: found.get(word, 0) for word in words}


def _recent_ratings(session: Session, community_id: uuid.UUID, since: datetime) -> int:
    """How many ratings of current texts changed last at ``since`` or later.

    All ratings of the time are counted in an index, and those of texts that ended taken off. A text ends after its last
    rating, so its note is among those few that were edited or withdrawn in that time.
    """
    recent = sa.and_(Rating.community_id == community_id, Rating.updated_at >= since)
    counted = sa.select(sa.func.count()).select_from(Rating).where(recent)
    # For each note, and not a join: that might read the ratings of the time before it knows how few notes there are.
    of_note = counted.where(
        Rating.note_id == Note.id,
        sa.or_(Rating.note_version != Note.version, Note.deleted_at.is_not(None)),
    )
    ended = sa.select(sa.func.coalesce(sa.func.sum(of_note.correlate(Note).scalar_subquery()), 0)).where(
        Note.community_id == community_id, Note.text_ended_at >= since - _CLOCKS_APART
    )
    return int(session.scalar(sa.select(counted.scalar_subquery() - ended.scalar_subquery())) or 0)


def _top_reviewers(session: Session, community_id: uuid.UUID) -> list[Reviewer]:
    """Those who rated most, by the tallies of ratings by rater."""
    most = tally_sums.most_ratings(session, community_id, TOP_REVIEWERS)
    sides = tallies.read(
        session, (TallyKind.SIDED, TallyKind.BORNE_OUT), (community_id,), [rater for rater, _ in most]
    )
    sided, borne_out = sides[TallyKind.SIDED], sides[TallyKind.BORNE_OUT]
    name = sa.func.coalesce(Profile.display_name, Profile.platform_user_id)
    rows = session.execute(
        sa.select(Profile.id, name).where(Profile.id.in_(uuid.UUID(rater) for rater, _ in most))
    )
    names = {profile_id: shown for profile_id, shown in rows}
    top = [
        Reviewer(names[uuid.UUID(rater)], ratings, _share(borne_out.get(rater, 0), sided.get(rater, 0)))
        for rater, ratings in most
        if uuid.UUID(rater) in names
    ]
    return sorted(top, key=lambda reviewer: (-reviewer.review_count, reviewer.username))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _most_first(sums: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(sums.items(), key=lambda pair: (-pair[1], pair[0])))
