"""Removes the oldest entries of a history, where the service keeps them for a limited time only.

Only a beginning of the chain is removed, and only after it was verified: an altered entry is never lost this way.
What stays of it is the number and the hash of the last one removed, from which ``chain.verify`` goes on.
"""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import chain, marks
from app.core.history.marks import Broken
from app.core.models import HistoryEntry, HistoryText, Notice

BATCH = 200
"""Entries removed in one transaction, so that other writers need not wait long."""


def prune(session: Session, community_id: uuid.UUID, before: datetime) -> int | Broken:
    """Remove the next entries that are older than this. Return how many, or the altered entry that stops it.

    The newest entry always stays: the next one is chained to it.
    """
    mark = marks.mark(session, community_id)
    number, last, at = mark.history_number, mark.history_hash, mark.history_at
    gone: list[uuid.UUID] = []
    rows = list(chain.checked(session, community_id, number, last, BATCH + 1))
    for entry, why in rows[:-1]:
        if entry.at >= before:
            break
        if why:
            return Broken(community_id, entry.number, entry.id, why)
        number, last, at = entry.number, entry.hash, entry.at
        gone.append(entry.id)
    if not gone:
        return 0
    silent = {"synchronize_session": False}
    session.execute(sa.delete(Notice).where(Notice.entry_id.in_(gone)).execution_options(**silent))
    session.execute(
        sa.update(Notice)
        .where(Notice.decided_id.in_(gone))
        .values(decided_id=None)
        .execution_options(**silent)
    )
    session.execute(sa.delete(HistoryText).where(HistoryText.entry_id.in_(gone)).execution_options(**silent))
    session.execute(sa.delete(HistoryEntry).where(HistoryEntry.id.in_(gone)).execution_options(**silent))
    session.expunge_all()
    mark = marks.mark(session, community_id)
    mark.history_number, mark.history_hash, mark.history_at = number, last, at
    session.flush()
    return len(gone)
