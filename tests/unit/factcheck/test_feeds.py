"""Feeds: refreshed, retired, rested, failed, revised; who may have them."""

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.factcheck import feed_fetches, feeds, imports, items
from app.core.factcheck.feed_fetches import Fetched
from app.core.factcheck.feeds import FeedDraft
from app.core.factcheck.items import Imported
from app.core.models import Community, DatasetFeed, DatasetFeedCheck, DatasetImport, FactCheckItem
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import FeedOutcome, ImportState, Role
from app.jobs import fact_checks
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.unit.factcheck.importing import CLAIM, URL, Fetcher, add_feed, lines, served


def last_check(wiring: Wiring, feed: DatasetFeed) -> DatasetFeedCheck:
    with wiring.database.reading() as session:
        return feed_fetches.checks(session, feed)[0]


def fetch_now(wiring: Wiring, jobs: InlineEngine, actor: Actor, feed: DatasetFeed) -> DatasetFeedCheck:
    with wiring.database.writing() as session:
        feeds.fetch_now(session, actor, feed.id)
    jobs.run_all()
    return last_check(wiring, feed)


@pytest.mark.both_databases
def test_a_feed_is_refreshed_and_what_it_lost_is_retired_but_stays_readable(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    fetcher = wiring.feeds = Fetcher()
    fetcher.answer = Fetched(lines(1, 2, 3), etag='"one"', last_modified="Mon, 01 Jun 2026 10:00:00 GMT")
    draft = FeedDraft(URL, "example", hours=6, retires=True)
    feed = add_feed(wiring, operator, cast, draft)
    jobs.run_all()
    assert served(wiring) == {"item-1", "item-2", "item-3"}

    def fetch(answer: Fetched) -> tuple[FeedOutcome, str]:
        fetcher.answer = answer
        advance(seconds=6 * 3600 + 60)
        fact_checks.fetch_due_feeds(wiring.database)
        jobs.run_all()
        check = last_check(wiring, feed)
        return check.outcome, check.problem

    assert fetch(Fetched(is_new=False)) == (FeedOutcome.UNCHANGED, "")
    assert fetcher.asked[-1] == (URL, '"one"', "Mon, 01 Jun 2026 10:00:00 GMT")
    assert fetch(Fetched(lines(1, 2, 3))) == (FeedOutcome.UNCHANGED, ""), "the same content again"
    assert fetch(Fetched(problem="It answered 500.")) == (FeedOutcome.FAILED, "It answered 500.")
    assert fetch(Fetched(b"")) == (FeedOutcome.FAILED, "The file holds no fact-checks.")
    with wiring.database.reading() as session:
        assert session.get_one(DatasetFeed, feed.id).failures == 2
    assert served(wiring) == {"item-1", "item-2", "item-3"}, "a failure changes nothing"

    assert fetch(Fetched(lines(2, 3, 4)))[0] is FeedOutcome.IMPORTED
    assert served(wiring) == {"item-2", "item-3", "item-4"}
    with wiring.database.writing() as session:
        assert session.get_one(DatasetFeed, feed.id).failures == 0
        gone = session.scalars(sa.select(FactCheckItem).where(FactCheckItem.item_id == "item-1")).one()
        assert (gone.claim, gone.retired_at is not None) == (CLAIM.format(1), True)
        assert items.get(session, operator, cast.community_id, gone.id) is gone
        found = items.find(session, CLAIM.format(1), cast.community_id)
        assert found is None or found.item_id != "item-1", "it matches nothing more"
        items.bring_back(session, operator, cast.community_id, gone)
        found = items.find(session, CLAIM.format(1), cast.community_id)
        assert found is not None
        items.retire(session, operator, cast.community_id, gone)
        again = items.keep(session, [items.from_row(gone)], cast.community_id)
        assert (again, gone.retired_at) == (Imported(changed=1), None), "storing it brings it back"
        assert items.find(session, CLAIM.format(1), cast.community_id) is not None
        items.retire(session, operator, cast.community_id, gone)
        with pytest.raises(Conflict):
            items.retire(session, operator, cast.community_id, gone)
    assert fetch(Fetched(lines(1, 2, 3, 4)))[0] is FeedOutcome.IMPORTED
    assert served(wiring) == {"item-1", "item-2", "item-3", "item-4"}, "what comes back matches again"


@pytest.mark.both_databases
def test_a_feed_of_an_archived_community_rests_unless_it_serves_every_community(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    fetcher = wiring.feeds = Fetcher()
    fetcher.answer = Fetched(lines(1))
    own = add_feed(wiring, operator, cast, FeedDraft(URL, "example"))
    shared = add_feed(wiring, SYSTEM, cast, FeedDraft(URL + "/all", "everybody's"))
    jobs.run_all()
    assert len(fetcher.asked) == 2

    def archive(is_archived: bool) -> None:
        with wiring.database.writing() as session:
            community = session.get_one(Community, cast.community_id)
            community.archived_at = clock.now() if is_archived else None

    def fetch() -> list[str]:
        fetcher.asked.clear()
        advance(days=2)
        fact_checks.fetch_due_feeds(wiring.database)
        jobs.run_all()
        return sorted(url for url, _, _ in fetcher.asked)

    fetcher.answer = Fetched(lines(1, 2))
    archive(True)
    assert fetch() == [shared.url]
    # A fetch that was asked for, and one that had begun, before it was archived.
    with wiring.database.writing() as session:
        feeds.enqueue(session, session.get_one(DatasetFeed, own.id), "before")
    fetcher.asked.clear()
    jobs.run_all()
    assert fetcher.asked == []
    with wiring.database.writing() as session:
        before = len(feed_fetches.checks(session, own))
        feed_fetches.finish(session, own.id, URL, fetcher.answer)
        assert len(feed_fetches.checks(session, own)) == before
    archive(False)
    assert fetch() == [own.url, shared.url]

    # An import that was begun by a fetch before.
    with wiring.database.writing() as session:
        feed_fetches.finish(session, own.id, URL, Fetched(lines(1, 2, 3)))
    archive(True)
    jobs.run_all()
    with wiring.database.reading() as session:
        last = feed_fetches.checks(session, own)[0].import_id
        found = session.get_one(DatasetImport, last)
        assert (found.state, found.problem) == (ImportState.FAILED, "The community was archived.")
        assert session.get_one(DatasetFeed, own.id).content_sha256 is None, "read again once it is opened"


def test_a_feed_that_suddenly_lacks_most_of_its_items_retires_none(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    fetcher = wiring.feeds = Fetcher()
    fetcher.answer = Fetched(lines(*range(40)))
    feed = add_feed(wiring, operator, cast, FeedDraft(URL, "example", retires=True))
    jobs.run_all()
    fetcher.answer = Fetched(lines(1, 2))
    check = fetch_now(wiring, jobs, operator, feed)
    assert len(served(wiring)) == 40
    with wiring.database.reading() as session:
        problem = session.get_one(DatasetImport, check.import_id).problem
        assert "38 of 40 fact-checks are not in the feed any more" in problem


def test_changed_settings_and_a_stopped_import_are_made_good_at_the_next_fetch(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    fetcher = wiring.feeds = Fetcher()
    fetcher.answer = Fetched(lines(1), etag='"one"')
    feed = add_feed(wiring, operator, cast, FeedDraft(URL, "example"))
    second = add_feed(wiring, operator, cast, FeedDraft(f"{URL}?2", "example", hours=6))
    jobs.run_all()

    def revise(draft: FeedDraft) -> None:
        with wiring.database.writing() as session:
            feeds.revise(session, operator, wiring.allow, feed.id, draft)

    def fetch() -> tuple[FeedOutcome, str | None]:
        return fetch_now(wiring, jobs, operator, feed).outcome, fetcher.asked[-1][1]

    with pytest.raises(Conflict, match="is a feed of this community already"):
        revise(FeedDraft(second.url, "example"))
    revise(FeedDraft(URL, "example", hours=6))
    assert fetch() == (FeedOutcome.UNCHANGED, '"one"'), "only its hours changed"
    for draft in (
        FeedDraft(URL, "renamed"),
        FeedDraft(URL, "renamed", publisher="Checks"),
        FeedDraft(URL, "renamed", publisher="Checks", retires=True),
    ):
        revise(draft)
        assert fetch() == (FeedOutcome.IMPORTED, None), draft
    with wiring.database.writing() as session:
        feeds.fetch_now(session, operator, feed.id)
    fetcher.answer = Fetched(lines(1, 2), etag='"two"')
    fact_checks.fetch_feed(wiring.database, fetcher, feed.id)
    with wiring.database.writing() as session:
        begun = feed_fetches.checks(session, feed)[0].import_id
        assert begun is not None
        imports.stop(session, operator, begun)
    assert served(wiring) == {"item-1"}
    assert (fetch()[0], served(wiring)) == (FeedOutcome.IMPORTED, {"item-1", "item-2"})


def test_who_may_have_feeds_and_which(wiring: Wiring, cast: Cast, operator: Actor) -> None:
    rater = Actor("account", "Rita", roles={cast.community_id: Role.RATER}, communities=operator.communities)
    with wiring.database.writing() as session:
        for url, why in (
            ("http://feeds.example.org/", "must start with https://"),
            ("https://10.0.0.1/", "private or reserved"),
            ("https://localhost/", "full domain"),
            ("https://a.example:22/", "port 443 or 8443"),
            ("https://u:p@a.example/", "user name or password"),
        ):
            with pytest.raises(Invalid, match=why):
                feeds.add(session, operator, wiring.allow, cast.community_id, FeedDraft(url, "d"))
        with pytest.raises(Forbidden):
            feeds.add(session, rater, wiring.allow, cast.community_id, FeedDraft(URL, "d"))
        feed = feeds.add(session, operator, wiring.allow, cast.community_id, FeedDraft(URL, "d"))
        with pytest.raises(Conflict):
            feeds.add(session, operator, wiring.allow, cast.community_id, FeedDraft(URL, "d"))
        feeds.pause(session, operator, feed.id, paused=True)
        feed_fetches.enqueue_due(session)
        assert feed.due_at <= clock.now(), "a paused feed waits"
        feeds.pause(session, operator, feed.id, paused=False)
        feed_fetches.enqueue_due(session)
        assert feed.due_at > clock.now()
        feeds.remove(session, operator, feed.id)
        assert feeds.visible(session, operator, cast.community_id) == []
        assert session.scalars(sa.select(DatasetFeedCheck)).all() == []


def test_only_a_service_admin_changes_a_feed_that_serves_every_community(
    wiring: Wiring, cast: Cast, operator: Actor
) -> None:
    draft = FeedDraft(URL, "d")
    with wiring.database.writing() as session:
        feed = feeds.add(session, SYSTEM, wiring.allow, cast.community_id, draft)
        for change in (
            lambda: feeds.revise(session, operator, wiring.allow, feed.id, FeedDraft(f"{URL}?mine", "d")),
            lambda: feeds.pause(session, operator, feed.id, paused=True),
            lambda: feeds.fetch_now(session, operator, feed.id),
            lambda: feeds.remove(session, operator, feed.id),
        ):
            with pytest.raises(Forbidden, match="serves every community"):
                change()
        assert (feed.url, feed.is_paused, feed.removed_at) == (URL, False, None)
        assert feeds.get(session, operator, feed.id) is feed, "they still see it"
        assert feeds.pause(session, SYSTEM, feed.id, paused=True).is_paused
