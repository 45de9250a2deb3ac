"""The one decision per request: timestamps in order, one event (docs/integrate/api.md)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions.moves import make_move
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Action, Decision, Request
from app.core.permissions import SYSTEM
from app.core.vocabulary import RequestStatus
from app.core.webhooks import events

NO_ACTION = "none"


def for_request(session: Session, request_id: uuid.UUID) -> Decision | None:
    return session.scalars(sa.select(Decision).where(Decision.request_id == request_id)).first()


def record(
    session: Session, action: Action, decision: str, *, tier: int, confidence: float, cause: str
) -> Decision | None:
    """Decide a request, complete it and emit its event. Return None, without an event, if it was decided before.

    ``decided_at`` is strictly increasing within the community. It is set under the community's lock, so a client
    that polls from the last value it saw never misses a decision that was committed late.
    """
    serialise(session, action.community_id)
    request = session.get_one(Request, action.request_id, populate_existing=True)
    earlier = for_request(session, request.id)
    if earlier is not None:
        complete(session, request, cause, earlier)
        return None
    (recorded,) = add(session, [New(action, decision, tier, confidence)])
    announce(session, request, recorded, cause)
    return recorded


@dataclass(frozen=True)
class New:
    """A decision to store. ``request_id``: another request about the same post; None: that of the action."""

    action: Action
    decision: str
    tier: int
    confidence: float
    request_id: uuid.UUID | None = None


def add(session: Session, several: Sequence[New]) -> list[Decision]:
    """Store decisions of one community on requests that have none, each later than the one before.

    The caller has locked the community. What follows from a decision is left to ``announce``.
    """
    if not several:
        return []
    last: datetime | None = session.scalar(_LAST, {"community": several[0].action.community_id})
    made = []
    for new in several:
        now = clock.now()
        last = now if last is None or last < now else last + timedelta(microseconds=1)
        made.append(
            Decision(
                community_id=new.action.community_id,
                request_id=new.request_id or new.action.request_id,
                action_id=new.action.id,
                decision=new.decision,
                tier=new.tier,
                confidence=min(1.0, max(0.0, round(new.confidence, 4))),
                decided_at=last,
            )
        )
    session.add_all(made)
    session.flush()
    return made


def announce(session: Session, request: Request, recorded: Decision, cause: str, **changes: Any) -> None:
    """Complete a request whose decision is stored, with ``changes`` to other columns, and write history and event."""
    complete(session, request, cause, recorded, **changes)
    history.record(
        session,
        SYSTEM,
        request.community_id,
        "request.decided",
        "request",
        request.id,
        after={"decision": recorded.decision, "tier": recorded.tier, "action_id": str(recorded.action_id)},
        reason=Reason(cause=cause),
    )
    events.emit_decision(session, request, recorded)


_LAST = sa.select(sa.func.max(Decision.decided_at)).where(Decision.community_id == sa.bindparam("community"))


def complete(
    session: Session, request: Request, cause: str, decision: Decision | None, **changes: Any
) -> None:
    """Move a request to completed, from whatever state it is in, with ``changes`` to other columns.

    Webhooks that ask for it learn that nothing is done about the post: ``decision`` is the request's, None where there
    was nothing to decide.
    """
    if request.status is RequestStatus.COMPLETED:
        return
    make_move(session, SYSTEM, request, RequestStatus.COMPLETED, reason=Reason(cause=cause), **changes)
    if decision is None or decision.decision == NO_ACTION:
        events.emit_completed(session, request, decision)
