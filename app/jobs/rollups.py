"""The hourly job: keeps up to date what repeats other rows, above all the counts behind the statistics.

``core.insights.rollups`` has the steps.
"""

import time
import uuid
from collections.abc import Callable, Sequence

from sqlalchemy.orm import Session

from app.core.actions import post_facts
from app.core.db import Database
from app.core.insights import rollups
from app.jobs.parts import part

MOST_SECONDS = 600.0
"""After this long a run begins with no other step; the next run goes on."""


def roll_up(database: Database, *, seconds: float = MOST_SECONDS) -> None:
    """Count what happened in every community since the last run, a stretch of time in each transaction."""
    end = time.monotonic() + seconds
    with database.reading() as session:
        uncounted = rollups.due(session)
    if not _repeat(database, uncounted, rollups.roll_up, end):
        return
    with database.writing() as session:
        post_facts.complete(session)


def _repeat(
    database: Database,
    communities: Sequence[uuid.UUID],
    step: Callable[[Session, uuid.UUID], bool],
    end: float,
) -> bool:
    """Take steps for each community until one says that it was the last; return False when the time is over first."""
    for community_id in communities:
        with part(f"counting the statistics of community {community_id}"):
            is_last = False
            while not is_last:
                if time.monotonic() > end:
                    return False
                with database.writing() as session:
                    is_last = step(session, community_id)
    return True
