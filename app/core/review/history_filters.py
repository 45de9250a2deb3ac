"""Filters of the moderators' history, as conditions on history entries alone.

An entry repeats the type, category, author and language of its action (``history.facts``), so that no filter joins
another table: each is an index of entries, read from the newest on until a page is full.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core.actions import silences, strike_steps, undoing
from app.core.listed import is_one_of
from app.core.models import Account, Action, ApiKey, HistoryEntry, HistoryText, Hold, Request
from app.core.permissions import SYSTEM
from app.core.review import decision_trace, post_search
from app.core.vocabulary import ActionState, ActionType

COUNTED_BY_ROW = 1_000
"""The largest number of changes that a page counts when each has to be read, and not only its place in an index."""
FOUND = 300
"""The most names that a filter looks up before it reads entries."""
FOUND_REASONS = 1_000
"""How many reasons with a text, of all communities, are few enough to be looked up one by one."""
WALKED = 3_000
"""How many entries one page of a search reads, where more reasons than those have its text."""
FOUND_POSTS = 60
"""The posts about which a search shows entries: the newest that match."""
CLOCK_SKEW = timedelta(days=1)
"""Entries are numbered as they are written. Their times may contradict that by as much as a clock was set back."""
_CHANGES = tuple(f"action.{state.value}" for state in ActionState)
_OF_ACTIONS = (
    undoing.ANSWERED,
    silences.UNTIL_CHANGED,
    silences.ENDED,
    *strike_steps.ENTRIES,
)
TRACES = (*decision_trace.TRACES, *_OF_ACTIONS)
"""Names of entries that change no state: decisions without effect, undos, ends of silences, strikes."""
_ALWAYS = (*_CHANGES, decision_trace.UNDONE, decision_trace.LAPSED, *_OF_ACTIONS)


@dataclass(frozen=True)
class HistoryFilter:
    """Filters for changes of actions; an empty filter matches all. ``since`` is inclusive, ``until`` exclusive.

    ``states`` and ``traces`` (from ``TRACES``) are joined by OR: a change to one of the states, or an
    entry of one of the traces. Without both, a held decision is left out once it was carried out, because the change
    itself is listed. All other filters are joined by AND. ``search`` matches posts (``post_search.finds``) and the
    text of reasons. ``actor`` is part of a name, ``author`` a whole id or, if no author has that id, part of one.
    ``account_id``: only what this account did.
    """

    action_types: tuple[ActionType, ...] = ()
    states: tuple[ActionState, ...] = ()
    traces: tuple[str, ...] = ()
    search: str = ""
    actor: str = ""
    account_id: uuid.UUID | None = None
    author: str = ""
    categories: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_in_index(self) -> bool:
        """Whether an index alone tells which entries match: by what happened, and when."""
        return not (
            self.action_types
            or self.search
            or self.actor
            or self.account_id
            or self.author
            or self.categories
            or self.languages
        )


@dataclass(frozen=True)
class Matching:
    """Conditions on entries, all but ``kind``.

    ``is_cut``: a search found more posts than they name. ``end``: the number of the last entry that a search for a
    common reason read: the next page goes on from it.
    """

    conditions: Sequence[sa.ColumnElement[bool]]
    is_cut: bool = False
    end: int | None = None


def matching(
    session: Session,
    community_id: uuid.UUID,
    filters: HistoryFilter,
    *,
    older_than: int | None = None,
    newer_than: int | None = None,
) -> Matching:
    """What one page looks for; only a search depends on where the page begins."""
    conditions = _conditions(session, community_id, filters)
    if not filters.search:
        return Matching(conditions)
    return _search(session, community_id, filters, conditions, older_than, newer_than)


def matching_all(
    session: Session, community_id: uuid.UUID, filters: HistoryFilter
) -> Sequence[sa.ColumnElement[bool]]:
    """The conditions but ``kind``, of all posts and reasons that a search finds: for an export."""
    conditions = _conditions(session, community_id, filters)
    if filters.search:
        conditions.append(_search_all(session, community_id, filters.search))
    return conditions


def _conditions(
    session: Session, community_id: uuid.UUID, filters: HistoryFilter
) -> list[sa.ColumnElement[bool]]:
    """All but the search and ``kind``."""
    conditions = [
        HistoryEntry.community_id == community_id,
        # Written out, not a parameter: only so are the indexes of the actions' entries used for certain.
        HistoryEntry.object_type == sa.literal("action", literal_execute=True),
        *_within(session, community_id, filters),
    ]
    if filters.action_types:
        conditions.append(HistoryEntry.action_type.in_([kind.value for kind in filters.action_types]))
    if filters.categories:
        conditions.append(_one_of(HistoryEntry.category, filters.categories))
    if filters.languages:
        conditions.append(_one_of(HistoryEntry.language, filters.languages))
    if filters.author:
        conditions.append(_author(session, community_id, filters.author))
    if filters.account_id:
        conditions.append(HistoryEntry.account_id == filters.account_id)
    if filters.actor:
        conditions.append(_actor(session, community_id, filters.actor))
    return conditions


def kind(filters: HistoryFilter) -> sa.ColumnElement[bool]:
    """The condition on what happened."""
    if filters.states or filters.traces:
        return HistoryEntry.what.in_(_chosen(filters))
    return sa.or_(HistoryEntry.what.in_(_ALWAYS), _held_without_effect())


def numbers(
    conditions: Sequence[sa.ColumnElement[bool]], filters: HistoryFilter, most: int
) -> sa.Select[Any]:
    """Select the numbers of the matching entries, at least one more than ``most`` of them if there are.

    Held decisions are a part of their own: whether one had an effect is not in the index.
    """
    entries = sa.select(HistoryEntry.number).where(*conditions)
    if filters.states or filters.traces:
        return entries.where(HistoryEntry.what.in_(_chosen(filters)))
    parts = [
        sa.select(entries.where(condition).limit(most + 1).subquery().c.number)
        for condition in (HistoryEntry.what.in_(_ALWAYS), _held_without_effect())
    ]
    return sa.select(sa.union_all(*parts).subquery().c.number)


def _chosen(filters: HistoryFilter) -> list[str]:
    return [*(f"action.{state.value}" for state in filters.states), *filters.traces]


def _one_of(column: Any, values: Sequence[Any]) -> sa.ColumnElement[bool]:
    # One value is compared and not listed: then the index also gives the order.
    equal: sa.ColumnElement[bool] = column == values[0]
    return equal if len(values) == 1 else column.in_(values)


def _within(
    session: Session, community_id: uuid.UUID, filters: HistoryFilter
) -> list[sa.ColumnElement[bool]]:
    """The period, also as a range of numbers, so that a period long ago is not looked for from the newest entry on."""
    within: list[sa.ColumnElement[bool]] = []
    in_order = sa.select(HistoryEntry.number).where(HistoryEntry.community_id == community_id).limit(1)
    at, number = HistoryEntry.at, HistoryEntry.number
    if filters.since:
        later = in_order.where(at >= filters.since - CLOCK_SKEW).order_by(at, number)
        within += [at >= filters.since, number >= (session.scalar(later) or 0)]
    if filters.until:
        earlier = in_order.where(at < filters.until + CLOCK_SKEW).order_by(at.desc(), number.desc())
        within += [at < filters.until, number <= (session.scalar(earlier) or 0)]
    return within


def _author(session: Session, community_id: uuid.UUID, text: str) -> sa.ColumnElement[bool]:
    """Entries about this author's posts. If no author has this id, those of all with the text in their id."""
    exact = sa.select(HistoryEntry.id).where(
        HistoryEntry.community_id == community_id,
        HistoryEntry.object_type == sa.literal("action", literal_execute=True),
        HistoryEntry.author == text,
    )
    if session.scalar(exact.limit(1)) is not None:
        return HistoryEntry.author == text
    posts = (
        sa.select(Action.id)
        .join(Request, Request.id == Action.request_id)
        .where(
            Request.community_id == community_id, Request.platform_author_id.icontains(text, autoescape=True)
        )
    )
    few = _few(session, posts)
    return (
        HistoryEntry.author.icontains(text, autoescape=True)
        if few is None
        else HistoryEntry.object_id.in_(few)
    )


def _actor(session: Session, community_id: uuid.UUID, text: str) -> sa.ColumnElement[bool]:
    """Entries by accounts, keys or the service with the text in their name.

    They are found by the name that they have now. If no account has this name any more, the names in the entries count.
    """
    acting = _acting_accounts(community_id)
    accounts = session.scalars(
        sa.select(Account.id).where(
            Account.id.in_(sa.select(acting.c.id)),
            Account.display_name.icontains(text, autoescape=True),
            # An erased account has no name, though its column may not be empty.
            ~Account.email.endswith("@erased.invalid"),
        )
    ).all()
    keys = session.scalars(sa.select(ApiKey.id).where(ApiKey.name.icontains(text, autoescape=True))).all()
    named: list[sa.ColumnElement[bool]] = []
    if accounts:
        named.append(_one_of(HistoryEntry.account_id, accounts))
    if keys:
        named.append(HistoryEntry.key_id.in_(keys))
    if text.lower() in SYSTEM.name.lower():
        named.append(HistoryEntry.actor_kind == SYSTEM.kind)
    if named:
        return sa.or_(*named)
    few = _few(session, _entries_where(community_id, HistoryText.actor_name.icontains(text, autoescape=True)))
    if few is not None:
        return HistoryEntry.id.in_(few)
    return sa.exists().where(
        HistoryText.entry_id == HistoryEntry.id, HistoryText.actor_name.icontains(text, autoescape=True)
    )


def _acting_accounts(community_id: uuid.UUID) -> sa.CTE:
    """The accounts that ever changed an action, one step through the index for each of them."""
    entry = aliased(HistoryEntry)
    first = (
        sa.select(entry.account_id)
        .where(
            entry.community_id == community_id,
            entry.object_type == sa.literal("action", literal_execute=True),
            entry.account_id.is_not(None),
        )
        .order_by(entry.account_id)
        .limit(1)
    )
    steps = sa.select(first.scalar_subquery().label("id")).cte("acting", recursive=True)
    following = first.where(entry.account_id > steps.c.id).scalar_subquery()
    return steps.union_all(sa.select(following).where(steps.c.id.is_not(None)))


def _search(
    session: Session,
    community_id: uuid.UUID,
    filters: HistoryFilter,
    conditions: Sequence[sa.ColumnElement[bool]],
    older_than: int | None,
    newer_than: int | None,
) -> Matching:
    """Entries about posts that the search finds, or with its text in their reason.

    A whole id finds its post alone. Posts and reasons are looked up first, each by a statement of its own with the
    index of search; of many posts only the newest ``FOUND_POSTS`` count. Where many reasons match, ``WALKED`` entries
    from the page's beginning on are read.
    """
    text = filters.search
    exact = post_search.exact(session, community_id, text)
    if exact:
        return Matching([*conditions, HistoryEntry.object_id.in_(exact)])
    newest, is_cut = post_search.newest(session, community_id, text, filters.until, FOUND_POSTS)
    about = sa.select(HistoryEntry.id).where(
        HistoryEntry.object_type == "action",
        HistoryEntry.object_id.in_(sa.select(Action.id).where(Action.request_id.in_(newest))),
    )
    found = [*session.scalars(about)] if newest else []
    reasons = _few(session, _with_reason(session, text), FOUND_REASONS)
    if reasons is not None:
        found += reasons
        return Matching([*conditions, is_one_of(session, HistoryEntry.id, found)], is_cut)
    is_in_reach: sa.ColumnElement[bool] = sa.true()
    order = HistoryEntry.number.desc()
    if newer_than is not None:
        is_in_reach, order = HistoryEntry.number > newer_than, HistoryEntry.number.asc()
    elif older_than is not None:
        is_in_reach = HistoryEntry.number < older_than
    entries = sa.select(HistoryEntry.id, HistoryEntry.number).where(*conditions, kind(filters), is_in_reach)
    walked = entries.order_by(order).limit(WALKED).subquery()
    rows = session.execute(
        sa.select(walked.c.id, walked.c.number, _has_reason(text)).join(
            HistoryText, HistoryText.entry_id == walked.c.id
        )
    ).all()
    found += [entry_id for entry_id, _, has_it in rows if has_it]
    matching = [*conditions, is_one_of(session, HistoryEntry.id, found)]
    if len(rows) < WALKED:
        return Matching(matching, is_cut)
    # Entries about posts that lie further on are found when the search comes to them.
    end = min(row.number for row in rows) if newer_than is None else max(row.number for row in rows)
    matching.append(HistoryEntry.number >= end if newer_than is None else HistoryEntry.number <= end)
    return Matching(matching, is_cut=True, end=end)


def _search_all(session: Session, community_id: uuid.UUID, text: str) -> sa.ColumnElement[bool]:
    exact = post_search.exact(session, community_id, text)
    if exact:
        return HistoryEntry.object_id.in_(exact)
    entry = aliased(HistoryEntry)
    about = (
        sa.select(entry.id)
        .join(Action, Action.id == entry.object_id)
        .join(Request, Request.id == Action.request_id)
        .where(entry.object_type == "action", Request.community_id == community_id, post_search.finds(text))
    )
    indexed = post_search.indexed_posts(session, text)
    if indexed is not None:
        about = about.where(Request.id.in_(indexed))
    return HistoryEntry.id.in_(sa.union_all(about, _with_reason(session, text)))


def _has_reason(text: str) -> sa.ColumnElement[bool]:
    return HistoryText.reason.icontains(text, autoescape=True)


def _with_reason(session: Session, text: str) -> sa.Select[Any]:
    """The ids of the entries of all communities with ``text`` in their reason."""
    entries = sa.select(HistoryText.entry_id).where(_has_reason(text))
    indexed = post_search.indexed_reasons(session, text)
    return entries if indexed is None else entries.where(HistoryText.entry_id.in_(indexed))


def _entries_where(community_id: uuid.UUID, of_text: sa.ColumnElement[bool]) -> sa.Select[Any]:
    other = aliased(HistoryEntry)
    return (
        sa.select(HistoryText.entry_id)
        .join(other, other.id == HistoryText.entry_id)
        .where(other.community_id == community_id, of_text)
    )


def _few(session: Session, ids: sa.Select[Any], most: int = FOUND) -> Sequence[uuid.UUID] | None:
    """The ids, or None if there are more than ``most``."""
    found = session.scalars(ids.limit(most + 1)).all()
    return found if len(found) <= most else None


def _held_without_effect() -> sa.ColumnElement[bool]:
    """A held decision that was undone or not carried out, or can still be undone."""
    later = aliased(HistoryEntry)
    followed_by = (
        sa.select(later.what)
        .where(
            later.object_type == "action",
            later.object_id == HistoryEntry.object_id,
            later.account_id == HistoryEntry.account_id,
            later.number > HistoryEntry.number,
            later.what.in_(_ALWAYS),
        )
        .order_by(later.number)
        .limit(1)
        .correlate(HistoryEntry)
        .scalar_subquery()
    )
    pending = sa.exists().where(
        Hold.action_id == HistoryEntry.object_id, Hold.account_id == HistoryEntry.account_id
    )
    return sa.and_(
        HistoryEntry.what == decision_trace.HELD,
        sa.or_(
            followed_by.in_((decision_trace.UNDONE, decision_trace.LAPSED)),
            sa.and_(followed_by.is_(None), pending),
        ),
    )
