"""Statistics over the stored data: for a community's staff, and for the operator of the service."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions.decisions import NO_ACTION
from app.core.models import Action, Decision, Delivery, Note, Profile, Rating, Request
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
    """One community's statistics; the members are the fields that existing clients show (docs/integration.md)."""

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
    """Activity, categories, consensus and the most active raters, in six queries."""
    require(actor, Permission.READ, community_id, "community server")
    since = clock.now() - WEEK
    requests, recent_requests = session.execute(
        sa.select(sa.func.count(), sa.func.count().filter(Request.requested_at >= since)).where(
            Request.community_id == community_id, Request.withdrawn_at.is_(None)
        )
    ).one()
    opened = session.execute(
        sa.select(Action.category, Action.action_state, sa.func.count())
        .where(
            Action.community_id == community_id, Action.action_tier.is_not(None), Action.restores_id.is_(None)
        )
        .group_by(Action.category, Action.action_state)
    ).all()
    decided, without_action = session.execute(
        sa.select(sa.func.count(), sa.func.count().filter(Decision.decision == NO_ACTION)).where(
            Decision.community_id == community_id, Decision.tier == 2
        )
    ).one()
    notes = counts(
        session,
        NoteStatus,
        Note.status,
        sa.and_(Note.community_id == community_id, Note.deleted_at.is_(None)),
    )
    ratings, recent_ratings, raters, sided, borne_out = session.execute(
        _of_ratings(
            community_id,
            sa.func.count(),
            sa.func.count().filter(Rating.updated_at >= since),
            sa.func.count(Rating.rater_id.distinct()),
            sa.func.count().filter(TOOK_A_SIDE),
            sa.func.count().filter(BORNE_OUT),
        )
    ).one()
    by_state = _summed((state, count) for _, state, count in opened)
    return Analysis(
        activity={
            "requests": requests,
            "requests_last_7_days": recent_requests,
            "actions": sum(count for _, _, count in opened),
            "notes": sum(notes.values()),
            "ratings": ratings,
            "ratings_last_7_days": recent_ratings,
            "raters": raters,
        },
        classification=_most_first(_summed((category, count) for category, _, count in opened if category)),
        consensus={
            "in_review": by_state.get(ActionState.UNDER_REVIEW, 0),
            "second_look": by_state.get(ActionState.RETRO_REVIEW, 0),
            "decided_in_review": decided,
            "decided_to_act": decided - without_action,
            "decided_not_to_act": without_action,
            "notes_needing_ratings": notes[NoteStatus.NEEDS_MORE_RATINGS],
            "notes_helpful": notes[NoteStatus.CURRENTLY_RATED_HELPFUL],
            "notes_not_helpful": notes[NoteStatus.CURRENTLY_RATED_NOT_HELPFUL],
            "agreement": _share(borne_out, sided),
        },
        top_reviewers=_top_reviewers(session, community_id),
    )


def standing(session: Session, actor: Actor) -> Standing:
    """The current counts of the actor's communities, by state, in six queries."""

    def mine(model: type[Any]) -> sa.ColumnElement[bool]:
        return sa.true() if actor.communities is None else model.community_id.in_(actor.communities)

    now = clock.now()
    late = sa.and_(mine(Delivery), Delivery.state == DeliveryState.DUE, Delivery.due_at <= now)
    oldest: datetime | None = session.scalar(sa.select(sa.func.min(Delivery.due_at)).where(late))
    waiting = sa.and_(mine(Action), Action.action_state == ActionState.UNDER_REVIEW)
    return Standing(
        requests=counts(
            session, RequestStatus, Request.status, sa.and_(mine(Request), Request.withdrawn_at.is_(None))
        ),
        actions=counts(session, ActionState, Action.action_state, mine(Action)),
        notes=counts(session, NoteStatus, Note.status, sa.and_(mine(Note), Note.deleted_at.is_(None))),
        deliveries=counts(session, DeliveryState, Delivery.state, mine(Delivery)),
        review_queue=counts(session, ReviewGroup, Action.review_group, waiting),
        oldest_due=0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()),
    )


def counts(
    session: Session, words: type[Word], column: Any, condition: sa.ColumnElement[bool]
) -> dict[Word, int]:
    """The number of rows with each value of an enum column; 0 for values that do not occur."""
    rows = session.execute(sa.select(column, sa.func.count()).where(condition).group_by(column))
    counted = {row[0]: row[1] for row in rows}
    return {word: counted.get(word, 0) for word in words}


def _of_ratings(community_id: uuid.UUID, *columns: Any) -> sa.Select[Any]:
    """SELECT of ``columns`` over the ratings of the current text of a community's notes."""
    return (
        sa.select(*columns)
        .select_from(Rating)
        .join(Note, Note.id == Rating.note_id)
        .where(
            Rating.community_id == community_id,
            Rating.note_version == Note.version,
            Note.deleted_at.is_(None),
        )
    )


def _top_reviewers(session: Session, community_id: uuid.UUID) -> list[Reviewer]:
    total = sa.func.count()
    name = sa.func.coalesce(Profile.display_name, Profile.platform_user_id)
    sided, borne_out = sa.func.count().filter(TOOK_A_SIDE), sa.func.count().filter(BORNE_OUT)
    rows = session.execute(
        _of_ratings(community_id, name, total, sided, borne_out)
        .join(Profile, Profile.id == Rating.rater_id)
        .group_by(Profile.id, Profile.display_name, Profile.platform_user_id)
        .order_by(total.desc(), name, Profile.id)
        .limit(TOP_REVIEWERS)
    )
    return [Reviewer(row[0], row[1], _share(part=row[3], whole=row[2])) for row in rows]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _summed(pairs: Any) -> dict[Any, int]:
    sums: dict[Any, int] = {}
    for word, count in pairs:
        sums[word] = sums.get(word, 0) + count
    return sums


def _most_first(sums: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(sums.items(), key=lambda pair: (-pair[1], pair[0])))
