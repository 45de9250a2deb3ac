"""The one decision per request: timestamps in order, one event (docs/integration.md)."""

import uuid
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions.moves import make_move
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.models import Action, Decision, Request
from app.core.permissions import SYSTEM
from app.core.vocabulary import RequestStatus
from app.core.webhooks import events

NO_ACTION = "none"


def for_request(session: Session, request_id: uuid.UUID) -> Decision | None:
    return session.scalars(sa.select(Decision).where(Decision.request_id == request_id)).first()


def record(
    session: Session,
    action: Action,
    decision: str,
    *,
    tier: int,
    confidence: float,
    cause: str,
    undecided: Request | None = None,
    **changes: Any,
) -> Decision | None:
    """Decide a request, complete it and emit its event. Return None, without an event, if it was decided before.

    ``decided_at`` is strictly increasing within the community. It is set under the community's lock, so a client
    that polls from the last value it saw never misses a decision that was committed late.

    ``undecided``: the action's request, from a caller who has locked the community and found it undecided since;
    without it both are read here. ``changes`` are other columns of the request, written along with its state.
    """
    serialise(session, action.community_id)
    request = undecided
    if request is None:
        request = session.get_one(Request, action.request_id, populate_existing=True)
        if for_request(session, request.id) is not None:
            complete(session, request, cause, **changes)
            return None
    last = session.scalar(_LAST, {"community": action.community_id})
    now = clock.now()
    recorded = Decision(
        community_id=action.community_id,
        request_id=request.id,
        action_id=action.id,
        decision=decision,
        tier=tier,
        confidence=min(1.0, max(0.0, round(confidence, 4))),
        decided_at=now if last is None or last < now else last + timedelta(microseconds=1),
    )
    session.add(recorded)
    session.flush()
    complete(session, request, cause, **changes)
    history.record(
        session,
        SYSTEM,
        request.community_id,
        "request.decided",
        "request",
        request.id,
        after={"decision": decision, "tier": tier, "action_id": str(action.id)},
        why=Why(cause=cause),
    )
    events.emit_decision(session, request, recorded)
    return recorded


_LAST = sa.select(sa.func.max(Decision.decided_at)).where(Decision.community_id == sa.bindparam("community"))


def complete(session: Session, request: Request, cause: str, **changes: Any) -> None:
    """Move a decided request to completed, from whatever state it is in, with ``changes`` to other columns."""
    if request.status is not RequestStatus.COMPLETED:
        make_move(session, SYSTEM, request, RequestStatus.COMPLETED, why=Why(cause=cause), **changes)
