"""The filters of the review queue, its orders, and the statements that they make.

Pages of the queue continue from a row instead of an OFFSET, so every order ends with the unique id.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock
from app.core.ids import parse_id
from app.core.listed import is_one_of
from app.core.models import Action, Note
from app.core.permissions import Actor
from app.core.review import conditions, post_search
from app.core.vocabulary import NoteStatus, ReviewGroup


class Sort(StrEnum):
    """How the queue is ordered."""

    URGENT = "urgent"
    OLDEST = "oldest"
    NEWEST = "newest"
    SCORE = "score"
    RATINGS = "ratings"


def _figure(sort: Sort) -> Any:
    """The first sort key, before age: the score or the number of ratings (0 without any); None: age only."""
    if sort is Sort.SCORE:
        # Written out, not a parameter: only so is the index in this order used.
        return sa.func.coalesce(Action.score, sa.literal_column("0.0"))
    if sort is Sort.RATINGS:
        rated = sa.select(Note.ratings_count).where(Note.id == Action.note_id).scalar_subquery()
        return sa.func.coalesce(_UNSETTLED.ratings_count, rated, 0)
    return None


_UNSETTLED = aliased(Note, name="unsettled")


def with_figures(statement: sa.Select[Any], sort: Sort) -> sa.Select[Any]:
    """Join what ``order_clauses`` and ``follows`` read beside the actions.

    The notes of nearly all open reviews need ratings, and an index leads to those together. One by one, 12,000 notes
    are 50,000 blocks.
    """
    if sort is not Sort.RATINGS:
        return statement
    return statement.outerjoin(
        _UNSETTLED,
        sa.and_(
            _UNSETTLED.id == Action.note_id,
            _UNSETTLED.community_id == Action.community_id,
            _UNSETTLED.status == NoteStatus.NEEDS_MORE_RATINGS,
        ),
    )


def _place(column: Any, moment: datetime, action: Action) -> tuple[Any, Any]:
    """The place of any row by this column and the id, and the place of ``action``, to compare with each other."""
    own = sa.tuple_(sa.literal(moment, column.type), sa.literal(action.id, Action.id.type))
    return sa.tuple_(column, Action.id), own


def order_clauses(sort: Sort, *, backwards: bool = False) -> tuple[Any, ...]:
    """The ORDER BY clauses; ``backwards`` reverses them."""
    if sort is Sort.URGENT:
        places = (Action.urgent_at, Action.id)
        return tuple(place.desc() if backwards else place.asc() for place in places)
    figure, is_descending = _figure(sort), sort is Sort.NEWEST
    keys = [(Action.created_at, is_descending), (Action.id, is_descending)]
    if figure is not None:
        keys = [(figure, True), *keys]
    return tuple(key.desc() if down != backwards else key.asc() for key, down in keys)


def follows(sort: Sort, action: Action, *, backwards: bool = False) -> Any:
    """A condition: the row comes after ``action`` in this order, or before it if ``backwards``."""
    if sort is Sort.URGENT:
        here, place = _place(Action.urgent_at, action.urgent_at or action.created_at, action)
        return here < place if backwards else here > place
    here, place = _place(Action.created_at, action.created_at, action)
    beyond = here < place if (sort is Sort.NEWEST) != backwards else here > place
    figure = _figure(sort)
    if figure is None:
        return beyond
    if sort is Sort.SCORE:
        own: Any = action.score or 0.0
    else:
        rated = sa.select(Note.ratings_count).where(Note.id == action.note_id).scalar_subquery()
        own = sa.func.coalesce(rated, 0)
    if backwards:
        return sa.and_(figure >= own, sa.or_(figure > own, beyond))
    return sa.and_(figure <= own, sa.or_(figure < own, beyond))


@dataclass(frozen=True)
class QueueFilter:
    """Filters and order of the queue.

    ``languages`` are tags as posts have them; ``claimed_by`` is ``me``, ``nobody``, an account's id, or empty for
    all; it covers claims and assignments. ``author`` and ``channel`` are the platform's ids. ``overdue``: only items
    past their category's target time. ``snoozed``: only items that are put aside, which are left out otherwise.
    """

    categories: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    claimed_by: str = ""
    search: str = ""
    group: ReviewGroup | None = None
    author: str = ""
    channel: str = ""
    overdue: bool = False
    snoozed: bool = False
    sort: Sort = Sort.URGENT


SEARCHED = 500
"""In how many items, the most urgent ones, a common text is looked for."""
EVERYTHING = QueueFilter()
"""The whole queue, in its default order."""


def filtered(session: Session, actor: Actor, community_id: uuid.UUID, filters: QueueFilter) -> sa.Select[Any]:
    """Select the actions under review that match, unordered. The caller checks the actor's permission.

    A search for a whole id finds that post alone, also where other posts mention the id. A text that is common is
    looked for in the most urgent ``SEARCHED`` items only, because their posts are read one by one.
    """
    statement = matching(filters, community_id, clock.now(), actor.account_id)
    return search(session, statement, community_id, filters.search)[0] if filters.search else statement


def search(
    session: Session, statement: sa.Select[Any], community_id: uuid.UUID, text: str
) -> tuple[sa.Select[Any], bool]:
    """Search in the selected items; return also whether the text is common."""
    exact = post_search.exact(session, community_id, text)
    if exact:
        return statement.where(Action.id.in_(exact)), False
    posts = post_search.few(session, community_id, text)
    if posts is not None:
        return statement.where(Action.request_id.in_(posts)), False
    pairs: Any = statement.with_only_columns(Action.id, Action.request_id)
    urgent = session.execute(pairs.order_by(*order_clauses(Sort.URGENT)).limit(SEARCHED)).all()
    having = set(post_search.filtered(session, [request_id for _, request_id in urgent], text))
    found = [action_id for action_id, request_id in urgent if request_id in having]
    return sa.select(Action).where(is_one_of(session, Action.id, found)), True


def matching(
    filters: QueueFilter,
    community_id: uuid.UUID,
    now: datetime,
    account_id: uuid.UUID | None,
    *,
    alike: bool = False,
) -> sa.Select[Any]:
    """Select what matches, except by the search: of posts alike the first, but all of them if ``alike``, and where text
    is looked for."""
    statement = conditions.waiting(community_id).where(*_of(Action, filters, now, account_id))
    statement = statement.where(Action.snoozed_until > now if filters.snoozed else conditions.is_awake(now))
    if filters.claimed_by == "nobody":
        statement = statement.where(
            sa.or_(Action.claimed_by_id.is_(None), Action.claimed_until <= now),
            Action.assigned_to_id.is_(None),
        )
    if filters.search or alike:
        return statement
    earlier = _of(conditions.EARLIER, filters, now, account_id)
    return statement.where(conditions.is_first_alike(*earlier))


def _of(
    action: Any, filters: QueueFilter, now: datetime, account_id: uuid.UUID | None
) -> list[sa.ColumnElement[bool]]:
    """The conditions of the filters on one item, a column of ``Action`` or of an alias each."""
    found: list[sa.ColumnElement[bool]] = []
    if filters.overdue:
        found.append(conditions.is_past_target(now, action))
    if filters.author:
        found.append(action.platform_author_id == filters.author)
    if filters.categories:
        found.append(action.category.in_(filters.categories))
    if filters.group is not None:
        found.append(action.review_group == filters.group)
    if filters.languages:
        found.append(action.language.in_(filters.languages))
    if filters.channel:
        found.append(action.platform_channel_id == filters.channel)
    if filters.claimed_by and filters.claimed_by != "nobody":
        theirs = account_id if filters.claimed_by == "me" else parse_id(filters.claimed_by)
        found.append(
            sa.or_(
                sa.and_(action.claimed_by_id == theirs, action.claimed_until > now),
                action.assigned_to_id == theirs,
            )
        )
    return found
