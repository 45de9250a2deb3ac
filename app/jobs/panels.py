"""Drawn panels in the background: rolls are read outside of any lock, seats drawn in short transactions."""

import uuid

from app.core.db import Database
from app.core.notes import panel_reviews, verdicts
from app.core.panels import missing, rolls, tending
from app.jobs.parts import part

SWEEP_JOB = "panel_sweep"


def sweep(database: Database) -> None:
    """Tend the panels of every community that are due, and open those that are missing."""
    with database.reading() as session:
        without, due = missing.communities_without(session), tending.communities_due(session)
    for community_id in sorted({*without, *due}):
        with part(f"tending the panels of community {community_id}"):
            tend(database, community_id)


def tend(database: Database, community_id: uuid.UUID) -> None:
    """Tend one community's panels until none is due. Killed anywhere, the next run goes on."""
    # First those that are open: one that could not be opened must not keep them from their turn.
    _tend_due(database, community_id)
    if _open_missing(database, community_id):
        _tend_due(database, community_id)


def _open_missing(database: Database, community_id: uuid.UUID) -> int:
    total, opened = 0, missing.BATCH
    while opened == missing.BATCH:
        with database.writing() as session:
            opened = missing.open_missing(session, community_id)
        total += opened
    return total


def _tend_due(database: Database, community_id: uuid.UUID) -> None:
    with database.reading() as session:
        roll = rolls.make(session, community_id) if tending.needs_roll(session, community_id) else None
    if roll is not None:
        with database.writing() as session:
            session.add(roll)
    looked_at = tending.BATCH
    while looked_at == tending.BATCH:
        with database.writing() as session:
            tended = tending.tend(session, community_id)
            looked_at = tended.panels
            for note_id in tended.freed:
                for note in panel_reviews.freed_notes(session, note_id):
                    verdicts.settle(session, note, "no panel could be drawn")
