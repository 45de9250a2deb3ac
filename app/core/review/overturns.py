"""Bulk overturns: undo all actions of one category or one rule since a time, after a preview, in batches by a job.

Each action is overturned by the ordinary verb, with its own history entry and event. A batch, its count and the job for
the next batch are one transaction, so a killed process loses nothing and repeats nothing.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, Refused
from app.core.history import chain as history
from app.core.history.reason import NO_REASON, Reason
from app.core.ids import new_id
from app.core.models import Action, Overturn, OverturnItem
from app.core.people import accounts
from app.core.permissions import Actor, Permission, require, require_found
from app.core.review import claims, overturn_search, verbs
from app.core.review.overturn_search import UNDONE_BY, Criteria
from app.core.review.verbs import Details
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import OverturnItemState, OverturnState

OVERTURN_JOB = "overturn_batch"
BATCH = 20
"""Actions overturned in one transaction; ratings in the community wait until it ends."""
FAILURES_SHOWN = 100
STALLED = timedelta(minutes=2)
"""If no batch ran for this long, the sweep enqueues the next one again."""


def begin(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    criteria: Criteria,
    reason: str,
    *,
    overturn_id: uuid.UUID | None = None,
) -> Overturn:
    """Store the actions that match now and enqueue the first batch; later actions are not affected.

    ``overturn_id`` is chosen by the caller: a second call with the same id returns the first overturn.

    Raises:
        Invalid: as ``overturn_search.preview``; the reason is missing; or nothing matches.
        Conflict: the actor is not a signed-in operator.
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
        raise Conflict(_("Only a signed-in operator overturns in bulk"))
    overturn = Overturn(
        id=overturn_id or new_id(),
        community_id=community_id,
        account_id=actor.account_id,
        reason=reason,
        since=criteria.since,
        category=criteria.category,
        rule=criteria.rule,
        with_reviewed=criteria.with_reviewed,
    )
    session.add(overturn)
    session.flush()
    waiting = sa.select(
        sa.literal(overturn.id, sa.Uuid()),
        Action.id,
        sa.literal(OverturnItemState.WAITING.value),
        sa.literal(""),
    ).where(*overturn_search.matching(session, community_id, criteria), Action.action_state.in_(UNDONE_BY))
    session.execute(
        sa.insert(OverturnItem).from_select(["overturn_id", "action_id", "state", "why"], waiting)
    )
    overturn.total = (
        session.scalar(
            sa.select(sa.func.count())
            .select_from(OverturnItem)
            .where(OverturnItem.overturn_id == overturn.id)
        )
        or 0
    )
    if not overturn.total:
        raise Invalid.field("since", _("leaves nothing to overturn"))
    session.flush()
    _record(session, actor, overturn, "begun", _summary(overturn), Reason(reason))
    _enqueue(session, overturn)
    return overturn


def get(session: Session, actor: Actor, overturn_id: uuid.UUID) -> Overturn:
    """The overturn. Raises NotFound if it is unknown or belongs to another community."""
    return require_found(actor, Permission.SEE_SETTINGS, session.get(Overturn, overturn_id), "overturning")


def recent(session: Session, actor: Actor, community_id: uuid.UUID, limit: int = 10) -> Sequence[Overturn]:
    """The community's latest overturns, newest first."""
    require(actor, Permission.SEE_SETTINGS, community_id)
    return session.scalars(
        sa.select(Overturn)
        .where(Overturn.community_id == community_id)
        .order_by(Overturn.created_at.desc(), Overturn.id.desc())
        .limit(limit)
    ).all()


def failures(session: Session, overturn: Overturn) -> Sequence[tuple[uuid.UUID, str]]:
    """(action id, reason) of actions that could not be overturned; at most ``FAILURES_SHOWN``."""
    rows = session.execute(
        sa.select(OverturnItem.action_id, OverturnItem.why)
        .where(OverturnItem.overturn_id == overturn.id, OverturnItem.state == OverturnItemState.FAILED)
        .order_by(OverturnItem.action_id)
        .limit(FAILURES_SHOWN)
    )
    return [(action_id, why) for action_id, why in rows]


def stop(session: Session, actor: Actor, overturn_id: uuid.UUID) -> Overturn:
    """Stop an overturn before its next batch; overturned actions stay so. If it has ended, nothing changes."""
    overturn = get(session, actor, overturn_id)
    require(actor, Permission.REVISE_POLICY, overturn.community_id)
    serialise(session, overturn.community_id)
    session.refresh(overturn)
    if overturn.state is OverturnState.RUNNING:
        _end(session, actor, overturn, OverturnState.STOPPED)
    return overturn


def carry_on(session: Session, overturn_id: uuid.UUID, settled: int) -> None:
    """Overturn the next batch and enqueue the job for the one after it, in this transaction.

    ``settled`` is the number of settled actions when the job was enqueued: a repeated job finds a higher number and
    does nothing.
    """
    overturn = session.get(Overturn, overturn_id)
    if overturn is None:
        return
    serialise(session, overturn.community_id)
    session.refresh(overturn)
    if overturn.state is not OverturnState.RUNNING or overturn.settled != settled:
        return
    try:
        actor = accounts.deferred_actor(session, overturn.account_id, overturn.community_id)
        require(actor, Permission.MODERATE, overturn.community_id)
    except Refused:
        _end(
            session,
            accounts.actor_for(accounts.get(session, overturn.account_id)),
            overturn,
            OverturnState.STOPPED,
            Reason(cause=lazy_gettext("the person who began it may no longer overturn")),
        )
        return
    items = session.scalars(
        sa.select(OverturnItem)
        .where(OverturnItem.overturn_id == overturn.id, OverturnItem.state == OverturnItemState.WAITING)
        .order_by(OverturnItem.action_id)
        .limit(BATCH)
    ).all()
    for item in items:
        why = _undo(session, actor, overturn, item.action_id)
        item.state = OverturnItemState.DONE if why is None else OverturnItemState.FAILED
        item.why = (why or "")[:255]
        overturn.done += why is None
        overturn.failed += why is not None
    overturn.moved_at = clock.now()
    session.flush()
    if len(items) < BATCH:
        _end(session, actor, overturn, OverturnState.FINISHED)
    else:
        _enqueue(session, overturn)


def enqueue_stalled(session: Session) -> None:
    """Enqueue the next batch again for running overturns that have had no batch for ``STALLED``."""
    period = int(clock.now().timestamp() // STALLED.total_seconds())
    stalled = sa.select(Overturn).where(
        Overturn.state == OverturnState.RUNNING, Overturn.moved_at < clock.now() - STALLED
    )
    for overturn in session.scalars(stalled).all():
        _enqueue(session, overturn, f":{period}")


def _undo(session: Session, actor: Actor, overturn: Overturn, action_id: uuid.UUID) -> str | None:
    """Undo one action with the verb for its state. Return None, or the reason why it could not be undone."""
    action = session.get_one(Action, action_id, populate_existing=True)
    verb = UNDONE_BY.get(action.action_state)
    if verb is None:
        return lazy_gettext("It was decided otherwise by now")
    try:
        with community_settings.in_language(session, action.community_id), session.begin_nested():
            claims.check_free(session, actor, action)
            verbs.carry_out(session, actor, action, verb, Details(Reason(overturn.reason)))
    except Refused as refusal:
        return refusal.detail
    return None


def _end(
    session: Session, actor: Actor, overturn: Overturn, state: OverturnState, reason: Reason = NO_REASON
) -> None:
    overturn.state, overturn.ended_at = state, clock.now()
    session.flush()
    after = {"total": overturn.total, "done": overturn.done, "failed": overturn.failed}
    _record(session, actor, overturn, state.value, after, reason)


def _summary(overturn: Overturn) -> dict[str, Any]:
    return {
        "category": overturn.category,
        "rule": overturn.rule,
        "since": clock.iso(overturn.since),
        "with_reviewed": overturn.with_reviewed,
        "total": overturn.total,
    }


def _record(
    session: Session, actor: Actor, overturn: Overturn, what: str, after: dict[str, Any], reason: Reason
) -> None:
    history.record(
        session,
        actor,
        overturn.community_id,
        f"overturn.{what}",
        "overturn",
        overturn.id,
        after=after,
        reason=reason,
    )


def _enqueue(session: Session, overturn: Overturn, suffix: str = "") -> None:
    args = {"overturn_id": str(overturn.id), "settled": overturn.settled}
    key = f"{overturn.id}:{overturn.settled}{suffix}"
    outbox.enqueue(session, OVERTURN_JOB, args, community_id=overturn.community_id, key=key)
