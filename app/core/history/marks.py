"""What is known of a community's history beyond its entries: what was removed of it, and what was verified."""

import uuid
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.models import HistoryEntry, RetentionMark

GENESIS = "0" * 64
"""In place of the hash of the entry before the first one."""


@dataclass(frozen=True)
class Broken:
    """The first entry of a chain that was altered or is missing; ``why`` says how.

    ``entry_id`` is None for one that is missing.
    """

    community_id: uuid.UUID
    number: int
    entry_id: uuid.UUID | None
    why: str


def mark(session: Session, community_id: uuid.UUID) -> RetentionMark:
    """What is known of the community's history beyond its entries; a new one where nothing is."""
    found = session.get(RetentionMark, community_id)
    if found is None:
        # Another process may insert it at the same time.
        start = {"history_number": 0, "history_hash": GENESIS, "verified_number": 0, "verified_hash": GENESIS}
        table = RetentionMark.metadata.tables[RetentionMark.__tablename__]
        bulk.insert(session.connection(), table, [{"community_id": community_id, **start}], skip_known=True)
        found = session.get_one(RetentionMark, community_id)
    return found


def unlike_noted(session: Session, community_id: uuid.UUID) -> Broken | None:
    """Where the entries are not those that were noted when the beginning was removed and the chain last verified."""
    known = session.get(RetentionMark, community_id)
    own = (
        sa.select(HistoryEntry.id, HistoryEntry.number, HistoryEntry.hash)
        .where(HistoryEntry.community_id == community_id)
        .order_by(HistoryEntry.number)
        .limit(1)
    )
    removed = 0 if known is None else known.history_number
    early = session.execute(own.where(HistoryEntry.number <= removed)).first()
    if early is not None:
        return Broken(community_id, early.number, early.id, "it was removed long ago, and is there again")
    # A community begins with an entry, and the newest is never removed.
    if session.execute(own.where(HistoryEntry.number > removed)).first() is None:
        return Broken(community_id, removed + 1, None, f"entry {removed + 1} is missing")
    verified = 0 if known is None else known.verified_number
    if known is not None and verified > removed:
        noted = session.execute(own.where(HistoryEntry.number == verified)).first()
        if noted is None:
            return Broken(community_id, verified, None, f"entry {verified} is missing")
        if noted.hash != known.verified_hash:
            return Broken(community_id, verified, noted.id, "it is not the one that was verified before")
    return None
