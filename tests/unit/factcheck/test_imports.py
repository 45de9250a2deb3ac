"""Imports as jobs: read, reported, stored, killed and continued, refreshed from feeds, retired."""

import json
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock, limits
from app.core.batches import BatchSize
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.factcheck import feed_fetches, feeds, import_steps, imports, items
from app.core.factcheck.feed_fetches import Fetched
from app.core.factcheck.feeds import FeedDraft
from app.core.factcheck.imports import Upload
from app.core.factcheck.items import Imported
from app.core.models import (
    Account,
    Community,
    DatasetFeed,
    DatasetFeedCheck,
    DatasetImport,
    DatasetImportPiece,
    DatasetImportRow,
    FactCheckItem,
    HistoryEntry,
)
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import AfterReading, FeedOutcome, ImportState, Role
from app.jobs import fact_checks
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine

CLAIM = "Drinking seawater every morning cures diabetes within two weeks, says visitor {}"
URL = "https://feeds.example.org/all.jsonl"


def line(number: int, **more: Any) -> bytes:
    row = {
        "claim": CLAIM.format(number),
        "rating": "False",
        "url": f"https://checks.example.org/{number}",
        "publisher": "Example Checks",
        "dataset_name": "example",
        "item_id": f"item-{number}",
    }
    return json.dumps(row | more).encode() + b"\n"


def lines(*numbers: int) -> bytes:
    return b"".join(line(number) for number in numbers)


@pytest.fixture
def operator(cast: Cast) -> Actor:
    return Actor(
        kind="account",
        name="Olga",
        account_id=cast.operator.account_id,
        roles={cast.community_id: Role.OPERATOR},
        communities=frozenset({cast.community_id}),
    )


def begin(
    wiring: Wiring, actor: Actor, cast: Cast, content: bytes, name: str = "items.jsonl", **more: Any
) -> DatasetImport:
    with wiring.database.writing() as session:
        return imports.begin(session, actor, cast.community_id, Upload(name, content, **more))


def reread(wiring: Wiring, found: DatasetImport) -> DatasetImport:
    with wiring.database.reading() as session:
        return session.get_one(DatasetImport, found.id)


def served(wiring: Wiring) -> set[str]:
    with wiring.database.reading() as session:
        return set(
            session.scalars(sa.select(FactCheckItem.item_id).where(FactCheckItem.retired_at.is_(None)))
        )


def rows_left(wiring: Wiring) -> tuple[int, int]:
    with wiring.database.reading() as session:
        pieces, rows = (
            session.scalar(sa.select(sa.func.count()).select_from(table)) or 0
            for table in (DatasetImportPiece, DatasetImportRow)
        )
        return pieces, rows


@pytest.mark.both_databases
def test_a_file_is_reported_on_first_and_stored_when_somebody_says_so(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    with wiring.database.writing() as session:
        items.keep(session, [items.Item(**_of(7))], cast.other_community_id)
        items.keep(session, [items.Item(**_of(8))], cast.community_id)
    content = (
        lines(1, 2, 7)
        + line(8, claim="Other words")
        + line(9, url="nowhere")
        + line(1)
        + line(3, rating="Odd")
    )
    found = begin(wiring, operator, cast, content)
    assert found.state is ImportState.READING
    jobs.run_all()
    found = reread(wiring, found)
    assert (found.state, found.records) == (ImportState.READ, 7)
    counts = (found.added, found.changed, found.unchanged, found.taken, found.refused)
    assert counts == (3, 1, 0, 1, 2)
    assert (found.unknown, found.serves_all) == ({"Odd": 1}, False)
    assert served(wiring) == {"item-7", "item-8"}, "reading changes no dataset"
    with wiring.database.reading() as session:
        assert [(row.place, row.why) for row in imports.refusals(session, found)] == [
            ("line 5", "url must be an address that begins with https:// or http://"),
            ("line 6", "item_id is that of line 1 too"),
        ]
    with wiring.database.writing() as session:
        imports.store(session, operator, found.id)
    jobs.run_all()
    found = reread(wiring, found)
    assert (found.state, found.stored) == (ImportState.FINISHED, 4)
    assert served(wiring) == {"item-1", "item-2", "item-3", "item-7", "item-8"}
    assert rows_left(wiring) == (0, 2), "only the refused ones stay, for the report"
    with wiring.database.writing() as session:
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "dataset.imported")).one()
        assert (entry.after["new"], entry.after["changed"], entry.after["datasets"]) == (3, 1, ["example"])
        with pytest.raises(Conflict):
            imports.store(session, operator, found.id)
    again = begin(wiring, operator, cast, lines(1, 2), after_reading=AfterReading.STORE_IF_ALL_GOOD)
    jobs.run_all()
    again = reread(wiring, again)
    assert (again.state, again.unchanged, again.stored) == (ImportState.FINISHED, 2, 0)


def _of(number: int) -> dict[str, Any]:
    row = json.loads(line(number))
    row["rating_given"] = row.pop("rating")
    return row | {"meaning": "false"}


class Killed(BaseException):
    """Stands for the end of the process: nothing catches it."""


def test_a_killed_import_goes_on_where_it_ended_and_stores_nothing_twice(
    wiring: Wiring, cast: Cast, operator: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_steps, "READ_BATCH", 10)
    monkeypatch.setattr(import_steps, "STORE_BATCH", 10)
    numbers = range(1, 48)
    found = begin(wiring, operator, cast, lines(*numbers), after_reading=AfterReading.STORE)
    kills = 0
    for step in ("add", "store_batch"):
        whole = getattr(import_steps, step)
        for after in (1, 2):
            calls = iter(range(after))

            def dying(*given: Any, whole: Any = whole, calls: Any = calls) -> Any:
                if next(calls, None) is None:
                    raise Killed
                return whole(*given)

            with monkeypatch.context() as patched:
                patched.setattr(import_steps, step, dying)
                try:
                    fact_checks.run_import(wiring.database, found.id)
                    fact_checks.run_import(wiring.database, found.id)
                except Killed:
                    kills += 1
    now = reread(wiring, found)
    assert (kills, now.state, now.stored) == (4, ImportState.STORING, 30)
    assert len(served(wiring)) == 30
    fact_checks.run_import(wiring.database, found.id)
    now = reread(wiring, found)
    assert (now.state, now.records, now.added, now.stored) == (ImportState.FINISHED, 47, 47, 47)
    assert served(wiring) == {f"item-{number}" for number in numbers}
    fact_checks.run_import(wiring.database, found.id)
    with wiring.database.reading() as session:
        imported = sa.select(sa.func.count()).where(HistoryEntry.what == "dataset.imported")
        assert session.scalar(imported) == 1


def test_a_slow_machine_gets_smaller_batches_and_a_quick_one_larger() -> None:
    size = BatchSize(250)
    sizes = []
    for seconds in (0.01, 0.01, 0.01, 5.8, 0.4, 9.0, 9.0, 0.7):
        sizes.append(size.rows)
        size.took(seconds)
    assert sizes == [50, 100, 200, 250, 32, 60, 10, 10]
    assert BatchSize(3).rows == 3


def test_a_lost_job_is_enqueued_again_and_a_stopped_import_does_nothing_more(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    found = begin(wiring, operator, cast, lines(1))
    jobs.register(imports.IMPORT_JOB, lambda import_id: None)
    jobs.run_all()
    advance(seconds=600)
    with wiring.database.writing() as session:
        imports.enqueue_stalled(session)
    assert [job.args for job in jobs.jobs()] == [{"import_id": str(found.id)}]
    with wiring.database.writing() as session:
        imports.stop(session, operator, found.id)
    fact_checks.run_import(wiring.database, found.id)
    assert reread(wiring, found).state is ImportState.STOPPED
    assert (served(wiring), rows_left(wiring)) == (set(), (0, 0))


def test_an_operator_who_loses_the_role_stores_nothing_more_and_bad_files_say_why(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    found = begin(wiring, operator, cast, lines(1))
    jobs.run_all()
    with wiring.database.writing() as session:
        imports.store(session, operator, found.id)
        session.get_one(Account, cast.operator.account_id).disabled_at = clock.now()
    jobs.run_all()
    found = reread(wiring, found)
    assert (found.state, served(wiring)) == (ImportState.FAILED, set())
    assert found.problem == "The person who began it may no longer import."
    malformed = begin(wiring, operator, cast, b'{"@type": "ClaimReview",', "review.json")
    jobs.run_all()
    assert reread(wiring, malformed).problem.startswith("The file is malformed JSON: expecting property name")
    for content, why in ((b"  \n", "holds no items"), (b"\x1f\x8bno", "damaged")):
        with pytest.raises(Invalid, match=why):
            begin(wiring, operator, cast, content)


def test_unfinished_imports_are_few_and_do_not_wait_for_ever(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    begun = [begin(wiring, operator, cast, line(number)) for number in range(limits.IMPORTS.number)]
    with pytest.raises(Invalid, match="at most 5 imports that are not finished"):
        begin(wiring, operator, cast, line(9))
    jobs.run_all()
    advance(seconds=8 * 86_400)
    with wiring.database.writing() as session:
        imports.stop_abandoned(session)
    assert {reread(wiring, found).state for found in begun} == {ImportState.STOPPED}
    jobs.run_all()
    assert rows_left(wiring) == (0, 0)
    begin(wiring, operator, cast, line(9))


class Fetcher:
    """Stands in for the network: answers as told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer = Fetched()
        self.asked: list[tuple[str, str | None, str | None]] = []

    def fetch(self, url: str, etag: str | None, last_modified: str | None) -> Fetched:
        self.asked.append((url, etag, last_modified))
        return self.answer


@pytest.mark.both_databases
def test_a_feed_is_refreshed_and_what_it_lost_is_retired_but_stays_readable(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    fetcher = wiring.feeds = Fetcher()
    fetcher.answer = Fetched(lines(1, 2, 3), etag='"one"', last_modified="Mon, 01 Jun 2026 10:00:00 GMT")
    draft = FeedDraft(URL, "example", hours=6, retires=True)
    with wiring.database.writing() as session:
        feed = feeds.add(session, operator, wiring.allow, cast.community_id, draft)
    jobs.run_all()
    assert served(wiring) == {"item-1", "item-2", "item-3"}

    def fetch(answer: Fetched) -> tuple[FeedOutcome, str]:
        fetcher.answer = answer
        advance(seconds=6 * 3600 + 60)
        with wiring.database.writing() as session:
            feed_fetches.enqueue_due(session)
        jobs.run_all()
        with wiring.database.reading() as session:
            check = feed_fetches.checks(session, session.get_one(DatasetFeed, feed.id))[0]
            return check.outcome, check.problem

    assert fetch(Fetched(is_new=False)) == (FeedOutcome.UNCHANGED, "")
    assert fetcher.asked[-1] == (URL, '"one"', "Mon, 01 Jun 2026 10:00:00 GMT")
    assert fetch(Fetched(lines(1, 2, 3))) == (FeedOutcome.UNCHANGED, ""), "the same content again"
    assert fetch(Fetched(problem="It answered 500.")) == (FeedOutcome.FAILED, "It answered 500.")
    assert fetch(Fetched(b"")) == (FeedOutcome.FAILED, "The file holds no items.")
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
    with wiring.database.writing() as session:
        own = feeds.add(session, operator, wiring.allow, cast.community_id, FeedDraft(URL, "example"))
        other = FeedDraft(URL + "/all", "everybody's")
        shared = feeds.add(session, SYSTEM, wiring.allow, cast.community_id, other)
    jobs.run_all()
    assert len(fetcher.asked) == 2

    def archive(is_archived: bool) -> None:
        with wiring.database.writing() as session:
            community = session.get_one(Community, cast.community_id)
            community.archived_at = clock.now() if is_archived else None

    def fetch() -> list[str]:
        fetcher.asked.clear()
        advance(days=2)
        with wiring.database.writing() as session:
            feed_fetches.enqueue_due(session)
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
    with wiring.database.writing() as session:
        feed = feeds.add(
            session, operator, wiring.allow, cast.community_id, FeedDraft(URL, "example", retires=True)
        )
    jobs.run_all()
    fetcher.answer = Fetched(lines(1, 2))
    with wiring.database.writing() as session:
        feeds.fetch_now(session, operator, feed.id)
    jobs.run_all()
    assert len(served(wiring)) == 40
    with wiring.database.reading() as session:
        problem = feed_fetches.checks(session, feed)[0].import_id
        assert problem is not None
        assert (
            "38 of 40 items are not in the feed any more" in session.get_one(DatasetImport, problem).problem
        )


def test_changed_settings_and_a_stopped_import_are_made_good_at_the_next_fetch(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    fetcher = wiring.feeds = Fetcher()
    fetcher.answer = Fetched(lines(1), etag='"one"')
    with wiring.database.writing() as session:
        feed = feeds.add(session, operator, wiring.allow, cast.community_id, FeedDraft(URL, "example"))
        other = FeedDraft(f"{URL}?2", "example", hours=6)
        second = feeds.add(session, operator, wiring.allow, cast.community_id, other)
    jobs.run_all()

    def revise(draft: FeedDraft) -> None:
        with wiring.database.writing() as session:
            feeds.revise(session, operator, wiring.allow, feed.id, draft)

    def fetch() -> FeedOutcome:
        with wiring.database.writing() as session:
            feeds.fetch_now(session, operator, feed.id)
        jobs.run_all()
        with wiring.database.reading() as session:
            return feed_fetches.checks(session, feed)[0].outcome

    with pytest.raises(Conflict, match="is a feed of this community already"):
        revise(FeedDraft(second.url, "example"))
    revise(FeedDraft(URL, "example", hours=6))
    assert (fetch(), fetcher.asked[-1][1]) == (FeedOutcome.UNCHANGED, '"one"'), "only its hours changed"
    for draft in (
        FeedDraft(URL, "renamed"),
        FeedDraft(URL, "renamed", publisher="Checks"),
        FeedDraft(URL, "renamed", publisher="Checks", retires=True),
    ):
        revise(draft)
        assert (fetch(), fetcher.asked[-1][1]) == (FeedOutcome.IMPORTED, None), draft
    with wiring.database.writing() as session:
        feeds.fetch_now(session, operator, feed.id)
    fetcher.answer = Fetched(lines(1, 2), etag='"two"')
    fact_checks.fetch_feed(wiring.database, fetcher, feed.id)
    with wiring.database.writing() as session:
        begun = feed_fetches.checks(session, feed)[0].import_id
        assert begun is not None
        imports.stop(session, operator, begun)
    assert served(wiring) == {"item-1"}
    assert (fetch(), served(wiring)) == (FeedOutcome.IMPORTED, {"item-1", "item-2"})


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


def test_only_a_service_admin_goes_on_with_an_import_that_serves_every_community(
    wiring: Wiring, cast: Cast, operator: Actor
) -> None:
    with wiring.database.writing() as session:
        found = imports.begin(session, SYSTEM, cast.community_id, Upload("items.jsonl", lines(1)))
        for change in (
            lambda: imports.stop(session, operator, found.id),
            lambda: imports.store(session, operator, found.id),
            lambda: imports.choose_columns(session, operator, found.id, {}, Upload("items.csv", b"")),
        ):
            with pytest.raises(Forbidden, match="serves every community"):
                change()
        assert imports.get(session, operator, found.id) is found, "they still see it"
        assert imports.stop(session, SYSTEM, found.id).state is ImportState.STOPPED
