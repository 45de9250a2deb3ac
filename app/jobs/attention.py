"""Finds what wants an operator, one community after the other (docs/run/operations.md)."""

import logging

from app.core.db import Database
from app.core.upkeep import attention

log = logging.getLogger(__name__)


def sweep(database: Database) -> None:
    """Tell what has begun and forget what has ended; a community that fails does not keep the others from it."""
    with database.reading() as session:
        communities = attention.communities_to_look_at(session)
    for community_id in communities:
        try:
            # Looked up without a lock: mostly nothing has changed, and writers need not wait to hear that.
            with database.reading() as session:
                has_changed = attention.has_changed(session, community_id)
            if has_changed:
                with database.writing() as session:
                    attention.update(session, community_id)
        except Exception:
            log.exception(
                "What community %s needs was not found out; the next run tries again.", community_id
            )
