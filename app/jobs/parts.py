"""Makes the parts of PostgreSQL's tables before their time, and drops those that are past (``upkeep.months``)."""

import logging
import uuid
from datetime import datetime

from app.core import ids
from app.core.db import Database
from app.core.history import chain
from app.core.upkeep import months
from app.core.upkeep.months import PARTED, Part

log = logging.getLogger(__name__)


def make_ahead(database: Database) -> None:
    """Make the next parts of each table. On SQLite there are none."""
    if database.engine.dialect.name != "postgresql":
        return
    for table in PARTED:
        with database.writing() as session:
            for name in months.make_ahead(session.connection(), table):
                log.info("Made %s", name)
        with database.writing() as session:
            months.analyze(session.connection(), table)


def drop_past(database: Database, before: datetime, *tables: str) -> datetime:
    """Drop the parts of these tables that are older than this.

    Returns the time before which what is left is removed by rows. On PostgreSQL that is the beginning of a period: the
    rows of the last one go with their part when all of it is past.
    """
    if database.engine.dialect.name != "postgresql":
        return before
    before = months.period(before, PARTED[tables[0]].months)
    for table in tables:
        with database.reading() as session:
            past = months.past(session, table, before)
        for part in past:
            if table == "history":
                is_dropped = _drop_history(database, part)
            else:
                with database.writing() as session:
                    is_dropped = months.drop(session, part)
            if is_dropped:
                log.info("Dropped %s", part.name)
    if "scores" in tables:
        with database.writing() as session:
            if all(months.begins(session, table) >= ids.first_id(before) for table in tables):
                months.scores_removed(session, before)
    return before


def _drop_history(database: Database, part: Part) -> bool:
    """Drop a part of the history after it was verified. What is altered stays, and is removed by no one."""
    with database.writing() as session:
        # Numbers follow each other: none may stay that is lower.
        if months.begins(session, "history") != part.lower:
            return False
        months.end_quiet(session, part)
    with database.reading() as session:
        ends = months.last_numbers(session, part)
    if not all(_holds(database, community_id, number) for community_id, number in ends.items()):
        return False
    with database.writing() as session:
        return months.drop_history(session, part, ends)


def _holds(database: Database, community_id: uuid.UUID, number: int) -> bool:
    """Whether the chain is unbroken up to the entry of this number. Each stretch has a transaction of its own."""
    return any(found.number >= number for found in chain.stretches(database.reading, community_id))
