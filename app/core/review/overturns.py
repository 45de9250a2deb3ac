"""Overturning all that one category or one rule did since a moment: looked at first, then done in batches by a job.

Each action is overturned by the ordinary verb, with its own history entry and event. A batch, its count and the job for
the next batch are one transaction: a process that is killed has lost nothing and repeats nothing.
"""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, Refused
from app.core.history import chain as history
from app.core.history.why import UNSAID, Why
from app.core.ids import new_id
from app.core.models import Action, Community, Overturn, OverturnItem
from app.core.people import accounts
from app.core.permissions import Actor, Permission, allows, require, require_found
from app.core.review import claims, overturn_search, verbs
from app.core.review.overturn_search import UNDONE_BY, Criteria
from app.core.review.verbs import Details
from app.core.vocabulary import OverturnItemState, OverturnState

OVERTURN_JOB = "overturn_batch"
BATCH = 20
"""Actions overturned in one transaction: whoever rates meanwhile waits for it."""
FAILURES_SHOWN = 100
STALLED = timedelta(minutes=2)
"""After so long without a batch the sweep notes the next one again."""


def begin(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    criteria: Criteria,
    reason: str,
    *,
    overturn_id: uuid.UUID | None = None,
) -> Overturn:
    """Note what matches now and begin to overturn it; what comes later is not touched.

    ``overturn_id`` is the caller's own name for it: sent twice, it begins once.

    Raises:
        Invalid: as ``preview``; no reason; nothing matches.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    require(actor, Permission.MODERATE, community_id)
    overturn_search.check(criteria)
    limits.text(reason, "reason", limits.REASON_MAX)
    serialise(session, community_id)
    known = session.get(Overturn, overturn_id) if overturn_id is not None else None
    if known is not None:
        return get(session, actor, known.id)
    if actor.account_id is None:
        raise Conflict("Only a signed-in operator overturns in bulk")
    begun = Overturn(
        id=overturn_id or new_id(),
        community_id=community_id,
        account_id=actor.account_id,
        reason=reason,
        since=criteria.since,
        category=criteria.category,
        rule=criteria.rule,
        with_reviewed=criteria.with_reviewed,
    )
    session.add(begun)
    session.flush()
    found = sa.select(
        sa.literal(begun.id, sa.Uuid()),
        Action.id,
        sa.literal(OverturnItemState.WAITING.value),
        sa.literal(""),
    ).where(*overturn_search.matching(session, community_id, criteria), Action.action_state.in_(UNDONE_BY))
    session.execute(sa.insert(OverturnItem).from_select(["overturn_id", "action_id", "state", "why"], found))
    begun.total = (
        session.scalar(
            sa.select(sa.func.count()).select_from(OverturnItem).where(OverturnItem.overturn_id == begun.id)
        )
        or 0
    )
    if not begun.total:
        raise Invalid.field("since", "leaves nothing to overturn")
    session.flush()
    _record(session, actor, begun, "begun", _told(begun), Why(reason))
    _enqueue(session, begun)
    return begun


def get(session: Session, actor: Actor, overturn_id: uuid.UUID) -> Overturn:
    """One of them; unknown and foreign look alike."""
    return require_found(actor, Permission.SEE_SETTINGS, session.get(Overturn, overturn_id), "overturning")


def recent(session: Session, actor: Actor, community_id: uuid.UUID, limit: int = 10) -> Sequence[Overturn]:
    """The community's, newest first."""
    require(actor, Permission.SEE_SETTINGS, community_id)
    return session.scalars(
        sa.select(Overturn)
        .where(Overturn.community_id == community_id)
        .order_by(Overturn.created_at.desc(), Overturn.id.desc())
        .limit(limit)
    ).all()


def failures(session: Session, found: Overturn) -> Sequence[tuple[uuid.UUID, str]]:
    """Actions that could not be overturned, with why; at most ``FAILURES_SHOWN``."""
    rows = session.execute(
        sa.select(OverturnItem.action_id, OverturnItem.why)
        .where(OverturnItem.overturn_id == found.id, OverturnItem.state == OverturnItemState.FAILED)
        .order_by(OverturnItem.action_id)
        .limit(FAILURES_SHOWN)
    )
    return [(action_id, why) for action_id, why in rows]


def stop(session: Session, actor: Actor, overturn_id: uuid.UUID) -> Overturn:
    """End it before the next batch; what is overturned stays so. Ended already: nothing changes."""
    found = get(session, actor, overturn_id)
    require(actor, Permission.REVISE_POLICY, found.community_id)
    serialise(session, found.community_id)
    session.refresh(found)
    if found.state is OverturnState.RUNNING:
        _end(session, actor, found, OverturnState.STOPPED)
    return found


def carry_on(session: Session, overturn_id: uuid.UUID, settled: int) -> None:
    """Overturn the next batch and note the job for the one after it, all in this transaction.

    ``settled`` is how many were settled when this job was noted: told twice, the second finds more and does nothing.
    """
    found = session.get(Overturn, overturn_id)
    if found is None:
        return
    serialise(session, found.community_id)
    session.refresh(found)
    if found.state is not OverturnState.RUNNING or found.settled != settled:
        return
    community = session.get_one(Community, found.community_id, populate_existing=True)
    closed = frozenset({community.id}) if community.archived_at is not None else frozenset()
    actor = replace(accounts.actor_for(accounts.get(session, found.account_id)), archived=closed)
    if not allows(actor, Permission.MODERATE, found.community_id) or _is_disabled(session, found):
        _end(
            session, actor, found, OverturnState.STOPPED, Why(cause="whoever began it may no longer overturn")
        )
        return
    items = session.scalars(
        sa.select(OverturnItem)
        .where(OverturnItem.overturn_id == found.id, OverturnItem.state == OverturnItemState.WAITING)
        .order_by(OverturnItem.action_id)
        .limit(BATCH)
    ).all()
    for item in items:
        why = _undo(session, actor, found, item.action_id)
        item.state = OverturnItemState.DONE if why is None else OverturnItemState.FAILED
        item.why = (why or "")[:255]
        found.done += why is None
        found.failed += why is not None
    found.moved_at = clock.now()
    session.flush()
    if len(items) < BATCH:
        _end(session, actor, found, OverturnState.FINISHED)
    else:
        _enqueue(session, found)


def enqueue_stalled(session: Session) -> None:
    """Note the next batch again of those that should be going on and are not."""
    now = clock.now()
    stalled = session.scalars(
        sa.select(Overturn).where(Overturn.state == OverturnState.RUNNING, Overturn.moved_at < now - STALLED)
    ).all()
    period = int(now.timestamp() // STALLED.total_seconds())
    for found in stalled:
        _enqueue(session, found, f":{period}")


def _undo(session: Session, actor: Actor, found: Overturn, action_id: uuid.UUID) -> str | None:
    """Undo one action by the verb that undoes it one by one: why it could not be, or None."""
    action = session.get_one(Action, action_id, populate_existing=True)
    verb = UNDONE_BY.get(action.action_state)
    if verb is None:
        return f"It is {action.action_state.replace('_', ' ')} by now"
    try:
        with session.begin_nested():
            claims.check_free(session, actor, action)
            verbs.carry_out(session, actor, action, verb, Details(Why(found.reason)))
    except Refused as refusal:
        return refusal.detail
    return None


def _is_disabled(session: Session, found: Overturn) -> bool:
    return accounts.get(session, found.account_id).disabled_at is not None


def _end(session: Session, actor: Actor, found: Overturn, state: OverturnState, why: Why = UNSAID) -> None:
    found.state, found.ended_at = state, clock.now()
    session.flush()
    after = {"total": found.total, "done": found.done, "failed": found.failed}
    _record(session, actor, found, state.value, after, why)


def _told(found: Overturn) -> dict[str, Any]:
    return {
        "category": found.category,
        "rule": found.rule,
        "since": clock.iso(found.since),
        "with_reviewed": found.with_reviewed,
        "total": found.total,
    }


def _record(
    session: Session,
    actor: Actor,
    found: Overturn,
    what: str,
    after: dict[str, Any],
    why: Why,
) -> None:
    history.record(
        session,
        actor,
        found.community_id,
        f"overturn.{what}",
        "overturn",
        found.id,
        after=after,
        why=why,
    )


def _enqueue(session: Session, found: Overturn, suffix: str = "") -> None:
    args = {"overturn_id": str(found.id), "settled": found.settled}
    key = f"{found.id}:{found.settled}{suffix}"
    outbox.enqueue(session, OVERTURN_JOB, args, community_id=found.community_id, key=key)
