"""Action history as moderators read it: every change of every action, filtered, page by page, or whole.

Beside the changes stand the decisions that came to nothing: undone, not carried out, or still to be undone.
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
    """Which changes of actions are wanted; empty means all. ``since`` is inclusive, ``until`` exclusive.

    ``states`` and ``traces`` (of ``decision_trace.TRACES``) are alternatives: a change to one of the states, or an
    entry of one of the traces. With neither, a held decision is left out once it has been carried out, for then
    the change itself stands there. A change is also of one of the types and of one of the categories. ``search``
    finds posts (``post_search.finds``) and words of the reasons given.
    """

    action_types: tuple[ActionType, ...] = ()
    states: tuple[ActionState, ...] = ()
    traces: tuple[str, ...] = ()
    search: str = ""
    actor: str = ""
    author: str = ""
    categories: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class ActionChange:
    """One change of one action: the entry, its erasable text, the action as it is now, and its request."""

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
        """The state that this change led to, or which trace of a decision it is."""
        return self.state or self.entry.what

    @property
    def verb(self) -> str:
        """What was decided, where nothing came of it."""
        return str(self.entry.after.get("verb", ""))

    @property
    def is_latest(self) -> bool:
        """Whether the action still stands where this change put it."""
        return self.action.action_state == self.state


def matching(
    actor: Actor, community_id: uuid.UUID, wanted: HistoryFilter
) -> sa.Select[HistoryEntry, HistoryText, Action, Request]:
    """The community's changes of actions that match, unordered: (entry, text, action, request) each.

    Raises:
        NotFound, Forbidden: the history is not the actor's to see.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    return (
        sa.select(HistoryEntry, HistoryText, Action, Request)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .join(Action, Action.id == HistoryEntry.object_id)
        .join(Request, Request.id == Action.request_id)
        .where(*_of_entry(community_id, wanted), *_of_text(wanted), *_of_action(wanted), *_of_request(wanted))
    )


def _of_entry(community_id: uuid.UUID, wanted: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    """What the entry alone can answer; a search looks the posts and the reasons up first, for there are fewer."""
    conditions = [
        HistoryEntry.community_id == community_id,
        HistoryEntry.object_type == "action",
        _kind(wanted),
    ]
    if wanted.since:
        conditions.append(HistoryEntry.at >= wanted.since)
    if wanted.until:
        conditions.append(HistoryEntry.at < wanted.until)
    if wanted.search:
        posts = (
            sa.select(Action.id)
            .join(Request, Request.id == Action.request_id)
            .where(Action.community_id == community_id, post_search.finds(wanted.search))
        )
        other = aliased(HistoryEntry)
        reasons = (
            sa.select(HistoryText.entry_id)
            .join(other, other.id == HistoryText.entry_id)
            .where(
                other.community_id == community_id,
                HistoryText.reason.icontains(wanted.search, autoescape=True),
            )
        )
        conditions.append(sa.or_(HistoryEntry.object_id.in_(posts), HistoryEntry.id.in_(reasons)))
    return conditions


def _kind(wanted: HistoryFilter) -> sa.ColumnElement[bool]:
    if wanted.states or wanted.traces:
        return HistoryEntry.what.in_([*(f"action.{state.value}" for state in wanted.states), *wanted.traces])
    always = [*_CHANGES, decision_trace.UNDONE, decision_trace.LAPSED]
    return sa.or_(
        HistoryEntry.what.in_(always), sa.and_(HistoryEntry.what == decision_trace.HELD, _came_to_nothing())
    )


def _came_to_nothing() -> sa.ColumnElement[bool]:
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


def _of_text(wanted: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    return [HistoryText.actor_name.icontains(wanted.actor, autoescape=True)] if wanted.actor else []


def _of_action(wanted: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if wanted.action_types:
        conditions.append(Action.action_type.in_(wanted.action_types))
    if wanted.categories:
        category = sa.func.coalesce(Action.decided_category, Action.category)
        conditions.append(category.in_(wanted.categories))
    return conditions


def _of_request(wanted: HistoryFilter) -> list[sa.ColumnElement[bool]]:
    return [Request.platform_author_id.icontains(wanted.author, autoescape=True)] if wanted.author else []


def _count(session: Session, community_id: uuid.UUID, wanted: HistoryFilter) -> int:
    """How many there are, as ``history_pages.counted``; only what the filter asks of is joined."""
    found = sa.select(HistoryEntry.id).where(*_of_entry(community_id, wanted))
    if wanted.actor:
        found = found.join(HistoryText, HistoryText.entry_id == HistoryEntry.id).where(*_of_text(wanted))
    if wanted.action_types or wanted.categories or wanted.author:
        found = found.join(Action, Action.id == HistoryEntry.object_id).where(*_of_action(wanted))
    if wanted.author:
        found = found.join(Request, Request.id == Action.request_id).where(*_of_request(wanted))
    return pages.counted(session, found)


def changes(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: HistoryFilter,
    *,
    size: int,
    older_than: int | None = None,
    newer_than: int | None = None,
) -> HistoryPage[ActionChange]:
    """A page of the changes that match, newest first; two queries however many rows.

    Pages follow the entries' numbers, so changes that happen meanwhile neither repeat nor hide a row.
    """
    statement = matching(actor, community_id, wanted)
    count = _count(session, community_id, wanted)
    return pages.page(
        session, statement, ActionChange, count, size=size, older_than=older_than, newer_than=newer_than
    )


def change(session: Session, actor: Actor, entry_id: uuid.UUID) -> ActionChange:
    """One entry about an action; what it tells may be a message, which led to no state.

    Raises:
        NotFound: unknown, about something else, or another community's.
        Forbidden: the history is not the actor's to see.
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
    session: Session, actor: Actor, community_id: uuid.UUID, wanted: HistoryFilter
) -> Iterator[ActionChange]:
    """Every change that matches, newest first, read in batches.

    Refusals are raised at the call, not at the first row.
    """
    return pages.export(session, matching(actor, community_id, wanted), ActionChange)


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The categories that actions of the community ever had, for the history's filter."""
    category = sa.func.coalesce(Action.decided_category, Action.category)
    found = session.scalars(
        sa.select(category).where(Action.community_id == community_id).distinct().order_by(category)
    )
    return [name for name in found if name]
