"""Feeds: addresses whose fact-checks are imported again and again. ``feed_fetches`` fetches them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.factcheck import datasets
from app.core.history import chain as history
from app.core.ids import new_id
from app.core.models import Community, DatasetFeed, DatasetFeedCheck, DatasetImport
from app.core.outbound import AllowList, BadAddress, check_url
from app.core.permissions import Actor, Permission, require, require_found
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import FeedOutcome, ImportState

FETCH_FEED_JOB = "look_at_feed"
HOURS = (1, 6, 24, 168)
_AGAIN_MINUTES = (15, 60, 240)
"""Minutes until the next fetch after the first, second and later failures in a row, unless it is due earlier."""


@dataclass(frozen=True)
class FeedDraft:
    """The settings of a feed, as an operator enters them."""

    url: str
    dataset_name: str
    publisher: str = ""
    hours: int = 24
    retires: bool = False


def add(
    session: Session, actor: Actor, allow: AllowList, community_id: uuid.UUID, draft: FeedDraft
) -> DatasetFeed:
    """Add a feed; it is fetched at once.

    Raises:
        Invalid: the address is none that we fetch, a value is missing or too long, or there are too many feeds.
        Conflict: the community has this feed already.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    serialise(session, community_id)
    _check(allow, draft)
    others = session.scalars(_of_community(community_id)).all()
    _check_new(draft.url, others)
    limits.room(limits.FEEDS, len(others), "url")
    feed = DatasetFeed(
        id=new_id(),
        community_id=community_id,
        serves_all=datasets.serves_all(actor),
        url=draft.url,
        dataset_name=draft.dataset_name,
        publisher=draft.publisher,
        hours=draft.hours,
        retires=draft.retires,
        due_at=clock.now() + timedelta(hours=draft.hours),
    )
    session.add(feed)
    session.flush()
    _record(session, actor, feed, "dataset.feed_added")
    fetch_now(session, actor, feed.id)
    return feed


def revise(
    session: Session, actor: Actor, allow: AllowList, feed_id: uuid.UUID, draft: FeedDraft
) -> DatasetFeed:
    """Change a feed. What says how its content is imported takes effect at the next fetch, changed content or not.

    Raises:
        Invalid: as ``add``.
        Conflict: another feed of the community has this address.
        Forbidden: the feed serves every community, and the actor is no service admin.
    """
    feed = _locked(session, actor, feed_id)
    _check(allow, draft)
    _check_new(
        draft.url, [other for other in session.scalars(_of_community(feed.community_id)) if other is not feed]
    )
    if draft.url != feed.url:
        feed.columns = {}
    before = (feed.url, feed.dataset_name, feed.publisher, feed.retires)
    if before != (draft.url, draft.dataset_name, draft.publisher, draft.retires):
        forget_content(feed)
    feed.url, feed.dataset_name, feed.publisher = draft.url, draft.dataset_name, draft.publisher
    feed.hours, feed.retires = draft.hours, draft.retires
    feed.due_at = min(feed.due_at, clock.now() + timedelta(hours=draft.hours))
    session.flush()
    _record(session, actor, feed, "dataset.feed_changed")
    return feed


def pause(session: Session, actor: Actor, feed_id: uuid.UUID, *, paused: bool) -> DatasetFeed:
    """Stop fetching a feed, or start again."""
    feed = _locked(session, actor, feed_id)
    if feed.is_paused != paused:
        feed.is_paused = paused
        feed.due_at = clock.now()
        session.flush()
        _record(session, actor, feed, "dataset.feed_paused" if paused else "dataset.feed_resumed")
    return feed


def remove(session: Session, actor: Actor, feed_id: uuid.UUID) -> None:
    """Remove a feed. Its items stay in their dataset."""
    feed = _locked(session, actor, feed_id)
    feed.removed_at = clock.now()
    session.flush()
    _record(session, actor, feed, "dataset.feed_removed")


def fetch_now(session: Session, actor: Actor, feed_id: uuid.UUID) -> None:
    """Fetch a feed at once, whether it is due or not."""
    feed = _locked(session, actor, feed_id)
    enqueue(session, feed, f"now:{new_id()}")


def may_change(actor: Actor, feed: DatasetFeed) -> bool:
    """Whether the actor may change this feed: one that serves every community belongs to service admins."""
    return not feed.serves_all or datasets.serves_all(actor)


def rests(session: Session, feed: DatasetFeed | DatasetImport) -> bool:
    """Whether nothing is fetched or stored: the community is archived, and no other is served."""
    if feed.serves_all:
        return False
    return session.get_one(Community, feed.community_id, populate_existing=True).archived_at is not None


def get(session: Session, actor: Actor, feed_id: uuid.UUID) -> DatasetFeed:
    """The feed. Raises NotFound if it is unknown, removed, or another community's."""
    feed = session.get(DatasetFeed, feed_id)
    present = feed if feed is not None and feed.removed_at is None else None
    return require_found(actor, Permission.REVISE_POLICY, present, "feed")


def visible(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[DatasetFeed]:
    """The community's feeds, oldest first."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(_of_community(community_id)).all()


def forget_content(feed: DatasetFeed) -> None:
    """Forget what was imported last: the next fetch imports the feed even if it has not changed."""
    feed.etag = feed.last_modified = feed.content_sha256 = None


def fail(feed: DatasetFeed, check: DatasetFeedCheck, problem: str) -> None:
    """Record that a fetch failed, or the import that it began; the next fetch is soon."""
    check.outcome, check.problem = FeedOutcome.FAILED, problem[:500]
    feed.failures += 1
    minutes = _AGAIN_MINUTES[min(feed.failures, len(_AGAIN_MINUTES)) - 1]
    feed.due_at = min(feed.due_at, clock.now() + timedelta(minutes=minutes))


def import_ended(session: Session, found: DatasetImport) -> None:
    """Record the result of a feed's import in the feed and in the fetch that began it.

    After one that brought nothing of use, the next fetch imports the feed even if it has not changed.
    """
    feed = session.get_one(DatasetFeed, found.feed_id)
    useful = found.added + found.changed + found.unchanged + found.taken
    if found.state is ImportState.FINISHED and useful:
        feed.failures = 0
        return
    forget_content(feed)
    check = session.scalars(sa.select(DatasetFeedCheck).where(DatasetFeedCheck.import_id == found.id)).first()
    if check is None:
        return
    if found.state is ImportState.STOPPED:
        check.outcome, check.problem = (
            FeedOutcome.FAILED,
            found.problem or lazy_gettext("Its import was stopped."),
        )
    else:
        fail(
            feed, check, found.problem or lazy_gettext("All of its fact-checks were refused: see the report.")
        )


def _check_new(url: str, others: Sequence[DatasetFeed]) -> None:
    if any(feed.url == url for feed in others):
        raise Conflict(_("This address is a feed of this community already"))


def _check(allow: AllowList, draft: FeedDraft) -> None:
    limits.storable(draft.url, "url")
    try:
        check_url(draft.url, allow)
    except BadAddress as bad:
        raise Invalid.field("url", bad.reason, draft.url[:100]) from None
    limits.text(draft.dataset_name, "dataset_name", limits.DATASET_NAME_MAX)
    limits.text(draft.publisher, "publisher", limits.NAME_MAX, least=0)
    if draft.hours not in HOURS:
        raise Invalid.field(
            "hours", _("must be one of %(choices)s", choices=", ".join(map(str, HOURS))), draft.hours
        )


def _of_community(community_id: uuid.UUID) -> sa.Select[DatasetFeed]:
    return (
        sa.select(DatasetFeed)
        .where(DatasetFeed.community_id == community_id, DatasetFeed.removed_at.is_(None))
        .order_by(DatasetFeed.created_at, DatasetFeed.id)
    )


def _locked(session: Session, actor: Actor, feed_id: uuid.UUID) -> DatasetFeed:
    feed = get(session, actor, feed_id)
    if not may_change(actor, feed):
        raise Forbidden(_("This feed serves every community: only a service admin may change it"))
    serialise(session, feed.community_id)
    session.refresh(feed)
    return feed


def enqueue(session: Session, feed: DatasetFeed, moment: str) -> None:
    """Enqueue one fetch of the feed; ``moment`` tells it from others."""
    args = {"feed_id": str(feed.id)}
    outbox.enqueue(session, FETCH_FEED_JOB, args, community_id=feed.community_id, key=f"{feed.id}:{moment}")


def _record(session: Session, actor: Actor, feed: DatasetFeed, what: str) -> None:
    after = {
        "url": feed.url,
        "dataset": feed.dataset_name,
        "hours": feed.hours,
        "retires": feed.retires,
        "serves_all": feed.serves_all,
    }
    history.record(session, actor, feed.community_id, what, "community", feed.community_id, after=after)
