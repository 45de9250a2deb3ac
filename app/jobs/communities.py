"""Jobs that go through the communities: panels, their own models, counts, what needs an operator, roles by groups.

What fails in one community does not keep the others. ``core`` has the steps; here they run in short transactions, and
none is open while a panel's roll is read or a model is trained.
"""

import logging
import time
import uuid

from app.core.db import Database
from app.core.insights import rollups
from app.core.learning import schedule, training
from app.core.learning.schedule import Lease, Outdated
from app.core.notes import verdicts
from app.core.panels import opening, rolls, tending
from app.core.people import group_roles
from app.core.upkeep import attention
from app.jobs.bodies import part

log = logging.getLogger(__name__)

PANELS_JOB = "panel_sweep"
LEARN_MOST_SECONDS = 240.0
"""After this long a run trains no other community; the next run goes on."""
ROLL_UP_MOST_SECONDS = 600.0
"""After this long a run begins with no other step; the next run goes on."""


def sweep_panels(database: Database) -> None:
    """Tend the panels of every community that are due, and open those that are missing."""
    with database.reading() as session:
        without, due = opening.communities_without(session), tending.communities_due(session)
    for community_id in sorted({*without, *due}):
        with part(f"tending the panels of community {community_id}"):
            tend_panels(database, community_id)


def tend_panels(database: Database, community_id: uuid.UUID) -> None:
    """Tend one community's panels until none is due. Killed anywhere, the next run goes on."""
    # First those that are open: one that could not be opened must not keep them from their turn.
    _tend_due(database, community_id)
    if _open_missing(database, community_id):
        _tend_due(database, community_id)


def _open_missing(database: Database, community_id: uuid.UUID) -> int:
    total, opened = 0, opening.BATCH
    while opened == opening.BATCH:
        with database.writing() as session:
            opened = opening.open_missing(session, community_id)
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
            advanced = tending.advance(session, community_id)
            looked_at = advanced.panels
            for note_id in advanced.released:
                for note in opening.freed_notes(session, note_id):
                    verdicts.settle(session, note, "no panel could be drawn")


def apply_group_roles(database: Database, provider_id: uuid.UUID) -> None:
    """Give and take the roles of all people of a provider, some people in each transaction."""
    last: uuid.UUID | None = None
    while True:
        with database.writing() as session:
            last = group_roles.apply_next(session, provider_id, last)
        if last is None:
            return


def learn_all(database: Database, *, seconds: float = LEARN_MOST_SECONDS) -> None:
    """Train every community that is due, one after the other."""
    end = time.monotonic() + seconds
    with database.reading() as session:
        due = schedule.due(session)
    for community_id in due:
        if time.monotonic() > end:
            return
        with part(f"training the model of community {community_id}"):
            learn(database, community_id)


def learn(database: Database, community_id: uuid.UUID) -> bool:
    """Train the categories of one community that need it. Return whether any did.

    Killed anywhere, it has stored only finished versions, and the next run trains the others.
    """
    with database.reading() as session:
        categories = schedule.wanted(session, community_id)
    if categories is None:
        return False
    with database.writing() as session:
        lease = schedule.take(session, community_id, categories)
    if lease is None:
        return False
    try:
        for category in categories:
            _train(database, lease, category)
        with database.writing() as session:
            schedule.finish(session, lease)
    except Outdated:
        log.info("The training of community %s is outdated; it starts again.", community_id)
        with database.writing() as session:
            schedule.give_back(session, lease)
        return False
    except Exception:
        with database.writing() as session:
            schedule.give_back(session, lease, failed=True)
        raise
    return bool(categories)


def _train(database: Database, lease: Lease, category: str) -> None:
    began = time.monotonic()
    with database.reading() as session:
        material = schedule.read(session, lease, category)
    trained = training.train(
        material.labels, category=category, ordinary=material.ordinary, threshold=material.threshold
    )
    milliseconds = round((time.monotonic() - began) * 1000)
    with database.writing() as session:
        schedule.store(session, lease, material, trained, milliseconds)


def roll_up(database: Database, *, seconds: float = ROLL_UP_MOST_SECONDS) -> None:
    """Count what happened in every community since the last run, a stretch of time in each transaction."""
    end = time.monotonic() + seconds
    with database.reading() as session:
        uncounted = rollups.due(session)
    for community_id in uncounted:
        with part(f"counting the statistics of community {community_id}"):
            is_last = False
            while not is_last:
                if time.monotonic() > end:
                    return
                with database.writing() as session:
                    is_last = rollups.roll_up(session, community_id)


def find_attention(database: Database) -> None:
    """Tell what has begun and forget what has ended; a community that fails does not keep the others from it."""
    with database.reading() as session:
        communities = attention.communities_to_look_at(session)
    for community_id in communities:
        with part(f"finding out what community {community_id} needs"), database.writing() as session:
            attention.update(session, community_id)
