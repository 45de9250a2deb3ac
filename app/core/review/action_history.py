"""Action history for moderators: every change of every action, filtered, as pages or as an export.

It also lists decisions without effect: undone, not carried out, or still possible to undo.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, contains_eager

from app.core.errors import NotFound
from app.core.history import pages
from app.core.history.pages import HistoryPage
from app.core.models import Action, Category, HistoryEntry, HistoryText, Hold, Request, ThresholdSet
from app.core.permissions import Actor, Permission, require
from app.core.review import decision_trace, post_search
from app.core.vocabulary import ActionState, ActionType

COUNTED_JOINED = 1_000
"""The largest number of changes that a page counts when filters need the post, its action or a name."""
FOUND = 1_000
"""The most posts, and the most reasons, that a search looks up before it reads entries."""
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

    @property
    def is_of_entries(self) -> bool:
        """Whether the entries alone can be filtered, without the posts and actions that they are about."""
        return not (
            self.action_types or self.search or self.actor or self.author or self.categories or self.languages
        )


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


def _changes() -> sa.Select[HistoryEntry, HistoryText, Action, Request]:
    """Select all changes of actions, as (entry, text, action, request)."""
    return (
        sa.select(HistoryEntry, HistoryText, Action, Request)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .join(Action, Action.id == HistoryEntry.object_id)
        .join(Request, Request.id == Action.request_id)
    )


def _of_entry(
    session: Session, community_id: uuid.UUID, filters: HistoryFilter
) -> list[sa.ColumnElement[bool]]:
    """Conditions on the entry alone."""
    conditions = [
        HistoryEntry.community_id == community_id,
        # Written out, not a parameter: only so is the index of the actions' entries used for certain.
        HistoryEntry.object_type == sa.literal("action", literal_execute=True),
        _kind(filters),
    ]
    if filters.since:
        conditions.append(HistoryEntry.at >= filters.since)
    if filters.until:
        conditions.append(HistoryEntry.at < filters.until)
    if filters.search:
        conditions.append(_search(session, community_id, filters.search))
    return conditions


def _search(session: Session, community_id: uuid.UUID, text: str) -> sa.ColumnElement[bool]:
    """Entries about posts that the search finds, or with its text in their reason.

    Posts and reasons are looked up first, with the indexes of search; the entries then come from the few ids. Where
    a search finds more than ``FOUND``, the newest entries are read until a page is full: most of them match.
    """
    posts = (
        sa.select(Action.id)
        .join(Request, Request.id == Action.request_id)
        .where(Request.community_id == community_id, post_search.finds(text))
    )
    other = aliased(HistoryEntry)
    reasons = (
        sa.select(HistoryText.entry_id)
        .join(other, other.id == HistoryText.entry_id)
        .where(
            other.community_id == community_id,
            HistoryText.reason.icontains(text, autoescape=True),
        )
    )
    few_posts, few_reasons = _few(session, posts), _few(session, reasons)
    return sa.or_(
        HistoryEntry.object_id.in_(posts if few_posts is None else few_posts),
        HistoryEntry.id.in_(reasons if few_reasons is None else few_reasons),
    )


def _few(session: Session, ids: sa.Select[Any]) -> Sequence[uuid.UUID] | None:
    """The ids, or None if there are more than ``FOUND``."""
    found = session.scalars(ids.limit(FOUND + 1)).all()
    return found if len(found) <= FOUND else None


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


def _ids(of_entry: Sequence[sa.ColumnElement[bool]], filters: HistoryFilter) -> sa.Select[Any]:
    """Select the ids of the changes that match; joins only the tables that the filters need."""
    statement = sa.select(HistoryEntry.id).where(*of_entry)
    if filters.actor:
        statement = statement.join(HistoryText, HistoryText.entry_id == HistoryEntry.id).where(
            *_of_text(filters)
        )
    of_request = _of_request(filters)
    if filters.action_types or filters.categories or of_request:
        statement = statement.join(Action, Action.id == HistoryEntry.object_id).where(*_of_action(filters))
    if of_request:
        statement = statement.join(Request, Request.id == Action.request_id).where(*of_request)
    return statement


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
    """A page of the matching changes, newest first; at most five queries however many rows there are.

    Pages continue from an entry's number, so new changes neither repeat nor hide a row.

    Raises:
        NotFound, Forbidden: the actor may not see the history.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    ids = _ids(_of_entry(session, community_id, filters), filters)
    most = pages.COUNTED if filters.is_of_entries else COUNTED_JOINED
    return pages.page(
        session,
        _changes(),
        ActionChange,
        pages.counted(session, ids.with_only_columns(HistoryEntry.number), most),
        size=size,
        older_than=older_than,
        newer_than=newer_than,
        most=most,
        narrow=ids,
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
        .options(contains_eager(Action.request).selectinload(Request.attachments))
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
    require(actor, Permission.SEE_HISTORY, community_id)
    of_entry = _of_entry(session, community_id, filters)
    statement = _changes().where(*of_entry, *_of_text(filters), *_of_action(filters), *_of_request(filters))
    return pages.export(session, statement, ActionChange)


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """All categories that the community's thresholds ever had, for the history's filter.

    Its actions may be a hundred thousand; the versions of its thresholds are few.
    """
    return session.scalars(
        sa.select(Category.name)
        .join(ThresholdSet, ThresholdSet.id == Category.policy_id)
        .where(ThresholdSet.community_id == community_id)
        .distinct()
        .order_by(Category.name)
    ).all()
