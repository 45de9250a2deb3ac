"""Jobs of fact-checks: imports, feeds, and the vectors of an embeddings service.

No transaction is open while a file is parsed, a feed is fetched or a service is asked.
"""

import tempfile
import time
import uuid
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import BinaryIO

from app.core import texts
from app.core.batches import BatchSize
from app.core.db import Database
from app.core.factcheck import (
    feed_fetches,
    filling,
    formats,
    import_steps,
    imports,
    reading,
    spaces,
)
from app.core.factcheck.feed_fetches import FeedFetcher
from app.core.factcheck.formats import Reading
from app.core.factcheck.published import Fault, Found
from app.core.factcheck.reading import BadFile
from app.core.models import ConnectedService
from app.core.services.kinds import Failure
from app.core.services.pool import ServicePool
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ImportState
from app.jobs.bodies import repeat

EMBED_JOB = "embed_fact_checks"
EMBED_SECONDS = 60.0
EMBED_MOST_SECONDS = 300.0
"""After this long a run ends; the next one goes on."""


def run_import(database: Database, import_id: uuid.UUID) -> None:
    """Read or store an import, or clear away what it left, whichever it waits for. Killed and run again, it goes on."""
    with database.reading() as session:
        state, language = import_steps.state(session, import_id)
    if state is ImportState.READING:
        with texts.chosen(language):
            _read(database, import_id)
    elif state is ImportState.STORING:
        size = BatchSize(import_steps.STORE_BATCH)
        has_more = True
        while has_more:
            with size.timed(), database.writing() as session:
                has_more = import_steps.store_batch(session, import_id, size.rows)
    elif state is not None:
        clear(database, import_id)


def clear(database: Database, import_id: uuid.UUID) -> None:
    """Delete the file and the rows that an import needs no longer, batch by batch."""
    size = BatchSize(import_steps.ROWS_BATCH)
    has_more = True
    while has_more:
        with size.timed(), database.writing() as session:
            has_more = import_steps.clear(session, import_id, size.rows)


def clear_left(database: Database) -> None:
    """Clear away what imports left whose job was lost."""
    with database.reading() as session:
        left = import_steps.uncleared(session)
    for import_id in left:
        clear(database, import_id)


def _read(database: Database, import_id: uuid.UUID) -> None:
    with database.reading() as session:
        how, count, records = import_steps.reading_of(session, import_id)
    with tempfile.TemporaryFile() as file:
        try:
            for chunk in reading.unpacked(_pieces(database, import_id, count)):
                file.write(chunk)
            file.seek(0)
            _read_file(database, import_id, how, records, file)
        except BadFile as bad:
            with database.writing() as session:
                imports.fail(session, import_id, f"{bad}.")


def _pieces(database: Database, import_id: uuid.UUID, count: int) -> Iterator[bytes]:
    for number in range(count):
        with database.reading() as session:
            content = import_steps.piece(session, import_id, number)
        yield content


def _read_file(database: Database, import_id: uuid.UUID, how: Reading, records: int, file: BinaryIO) -> None:
    found = formats.distinct(file, how)
    # What an earlier run has read is parsed again, but not stored again.
    read = sum(1 for _ in islice(found, records))
    size = BatchSize(import_steps.READ_BATCH)
    while batch := list[Found | Fault](islice(found, size.rows)):
        position = file.tell()
        with size.timed(), database.writing() as session:
            if not import_steps.add(session, import_id, read, batch, position):
                return
        read += len(batch)
    with database.writing() as session:
        import_steps.finish_reading(session, import_id, read)


def fetch_feed(database: Database, fetcher: FeedFetcher, feed_id: uuid.UUID) -> None:
    """Fetch a feed and begin an import if its content is new."""
    with database.reading() as session:
        known = feed_fetches.to_fetch(session, feed_id)
    if known is None:
        return
    url, etag, last_modified, language = known
    with texts.chosen(language):
        fetched = fetcher.fetch(url, etag, last_modified)
        with database.writing() as session:
            feed_fetches.finish(session, feed_id, url, fetched)


def fetch_due_feeds(database: Database) -> None:
    """Enqueue a fetch of each feed that is due."""
    with database.writing() as session:
        feed_fetches.enqueue_due(session)


def embed(database: Database, pool: ServicePool, *, seconds: float = EMBED_MOST_SECONDS) -> None:
    """Embed what lacks its vector, and delete the spaces that nothing uses any more."""
    end = time.monotonic() + seconds
    with database.reading() as session:
        due = [
            (service, settings, spaces.state(session))
            for service, settings in spaces.services(session, pool)
            if spaces.is_due(session, service, settings)
        ]
    for place, (service, settings, state) in enumerate(due):
        # A service with much to do leaves the others their share; what one does not need is for those after it.
        share = (end - time.monotonic()) / (len(due) - place)
        _embed(database, pool, service, settings, state, time.monotonic() + share)
    if due:
        repeat(database, filling.forget_retired)
    with database.reading() as session:
        unused = filling.unused(session, pool)
    for space_id in unused:
        repeat(database, partial(filling.delete, space_id=space_id))


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
    covered, problem, is_full = "", "", False
    while time.monotonic() < end:
        room = spaces.MOST - count
        with database.reading() as session:
            if not filling.is_wanted(session, service):
                break
            size = min(embedder.batch, room) if room > 0 else embedder.batch
            batch = filling.pending(session, space_id, after, size, only_changed=room <= 0)
            is_full = not batch and room <= 0 and bool(filling.pending(session, space_id, None, 1))
            known = dict(filling.known(session, space_id, {one.sha256 for one in batch}))
        if not batch:
            covered = state
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
        filling.finish(session, space_id, covered, problem, is_full=is_full)
