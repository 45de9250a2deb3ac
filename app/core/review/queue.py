"""The review queue: pages of open items for moderators, and reviews that end without a decision."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, selectinload

from app.core import clock, limits
from app.core.actions import actions
from app.core.history.reason import Reason
from app.core.models import Account, Action, Request
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, require
from app.core.review import conditions, post_search, queue_filters
from app.core.review.conditions import MOST_COUNTED
from app.core.review.queue_filters import EVERYTHING, QueueFilter, Sort


@dataclass(frozen=True)
class QueuePage:
    """A page of the queue's ``count`` items; ``first`` is the position of its first row, from 1 (0: no rows).

    ``posts``: how many posts these are, because posts alike are one item. ``may_lack``: a text was looked for in the
    most urgent items only, and more than these wait.

    The previous page ends before its first row, the next page begins after its last row.
    """

    items: "Sequence[QueueItem]"
    count: int
    first: int
    posts: int
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
        return conditions.is_late(self.action)

    @property
    def is_far_overdue(self) -> bool:
        """Whether it is overdue and waits for twice its target time or longer."""
        due = self.action.due_at
        return self.is_overdue and due is not None and clock.now() - due >= due - self.action.created_at


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
    now, may_lack = clock.now(), False
    statement = queue_filters.matching(filters, community_id, now, actor.account_id)
    if filters.search:
        searched, is_common = queue_filters.search(session, statement, community_id, filters.search)
        may_lack = is_common and _count(session, statement) > queue_filters.SEARCHED
        # Searched once: the ids then serve the count, the page and the position.
        ids = session.scalars(searched.with_only_columns(Action.id)).all()
        statement, count = sa.select(Action).where(Action.id.in_(ids)), len(ids)
        posts = count
    else:
        all_posts = queue_filters.matching(filters, community_id, now, actor.account_id, alike=True)
        count, posts = session.execute(sa.select(_counted(statement), _counted(all_posts))).one()
    anchor_id, backwards = (before, True) if before is not None else (after, False)
    anchor = session.get(Action, anchor_id) if anchor_id is not None else None
    if anchor is not None and anchor.community_id != community_id:
        anchor = None
    rows: list[QueueItem] = []
    if anchor is not None:
        beyond = statement.where(queue_filters.follows(filters.sort, anchor, backwards=backwards))
        rows = first_items(session, beyond, filters.sort, size, backwards=backwards)
    if not rows:
        # After the end show the last page, before the beginning the first.
        backwards = anchor is not None and not backwards
        rows = first_items(session, statement, filters.sort, size, backwards=backwards)
    first = 1 if rows else 0
    if rows and (anchor is not None or backwards):
        ahead = queue_filters.with_figures(statement, filters.sort).where(
            queue_filters.follows(filters.sort, rows[0].action, backwards=True)
        )
        first += _count(session, ahead)
    return QueuePage(rows, count, first, posts, may_lack)


def _count(session: Session, statement: sa.Select[Any]) -> int:
    return session.scalar(sa.select(_counted(statement))) or 0


def _counted(statement: sa.Select[Any]) -> sa.ScalarSelect[int]:
    ids = statement.with_only_columns(Action.id)
    return sa.select(sa.func.count()).select_from(ids.subquery()).scalar_subquery()


def first_items(
    session: Session, statement: sa.Select[Any], sort: Sort, size: int, *, backwards: bool
) -> list[QueueItem]:
    """The first ``size`` rows of ``statement``, or the last if ``backwards``; always in the queue's order."""
    order = queue_filters.order_clauses(sort, backwards=backwards)
    rows = [
        QueueItem(action, claimant, assignee)
        for action, claimant, assignee in session.execute(
            _as_rows(queue_filters.with_figures(statement, sort)).order_by(*order).limit(size)
        )
    ]
    return rows[::-1] if backwards else rows


def neighbours(
    session: Session, actor: Actor, action: Action, filters: QueueFilter
) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """The ids of the items before and after this one in the filtered queue, each None at an end; two queries."""
    require(actor, Permission.SEE_QUEUE, action.community_id)
    statement = queue_filters.filtered(session, actor, action.community_id, filters)
    statement = queue_filters.with_figures(statement.where(Action.id != action.id), filters.sort)
    before, after = (
        session.scalar(
            statement.with_only_columns(Action.id)
            .where(queue_filters.follows(filters.sort, action, backwards=backwards))
            .order_by(*queue_filters.order_clauses(filters.sort, backwards=backwards))
            .limit(1)
        )
        for backwards in (True, False)
    )
    return before, after


def items(
    session: Session, actor: Actor, community_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> Sequence[QueueItem]:
    """These items of the community, in any state and in this order, as rows of the queue; unknown ids are left out."""
    require(actor, Permission.SEE_QUEUE, community_id)
    if not ids:
        return []
    statement = sa.select(Action).where(Action.community_id == community_id, Action.id.in_(ids))
    found = {row[0].id: QueueItem(*row) for row in session.execute(_as_rows(statement))}
    return [found[id_] for id_ in ids if id_ in found]


def newer_than(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    moment: datetime,
    filters: QueueFilter = EVERYTHING,
) -> int:
    """How many items of the filtered queue came under review after ``moment``; at most ``MOST_COUNTED`` + 1."""
    require(actor, Permission.SEE_QUEUE, community_id)
    found = queue_filters.matching(filters, community_id, clock.now(), actor.account_id)
    found = found.where(Action.created_at > moment)
    exact = post_search.exact(session, community_id, filters.search) if filters.search else []
    if exact:
        found = found.where(Action.id.in_(exact))
    elif filters.search:
        # Few items are new, so their posts are read; all posts with the text would be far more.
        found = found.join(Request, Request.id == Action.request_id).where(post_search.finds(filters.search))
    return session.scalar(sa.select(up_to(found.with_only_columns(Action.id), MOST_COUNTED))) or 0


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The categories of the items in the queue, for its filter."""
    named = conditions.waiting(community_id).with_only_columns(Action.category).distinct()
    return [name for name in session.scalars(named.order_by(Action.category)) if name]


def comment(session: Session, actor: Actor, action: Action, text: str) -> None:
    """Add an internal comment on an item as a history entry."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    limits.text(text, "comment", limits.REASON_MAX)
    actions.record(session, actor, action, "action.commented", reason=Reason(comment=text))


def _as_rows(statement: sa.Select[Any]) -> Any:
    """Add to the actions the relations that a row shows, and the display names of claimant and assignee."""
    assignee = aliased(Account)
    return (
        statement.add_columns(Account.display_name, assignee.display_name)
        .outerjoin(Account, sa.and_(Account.id == Action.claimed_by_id, Action.claimed_until > clock.now()))
        .outerjoin(assignee, assignee.id == Action.assigned_to_id)
        .options(
            selectinload(Action.request).selectinload(Request.attachments),
            selectinload(Action.newest).selectinload(Request.attachments),
            selectinload(Action.note),
            selectinload(Action.held),
        )
    )
