"""Jobs for attachments of posts: fetch one, and delete stored files that no post uses any more."""

import logging
import threading
import uuid

from app.core.attachments import fetching, files
from app.core.attachments.fetching import FetchFailed, Obtained
from app.core.attachments.files import StoreFailed
from app.core.vocabulary import AttachmentRefusal
from app.wiring import Wiring

log = logging.getLogger(__name__)

CLEAN_JOB = "clean_media"
CLEAN_SECONDS = 3_600.0
AT_ONCE = 3
"""How many attachments a process fetches at once. Scoring uses the same slots, and must not wait for slow servers."""
BUSY_SECONDS = 3.0

_slots = threading.BoundedSemaphore(AT_ONCE)


def fetch(wiring: Wiring, attachment_id: uuid.UUID) -> None:
    """Fetch one attachment outside of any transaction, check it, store it, and record what became of it."""
    if not _slots.acquire(blocking=False):
        with wiring.database.writing() as session:
            fetching.postpone(session, attachment_id, BUSY_SECONDS)
        return
    try:
        with wiring.database.writing() as session:
            wanted = fetching.begin(session, attachment_id)
        if wanted is not None:
            _fetch(wiring, attachment_id, wanted)
    finally:
        _slots.release()


def _fetch(wiring: Wiring, attachment_id: uuid.UUID, wanted: fetching.Wanted) -> None:
    try:
        with wiring.obtainer.obtain(wanted.url, wanted.kind) as obtained:
            _store(wiring, obtained)
    except FetchFailed as failure:
        with wiring.database.writing() as session:
            fetching.fail(session, attachment_id, failure)
        return
    with wiring.database.writing() as session:
        fetching.keep(session, attachment_id, obtained)


def _store(wiring: Wiring, obtained: Obtained) -> None:
    with wiring.database.writing() as session:
        files.announce(session, obtained)
    try:
        for file in obtained.files:
            wiring.media.put(file.sha256, file.content, file.size)
    except StoreFailed as error:
        log.warning("An attachment was not stored: %s", error)
        raise FetchFailed(AttachmentRefusal.NOT_STORED, retry=True) from error


def clean(wiring: Wiring) -> int:
    """Delete stored files that no attachment uses, and return how many.

    A process that is killed here leaves marked rows, and the next run deletes their files.
    """
    deleted = 0
    try:
        while True:
            with wiring.database.writing() as session:
                names = files.mark_unused(session)
            if not names:
                return deleted + _delete_unknown(wiring)
            for name in names:
                wiring.media.remove(name)
            with wiring.database.writing() as session:
                files.forget(session, names)
            deleted += len(names)
    except StoreFailed as error:
        log.warning("Unused files of attachments were not deleted: %s", error)
        return deleted


def _delete_unknown(wiring: Wiring) -> int:
    """Delete files that the database has never heard of: it is older than they are, after a restore."""
    batch: list[str] = []
    deleted = 0
    for name in [*wiring.media.names(), ""]:
        batch += [name] if name else []
        if batch and (not name or len(batch) == files.BATCH):
            with wiring.database.reading() as session:
                unknown = files.unknown(session, batch)
            for one in unknown:
                wiring.media.remove(one)
            deleted += len(unknown)
            batch = []
    return deleted
