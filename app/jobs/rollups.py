"""The hourly job: keeps up to date what repeats other rows, above all the counts behind the statistics.

``core.insights.rollups`` has the steps.
"""

import logging
import time

from app.core.actions import post_facts
from app.core.db import Database
from app.core.insights import rollups

log = logging.getLogger(__name__)

MOST_SECONDS = 600.0
"""After this long a run begins with no other step; the next run goes on."""


def roll_up(database: Database, *, seconds: float = MOST_SECONDS) -> None:
    """Count what happened in every community since the last run, a stretch of time in each transaction."""
    end = time.monotonic() + seconds
    with database.reading() as session:
        due = rollups.due(session)
    for community_id in due:
        try:
            is_last = False
            while not is_last:
                if time.monotonic() > end:
                    return
                with database.writing() as session:
                    is_last = rollups.roll_up(session, community_id)
        except Exception:
            # One community's failure must not keep the others from their figures; the next run tries again.
            log.exception("Counting the statistics of community %s failed.", community_id)
    with database.writing() as session:
        post_facts.complete(session)
