"""Jobs for attachments of posts: fetch one, and delete stored files that no post uses any more."""

import base64
import logging
import threading
import uuid

from app.core import limits
from app.core.attachments import fetching, files
from app.core.attachments.fetching import FetchFailed, Obtained
from app.core.attachments.files import StoreFailed
from app.core.models import Attachment
from app.core.requests import image_scoring
from app.core.vocabulary import AttachmentRefusal
from app.wiring import Wiring

log = logging.getLogger(__name__)

CLEAN_JOB = "clean_media"
CLEAN_SECONDS = 3_600.0
AT_ONCE = 3
"""How many attachments a process fetches at once. Scoring uses the same slots, and must not wait for slow servers."""
BUSY_SECONDS = 3.0
SENT_BYTES = 1024 * 1024
"""A larger picture is sent to services as its preview."""

_slots = threading.BoundedSemaphore(AT_ONCE)


def fetch(wiring: Wiring, attachment_id: uuid.UUID) -> None:
    """Fetch one attachment outside of any transaction, check it, store it, and record the outcome."""
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
    outcome: Obtained | FetchFailed
    try:
        with wiring.obtainer.obtain(wanted.url, wanted.kind) as outcome:
            _store(wiring, outcome)
    except FetchFailed as failure:
        outcome = failure
    with wiring.database.writing() as session:
        if isinstance(outcome, FetchFailed):
            attachment = fetching.fail(session, attachment_id, outcome)
        else:
            attachment = fetching.keep(session, attachment_id, outcome)
        if attachment is not None:
            image_scoring.enqueue_if_complete(session, attachment.request_id)


def _store(wiring: Wiring, obtained: Obtained) -> None:
    with wiring.database.writing() as session:
        files.announce(session, obtained)
    try:
        for file in obtained.files:
            wiring.media.put(file.sha256, file.content, file.size)
    except StoreFailed as error:
        log.warning("An attachment was not stored: %s", error)
        raise FetchFailed(AttachmentRefusal.NOT_STORED, retry=True) from error


def score_images(wiring: Wiring, request_id: uuid.UUID, turn: int) -> None:
    """Score a post's pictures with the connected services that take images, and act on what they alone show."""
    with wiring.database.writing() as session:
        found = image_scoring.pictures_to_score(session, request_id, turn)
        if found is None:
            return
        request, pictures = found
        classifiers = [
            one for one in wiring.services.classifiers(session, request.community_id) if one.takes_images
        ]
    if classifiers:
        images = [_data_url(wiring, picture) for picture in pictures]
        scorings = image_scoring.classify(classifiers, request.content, images)
        with wiring.database.writing() as session:
            image_scoring.record(session, request_id, scorings)


def _data_url(wiring: Wiring, picture: Attachment) -> str:
    """Our own copy of a picture for a service, which cannot reach it otherwise; of a large one the preview."""
    name, media_type, size = picture.sha256 or "", picture.media_type, picture.stored_size or 0
    if size > SENT_BYTES and picture.preview_sha256:
        name, media_type, size = picture.preview_sha256, "image/webp", limits.PREVIEW_BYTES
    content = b"".join(wiring.media.read(name, 0, size))
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


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
