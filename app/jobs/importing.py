"""Runs imports of fact-checks and looks at feeds: no transaction is open while a file is parsed or fetched."""

import tempfile
import uuid
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from app.core.batches import BatchSize
from app.core.db import Database
from app.core.factcheck import clearing, feed_looks, formats, import_steps, imports
from app.core.factcheck.feed_looks import FeedFetcher
from app.core.factcheck.published import Fault, Found
from app.core.factcheck.reading import BadFile
from app.core.vocabulary import ImportState


def run(database: Database, import_id: uuid.UUID) -> None:
    """Read or store an import, or clear away what it left, whichever it waits for. Killed and run again, it goes on."""
    with database.reading() as session:
        state = import_steps.state(session, import_id)
    if state is ImportState.READING:
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
    size = BatchSize(clearing.ROWS_BATCH)
    has_more = True
    while has_more:
        with size.timed(), database.writing() as session:
            has_more = clearing.clear(session, import_id, size.rows)


def clear_left(database: Database) -> None:
    """Clear away what imports left whose job was lost."""
    with database.reading() as session:
        left = clearing.uncleared(session)
    for import_id in left:
        clear(database, import_id)


def _read(database: Database, import_id: uuid.UUID) -> None:
    with database.reading() as session:
        spec = import_steps.spec(session, import_id)
    with tempfile.TemporaryFile() as file:
        try:
            for chunk in formats.unpacked(_pieces(database, import_id, spec.pieces)):
                file.write(chunk)
            file.seek(0)
            _read_file(database, import_id, spec, file)
        except BadFile as bad:
            with database.writing() as session:
                imports.fail(session, import_id, f"{bad}.")


def _pieces(database: Database, import_id: uuid.UUID, count: int) -> Iterator[bytes]:
    for number in range(count):
        with database.reading() as session:
            content = import_steps.piece(session, import_id, number)
        yield content


def _read_file(database: Database, import_id: uuid.UUID, spec: import_steps.Spec, file: BinaryIO) -> None:
    found = formats.distinct(file, spec.how)
    # What an earlier run has read is parsed again, but not stored again.
    read = sum(1 for _ in islice(found, spec.records))
    size = BatchSize(import_steps.READ_BATCH)
    while batch := list[Found | Fault](islice(found, size.rows)):
        position = file.tell()
        with size.timed(), database.writing() as session:
            if not import_steps.add(session, import_id, read, batch, position):
                return
        read += len(batch)
    with database.writing() as session:
        import_steps.finish_reading(session, import_id, read)


def look(database: Database, fetcher: FeedFetcher, feed_id: uuid.UUID) -> None:
    """Fetch a feed and begin an import if its content is new."""
    with database.reading() as session:
        known = feed_looks.to_fetch(session, feed_id)
    if known is None:
        return
    url, etag, last_modified = known
    fetched = fetcher.fetch(url, etag, last_modified)
    with database.writing() as session:
        feed_looks.finish(session, feed_id, url, fetched)
