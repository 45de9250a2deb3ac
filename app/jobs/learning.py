"""Trains the communities' own models: the periodic job, and the steps for one community.

``core.learning.schedule`` has the steps; this module runs them in transactions. None is open while a model is trained.
"""

import logging
import time
import uuid

from app.core.db import Database
from app.core.learning import schedule, training
from app.core.learning.schedule import Lease, Outdated
from app.jobs.parts import part

log = logging.getLogger(__name__)

MOST_SECONDS = 240.0
"""After this long a run begins with no other community; the next run goes on."""


def sweep(database: Database, *, seconds: float = MOST_SECONDS) -> None:
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
