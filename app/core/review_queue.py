"""The review queue: what waits for raters and moderators, who holds which item, what ends unanswered."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import actions, clock, history, rules
from app.core.errors import Conflict, Forbidden
from app.core.models import Account, Action, Hold, Note, Rating, Request, Skip
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.vocabulary import ActionState, ReviewGroup

LEASE = timedelta(minutes=rules.CLAIM_MINUTES)


class Sort(StrEnum):
    """How the queue is ordered."""

    OLDEST = "oldest"
    NEWEST = "newest"
    SCORE = "score"
    RATINGS = "ratings"


@dataclass(frozen=True)
class QueueFilter:
    """What a moderator wants to see; ``claimed_by`` is ``me``, ``nobody`` or empty for all."""

    category: str = ""
    claimed_by: str = ""
    search: str = ""
    group: ReviewGroup | None = None
    sort: Sort = Sort.OLDEST


@dataclass(frozen=True)
class QueueItem:
    """One row of the queue: the action with request, note and hold loaded, and its claimant's name."""

    action: Action
    claimant: str | None


def queue(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: QueueFilter,
    *,
    limit: int,
    offset: int = 0,
) -> tuple[Sequence[QueueItem], int]:
    """A page of what is under review, and how many there are; three queries however many rows."""
    require(actor, Permission.SEE_QUEUE, community_id)
    statement = _filtered(actor, community_id, wanted)
    count = session.scalar(sa.select(sa.func.count()).select_from(statement.subquery())) or 0
    rows = session.execute(_as_rows(statement).order_by(*_order(wanted.sort)).limit(limit).offset(offset))
    return [QueueItem(action, name) for action, name in rows], count


def items(
    session: Session, actor: Actor, community_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> Sequence[QueueItem]:
    """These items of the community, in any state, as rows of the queue; those that are not there are left out."""
    require(actor, Permission.SEE_QUEUE, community_id)
    statement = sa.select(Action).where(Action.community_id == community_id, Action.id.in_(ids))
    return [QueueItem(action, name) for action, name in session.execute(_as_rows(statement))]


def newer_than(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    moment: datetime,
    wanted: QueueFilter | None = None,
) -> int:
    """How many items of the filtered queue came under review after ``moment``."""
    require(actor, Permission.SEE_QUEUE, community_id)
    statement = _filtered(actor, community_id, wanted or QueueFilter()).where(Action.created_at > moment)
    return session.scalar(sa.select(sa.func.count()).select_from(statement.subquery())) or 0


def waiting_for(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, *, limit: int = 20
) -> Sequence[Action]:
    """What this rater can help with, those first where one more rating helps most.

    Under community review, not answered or skipped by them, not their own submission; the nearer to the needed
    number of ratings the earlier.
    """
    require(actor, Permission.RATE, community_id)
    statement = _waiting(sa.select(Action), community_id, profile_id)
    return session.scalars(
        statement.options(selectinload(Action.request), selectinload(Action.note)).limit(limit)
    ).all()


def waiting_ids(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, *, limit: int = 50
) -> Sequence[uuid.UUID]:
    """As ``waiting_for``, only the actions' ids."""
    require(actor, Permission.RATE, community_id)
    return session.scalars(_waiting(sa.select(Action.id), community_id, profile_id).limit(limit)).all()


def waiting_since(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, moment: datetime
) -> int:
    """How many items began to wait for this rater after ``moment``."""
    require(actor, Permission.RATE, community_id)
    new = _waiting(sa.select(Action.id), community_id, profile_id).where(
        sa.or_(Action.created_at > moment, Action.retro_review_at > moment)
    )
    return session.scalar(sa.select(sa.func.count()).select_from(new.subquery())) or 0


def skip(session: Session, actor: Actor, action: Action, profile_id: uuid.UUID) -> None:
    """Pass an item by. Skipping twice changes nothing."""
    require(actor, Permission.RATE, action.community_id, "item")
    if session.get(Skip, (profile_id, action.id)) is None:
        session.add(Skip(profile_id=profile_id, action_id=action.id))
        session.flush()


def claim(session: Session, actor: Actor, action: Action) -> None:
    """Hold an item for ten minutes; claiming one's own again renews the lease.

    Raises:
        Conflict: somebody else holds it.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    if actor.account_id is None:
        raise Forbidden("Only a signed-in moderator can claim an item")
    now = clock.now()
    result = session.execute(
        sa.update(Action)
        .where(
            Action.id == action.id,
            sa.or_(
                Action.claimed_by_id.is_(None),
                Action.claimed_by_id == actor.account_id,
                Action.claimed_until <= now,
            ),
        )
        .values(claimed_by_id=actor.account_id, claimed_until=now + LEASE, updated_at=Action.updated_at)
        .execution_options(synchronize_session=False)
    )
    session.refresh(action, ["claimed_by_id", "claimed_until"])
    if result.rowcount == 0:  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult
        holder = session.get(Account, action.claimed_by_id) if action.claimed_by_id else None
        raise Conflict(f"Claimed by {holder.display_name if holder else 'somebody else'}", action.id)


def release(session: Session, actor: Actor, action: Action) -> None:
    """Let a claimed item go; somebody else's claim stays."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    session.execute(
        sa.update(Action)
        .where(Action.id == action.id, Action.claimed_by_id == actor.account_id)
        .values(claimed_by_id=None, claimed_until=None, updated_at=Action.updated_at)
        .execution_options(synchronize_session=False)
    )
    session.refresh(action, ["claimed_by_id", "claimed_until"])


def claim_next(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: QueueFilter,
    *,
    after: Action | None = None,
) -> Action | None:
    """Claim the next item of the filtered queue that nobody else holds and no decision waits on.

    Next is the first one that follows ``after`` in the queue's order; when none follows, the first of all, so
    that passing items by goes round the queue. ``after`` itself is never next.
    """
    require(actor, Permission.MODERATE, community_id)
    now = clock.now()
    free = sa.or_(
        Action.claimed_by_id.is_(None),
        Action.claimed_by_id == actor.account_id,
        Action.claimed_until <= now,
    )
    held = sa.select(Hold.action_id).where(Hold.action_id.is_not(None))
    statement = _filtered(actor, community_id, wanted).where(free, Action.id.not_in(held))
    attempts = [statement]
    if after is not None:
        statement = statement.where(Action.id != after.id)
        attempts = [statement.where(_follows(wanted.sort, after)), statement]
    for attempt in attempts:
        candidates: Sequence[Action] = session.scalars(attempt.order_by(*_order(wanted.sort)).limit(5)).all()
        for action in candidates:
            try:
                claim(session, actor, action)
            except Conflict:
                continue
            return action
    return None


def expire(session: Session, older_than: datetime, *, limit: int = 200) -> int:
    """End reviews without consensus: a queued one is dismissed, a second look confirms (Contract: section 5)."""
    ended = 0
    for action in session.scalars(
        sa.select(Action)
        .where(
            sa.or_(
                sa.and_(Action.action_state == ActionState.UNDER_REVIEW, Action.created_at < older_than),
                sa.and_(Action.action_state == ActionState.RETRO_REVIEW, Action.retro_review_at < older_than),
            ),
            Action.id.not_in(sa.select(Hold.action_id).where(Hold.action_id.is_not(None))),
        )
        .order_by(Action.community_id, Action.created_at)
        .limit(limit)
    ).all():
        cause = "no consensus in time"
        if action.action_state is ActionState.UNDER_REVIEW:
            actions.decide_none(session, SYSTEM, action, confidence=0.5, cause=cause)
        else:
            actions.confirm(session, SYSTEM, action, cause=cause)
        ended += 1
    return ended


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The categories that wait in the queue, for its filter."""
    return [
        name
        for name in session.scalars(
            sa.select(Action.category)
            .where(Action.community_id == community_id, Action.action_state == ActionState.UNDER_REVIEW)
            .distinct()
            .order_by(Action.category)
        )
        if name
    ]


def comment(session: Session, actor: Actor, action: Action, text: str) -> None:
    """An internal comment on an item: an entry of its history."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    rules.text(text, "comment", rules.REASON_MAX)
    history.record(session, actor, action.community_id, "action.commented", "action", action.id, comment=text)


def _waiting(statement: Any, community_id: uuid.UUID, profile_id: uuid.UUID) -> Any:
    rated = sa.select(Rating.note_id).where(Rating.rater_id == profile_id)
    skipped = sa.select(Skip.action_id).where(Skip.profile_id == profile_id)
    return (
        statement.join(Note, Note.id == Action.note_id)
        .where(
            Action.community_id == community_id,
            Action.action_state.in_((ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW)),
            Action.restores_id.is_(None),
            Action.review_group != ReviewGroup.STAFF,
            Note.locked.is_(False),
            Action.note_id.not_in(rated),
            Action.id.not_in(skipped),
        )
        .order_by(Note.ratings_count.desc(), Action.created_at, Action.id)
    )


def _filtered(actor: Actor, community_id: uuid.UUID, wanted: QueueFilter) -> sa.Select[Any]:
    statement = sa.select(Action).where(
        Action.community_id == community_id,
        Action.action_state == ActionState.UNDER_REVIEW,
    )
    if wanted.category:
        statement = statement.where(Action.category == wanted.category)
    if wanted.group is not None:
        statement = statement.where(Action.review_group == wanted.group)
    if wanted.claimed_by == "me":
        statement = statement.where(
            Action.claimed_by_id == actor.account_id, Action.claimed_until > clock.now()
        )
    elif wanted.claimed_by == "nobody":
        statement = statement.where(
            sa.or_(Action.claimed_by_id.is_(None), Action.claimed_until <= clock.now())
        )
    if wanted.search:
        statement = statement.join(Request, Request.id == Action.request_id).where(
            Request.content.icontains(wanted.search, autoescape=True)
        )
    return statement


def _as_rows(statement: sa.Select[Any]) -> Any:
    """The actions with what a row shows, each with the name of whoever holds it."""
    return (
        statement.add_columns(Account.display_name)
        .outerjoin(Account, sa.and_(Account.id == Action.claimed_by_id, Action.claimed_until > clock.now()))
        .options(selectinload(Action.request), selectinload(Action.note), selectinload(Action.held))
    )


def _follows(sort: Sort, action: Action) -> Any:
    """Whether a row comes after ``action`` in this order."""
    here = sa.tuple_(Action.created_at, Action.id)
    place = sa.tuple_(
        sa.literal(action.created_at, Action.created_at.type), sa.literal(action.id, Action.id.type)
    )
    if sort is Sort.NEWEST:
        return here < place
    if sort is Sort.SCORE:
        score = action.score or 0.0
        return sa.or_(Action.score < score, sa.and_(Action.score == score, here > place))
    if sort is Sort.RATINGS:
        of_row = sa.select(Note.ratings_count).where(Note.id == Action.note_id).scalar_subquery()
        own = sa.select(Note.ratings_count).where(Note.id == action.note_id).scalar_subquery()
        return sa.or_(of_row < own, sa.and_(of_row == own, here > place))
    return here > place


def _order(sort: Sort) -> tuple[Any, ...]:
    if sort is Sort.NEWEST:
        return (Action.created_at.desc(), Action.id.desc())
    if sort is Sort.SCORE:
        return (Action.score.desc(), Action.created_at, Action.id)
    if sort is Sort.RATINGS:
        rated = sa.select(Note.ratings_count).where(Note.id == Action.note_id).scalar_subquery()
        return (rated.desc(), Action.created_at, Action.id)
    return (Action.created_at, Action.id)
