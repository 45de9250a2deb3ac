"""The queue's filters: what each finds, and that none reads the posts of all open items."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions
from app.core.history.reason import Reason
from app.core.models import Action, Note, Request
from app.core.models.decisions import HIDDEN
from app.core.paging import Slice
from app.core.people import member_lists
from app.core.permissions import SYSTEM
from app.core.requests import reading, scoring, submitting
from app.core.review import (
    action_history,
    author_pages,
    claims,
    conditions,
    post_search,
    queue,
    queue_filters,
    reopening,
    second_looks,
    verbs,
)
from app.core.review.history_filters import HistoryFilter
from app.core.review.queue_filters import QueueFilter, Sort
from app.core.review.second_looks import SecondLookFilter
from app.core.vocabulary import ActionState, ActionTier, ActionType, NoteStatus, ReopenTo
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.factories import actor_of
from tests.undone import undone


def submit(wiring: Wiring, cast: Cast, text: str, number: int, channel: str) -> uuid.UUID:
    submission = submitting.Submission(f"post-{number}", "poster", text, platform_channel_id=channel)
    with wiring.database.writing() as session:
        return submitting.submit(session, SYSTEM, cast.community_id, submission).request.id


def found(wiring: Wiring, cast: Cast, **filters: Any) -> list[uuid.UUID]:
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.reading() as session:
        page = queue.queue(session, max_, cast.community_id, QueueFilter(**filters), size=9)
        assert page.count == len(page.items)
        return [item.action.request_id for item in page.items]


def test_channel_and_language_come_from_the_post(wiring: Wiring, cast: Cast) -> None:
    post = submit(wiring, cast, factories.REVIEWED, 1, "market")
    other = submit(wiring, cast, factories.REVIEWED, 2, "town")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    assert found(wiring, cast, channel="market") == [post]
    with wiring.database.reading() as session:
        language = session.get_one(Request, other).language
    assert language is not None
    assert sorted(found(wiring, cast, languages=(language, "xx"))) == sorted([post, other])
    assert found(wiring, cast, languages=("xx",)) == []
    assert found(wiring, cast, channel="town", languages=(language,)) == [other]


def test_the_language_is_noted_with_a_review_that_was_open_before_the_post_was_scored(
    wiring: Wiring, cast: Cast
) -> None:
    post = submit(wiring, cast, "Nothing wrong here.", 1, "market")
    with wiring.database.writing() as session:
        action = submitting.escalate(session, SYSTEM, session.get_one(Request, post))
        assert action.language is None
        scoring.record_scores(session, post, [], "de")
    assert found(wiring, cast, languages=("de",)) == [post]


def test_a_reopened_item_is_found_by_the_same_filters(wiring: Wiring, cast: Cast) -> None:
    post = submit(wiring, cast, factories.REVIEWED, 1, "market")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    max_, why = actor_of(wiring, cast.moderator), Reason("Too soon")
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action)).one()
        verbs.change_action(session, max_, action, ActionState.DISMISSED, reason=why)
        reopening.reopen(session, max_, action, ReopenTo.STAFF, reason=why)
    assert found(wiring, cast, channel="market") == [post]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "filters", [{}, {"channel": "market"}, {"languages": ("de", "en")}, {"categories": ("spam",)}]
)
def test_an_index_has_what_the_filters_ask(wiring: Wiring, cast: Cast, filters: Any) -> None:
    max_ = actor_of(wiring, cast.moderator)
    plans = plans_of(
        wiring,
        lambda session: (
            queue.queue(session, max_, cast.community_id, QueueFilter(**filters), size=50),
            queue.categories(session, cast.community_id),
        ),
    )
    count, page, categories = plans
    for plan in plans:
        assert "requests" not in plan
    assert "ix_moderation_actions_urgent" in page
    if wiring.database.engine.dialect.name == "sqlite":
        for plan in (count, categories):
            assert "COVERING INDEX ix_moderation_actions_urgent" in plan
    else:
        # Few rows cost the same by each index of the queue; PostgreSQL chooses by their number.
        for plan in (count, categories):
            assert re.search(r"Index (Only )?Scan using ix_moderation_actions_\w+ ", plan)
    assert "TEMP B-TREE" not in page


@pytest.mark.both_databases
def test_what_a_moderator_holds_is_found_by_an_index(wiring: Wiring, cast: Cast) -> None:
    max_ = actor_of(wiring, cast.moderator)
    (plan,) = plans_of(wiring, lambda session: claims.release_all(session, max_))
    assert "ix_moderation_actions_claimed" in plan


@pytest.mark.both_databases
def test_a_rare_text_is_looked_for_in_all_items_and_a_common_one_in_the_most_urgent(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [
        submit(wiring, cast, f"{factories.REVIEWED}. {word} was the word.", number, "market")
        for number, word in enumerate(("Harbour", "harbour", "HARBOUR", "Lighthouse"))
    ]
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    monkeypatch.setattr(post_search, "FEW", 2)
    monkeypatch.setattr(queue_filters, "SEARCHED", 2)
    urgent = found(wiring, cast)
    assert sorted(urgent) == sorted(posts)
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.reading() as session:

        def search(text: str, **filters: Any) -> tuple[list[uuid.UUID], bool]:
            wanted = QueueFilter(search=text, **filters)
            page = queue.queue(session, max_, cast.community_id, wanted, size=9)
            assert page.count == len(page.items)
            return [item.action.request_id for item in page.items], page.may_lack

        assert search("lighthouse") == ([posts[3]], False)
        assert search("harbour") == ([one for one in urgent[:2] if one != posts[3]], True)
        assert search("post-1") == ([posts[1]], False)
        monkeypatch.setattr(queue_filters, "SEARCHED", 4)
        assert search("harbour") == ([one for one in urgent if one != posts[3]], False)
        assert search("harbour", channel="town") == ([], False)
        assert search("o")[0] == search("")[0], "too short for an index: looked for in the most urgent items"
        long_ago = clock.now() - timedelta(days=1)
        newer = [
            queue.newer_than(session, max_, cast.community_id, moment, QueueFilter(search="harbour"))
            for moment in (long_ago, clock.now())
        ]
        assert newer == [3, 0]
        if wiring.database.engine.dialect.name == "postgresql":
            monkeypatch.setattr(queue_filters, "SEARCHED", 2)
            monkeypatch.setattr(post_search, "RARE", -1)
            assert search("lighthouse") == ([one for one in urgent[:2] if one == posts[3]], True), (
                "if the newest posts tell that it is common, the index is not asked"
            )


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "statistics"])
def test_sqlite_plans_well_with_and_without_statistics(wiring: Wiring, cast: Cast, analysed: bool) -> None:
    max_ = actor_of(wiring, cast.moderator)
    _, page, hidden, counts, looks_count, looks = plans_of(
        wiring,
        lambda session: (
            queue.queue(session, max_, cast.community_id, QueueFilter(), size=50),
            author_pages.counts(session, cast.community_id, ["mallory", "trudy"], HIDDEN),
            conditions.open_counts(session, max_, cast.community_id),
            second_looks.waiting(session, max_, cast.community_id, SecondLookFilter(), limit=50),
        ),
        analysed=analysed,
    )
    assert "ix_moderation_actions_urgent" in page
    assert "TEMP B-TREE" not in page
    assert "ix_moderation_actions_hidden (community_id=? AND platform_author_id=?)" in hidden
    assert "ix_moderation_actions_second_looks" in counts
    for plan in (looks, looks_count):
        assert "ix_moderation_actions_look_list" in plan
        assert "TEMP B-TREE" not in plan


STATISTICS = {
    "sqlite_autoindex_moderation_actions_1": "21076 1",
    "ix_moderation_actions_hidden": "15944 160 160",
    "ix_moderation_actions_look_list": "409 5 5 1 1 1 1 1 1",
    "ix_moderation_actions_queued_author": "1195 13 13",
    "ix_moderation_actions_second_looks": "409 5 5 1 1 1",
    "ix_moderation_actions_state": "21076 211 44 1 1",
    "ix_moderation_actions_urgent": "1195 13 13 1 1 1 1 1 1 1",
}
"""What ``ANALYZE`` finds in SQLite at 60,000 posts of 100 communities."""


def plans_of(wiring: Wiring, read: Any, *, analysed: bool = False) -> list[str]:
    """The plans of the statements that ``read`` sends, with the database kept from reading whole tables.

    ``analysed``: SQLite plans with ``STATISTICS``; else it has none.
    """
    sent: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        sent.append((statement, parameters))

    with undone(wiring.database) as session:
        is_sqlite = session.get_bind().dialect.name == "sqlite"
        if is_sqlite and analysed:
            session.execute(sa.text("ANALYZE moderation_actions"))
            session.execute(sa.text("DELETE FROM sqlite_stat1"))
            for index, numbers in STATISTICS.items():
                row = {"index": index, "numbers": numbers}
                session.execute(
                    sa.text("INSERT INTO sqlite_stat1 VALUES ('moderation_actions', :index, :numbers)"), row
                )
            session.execute(sa.text("ANALYZE sqlite_schema"))
        if not is_sqlite:
            for way in ("seqscan", "sort", "bitmapscan", "hashagg"):
                session.execute(sa.text(f"SET LOCAL enable_{way} = off"))
        sa.event.listen(wiring.database.engine, "before_cursor_execute", note)
        try:
            read(session)
        finally:
            sa.event.remove(wiring.database.engine, "before_cursor_execute", note)
        explain = "EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN "
        connection = session.connection()
        return [
            " ".join(str(row) for row in connection.exec_driver_sql(explain + statement, parameters))
            for statement, parameters in sent
        ]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "statistics"])
def test_sqlite_finds_the_few_of_a_filter_by_its_index(wiring: Wiring, cast: Cast, analysed: bool) -> None:
    max_ = actor_of(wiring, cast.moderator)
    filters = HistoryFilter(action_types=(ActionType.DELETE,))

    def read(session: Session) -> None:
        action_history.changes(session, max_, cast.community_id, filters, size=50)
        member_lists.listed(session, SYSTEM, cast.community_id, "", Slice())
        for wanted in ({"requested_by": "nobody"}, {"dataset_name": "none"}):
            reading.listed(session, reading.matching(max_, **wanted), Slice())
        actions.listed(session, actions.matching(max_, tiers=(ActionTier.IMMEDIATE,)), Slice())

    plans = " ".join(plans_of(wiring, read, analysed=analysed))
    for index in (
        "ix_history_actions_action_type",
        "ix_memberships_community_id_created_at_id",
        "ix_requests_requested_by",
        "ix_requests_dataset",
        "ix_moderation_actions_tier",
    ):
        assert index in plans


def test_the_queue_by_ratings_counts_also_those_of_notes_that_need_no_more(
    wiring: Wiring, cast: Cast
) -> None:
    posts = [
        submit(wiring, cast, f"{factories.REVIEWED}. Number {number}.", number, "market")
        for number in range(3)
    ]
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    counts = dict(zip(posts, (1, 3, 2), strict=True))
    with wiring.database.writing() as session:
        for note in session.scalars(sa.select(Note)):
            note.ratings_count = counts[note.request_id]  # type: ignore[index]  # each is about a post
            if note.ratings_count == 2:
                note.status = NoteStatus.CURRENTLY_RATED_HELPFUL
    assert found(wiring, cast, sort=Sort.RATINGS) == [posts[1], posts[2], posts[0]]
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.reading() as session:
        middle = session.scalars(sa.select(Action).where(Action.request_id == posts[2])).one()
        before, after = queue.neighbours(session, max_, middle, QueueFilter(sort=Sort.RATINGS))
        assert session.get_one(Action, before).request_id == posts[1]
        assert session.get_one(Action, after).request_id == posts[0]
