"""Action history for moderators: every change of every action, filtered, as pages or as an export.

It also lists decisions without effect: undone, not carried out, or still possible to undo.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, contains_eager

from app.core.errors import NotFound
from app.core.history import pages
from app.core.history.pages import HistoryPage
from app.core.models import Action, HistoryEntry, HistoryText, Hold, Request
from app.core.permissions import Actor, Permission, require
from app.core.review import decision_trace, post_search
from app.core.vocabulary import ActionState, ActionType

_CHANGES = tuple(f"action.{state.value}" for state in ActionState)


@dataclass(frozen=True)
class HistoryFilter:
    """Filters for changes of actions; an empty filter matches all. ``since`` is inclusive, ``until`` exclusive.

    ``states`` and ``traces`` (from ``decision_trace.TRACES``) are joined by OR: a change to one of the states, or an
    entry of one of the traces. Without both, a held decision is left out once it was carried out, because the change
    itself is listed. All other filters are joined by AND. ``search`` matches posts (``post_search.finds``) and the
    text of reasons.
    """

    action_types: tuple[ActionType, ...] = ()
    states: tuple[ActionState, ...] = ()
    traces: tuple[str, ...] = ()
    search: str = ""
    actor: str = ""
    author: str = ""
    categories: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class ActionChange:
    """One change of one action: the history entry, its erasable text, the action as it is now, and its request."""

    entry: HistoryEntry
    text: HistoryText
    action: Action
    request: Request

    @property
    def state(self) -> str:
        """The state that this change led to; empty for a decision that changed nothing."""
        return str(self.entry.after.get("action_state", ""))

    @property
    def kind(self) -> str:
        """The state that this change led to, or the name of the decision's trace."""
        return self.state or self.entry.what

    @property
    def verb(self) -> str:
        """The verb of a decision without effect; empty for a change."""
        return str(self.entry.after.get("verb", ""))

    @property
    def is_latest(self) -> bool:
        """Whether the action is still in the state that this change led to."""
        return self.action.action_state == self.state


def matching(
    actor: Actor, community_id: uuid.UUID, filters: HistoryFilter
) -> sa.Select[HistoryEntry, HistoryText, Action, Request]:
    """Select the community's changes of actions that match, unordered, as (entry, text, action, request).

    Raises:
        NotFound, Forbidden: the actor may not see the history.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    return (
        sa.select(HistoryEntry, HistoryText, Action, Request)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .join(Action, Action.id == HistoryEntry.object_id)
        .join(Request, Request.id == Action.request_id)
        .where(
            *_of_entry(community_id, filters), *_of_text(filters), *_of_action(filters), *_of_request(filters)
        )
    )


def _of_entry(community_id: uuid.UUID, filters: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    """Conditions on the entry alone. A search looks up posts and reasons first: there are fewer."""
    conditions = [
        HistoryEntry.community_id == community_id,
        HistoryEntry.object_type == "action",
        _kind(filters),
    ]
    if filters.since:
        conditions.append(HistoryEntry.at >= filters.since)
    if filters.until:
        conditions.append(HistoryEntry.at < filters.until)
    if filters.search:
        posts = (
            sa.select(Action.id)
            .join(Request, Request.id == Action.request_id)
            .where(Action.community_id == community_id, post_search.finds(filters.search))
        )
        other = aliased(HistoryEntry)
        reasons = (
            sa.select(HistoryText.entry_id)
            .join(other, other.id == HistoryText.entry_id)
            .where(
                other.community_id == community_id,
                HistoryText.reason.icontains(filters.search, autoescape=True),
            )
        )
        conditions.append(sa.or_(HistoryEntry.object_id.in_(posts), HistoryEntry.id.in_(reasons)))
    return conditions


def _kind(filters: HistoryFilter) -> sa.ColumnElement[bool]:
    if filters.states or filters.traces:
        return HistoryEntry.what.in_(
            [*(f"action.{state.value}" for state in filters.states), *filters.traces]
        )
    always = [*_CHANGES, decision_trace.UNDONE, decision_trace.LAPSED]
    return sa.or_(
        HistoryEntry.what.in_(always), sa.and_(HistoryEntry.what == decision_trace.HELD, _had_no_effect())
    )


def _had_no_effect() -> sa.ColumnElement[bool]:
    """Whether a held decision was undone or not carried out, or can still be undone."""
    later = aliased(HistoryEntry)
    followed_by = (
        sa.select(later.what)
        .where(
            later.object_type == "action",
            later.object_id == HistoryEntry.object_id,
            later.account_id == HistoryEntry.account_id,
            later.number > HistoryEntry.number,
            later.what.in_([*_CHANGES, decision_trace.UNDONE, decision_trace.LAPSED]),
        )
        .order_by(later.number)
        .limit(1)
        .correlate(HistoryEntry)
        .scalar_subquery()
    )
    pending = sa.exists().where(
        Hold.action_id == HistoryEntry.object_id, Hold.account_id == HistoryEntry.account_id
    )
    return sa.or_(
        followed_by.in_((decision_trace.UNDONE, decision_trace.LAPSED)),
        sa.and_(followed_by.is_(None), pending),
    )


def _of_text(filters: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    return [HistoryText.actor_name.icontains(filters.actor, autoescape=True)] if filters.actor else []


def _of_action(filters: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if filters.action_types:
        conditions.append(Action.action_type.in_(filters.action_types))
    if filters.categories:
        category = sa.func.coalesce(Action.decided_category, Action.category)
        conditions.append(category.in_(filters.categories))
    return conditions


def _of_request(filters: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if filters.author:
        conditions.append(Request.platform_author_id.icontains(filters.author, autoescape=True))
    if filters.languages:
        conditions.append(Request.language.in_(filters.languages))
    return conditions


def _count(session: Session, community_id: uuid.UUID, filters: HistoryFilter) -> int:
    """The number of matching changes, as ``pages.counted`` counts; joins only the tables that the filters need."""
    statement = sa.select(HistoryEntry.id).where(*_of_entry(community_id, filters))
    if filters.actor:
        statement = statement.join(HistoryText, HistoryText.entry_id == HistoryEntry.id).where(
            *_of_text(filters)
        )
    of_request = _of_request(filters)
    if filters.action_types or filters.categories or of_request:
        statement = statement.join(Action, Action.id == HistoryEntry.object_id).where(*_of_action(filters))
    if of_request:
        statement = statement.join(Request, Request.id == Action.request_id).where(*of_request)
    return pages.counted(session, statement)


def changes(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: HistoryFilter,
    *,
    size: int,
    older_than: int | None = None,
    newer_than: int | None = None,
) -> HistoryPage[ActionChange]:
    """A page of the matching changes, newest first; two queries however many rows there are.

    Pages continue from an entry's number, so new changes neither repeat nor hide a row.
    """
    statement = matching(actor, community_id, filters)
    count = _count(session, community_id, filters)
    return pages.page(
        session, statement, ActionChange, count, size=size, older_than=older_than, newer_than=newer_than
    )


def change(session: Session, actor: Actor, entry_id: uuid.UUID) -> ActionChange:
    """One history entry about an action; it may be a comment, which changed no state.

    Raises:
        NotFound: the entry is unknown, not about an action, or in another community.
        Forbidden: the actor may not see the history.
    """
    row = session.execute(
        sa.select(HistoryEntry, HistoryText, Action, Request)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .join(Action, Action.id == HistoryEntry.object_id)
        .join(Request, Request.id == Action.request_id)
        .where(HistoryEntry.id == entry_id, HistoryEntry.object_type == "action")
        .options(contains_eager(Action.request))
    ).first()
    if row is None:
        raise NotFound("entry")
    require(actor, Permission.SEE_HISTORY, row[0].community_id, "entry")
    return ActionChange(*row)


def export(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: HistoryFilter
) -> Iterator[ActionChange]:
    """Every change that matches, newest first, read in batches.

    Permission errors are raised by the call itself, not at the first row.
    """
    return pages.export(session, matching(actor, community_id, filters), ActionChange)


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """All categories of the community's actions, for the history's filter."""
    category = sa.func.coalesce(Action.decided_category, Action.category)
    names = session.scalars(
        sa.select(category).where(Action.community_id == community_id).distinct().order_by(category)
    )
    return [name for name in names if name]


def languages(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The detected languages of the community's posts, for the history's filter.

    It steps from one language to the next through the index, so it reads a row a language and not a row a post.
    """
    seen = sa.select(sa.func.min(Request.language).label("tag")).where(Request.community_id == community_id)
    steps = seen.cte("languages", recursive=True)
    following = (
        sa.select(sa.func.min(Request.language))
        .where(Request.community_id == community_id, Request.language > steps.c.tag)
        .scalar_subquery()
    )
    steps = steps.union_all(sa.select(following).where(steps.c.tag.is_not(None)))
    return [tag for tag in session.scalars(sa.select(steps.c.tag)) if tag]
