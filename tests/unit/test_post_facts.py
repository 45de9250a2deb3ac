"""Facts of posts that rules may ask: counted when a post is scored, and stored with it."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.author_facts import NO_FACTS, author_facts
from app.core.classify import likeness
from app.core.classify.facts import FACTS
from app.core.classify.normalise import plain_text
from app.core.models import PostFacts, PostMark, Request
from app.core.permissions import SYSTEM
from app.core.requests import kept_facts, retention, submitting
from app.core.requests.submitting import Submission
from app.core.upkeep import erasure
from app.wiring import Wiring
from tests import factories
from tests.cast import COMMUNITY, PLATFORM, Cast

pytestmark = pytest.mark.both_databases

OFFER = "Lovely handmade lanterns for your porch, see them all at https://www.lantern{}.example/shop and order today"
Post = Callable[..., uuid.UUID]


@pytest.fixture
def post(wiring: Wiring, cast: Cast) -> Post:
    """Submit and score a post; return its id."""
    numbers = iter(range(1_000))

    def post_(
        content: str, author: str | None = "wren", *, ago: float = 0, score: bool = True, **more: Any
    ) -> uuid.UUID:
        with wiring.database.writing() as session:
            submission = Submission(f"r-{next(numbers)}", "forum", content, platform_author_id=author, **more)
            actor = factories.integration(cast)
            made = submitting.submit(session, actor, cast.community_id, submission).request
            made.requested_at = clock.now() - timedelta(minutes=ago)
            made_id = made.id
        if score:
            wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
        return made_id

    return post_


def facts_of(wiring: Wiring, request_id: uuid.UUID) -> dict[str, int]:
    with wiring.database.reading() as session:
        row = session.get_one(PostFacts, request_id)
        return {name: value for name in FACTS if (value := getattr(row, name)) is not None}


def test_an_author_is_counted_by_hour_and_day(wiring: Wiring, post: Post) -> None:
    post("Has anyone seen the tide tables for next week?", ago=1_500)
    post("Has anyone seen the ferry times for next week?", ago=300)
    post("The lighthouse is at https://lights.example/ now", ago=30)
    post("Somebody else speaks here", "heron", ago=20)
    last = post("And the map of it is at https://maps.example/x")
    assert (
        facts_of(wiring, last).items()
        >= {
            "author_posts_hour": 2,
            "author_posts_day": 3,
            "author_links_hour": 2,
            "author_links_day": 2,
            "host_posts_hour": 1,
        }.items()
    )


def test_posts_that_are_scored_together_count_each_other(wiring: Wiring, post: Post) -> None:
    made = [post(OFFER.format(1), f"new-{number}", score=False) for number in range(4)]
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    found = [facts_of(wiring, one) for one in made]
    assert [one["host_posts_hour"] for one in found] == [1, 2, 3, 4]
    assert [one["alike_day"] for one in found] == [1, 2, 3, 4]
    assert [one["alike_authors"] for one in found] == [1, 2, 3, 4]


def test_near_equal_texts_are_alike_and_others_are_not(wiring: Wiring, post: Post) -> None:
    post(OFFER.format(1), "a")
    post("Lovely weather for the porch, see you all at the harbour shop and have a nice day", "b")
    near = post(OFFER.format(2).replace("today", "tonight").upper() + "\u200b", "c")
    assert facts_of(wiring, near).items() >= {"alike_hour": 2, "alike_day": 2, "alike_authors": 2}.items()


def test_short_texts_are_alike_only_if_equal(wiring: Wiring, post: Post) -> None:
    post("Good   morning", "a")
    assert facts_of(wiring, post("good morning", "b"))["alike_day"] == 2
    assert facts_of(wiring, post("good mornings", "c"))["alike_day"] == 1


def test_an_edit_counts_as_the_post_that_it_edits(wiring: Wiring, post: Post) -> None:
    post("The ferry leaves at noon from the old pier", platform_message_id="m-1")
    edit = post("Join my channel at https://canal.example/ for prizes", platform_message_id="m-1")
    later = post("And another word about the harbour from me")
    assert facts_of(wiring, edit)["author_posts_day"] == 1
    assert facts_of(wiring, later).items() >= {"author_posts_day": 2, "author_links_day": 1}.items()


def test_what_is_not_known_is_no_fact(wiring: Wiring, post: Post) -> None:
    found = facts_of(wiring, post("\u200b\u2060\u200d", None, extra={"author": "wren"}))
    assert found == {}
    created = clock.iso(clock.now() - timedelta(hours=3, minutes=20))
    author = {"account_created_at": created, "trust_level": 0, "posts_count": "many"}
    found = facts_of(wiring, post("Hello everyone, I am new here", extra={"author": author}))
    assert found.items() >= {"account_age_hours": 3, "trust_level": 0}.items()
    assert "posts_count" not in found
    assert "host_posts_hour" not in found


def test_another_community_is_not_counted(wiring: Wiring, cast: Cast, post: Post) -> None:
    first = post(OFFER.format(1))
    with wiring.database.writing() as session:
        session.execute(sa.update(PostMark).values(community_id=cast.other_community_id))
    assert facts_of(wiring, first)["author_posts_day"] == 1
    assert facts_of(wiring, post(OFFER.format(1)))["alike_day"] == 1


def test_a_test_of_an_operator_has_no_facts(wiring: Wiring, post: Post) -> None:
    tested = post(OFFER.format(1), extra={submitting.TEST_MARK: True})
    with wiring.database.reading() as session:
        assert session.get(PostFacts, tested) is None
    assert facts_of(wiring, post(OFFER.format(1)))["alike_day"] == 1


def test_facts_leave_with_the_content(wiring: Wiring, post: Post) -> None:
    first, second = post(OFFER.format(1)), post("A word about the harbour from me again")
    with wiring.database.writing() as session:
        retention.empty(session, [session.get_one(Request, first)], "Removed")
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(PostFacts.request_id)).all() == [second]
        assert set(session.scalars(sa.select(PostMark.post_id))) == {second}


def test_marks_are_pruned_after_two_days(wiring: Wiring, post: Post) -> None:
    post(OFFER.format(1), ago=60 * 49)
    kept = post("A word about the harbour from me again")
    with wiring.database.writing() as session:
        assert kept_facts.prune_marks(session) > 0
        assert set(session.scalars(sa.select(PostMark.post_id))) == {kept}


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"https://h{number}.example/ " for number in range(2_000)),
        "a." * 25_000,
        "-.-" * 16_000,
        "\u200b" * 50_000,
        "x" * 50_000,
    ],
)
def test_no_text_costs_much(wiring: Wiring, post: Post, text: str) -> None:
    made = post(text)
    with wiring.database.reading() as session:
        marks = session.scalars(sa.select(PostMark).where(PostMark.post_id == made)).all()
    assert len(marks) <= 2 + 20 + 8


def test_erasing_a_person_removes_the_facts_of_their_posts(wiring: Wiring, cast: Cast, post: Post) -> None:
    extra = {"author": {"trust_level": 3}, "views": 4}
    theirs, others = post(OFFER.format(1), "wren", extra=extra), post("A word about the harbour", "heron")
    with wiring.database.writing() as session:
        erasure.erase_identity(session, SYSTEM, PLATFORM, "wren", COMMUNITY)
    with wiring.database.reading() as session:
        assert session.get(PostFacts, theirs) is None
        assert author_facts(session.get_one(Request, theirs).extra) == NO_FACTS
        assert session.get(PostFacts, others) is not None
        author = likeness.mark("author", "wren")
        assert session.scalars(sa.select(PostMark).where(PostMark.mark == author)).all() == []


def test_a_character_that_stands_for_words_is_read_no_further_than_words() -> None:
    """U+FDFA is 18 characters when it is written out: a post of it would cost as much as eighteen posts."""
    written_out = plain_text("\ufdfa" * likeness.READ)
    assert likeness.likeness_of("\ufdfa" * likeness.READ) == likeness.likeness_of(
        written_out[: likeness.READ]
    )
