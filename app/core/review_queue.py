"""The review queue: what waits for moderators, who holds which item, what ends unanswered."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import actions, clock, history, post_search, rules
from app.core.errors import Conflict, Forbidden
from app.core.models import Account, Action, Hold, Note, Request
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
class QueuePage:
    """Some of the queue's ``count`` items; ``first`` is the place of the first of them, from 1 (0: there are none).

    The ids of its first and last rows are where the pages around it begin.
    """

    items: "Sequence[QueueItem]"
    count: int
    first: int

    @property
    def last(self) -> int:
        """The place of the last row."""
        return self.first + len(self.items) - 1 if self.items else 0


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
    size: int,
    after: uuid.UUID | None = None,
    before: uuid.UUID | None = None,
) -> QueuePage:
    """A page of what is under review: the first, or what follows or precedes a row.

    At most seven queries however many rows there are and however deep the page: no row is counted off to be skipped.
    A row to begin from that is unknown is as none; when nothing is left beyond it, the page is the last or the first.
    """
    require(actor, Permission.SEE_QUEUE, community_id)
    statement = _filtered(actor, community_id, wanted)
    count = session.scalar(sa.select(sa.func.count()).select_from(statement.subquery())) or 0
    anchor_id, backwards = (before, True) if before is not None else (after, False)
    anchor = session.get(Action, anchor_id) if anchor_id is not None else None
    if anchor is not None and anchor.community_id != community_id:
        anchor = None
    rows: list[QueueItem] = []
    if anchor is not None:
        beyond = statement.where(_follows(wanted.sort, anchor, backwards=backwards))
        rows = _page(session, beyond, wanted.sort, size, backwards=backwards)
    if not rows:
        # Beyond the end stands the last page, beyond the beginning the first.
        backwards = anchor is not None and not backwards
        rows = _page(session, statement, wanted.sort, size, backwards=backwards)
    first = 1 if rows else 0
    if rows and (anchor is not None or backwards):
        ahead = statement.where(_follows(wanted.sort, rows[0].action, backwards=True))
        first += session.scalar(sa.select(sa.func.count()).select_from(ahead.subquery())) or 0
    return QueuePage(rows, count, first)


def _page(
    session: Session, statement: sa.Select[Any], sort: Sort, size: int, *, backwards: bool
) -> list[QueueItem]:
    """The ``size`` rows nearest to where ``statement`` begins, or to where it ends; always in the queue's order."""
    order = [one.reverse() for one in _order(sort)] if backwards else [one.clause for one in _order(sort)]
    found = [
        QueueItem(action, name)
        for action, name in session.execute(_as_rows(statement).order_by(*order).limit(size))
    ]
    return found[::-1] if backwards else found


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
        candidates: Sequence[Action] = session.scalars(
            attempt.order_by(*(one.clause for one in _order(wanted.sort))).limit(5)
        ).all()
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
            post_search.finds(wanted.search)
        )
    return statement


def _as_rows(statement: sa.Select[Any]) -> Any:
    """The actions with what a row shows, each with the name of whoever holds it."""
    return (
        statement.add_columns(Account.display_name)
        .outerjoin(Account, sa.and_(Account.id == Action.claimed_by_id, Action.claimed_until > clock.now()))
        .options(selectinload(Action.request), selectinload(Action.note), selectinload(Action.held))
    )


@dataclass(frozen=True)
class _Key:
    """One expression of an order, and whether it falls."""

    expression: Any
    falls: bool = False

    @property
    def clause(self) -> Any:
        return self.expression.desc() if self.falls else self.expression.asc()

    def reverse(self) -> Any:
        return self.expression.asc() if self.falls else self.expression.desc()


def _figure(sort: Sort) -> Any:
    """What an order goes by before age: a score or a number of ratings, 0 while there is none; None: age alone."""
    if sort is Sort.SCORE:
        return sa.func.coalesce(Action.score, 0.0)
    if sort is Sort.RATINGS:
        rated = sa.select(Note.ratings_count).where(Note.id == Action.note_id).scalar_subquery()
        return sa.func.coalesce(rated, 0)
    return None


def _order(sort: Sort) -> tuple[_Key, ...]:
    figure, falls = _figure(sort), sort is Sort.NEWEST
    by_age = (_Key(Action.created_at, falls), _Key(Action.id, falls))
    return by_age if figure is None else (_Key(figure, falls=True), *by_age)


def _follows(sort: Sort, action: Action, *, backwards: bool = False) -> Any:
    """Whether a row comes after ``action`` in this order; ``backwards``: before it."""
    here = sa.tuple_(Action.created_at, Action.id)
    place = sa.tuple_(
        sa.literal(action.created_at, Action.created_at.type), sa.literal(action.id, Action.id.type)
    )
    beyond = here < place if (sort is Sort.NEWEST) != backwards else here > place
    figure = _figure(sort)
    if figure is None:
        return beyond
    if sort is Sort.SCORE:
        own: Any = action.score or 0.0
    else:
        rated = sa.select(Note.ratings_count).where(Note.id == action.note_id).scalar_subquery()
        own = sa.func.coalesce(rated, 0)
    past = figure > own if backwards else figure < own
    return sa.or_(past, sa.and_(figure == own, beyond))
