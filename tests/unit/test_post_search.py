"""Search among many posts: a rare text is found in all of them, a common one in the newest."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Request
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.review import post_search, queue_filters
from app.core.review.queue_filters import QueueFilter
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine

POSTS = 1_300
"""More than a search reads one by one."""
pytestmark = pytest.mark.both_databases


@pytest.fixture
def ids(wiring: Wiring, cast: Cast) -> list[uuid.UUID]:
    """Posts, newest first: every second with *Harbour*, every 90th with *quay*, every 320th with *harbour pier*."""
    now = clock.now()
    rows = [
        {
            "id": uuid.uuid4(),
            "community_id": cast.community_id,
            "request_id": f"post-{number}",
            "requested_by": "bot",
            "content": " ".join(
                word
                for word, every in (("Harbour", 2), ("and", 1), ("quay", 90), ("harbour pier", 320))
                if number % every == 0
            ),
            "content_sha256": "0" * 64,
            "requested_at": now - timedelta(minutes=number),
        }
        for number in range(POSTS)
    ]
    with wiring.database.writing() as session:
        session.execute(sa.insert(Request), rows)
    with wiring.database.engine.connect().execution_options(
        isolation_level="AUTOCOMMIT", writing=True
    ) as connection:
        connection.exec_driver_sql("ANALYZE")
    return [row["id"] for row in rows]


def test_older_posts_are_found_by_the_index_or_as_far_as_the_share_tells(
    wiring: Wiring, cast: Cast, ids: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    with wiring.database.reading() as session:

        def newest(text: str, most: int = 60) -> tuple[list[uuid.UUID], bool]:
            found, may_be_more = post_search.newest(session, cast.community_id, text, None, most)
            return list(found), may_be_more

        assert newest("harbour") == (ids[::2][:60], True), "enough in the newest posts"
        assert newest("QUAY") == (ids[::90], False)
        assert newest("quay", 14) == (ids[::90][:14], True)
        assert newest("harbour pier") == (ids[::320], False)
        assert newest("nowhere") == ([], False)
        assert post_search.few(session, cast.community_id, "harbour pier") is not None
        monkeypatch.setattr(post_search, "RARE", 0)
        monkeypatch.setattr(post_search, "indexed_posts", lambda *_: None)
        assert newest("quay") == (ids[::90], False), "all posts are as few as would be read"
        assert post_search.few(session, cast.community_id, "harbour pier") is None
        monkeypatch.setattr(post_search, "FURTHEST", 1_100)
        assert newest("quay") == (ids[:1101:90], True)


def test_posts_after_a_moment_are_not_searched(wiring: Wiring, cast: Cast, ids: list[uuid.UUID]) -> None:
    until = clock.now() - timedelta(minutes=650)
    with wiring.database.reading() as session:
        found, _ = post_search.newest(session, cast.community_id, "quay", until, 60)
        assert set(found) <= set(ids[649:]) & set(ids[::90])
        assert set(found) >= set(ids[651:]) & set(ids[::90])


def test_the_id_of_a_submission_without_an_item_finds_the_item_of_its_post(
    wiring: Wiring, jobs: InlineEngine, cast: Cast
) -> None:
    edit = "What a fool you are, and the whole market has known it for years"
    for name, text in (("first", factories.REVIEWED), ("repeated", factories.REVIEWED), ("edited", edit)):
        with wiring.database.writing() as session:
            submission = Submission(name, "bot", text, platform_message_id="m-1")
            submitting.submit(session, factories.integration(cast), cast.community_id, submission)
        jobs.run_all()
    factories.scored_action(wiring, cast, factories.SPAM, "another")
    with wiring.database.reading() as session:
        moderator = factories.moderator(cast)
        item = post_search.exact(session, cast.community_id, "first")
        assert len(item) == 1
        for name in ("repeated", "edited"):
            own_id = session.scalars(sa.select(Request.id).where(Request.request_id == name)).one()
            for text in (name, str(own_id)):
                filters = QueueFilter(search=text)
                found = queue_filters.filtered(session, moderator, cast.community_id, filters)
                assert [action.id for action in session.scalars(found)] == item
            assert list(post_search.exact(session, cast.other_community_id, name)) == []
