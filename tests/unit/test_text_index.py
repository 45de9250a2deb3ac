"""SQLite's index of search: it finds what reading every post finds, and forgets what is removed."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import HistoryText, Request
from app.core.permissions import SYSTEM
from app.core.review import post_search
from app.jobs.upkeep import prune
from app.wiring import Wiring
from tests.cast import Cast

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

WORDS = {
    "harbour": 1,
    "Quay": 2,
    "100% rope": 7,
    "under_score": 90,
    'a "quoted" one': 320,
    "日本語の文": 440,
    "ab": 500,
}
"""Each word, and which posts have it: every so many."""
POSTS = 1_300


def fill(wiring: Wiring, cast: Cast) -> None:
    """Posts, the older ones beyond what a search reads by itself; with ``WORDS``."""
    now = clock.now()
    rows = [
        {
            "community_id": cast.community_id,
            "request_id": f"post-{number}",
            "requested_by": "bot",
            "content": " and ".join(word for word, every in WORDS.items() if number % every == 0),
            "content_sha256": "0" * 64,
            "platform_author_id": f"author-{number}",
            "requested_at": now - timedelta(minutes=number),
        }
        for number in range(POSTS)
    ]
    with wiring.database.writing() as session:
        session.execute(sa.insert(Request), rows)


def test_a_search_finds_what_reading_every_post_finds(wiring: Wiring, cast: Cast) -> None:
    fill(wiring, cast)
    quoted = 'a "quoted" one'
    texts = (*WORDS, "quay", "HARBOUR", "author-1200", "post-1299", "0% r", "%", "nowhere", 'x" OR "y', "an")
    with wiring.database.reading() as session:
        assert post_search.indexed_posts(session, quoted)
        assert post_search.indexed_posts(session, "ab") is None, "too short"
        assert post_search.indexed_posts(session, "author") is None, "too many"
        assert post_search.indexed_posts(session, "nowhere") == []
        posts = session.scalars(sa.select(Request).order_by(Request.requested_at.desc())).all()
        for text in texts:
            expected = [
                post.id
                for post in posts
                if any(
                    text.lower() in part.lower()
                    for part in (post.content, f"{post.platform_author_id} {post.request_id}")
                )
            ]
            newest, _ = post_search.newest(session, cast.community_id, text, None, 60)
            assert newest == expected[:60], text
            assert (len(expected) > 0) is (text not in ("nowhere", 'x" OR "y')), text


def test_what_is_removed_leaves_the_index(wiring: Wiring, cast: Cast) -> None:
    fill(wiring, cast)
    with wiring.database.writing() as session:
        post = session.scalars(sa.select(Request).where(Request.request_id == "post-7")).one()
        post.content = "A wombat sings"
        entry = history.record(
            session,
            SYSTEM,
            cast.community_id,
            "x.y",
            "request",
            post.id,
            reason=Reason("Because of a wombat"),
        )
    with wiring.database.writing() as session:
        assert post_search.indexed_posts(session, "WOMBAT") == [post.id]
        assert post_search.indexed_reasons(session, "wombat") == [entry.id]
        session.get_one(Request, post.id).content = "Removed after 3 days"
        session.get_one(HistoryText, entry.id).reason = ""
        session.execute(
            sa.delete(Request).where(Request.request_id.in_([f"post-{n}" for n in range(100, 200)]))
        )
    prune(wiring)
    with wiring.database.writing() as session:
        assert (
            post_search.indexed_posts(session, "wombat")
            == post_search.indexed_reasons(session, "wombat")
            == []
        )
        assert post_search.indexed_posts(session, "Removed after") == [post.id]
        assert post_search.indexed_posts(session, "author-150") == []
        for table in ("requests", "history_texts"):
            # Not even marked as removed: the parts that held it were merged.
            assert _terms(session, table).isdisjoint({"wom", "omb", "mba", "bat"})
        assert "bou" in _terms(session, "requests")


def _terms(session: Session, table: str) -> set[str]:
    """Every trigram that the parts of the index hold, read by SQLite's own look into them."""
    session.execute(sa.text(f"CREATE VIRTUAL TABLE temp.seen USING fts5vocab(main, search_{table}, row)"))
    terms = set(session.scalars(sa.text("SELECT term FROM temp.seen")))
    session.execute(sa.text("DROP TABLE temp.seen"))
    return terms
