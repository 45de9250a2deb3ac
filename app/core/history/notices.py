"""Notices: messages to one person, shown in the dashboard.

Moderators get one when their decision was overturned, reopened or could not be carried out, and when a colleague
took over their claim; operators get one when a webhook was disabled, when something else wants an operator, and when a
version of the community's own model began or ceased to score by itself.

A notice is written in the same transaction as the change. It contains no text: names and reasons are read from
history, where they can be erased.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, selectinload

from app.core import bulk, clock, mail, paging
from app.core.errors import NotFound
from app.core.mail import Kind
from app.core.models import Account, Action, HistoryEntry, HistoryText, Hold, Membership, Notice
from app.core.paging import Page, Slice
from app.core.permissions import Actor, Permission, allows, roles_with

_ACTED = ("action.proposed", "action.confirmed")
_OVERTURNED = frozenset({"action.dismissed", "action.under_review", "action.overturned"})


@dataclass(frozen=True)
class NoticeEntry:
    """A notice with its history entry, that entry's text, and the item that it is about.

    ``action`` is None where the notice is about a note, a webhook or the community.
    """

    notice: Notice
    entry: HistoryEntry
    text: HistoryText
    decided: HistoryEntry | None
    action: Action | None


def notify_overturned(session: Session, actor: Actor, entry: HistoryEntry) -> None:
    """Notify the moderator who decided to act that their decision was reversed, once per decision.

    ``entry`` is the history entry of the action's change; other changes than a reversal are ignored.
    """
    if entry.what not in _OVERTURNED or not entry.before:
        return
    decided = _last_entry(
        session, entry.object_id, HistoryEntry.what.in_(_ACTED), HistoryEntry.number < entry.number
    )
    if decided is None or decided.account_id is None or decided.account_id == actor.account_id:
        return
    existing = sa.select(Notice.id).where(
        Notice.account_id == decided.account_id, Notice.decided_id == decided.id
    )
    if session.scalar(existing) is None:
        _add(session, decided.account_id, entry, action_id=entry.object_id, decided_id=decided.id)


def notify_reopened(session: Session, actor: Actor, dismissed: Action, entry: HistoryEntry) -> None:
    """Notify the moderator whose dismissal was reopened. ``entry`` is the first entry of the new action."""
    decided = _last_entry(session, dismissed.id, HistoryEntry.what == "action.dismissed")
    if decided is not None and decided.account_id is not None and decided.account_id != actor.account_id:
        _add(session, decided.account_id, entry, action_id=entry.object_id, decided_id=decided.id)


def _last_entry(
    session: Session, action_id: uuid.UUID, *conditions: sa.ColumnElement[bool]
) -> HistoryEntry | None:
    """The action's newest history entry that fulfils the conditions."""
    return session.scalars(
        sa.select(HistoryEntry)
        .where(HistoryEntry.object_type == "action", HistoryEntry.object_id == action_id, *conditions)
        .order_by(HistoryEntry.number.desc())
        .limit(1)
    ).first()


def notify_taken_over(session: Session, account_id: uuid.UUID, entry: HistoryEntry) -> None:
    """Notify the account whose claim was taken over; ``entry`` says by whom."""
    _add(session, account_id, entry, action_id=entry.object_id)


def notify_escalated(session: Session, actor: Actor, entry: HistoryEntry) -> None:
    """Notify the community's operators and admins of an item that a moderator sent to staff; not the actor."""
    for account_id in _revisers(session, entry.community_id):
        if account_id != actor.account_id:
            _add(session, account_id, entry, action_id=entry.object_id)


def notify_learned(session: Session, entry: HistoryEntry) -> None:
    """Notify the community's operators and admins that a version of its own model began or ceased to score by itself.

    It replaces their unread notices about the same category: a new version may come every day.
    """
    revisers = _revisers(session, entry.community_id)
    is_about_it = sa.exists().where(
        HistoryEntry.id == Notice.entry_id,
        HistoryEntry.community_id == entry.community_id,
        HistoryEntry.object_type == entry.object_type,
        HistoryEntry.after["category"].as_string() == entry.after["category"],
    )
    bulk.change(
        session,
        sa.delete(Notice).where(Notice.account_id.in_(revisers), Notice.read_at.is_(None), is_about_it),
    )
    for account_id in revisers:
        _add(session, account_id, entry)


def _revisers(session: Session, community_id: uuid.UUID) -> Sequence[uuid.UUID]:
    """The accounts that set how a community is classified."""
    return session.scalars(
        sa.select(Membership.account_id)
        .join(Account, Account.id == Membership.account_id)
        .where(
            Membership.community_id == community_id,
            Membership.role.in_(roles_with(Permission.REVISE_POLICY)),
            Account.disabled_at.is_(None),
        )
    ).all()


def _add(session: Session, account_id: uuid.UUID, entry: HistoryEntry, **about: uuid.UUID | None) -> None:
    """Add a notice. ``about``: ``action_id``, ``note_id``, and in ``decided_id`` the entry of the person's decision."""
    session.add(Notice(community_id=entry.community_id, account_id=account_id, entry_id=entry.id, **about))
    session.flush()


def notify_lapsed(session: Session, held: Hold, entry: HistoryEntry) -> None:
    """Notify the moderator whose held decision was due and could not be carried out; ``entry`` says why."""
    _add(session, held.account_id, entry, action_id=held.action_id, note_id=held.note_id)


def notify_disabled(session: Session, entry: HistoryEntry) -> None:
    """Notify the community's operators and all service admins, also by mail, of an automatically disabled webhook."""
    for account in _operators(session, entry.community_id):
        _add(session, account.id, entry)
        if account.confirmed_at is not None:
            mail.ask(session, Kind.WEBHOOK_DISABLED, account_id=account.id)


def notify_attention(session: Session, entry: HistoryEntry) -> None:
    """Notify the community's operators and all service admins that something wants one of them.

    By mail too, those who have not switched that off.
    """
    for account in _operators(session, entry.community_id):
        _add(session, account.id, entry)
        if account.confirmed_at is not None and account.attention_mail:
            mail.ask(session, Kind.ATTENTION, account_id=account.id, entry_id=entry.id)


def _operators(session: Session, community_id: uuid.UUID) -> Sequence[Account]:
    """The accounts that manage the community's webhooks and settings: its operators, and service admins."""
    operators = sa.select(Membership.account_id).where(
        Membership.community_id == community_id,
        Membership.role.in_(roles_with(Permission.MANAGE_WEBHOOKS)),
    )
    return session.scalars(
        sa.select(Account).where(
            sa.or_(Account.id.in_(operators), Account.service_admin), Account.disabled_at.is_(None)
        )
    ).all()


def unread(session: Session, actor: Actor) -> int:
    """The number of the actor's unread notices, in all communities that they moderate."""
    return session.scalar(unread_count(actor)) or 0


def unread_count(actor: Actor) -> sa.Select[int]:
    """The statement that counts the actor's unread notices."""
    return sa.select(sa.func.count()).select_from(Notice).where(_readable(actor), is_unread())


def list_for(
    session: Session, actor: Actor, part: Slice, *narrowed: sa.ColumnElement[bool]
) -> Page[NoticeEntry]:
    """A page of the actor's notices, newest first; four queries however many rows.

    ``narrowed``: ``is_unread()``, or ``is_reversal(…)``.
    """
    page = paging.paginate(
        session,
        sa.select(Notice).where(_readable(actor), *narrowed),
        Notice.created_at,
        Notice.id,
        part,
        most=paging.MOST_COUNTED,
    )
    return replace(page, rows=_with_entries(session, page.rows))


def is_unread() -> sa.ColumnElement[bool]:
    """Whether the notice has not been marked as read, as part of a query."""
    return Notice.read_at.is_(None)


def is_reversal(community_id: uuid.UUID, since: datetime) -> sa.ColumnElement[bool]:
    """Whether the notice says that a decision in this community was reversed after ``since``, as part of a query."""
    return sa.and_(
        Notice.community_id == community_id, Notice.decided_id.is_not(None), Notice.created_at >= since
    )


def reversals(session: Session, actor: Actor, community_id: uuid.UUID, since: datetime) -> int:
    """How many of the actor's decisions in this community were reversed after ``since``."""
    reversed_ = _readable(actor), is_reversal(community_id, since)
    return session.scalar(sa.select(sa.func.count()).select_from(Notice).where(*reversed_)) or 0


def mark_read(session: Session, actor: Actor, notice_id: uuid.UUID | None = None) -> int:
    """Mark one notice as read, or all of them for None. Return how many were unread.

    Raises:
        NotFound: the notice is unknown or another account's.
    """
    matching = _readable(actor)
    if notice_id is not None:
        matching = sa.and_(matching, Notice.id == notice_id)
        if session.scalar(sa.select(Notice.id).where(matching)) is None:
            raise NotFound("notice")
    return bulk.change(
        session, sa.update(Notice).where(matching, Notice.read_at.is_(None)).values(read_at=clock.now())
    )


def _readable(actor: Actor) -> sa.ColumnElement[bool]:
    """SQL condition: the actor's notices from communities whose history they may read now."""
    mine = Notice.account_id == actor.account_id
    if actor.communities is None:
        return mine
    moderated = [one for one in actor.communities if allows(actor, Permission.SEE_HISTORY, one)]
    return sa.and_(mine, Notice.community_id.in_(moderated))


def _with_entries(session: Session, rows: Sequence[Notice]) -> list[NoticeEntry]:
    decided = aliased(HistoryEntry)
    entries: dict[uuid.UUID, tuple[Any, ...]] = {
        row[0]: (row[1], row[2], row[3])
        for row in session.execute(
            sa.select(Notice.id, HistoryEntry, HistoryText, decided)
            .join(HistoryEntry, HistoryEntry.id == Notice.entry_id)
            .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
            .outerjoin(decided, decided.id == Notice.decided_id)
            .where(Notice.id.in_([notice.id for notice in rows]))
        )
    }
    actions = {
        action.id: action
        for action in session.scalars(
            sa.select(Action)
            .where(Action.id.in_([notice.action_id for notice in rows if notice.action_id is not None]))
            .options(selectinload(Action.request), selectinload(Action.newest))
        )
    }
    lines = []
    for notice in rows:
        entry, text, own = entries[notice.id]
        lines.append(
            NoticeEntry(notice, entry, text, own, actions.get(notice.action_id) if notice.action_id else None)
        )
    return lines
