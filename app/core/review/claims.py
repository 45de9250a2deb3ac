"""Claims: a moderator holds an item, so that two do not decide the same one; a colleague can take it over.

A claim prevents decisions by others in the dashboard. Decisions through the API and by members' ratings take effect at
once all the same (docs/moderate/moderator.md).
"""

import math
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import bulk, clock, limits
from app.core.actions import actions
from app.core.db import serialise_and_reload
from app.core.errors import Conflict, Forbidden
from app.core.history import notices
from app.core.models import Account, Action, HistoryEntry, Hold
from app.core.permissions import Actor, Permission, require
from app.core.review import decision_trace, queue_filters
from app.core.review.queue_filters import QueueFilter
from app.core.texts import gettext as _

LEASE = timedelta(minutes=limits.CLAIM_MINUTES)
TAKEN_OVER = "claim.taken_over"


def claim(session: Session, actor: Actor, action: Action) -> None:
    """Claim an item for ten minutes; a second claim by the same moderator renews the lease.

    Raises:
        Conflict: a colleague holds it.
        Forbidden: the actor is not a signed-in moderator.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    if actor.account_id is None:
        raise Forbidden(_("Only a signed-in moderator can claim a post"))
    if not _lease(session, actor, action, open_to(actor, clock.now())):
        holder = session.get(Account, action.claimed_by_id) if action.claimed_by_id else None
        if holder is None:
            raise Conflict(_("Claimed by a colleague"), action.id)
        raise Conflict(_("Claimed by %(name)s", name=holder.display_name), action.id)


def _lease(session: Session, actor: Actor, action: Action, *where: sa.ColumnElement[bool]) -> bool:
    """Give the actor the item for the time of a claim; return False if ``where`` does not hold."""
    return actions.set_columns(
        session, action, *where, claimed_by_id=actor.account_id, claimed_until=clock.now() + LEASE
    )


def take_over(session: Session, actor: Actor, action: Action) -> str | None:
    """Claim an item that a colleague holds and notify them. Return their name, or None if it is free now."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    if actor.account_id is None:
        raise Forbidden(_("Only a signed-in moderator can claim a post"))
    serialise_and_reload(session, action)
    holder = held_by_other(session, actor, action)
    if holder is None:
        claim(session, actor, action)
        return None
    _lease(session, actor, action)
    entry = actions.record(
        session,
        actor,
        action,
        TAKEN_OVER,
        before={"claimed_by": str(holder.id)},
        after={"claimed_by": str(actor.account_id)},
    )
    notices.notify_taken_over(session, holder.id, entry)
    return holder.display_name


def held_by_other(session: Session, actor: Actor, action: Action) -> Account | None:
    """The account that holds the item now, if it is not the actor's; else None."""
    if action.claimed_by_id is None or action.claimed_by_id == actor.account_id:
        return None
    if action.claimed_until is None or action.claimed_until <= clock.now():
        return None
    return session.get_one(Account, action.claimed_by_id)


def is_held_by(actor: Actor, action: Action) -> bool:
    """Whether the actor holds the item now."""
    until = action.claimed_until
    return action.claimed_by_id == actor.account_id and until is not None and until > clock.now()


def check_free(session: Session, actor: Actor, action: Action) -> None:
    """Refuse a decision about an item that a colleague has claimed.

    Raises:
        Conflict: a colleague holds it; the detail says who, and for how long at most.
    """
    holder = held_by_other(session, actor, action)
    if holder is None or action.claimed_until is None:
        return
    minutes = max(1, math.ceil((action.claimed_until - clock.now()).total_seconds() / 60))
    raise Conflict(
        _(
            "Claimed by %(name)s, for %(minutes)s min at most",
            name=holder.display_name,
            minutes=minutes,
        ),
        action.id,
    )


def check_changeable(session: Session, actor: Actor, action: Action, version: int | None = None) -> None:
    """Refuse to change an item that is being decided, that changed since a page showed it, or that is claimed.

    ``version`` is the version that the page showed; None if there was no page.

    Raises:
        Conflict: the detail says who is in the way.
    """
    held = session.scalars(sa.select(Hold).where(Hold.action_id == action.id)).first()
    check_not_held(actor, held)
    check_version(session, action, version)
    check_free(session, actor, action)


def check_not_held(actor: Actor, held: Hold | None) -> None:
    """Refuse what would change an item or a note while a decision about it can still be undone.

    Raises:
        Conflict: a decision is held; the detail says whose.
    """
    if held is None:
        return
    if held.account_id == actor.account_id:
        raise Conflict(_("You have decided this already, in another window; undo that first"), held.id)
    raise Conflict(_("%(name)s is deciding this right now", name=held.account_name), held.id)


def check_version(session: Session, action: Action, version: int | None) -> None:
    """Refuse what was asked from a page with an older version of the item.

    Raises:
        Conflict: the item changed; the detail says by whom.
    """
    if version is not None and action.version != version:
        raise Conflict(decision_trace.changed(session, action.id), action.id)


def lost(session: Session, actor: Actor, action: Action) -> HistoryEntry | None:
    """The history entry, with its text, for the take-over of the actor's claim by the present claimant; or None."""
    if held_by_other(session, actor, action) is None:
        return None
    entry = session.scalars(
        sa.select(HistoryEntry)
        .where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id == action.id,
            HistoryEntry.what == TAKEN_OVER,
        )
        .order_by(HistoryEntry.number.desc())
        .limit(1)
        .options(selectinload(HistoryEntry.text))
    ).first()
    if entry is None or entry.account_id != action.claimed_by_id:
        return None
    return entry if entry.before.get("claimed_by") == str(actor.account_id) else None


def release(session: Session, actor: Actor, action: Action) -> None:
    """End the actor's claim of an item; a colleague's claim stays."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    actions.set_columns(session, action, Action.claimed_by_id == actor.account_id, **actions.unclaimed())


def release_all(session: Session, actor: Actor) -> int:
    """End all claims of the actor, in every community, and return how many items they held."""
    if actor.account_id is None:
        return 0
    return bulk.change(
        session,
        sa.update(Action)
        .where(Action.claimed_by_id == actor.account_id, Action.claimed_until > clock.now())
        .values(claimed_by_id=None, claimed_until=None, updated_at=Action.updated_at),
    )


def claim_next(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: QueueFilter,
    *,
    after: Action | None = None,
) -> Action | None:
    """Claim the next item of the filtered queue that no colleague holds or is assigned, and that has no held decision.

    That is the first item after ``after`` in the queue's order, or the first of all if none follows, so that a
    moderator who skips items goes round the queue. ``after`` itself is never claimed. Return None if there is none.
    """
    statement = _decidable(session, actor, community_id, filters).where(
        sa.or_(Action.assigned_to_id.is_(None), Action.assigned_to_id == actor.account_id)
    )
    statement = queue_filters.with_figures(statement, filters.sort)
    attempts = [statement]
    if after is not None:
        statement = statement.where(Action.id != after.id)
        attempts = [statement.where(queue_filters.follows(filters.sort, after)), statement]
    for attempt in attempts:
        candidates: Sequence[Action] = session.scalars(
            attempt.order_by(*queue_filters.order_clauses(filters.sort)).limit(5)
        ).all()
        claimed = claim_first(session, actor, candidates)
        if claimed is not None:
            return claimed
    return None


def claim_first(session: Session, actor: Actor, candidates: Iterable[Action]) -> Action | None:
    """Claim the first of these items that no other moderator claims meanwhile; None if there is none."""
    for action in candidates:
        try:
            claim(session, actor, action)
        except Conflict:
            continue
        return action
    return None


def free(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: QueueFilter, *, limit: int
) -> Sequence[Action]:
    """The first items of the filtered queue that the actor can decide: not held, and not claimed by a colleague."""
    statement = _decidable(session, actor, community_id, filters)
    statement = queue_filters.with_figures(statement, filters.sort)
    return session.scalars(statement.order_by(*queue_filters.order_clauses(filters.sort)).limit(limit)).all()


def _decidable(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: QueueFilter
) -> sa.Select[Any]:
    """Select the items of the filtered queue without a held decision or a colleague's claim, unordered."""
    require(actor, Permission.MODERATE, community_id)
    held = sa.select(Hold.action_id).where(Hold.action_id.is_not(None))
    return queue_filters.filtered(session, actor, community_id, filters).where(
        open_to(actor, clock.now()), Action.id.not_in(held)
    )


def open_to(actor: Actor, now: datetime) -> sa.ColumnElement[bool]:
    """Whether an item can be claimed: it is free, the actor holds it, or the lease is over."""
    return sa.or_(
        Action.claimed_by_id.is_(None), Action.claimed_by_id == actor.account_id, Action.claimed_until <= now
    )
