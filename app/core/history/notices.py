"""What people are told: moderators, of their own decisions that were overturned, reopened or not carried out, and of
claims that a colleague took over; operators, of webhooks that were disabled.

A notice is written in the transaction of what it tells of. It holds no words: names and reasons are read from history,
where erasing a person reaches them.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, selectinload

from app.core import clock, mail, paging
from app.core.errors import NotFound
from app.core.mail import Kind
from app.core.models import Account, Action, HistoryEntry, HistoryText, Hold, Membership, Notice
from app.core.paging import Page, Slice
from app.core.permissions import Actor, Permission, allows, roles_with

_ACTED = ("action.proposed", "action.confirmed")
_OVERTURNED = frozenset({"action.dismissed", "action.under_review", "action.overturned"})


@dataclass(frozen=True)
class Told:
    """A notice with the entry that it tells of, that entry's words, and the item it is about (None: a note's, or a
    webhook's)."""

    notice: Notice
    entry: HistoryEntry
    text: HistoryText
    decided: HistoryEntry | None
    action: Action | None


def tell_overturned(session: Session, actor: Actor, entry: HistoryEntry) -> None:
    """An action changed: whoever had decided to act learns that their decision does not stand, once a decision."""
    if entry.what not in _OVERTURNED or not entry.before:
        return
    decided = session.scalars(
        sa.select(HistoryEntry)
        .where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id == entry.object_id,
            HistoryEntry.what.in_(_ACTED),
            HistoryEntry.number < entry.number,
        )
        .order_by(HistoryEntry.number.desc())
        .limit(1)
    ).first()
    if decided is None or decided.account_id is None or decided.account_id == actor.account_id:
        return
    told = sa.select(Notice.id).where(
        Notice.account_id == decided.account_id, Notice.decided_id == decided.id
    )
    if session.scalar(told) is None:
        session.add(
            Notice(
                community_id=entry.community_id,
                account_id=decided.account_id,
                action_id=entry.object_id,
                decided_id=decided.id,
                entry_id=entry.id,
            )
        )
        session.flush()


def tell_reopened(session: Session, actor: Actor, dismissed: Action, entry: HistoryEntry) -> None:
    """A dismissal was reopened: whoever dismissed it learns of it. ``entry`` is the new action's first."""
    decided = session.scalars(
        sa.select(HistoryEntry)
        .where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id == dismissed.id,
            HistoryEntry.what == "action.dismissed",
        )
        .order_by(HistoryEntry.number.desc())
        .limit(1)
    ).first()
    if decided is None or decided.account_id is None or decided.account_id == actor.account_id:
        return
    session.add(
        Notice(
            community_id=entry.community_id,
            account_id=decided.account_id,
            action_id=entry.object_id,
            decided_id=decided.id,
            entry_id=entry.id,
        )
    )
    session.flush()


def tell_taken_over(session: Session, account_id: uuid.UUID, entry: HistoryEntry) -> None:
    """Somebody's claim was taken over; ``entry`` says by whom."""
    session.add(
        Notice(
            community_id=entry.community_id,
            account_id=account_id,
            action_id=entry.object_id,
            entry_id=entry.id,
        )
    )
    session.flush()


def tell_lapsed(session: Session, held: Hold, entry: HistoryEntry) -> None:
    """A held decision was due and could not be carried out; ``entry`` says why."""
    session.add(
        Notice(
            community_id=held.community_id,
            account_id=held.account_id,
            action_id=held.action_id,
            note_id=held.note_id,
            entry_id=entry.id,
        )
    )
    session.flush()


def tell_disabled(session: Session, entry: HistoryEntry) -> None:
    """A webhook was disabled by itself: its community's operators learn of it, by mail too, and whoever is admin
    everywhere."""
    operators = sa.select(Membership.account_id).where(
        Membership.community_id == entry.community_id,
        Membership.role.in_(roles_with(Permission.MANAGE_WEBHOOKS)),
    )
    people = session.scalars(
        sa.select(Account).where(
            sa.or_(Account.id.in_(operators), Account.service_admin), Account.disabled_at.is_(None)
        )
    ).all()
    for one in people:
        session.add(Notice(community_id=entry.community_id, account_id=one.id, entry_id=entry.id))
        if one.confirmed_at is not None:
            mail.ask(session, Kind.WEBHOOK_DISABLED, account_id=one.id)
    session.flush()


def unread(session: Session, actor: Actor) -> int:
    """How many notices the actor has not read, in all communities that they moderate."""
    return (
        session.scalar(
            sa.select(sa.func.count()).select_from(Notice).where(_own(actor), Notice.read_at.is_(None))
        )
        or 0
    )


def list_for(session: Session, actor: Actor, wanted: Slice) -> Page[Told]:
    """A page of the actor's notices, newest first; four queries however many rows."""
    found = paging.paginate(
        session, sa.select(Notice).where(_own(actor)), Notice.created_at, Notice.id, wanted
    )
    return Page(_told(session, found.rows), found.count, wanted, found.previous, found.next)


def mark_read(session: Session, actor: Actor, notice_id: uuid.UUID | None = None) -> int:
    """Mark one notice read, or with None all of them; how many were unread.

    Raises:
        NotFound: the notice is unknown or somebody else's.
    """
    which = _own(actor)
    if notice_id is not None:
        which = sa.and_(which, Notice.id == notice_id)
        if session.scalar(sa.select(Notice.id).where(which)) is None:
            raise NotFound("notice")
    result = session.execute(
        sa.update(Notice)
        .where(which, Notice.read_at.is_(None))
        .values(read_at=clock.now())
        .execution_options(synchronize_session=False)
    )
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult


def _own(actor: Actor) -> sa.ColumnElement[bool]:
    """The actor's notices from communities whose history they may read today."""
    mine = Notice.account_id == actor.account_id
    if actor.communities is None:
        return mine
    moderated = [one for one in actor.communities if allows(actor, Permission.SEE_HISTORY, one)]
    return sa.and_(mine, Notice.community_id.in_(moderated))


def _told(session: Session, rows: Sequence[Notice]) -> list[Told]:
    decided = aliased(HistoryEntry)
    found: dict[uuid.UUID, tuple[Any, ...]] = {
        row[0]: (row[1], row[2], row[3])
        for row in session.execute(
            sa.select(Notice.id, HistoryEntry, HistoryText, decided)
            .join(HistoryEntry, HistoryEntry.id == Notice.entry_id)
            .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
            .outerjoin(decided, decided.id == Notice.decided_id)
            .where(Notice.id.in_([one.id for one in rows]))
        )
    }
    actions = {
        action.id: action
        for action in session.scalars(
            sa.select(Action)
            .where(Action.id.in_([one.action_id for one in rows if one.action_id is not None]))
            .options(selectinload(Action.request))
        )
    }
    told = []
    for one in rows:
        entry, text, own = found[one.id]
        told.append(Told(one, entry, text, own, actions.get(one.action_id) if one.action_id else None))
    return told
