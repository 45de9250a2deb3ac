"""Fetches of feeds: which feeds are due, what a request asks with, and what follows from its answer.

A fetch is: claim the feed, ask outside of any transaction, record the result. The last ones are kept for the page.
"""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import Invalid, Refused
from app.core.factcheck import feeds, imports
from app.core.factcheck.imports import Upload
from app.core.ids import new_id
from app.core.models import Community, DatasetFeed, DatasetFeedCheck, DatasetImport, DatasetImportRow
from app.core.permissions import SYSTEM
from app.core.texts import Language, lazy_gettext
from app.core.vocabulary import AfterReading, FeedOutcome, ImportState

FETCH_DUE_JOB = "look_at_feeds"
FETCH_DUE_SECONDS = 60.0
FEED_BYTES = 33_554_432
CHECKS_KEPT = 100


@dataclass(frozen=True)
class Fetched:
    """The result of one fetch. ``problem``: why there is no content, one sentence; empty if there is, or nothing new.

    ``is_new`` False: the server says that nothing changed since the last fetch. ``charset``: what it says that the
    content is written in; empty if it does not.
    """

    content: bytes = b""
    is_new: bool = True
    etag: str | None = None
    last_modified: str | None = None
    charset: str = ""
    milliseconds: int = 0
    problem: str = ""


class FeedFetcher(Protocol):
    """Fetches a feed from a public address. Thread-safe; never called inside a transaction."""

    def fetch(self, url: str, etag: str | None, last_modified: str | None) -> Fetched:
        """GET ``url`` if it changed since. Every failure is returned as a ``problem``, never raised."""
        ...


def checks(session: Session, feed: DatasetFeed, limit: int = 25) -> Sequence[DatasetFeedCheck]:
    """The latest fetches of a feed, newest first."""
    return session.scalars(_newest_first(feed).limit(limit)).all()


def _newest_first(feed: DatasetFeed) -> sa.Select[DatasetFeedCheck]:
    return (
        sa.select(DatasetFeedCheck)
        .where(DatasetFeedCheck.feed_id == feed.id)
        .order_by(DatasetFeedCheck.created_at.desc(), DatasetFeedCheck.id.desc())
    )


def last_checks(session: Session, listed: Sequence[DatasetFeed]) -> dict[uuid.UUID, DatasetFeedCheck]:
    """The newest fetch of each of these feeds."""
    # PostgreSQL has no max() of UUIDs; as text they have the same order, that of time.
    last = sa.func.max(sa.cast(DatasetFeedCheck.id, sa.Text))
    newest = (
        sa.select(sa.cast(last, sa.Uuid))
        .where(DatasetFeedCheck.feed_id.in_([feed.id for feed in listed]))
        .group_by(DatasetFeedCheck.feed_id)
    )
    rows = session.scalars(sa.select(DatasetFeedCheck).where(DatasetFeedCheck.id.in_(newest)))
    return {row.feed_id: row for row in rows}


def enqueue_due(session: Session) -> None:
    """Enqueue a fetch of every feed that is due, and set the time of the next one.

    A feed of an archived community rests until that is opened again, unless it serves every community.
    """
    now = clock.now()
    archived = sa.select(Community.id).where(Community.archived_at.is_not(None))
    due = session.scalars(
        sa.select(DatasetFeed)
        .where(
            DatasetFeed.due_at <= now,
            DatasetFeed.removed_at.is_(None),
            DatasetFeed.is_paused.is_(False),
            sa.or_(DatasetFeed.serves_all, DatasetFeed.community_id.not_in(archived)),
        )
        .order_by(DatasetFeed.due_at)
        .limit(200)
    ).all()
    for feed in due:
        feeds.enqueue(session, feed, clock.iso(feed.due_at))
        feed.due_at = now + timedelta(hours=feed.hours)
    session.flush()


def to_fetch(session: Session, feed_id: uuid.UUID) -> tuple[str, str | None, str | None, Language] | None:
    """(address, ETag, Last-Modified) to fetch with, and the community's language, in which a problem is stored.

    None when the feed is gone, its community was archived meanwhile, or its last import has not ended.
    """
    feed = session.get(DatasetFeed, feed_id)
    if feed is None or feed.removed_at is not None or feeds.rests(session, feed):
        return None
    running = session.scalars(
        sa.select(DatasetImport.id).where(
            DatasetImport.feed_id == feed_id, DatasetImport.state.not_in(imports.ENDED)
        )
    ).first()
    if running is not None:
        return None
    language = community_settings.language_of(session, feed.community_id)
    return feed.url, feed.etag, feed.last_modified, language


def finish(session: Session, feed_id: uuid.UUID, url: str, fetched: Fetched) -> None:
    """Record a fetch and begin an import if the content is new. ``url``: what was fetched."""
    feed = session.get(DatasetFeed, feed_id)
    if feed is None:
        return
    serialise(session, feed.community_id)
    session.refresh(feed)
    if feed.removed_at is not None or feed.url != url or feeds.rests(session, feed):
        return
    check = DatasetFeedCheck(
        id=new_id(),
        feed_id=feed.id,
        outcome=FeedOutcome.UNCHANGED,
        bytes=len(fetched.content),
        milliseconds=fetched.milliseconds,
    )
    digest = hashlib.sha256(fetched.content).hexdigest()
    if fetched.problem:
        feeds.fail(feed, check, fetched.problem)
    elif fetched.is_new and digest != feed.content_sha256:
        try:
            with session.begin_nested():
                begun = _import(session, feed, fetched)
        except Refused as refused:
            reason = refused.problems[0].msg if isinstance(refused, Invalid) else refused.detail
            feeds.fail(feed, check, f"{reason}.")
        else:
            check.import_id = begun.id
            check.outcome = FeedOutcome.IMPORTED
            if begun.state is ImportState.COLUMNS:
                feeds.fail(
                    feed,
                    check,
                    lazy_gettext("Its columns could not be guessed: choose them on the page of the import."),
                )
    if check.outcome is FeedOutcome.UNCHANGED:
        feed.failures = 0
    if check.outcome is not FeedOutcome.FAILED and fetched.is_new:
        feed.etag, feed.last_modified = fetched.etag, fetched.last_modified
        feed.content_sha256 = digest
    session.add(check)
    session.flush()
    _prune(session, feed)


def _import(session: Session, feed: DatasetFeed, fetched: Fetched) -> DatasetImport:
    upload = Upload(
        feed.url,
        fetched.content,
        feed.dataset_name,
        feed.publisher,
        feed.columns,
        AfterReading.STORE,
        fetched.charset,
    )
    return imports.begin(session, SYSTEM, feed.community_id, upload, feed)


def _prune(session: Session, feed: DatasetFeed) -> None:
    """Delete the oldest fetch beyond ``CHECKS_KEPT`` and the rows of its import. One fetch adds one."""
    old = session.scalars(_newest_first(feed).offset(CHECKS_KEPT).limit(1)).first()
    if old is None:
        return
    # Of an import that has ended, its job leaves the rows of the report alone: two thousand at most.
    bulk.change(session, sa.delete(DatasetImportRow).where(DatasetImportRow.import_id == old.import_id))
    session.delete(old)
    session.flush()
