"""Gives every fact-check its vector, batch by batch: no transaction is open while a service is asked."""

import time
import uuid

from app.core.db import Database
from app.core.factcheck import filling, pgvectors, spaces
from app.core.models import ConnectedService
from app.core.services.kinds import Failure
from app.core.services.pool import ServicePool
from app.core.services.settings import ServiceSettings

EMBED_JOB = "embed_fact_checks"
EMBED_SECONDS = 60.0
MOST_SECONDS = 300.0
"""After this long a run ends; the next one goes on."""


def sweep(database: Database, pool: ServicePool, *, seconds: float = MOST_SECONDS) -> None:
    """Embed what lacks its vector, and delete the spaces that nothing uses any more."""
    end = time.monotonic() + seconds
    with database.reading() as session:
        due = [
            (service, settings, spaces.state(session, service))
            for service, settings in spaces.services(session, pool)
            if spaces.is_due(session, service, settings)
        ]
    for place, (service, settings, state) in enumerate(due):
        # A service with much to do leaves the others their share; what one does not need is for those after it.
        share = (end - time.monotonic()) / (len(due) - place)
        _embed(database, pool, service, settings, state, time.monotonic() + share)
    has_more = bool(due)
    while has_more:
        with database.writing() as session:
            has_more = filling.forget_retired(session)
    # A new model's space gets its index before the old one's is deleted, which may take long.
    follow_in_postgresql(database)
    with database.reading() as session:
        unused = filling.unused(session, pool)
    for space_id in unused:
        has_more = True
        while has_more:
            with database.writing() as session:
                has_more = filling.delete(session, space_id)


def follow_in_postgresql(database: Database) -> None:
    """Copy what is new to pgvector and make the indexes, where an operator switched that on."""
    with database.reading() as session:
        if not pgvectors.is_on(session):
            return
        searched = pgvectors.searched(session)
    for space_id in searched:
        has_more = True
        while has_more:
            with database.writing() as session:
                has_more = pgvectors.copy(session, space_id)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        pgvectors.build(connection, searched)


def _embed(
    database: Database,
    pool: ServicePool,
    service: ConnectedService,
    settings: ServiceSettings,
    state: str,
    end: float,
) -> None:
    """Go once through the fact-checks that lack a vector. ``state`` was read before them.

    A service that is changed, switched off or removed meanwhile is not asked any more; the next run reads it again.
    """
    with database.writing() as session:
        leased = filling.lease(session, service, settings)
    if leased is None:
        return
    space_id, count = leased
    embedder = pool.embedder(service, settings)
    after: uuid.UUID | None = None
    covered, problem = "", ""
    while time.monotonic() < end:
        room = spaces.MOST - count
        with database.reading() as session:
            if not filling.is_wanted(session, service):
                break
            size = min(embedder.batch, room) if room > 0 else embedder.batch
            batch = filling.pending(session, space_id, after, size, only_changed=room <= 0)
            is_short = not batch and room <= 0 and bool(filling.pending(session, space_id, None, 1))
            known = dict(filling.known(session, space_id, {one.sha256 for one in batch}))
        if not batch:
            covered, problem = state, filling.TOO_MANY if is_short else ""
            break
        new = {one.sha256: one.text for one in batch if one.sha256 not in known}
        try:
            vectors = embedder.of_items(list(new.values())) if new else []
        except Failure as failure:
            problem = failure.reason
            break
        known |= {sha256: filling.packed(vector) for sha256, vector in zip(new, vectors, strict=True)}
        with database.writing() as session:
            if not filling.store(session, space_id, [(one, known[one.sha256]) for one in batch]):
                return
        after = batch[-1].item_id
        count += sum(one.is_new for one in batch)
    with database.writing() as session:
        filling.finish(session, space_id, covered, problem)
