"""A community's totals, for clients of its statistics (docs/integrate/api.md)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions.decisions import NO_ACTION
from app.core.models import Action, Decision, Note, Profile, Rating, Request
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ActionState, HelpfulnessLevel, NoteStatus

WEEK = timedelta(days=7)
TOP_REVIEWERS = 10
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
class _Ratings:
    """The ratings of current texts: all, those that changed within the week, and the raters with most of them."""

    total: int = 0
    recent: int = 0
    raters: int = 0
    agreement: float | None = None
    most: Sequence[Reviewer] = ()


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
        sa.select(
            Action.category,
            sa.func.count().label("actions"),
            sa.func.count().filter(Action.action_state == ActionState.UNDER_REVIEW).label("in_review"),
            sa.func.count().filter(Action.action_state == ActionState.RETRO_REVIEW).label("second_look"),
        )
        .where(
            Action.community_id == community_id, Action.action_tier.is_not(None), Action.restores_id.is_(None)
        )
        .group_by(Action.category)
    ).all()
    counted_notes = session.execute(
        sa.select(Note.status, sa.func.count())
        .where(Note.community_id == community_id, Note.deleted_at.is_(None))
        .group_by(Note.status)
    )
    notes = dict.fromkeys(NoteStatus, 0) | {status: count for status, count in counted_notes}
    by_people = sa.select(sa.func.count(), sa.func.count().filter(Decision.decision == NO_ACTION)).where(
        Decision.community_id == community_id, Decision.tier == 2
    )
    # Few have an index of their own: counted apart, the others need no table.
    again = by_people.join(Request, Request.id == Decision.request_id).where(
        Request.duplicate_of.is_not(None)
    )
    (decided, without_action), (decided_again, without_again) = (
        session.execute(statement).one() for statement in (by_people, again)
    )
    decided, without_action = decided - decided_again, without_action - without_again
    ratings = _ratings(session, community_id, since)
    return Analysis(
        activity={
            "requests": requests,
            "requests_last_7_days": recent_requests,
            "actions": sum(row.actions for row in opened),
            "notes": sum(notes.values()),
            "ratings": ratings.total,
            "ratings_last_7_days": ratings.recent,
            "raters": ratings.raters,
        },
        classification=_most_first({row.category: row.actions for row in opened if row.category}),
        consensus={
            "in_review": sum(row.in_review for row in opened),
            "second_look": sum(row.second_look for row in opened),
            "decided_in_review": decided,
            "decided_to_act": decided - without_action,
            "decided_not_to_act": without_action,
            "notes_needing_ratings": notes[NoteStatus.NEEDS_MORE_RATINGS],
            "notes_helpful": notes[NoteStatus.CURRENTLY_RATED_HELPFUL],
            "notes_not_helpful": notes[NoteStatus.CURRENTLY_RATED_NOT_HELPFUL],
            "agreement": ratings.agreement,
        },
        top_reviewers=ratings.most,
    )


def _ratings(session: Session, community_id: uuid.UUID, since: datetime) -> _Ratings:
    """Count the ratings once, by rater: the sums come with each of those who rated most."""
    by_rater = (
        sa.select(
            Rating.rater_id,
            sa.func.count().label("ratings"),
            sa.func.count().filter(Rating.updated_at >= since).label("recent"),
            sa.func.count().filter(TOOK_A_SIDE).label("sided"),
            sa.func.count().filter(BORNE_OUT).label("borne_out"),
        )
        .join(Note, Note.id == Rating.note_id)
        .where(
            Rating.community_id == community_id,
            Rating.note_version == Note.version,
            Note.deleted_at.is_(None),
        )
        .group_by(Rating.rater_id)
        .subquery()
    )
    counts = (by_rater.c.ratings, by_rater.c.recent, by_rater.c.sided, by_rater.c.borne_out)
    most = (
        sa.select(
            by_rater,
            sa.func.count().over().label("raters"),
            *(sa.func.sum(count).over().label(f"all_{count.name}") for count in counts),
        )
        .order_by(by_rater.c.ratings.desc(), by_rater.c.rater_id)
        .limit(TOP_REVIEWERS)
        .subquery()
    )
    name = sa.func.coalesce(Profile.display_name, Profile.platform_user_id).label("name")
    rows = session.execute(sa.select(most, name).outerjoin(Profile, Profile.id == most.c.rater_id)).all()
    if not rows:
        return _Ratings()
    reviewers = [
        Reviewer(row.name, row.ratings, _share(row.borne_out, row.sided))
        for row in rows
        if row.name is not None
    ]
    return _Ratings(
        total=int(rows[0].all_ratings),
        recent=int(rows[0].all_recent),
        raters=rows[0].raters,
        agreement=_share(int(rows[0].all_borne_out), int(rows[0].all_sided)),
        most=sorted(reviewers, key=lambda reviewer: (-reviewer.review_count, reviewer.username)),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _most_first(sums: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(sums.items(), key=lambda pair: (-pair[1], pair[0])))
