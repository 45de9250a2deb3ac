"""The review queue: pages of open items for moderators, and reviews that end without a decision."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, selectinload

from app.core import clock, limits, scoring
from app.core.actions import actions
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.models import Account, Action, Hold, Note, Request
from app.core.models.decisions import HIDDEN, QUEUED
from app.core.permissions import Actor, Permission, require
from app.core.review import conditions, post_search, queue_filters, queue_order
from app.core.review.open_counts import bounded_count
from app.core.review.queue_filters import EVERYTHING, QueueFilter
from app.core.review.queue_order import Sort
from app.core.unindexed import unindexed
from app.core.vocabulary import ActionState

_DISAGREEMENTS: Mapping[str, str] = {
    "divisive": "split",
    "one-sided": "split",
    "unbalanced": "one side only",
    "undecided": "undecided",
}
"""Why enough ratings did not decide, by the slug of the rule (docs/develop/consensus.md)."""


@dataclass(frozen=True)
class QueuePage:
    """A page of the queue's ``count`` items; ``first`` is the position of its first row, from 1 (0: no rows).

    ``may_lack``: a text was looked for in the most urgent items only, and more than these wait.

    The previous page ends before its first row, the next page begins after its last row.
    """

    items: "Sequence[QueueItem]"
    count: int
    first: int
    may_lack: bool = False

    @property
    def last(self) -> int:
        """The position of the last row; 0 without rows."""
        return self.first + len(self.items) - 1 if self.items else 0


@dataclass(frozen=True)
class QueueItem:
    """One row of the queue: the action with request, note and hold loaded, and names of claimant and assignee."""

    action: Action
    claimant: str | None
    assignee: str | None = None

    @property
    def is_overdue(self) -> bool:
        """Whether the item waits longer than its category's target time."""
        return conditions.is_late(self.action)


def queue(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: QueueFilter,
    *,
    size: int,
    after: uuid.UUID | None = None,
    before: uuid.UUID | None = None,
) -> QueuePage:
    """A page of the items under review: the first, or the one ``after`` or ``before`` an item's id.

    At most eleven queries for any number of rows and any page, because no OFFSET is used. An unknown id is ignored. If
    no rows come after (before) the item, the page is the last (first).
    """
    require(actor, Permission.SEE_QUEUE, community_id)
    statement, may_lack = queue_filters.matching(filters, community_id, clock.now(), actor.account_id), False
    if filters.search:
        searched, is_common = queue_filters.search(session, statement, community_id, filters.search)
        may_lack = is_common and _is_long(session, statement, filters)
        # Searched once: the ids then serve the count, the page and the position.
        ids = session.scalars(searched.with_only_columns(Action.id)).all()
        statement, count = sa.select(Action).where(Action.id.in_(ids)), len(ids)
    else:
        count = _count(session, statement, filters)
    anchor_id, backwards = (before, True) if before is not None else (after, False)
    anchor = session.get(Action, anchor_id) if anchor_id is not None else None
    if anchor is not None and anchor.community_id != community_id:
        anchor = None
    rows: list[QueueItem] = []
    if anchor is not None:
        beyond = statement.where(queue_order.follows(filters.sort, anchor, backwards=backwards))
        rows = _page(session, beyond, filters.sort, size, backwards=backwards)
    if not rows:
        # After the end show the last page, before the beginning the first.
        backwards = anchor is not None and not backwards
        rows = _page(session, statement, filters.sort, size, backwards=backwards)
    first = 1 if rows else 0
    if rows and (anchor is not None or backwards):
        ahead = statement.where(queue_order.follows(filters.sort, rows[0].action, backwards=True))
        first += _count(session, ahead, filters)
    return QueuePage(rows, count, first, may_lack)


def search_may_lack(session: Session, actor: Actor, community_id: uuid.UUID, filters: QueueFilter) -> bool:
    """Whether a search with these filters leaves items out, as ``QueuePage.may_lack`` says."""
    require(actor, Permission.SEE_QUEUE, community_id)
    if not filters.search:
        return False
    statement = queue_filters.matching(filters, community_id, clock.now(), actor.account_id)
    _, is_common = queue_filters.search(session, statement, community_id, filters.search)
    return is_common and _is_long(session, statement, filters)


def _is_long(session: Session, statement: sa.Select[Any], filters: QueueFilter) -> bool:
    """Whether more items match than a common text is looked for in."""
    return _count(session, statement, replace(filters, search="")) > queue_filters.SEARCHED


def _count(session: Session, statement: sa.Select[Any], filters: QueueFilter) -> int:
    ids = statement.with_only_columns(Action.id)
    if not (filters.search or filters.author or filters.overdue or filters.claimed_by):
        # These have indexes of their own.
        ids = queue_filters.by_narrow_index(ids)
    return session.scalar(sa.select(sa.func.count()).select_from(ids.subquery())) or 0


def _page(
    session: Session, statement: sa.Select[Any], sort: Sort, size: int, *, backwards: bool
) -> list[QueueItem]:
    """The first ``size`` rows of ``statement``, or the last if ``backwards``; always in the queue's order."""
    order = queue_order.clauses(sort, backwards=backwards)
    rows = [
        QueueItem(action, claimant, assignee)
        for action, claimant, assignee in session.execute(_as_rows(statement).order_by(*order).limit(size))
    ]
    return rows[::-1] if backwards else rows


def first(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: QueueFilter, *, size: int
) -> Sequence[QueueItem]:
    """The first items of the filtered queue."""
    require(actor, Permission.SEE_QUEUE, community_id)
    return _page(
        session,
        queue_filters.filtered(session, actor, community_id, filters),
        filters.sort,
        size,
        backwards=False,
    )


def neighbours(
    session: Session, actor: Actor, action: Action, filters: QueueFilter
) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """The ids of the items before and after this one in the filtered queue, each None at an end; two queries."""
    require(actor, Permission.SEE_QUEUE, action.community_id)
    statement = queue_filters.filtered(session, actor, action.community_id, filters).where(
        Action.id != action.id
    )
    before, after = (
        session.scalar(
            statement.with_only_columns(Action.id)
            .where(queue_order.follows(filters.sort, action, backwards=backwards))
            .order_by(*queue_order.clauses(filters.sort, backwards=backwards))
            .limit(1)
        )
        for backwards in (True, False)
    )
    return before, after


def items(
    session: Session, actor: Actor, community_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> Sequence[QueueItem]:
    """These items of the community, in any state, as rows of the queue; unknown ids are left out."""
    require(actor, Permission.SEE_QUEUE, community_id)
    statement = sa.select(Action).where(unindexed(Action.community_id) == community_id, Action.id.in_(ids))
    return [QueueItem(*row) for row in session.execute(_as_rows(statement))]


def newer_than(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    moment: datetime,
    filters: QueueFilter = EVERYTHING,
) -> int:
    """How many items of the filtered queue came under review after ``moment``; at most ``MOST_COUNTED`` + 1."""
    require(actor, Permission.SEE_QUEUE, community_id)
    given = {
        "community_id": community_id,
        "moment": moment,
        "now": clock.now(),
        "account_id": actor.account_id,
    }
    exact = post_search.exact(session, community_id, filters.search) if filters.search else []
    count: int = session.execute(_newer(filters, tuple(exact)), given).scalar_one()
    return count


@lru_cache(maxsize=200)
def _newer(filters: QueueFilter, exact: tuple[uuid.UUID, ...] = ()) -> sa.Select[Any]:
    """The statement of ``newer_than``, kept because building it takes longer than running it.

    ``exact``: the actions of the one post that a search for a whole id finds.
    """
    found = queue_filters.matching(
        filters,
        sa.bindparam("community_id", type_=Action.community_id.type),
        sa.bindparam("now", type_=Action.snoozed_until.type),
        sa.bindparam("account_id", type_=Action.claimed_by_id.type),
    ).where(Action.created_at > sa.bindparam("moment", type_=Action.created_at.type))
    if exact:
        found = found.where(Action.id.in_(exact))
    elif filters.search:
        # Few items are new, so their posts are read; all posts with the text would be far more.
        found = found.join(Request, Request.id == Action.request_id).where(post_search.finds(filters.search))
    return sa.select(bounded_count(found.with_only_columns(Action.id)))


def expire(session: Session, older_than: datetime, *, limit: int = 200) -> int:
    """End old reviews without consensus and return how many: queued ones are dismissed, second looks confirm.

    See docs/integrate/api.md.
    """
    oldest = _old(older_than).order_by(Action.community_id, Action.created_at).limit(limit)
    ended = session.scalars(oldest).all()
    for action in ended:
        actions.lapse(session, action, why=Why(cause="no consensus in time"))
    return len(ended)


def has_expired(session: Session, older_than: datetime) -> bool:
    """Whether there is anything for ``expire`` to end, so that nothing needs to be locked to find out."""
    return session.scalar(_old(older_than).with_only_columns(Action.id).limit(1)) is not None


def _old(older_than: datetime) -> sa.Select[Any]:
    return sa.select(Action).where(
        # Written out for the index of the few open reviews: this runs every half minute.
        sa.text("moderation_actions.action_state IN ('under_review', 'retro_review')"),
        sa.or_(
            sa.and_(
                Action.action_state == ActionState.UNDER_REVIEW,
                # For the index too; what came back under review is read from the row.
                Action.created_at < older_than,
                sa.or_(Action.review_opened_at.is_(None), Action.review_opened_at < older_than),
            ),
            sa.and_(Action.action_state == ActionState.RETRO_REVIEW, Action.retro_review_at < older_than),
        ),
        Action.id.not_in(sa.select(Hold.action_id).where(Hold.action_id.is_not(None))),
    )


def hidden_posts(session: Session, community_id: uuid.UUID, authors: Collection[str]) -> dict[str, int]:
    """How many posts of these authors are hidden now, by author; one query on an index of hidden posts."""
    if not authors:
        return {}
    rows = session.execute(
        sa.select(Action.platform_author_id, sa.func.count())
        .where(
            Action.community_id == community_id,
            Action.platform_author_id.in_(authors),
            sa.text(HIDDEN),
        )
        .group_by(Action.platform_author_id)
    )
    return {author: count for author, count in rows if author}


def disagreement(note: Note | None, needed: int) -> str:
    """Why ratings have not decided: "split", "one side only" or "undecided"; empty while there are too few of them."""
    if note is None or note.ratings_count < needed or note.status_rule is None:
        return ""
    return _DISAGREEMENTS.get(scoring.slug_of(note.status_rule), "")


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The categories of the items in the queue, for its filter."""
    queued = sa.select(Action.category).where(
        Action.community_id == community_id, sa.text(f"moderation_actions.{QUEUED}")
    )
    found = queue_filters.by_narrow_index(queued).subquery().c.category
    return [name for name in session.scalars(sa.select(found).distinct().order_by(found)) if name]


def comment(session: Session, actor: Actor, action: Action, text: str) -> None:
    """Add an internal comment on an item as a history entry."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    limits.text(text, "comment", limits.REASON_MAX)
    history.record(
        session, actor, action.community_id, "action.commented", "action", action.id, why=Why(comment=text)
    )


def _as_rows(statement: sa.Select[Any]) -> Any:
    """Add to the actions the relations that a row shows, and the display names of claimant and assignee."""
    assignee = aliased(Account)
    return (
        statement.add_columns(Account.display_name, assignee.display_name)
        .outerjoin(Account, sa.and_(Account.id == Action.claimed_by_id, Action.claimed_until > clock.now()))
        .outerjoin(assignee, assignee.id == Action.assigned_to_id)
        .options(
            selectinload(Action.request).selectinload(Request.attachments),
            selectinload(Action.note),
            selectinload(Action.held),
        )
    )
