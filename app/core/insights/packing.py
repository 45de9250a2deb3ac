"""Packs finished days: what previews of thresholds route (decision 0064)."""

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import packed_days
from app.core.models import Rollup
from app.core.models.packed_days import DayKind
from app.core.policies import score_days

BATCH = 5_000
"""After so many rows the transaction ends with the day, so that on SQLite other writers need not wait long."""


def pack(session: Session, community_id: uuid.UUID) -> bool:
    """Pack the next days that are over and not packed, or have changed since. Return whether these were the last.

    A community whose statistics were never counted is left for later.
    """
    now = clock.now()
    # One after the other: of two that pack a day at once, the one that read it first might be the last to write it.
    state = sa.select(Rollup.community_id).where(Rollup.community_id == community_id).with_for_update()
    if session.scalar(state) is None:
        return True
    first = score_days.first_day(now)
    packed_days.forget_before(session, community_id, DayKind.SCORES, first)
    days = packed_days.days_due(session, community_id, DayKind.SCORES, first, now)
    rows = 0
    for day in score_days.pack_empty(session, community_id, days):
        if rows >= BATCH:
            return False
        # Even a day without any takes a moment.
        rows += score_days.pack(session, community_id, day) + 100
    return True
