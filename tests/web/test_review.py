"""The review queue: who sees it, filters, claiming, the next item, dismissing several."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.models import Account, Action, Hold, Request
from app.core.vocabulary import HelpfulnessLevel
from app.web.moderate import review as review_page
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visit, Visitor


def claimant_of(wiring: Wiring, action_id: uuid.UUID) -> uuid.UUID | None:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id).claimed_by_id


def holds_on(wiring: Wiring) -> dict[uuid.UUID, Hold]:
    with wiring.database.reading() as session:
        return {hold.action_id: hold for hold in session.scalars(sa.select(Hold)) if hold.action_id}


def chosen(wiring: Wiring, *action_ids: uuid.UUID) -> list[str]:
    """What the rows' ticks send."""
    with wiring.database.reading() as session:
        return [f"{one}.{session.get_one(Action, one).version}" for one in action_ids]


ALLOWED = {"rater": 403, "moderator": 200, "operator": 200, "admin": 200}


@pytest.mark.parametrize(("who", "status"), [*ALLOWED.items(), ("outsider", 404), (None, 303)])
def test_only_moderators_and_above_see_the_queue(
    visit: Visit, cast: Cast, stage: Stage, who: str | None, status: int
) -> None:
    stage.post("Something to look at")
    visitor = visit(getattr(cast, who) if who else None)
    with_wiring = visitor.get("/review?community=harbour-forum")
    assert with_wiring.status_code == status
    assert ("Something to look at" in with_wiring.text) is (status == 200)


@pytest.mark.parametrize("path", ["/review/next", "/review/dismiss"])
@pytest.mark.parametrize(
    ("who", "refused"), [("rater", 403), ("outsider", 404), (None, 401), ("moderator", 0)]
)
def test_only_moderators_and_above_act_on_the_queue(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage, path: str, who: str | None, refused: int
) -> None:
    action_id = stage.post()
    visitor = visit(getattr(cast, who) if who else None)
    answer = visitor.post(
        f"{path}?community=harbour-forum", item=chosen(wiring, action_id), reason="Banter between friends"
    )
    assert answer.status_code == (refused or 303)
    changed = claimant_of(wiring, action_id) is not None or bool(holds_on(wiring))
    assert changed is (not refused)


def test_the_empty_queue_says_so_and_so_do_filters_that_match_nothing(
    moderator: Visitor, stage: Stage
) -> None:
    assert "Queue clear" in moderator.get("/review").text
    stage.post("An ordinary insult")
    page = moderator.get("/review?q=unfindable").text
    assert "No items match." in page
    assert "Clear filters" in page


@pytest.mark.both_databases
def test_filters_narrow_the_list_and_stay_in_the_address(moderator: Visitor, stage: Stage) -> None:
    stage.post("Buy followers here", category="spam")
    stage.post("You are an idiot", category="toxicity")
    page = moderator.get("/review?category=spam").text
    assert "Buy followers here" in page
    assert "You are an idiot" not in page
    assert "category=spam" in page
    assert "You are an idiot" in moderator.get("/review?q=IDIOT").text
    assert "Buy followers here" not in moderator.get("/review?q=IDIOT").text


def test_a_filter_that_cannot_be_read_is_named(moderator: Visitor, stage: Stage) -> None:
    stage.post()
    answer = moderator.get("/review?sort=sideways")
    assert answer.status_code == 422
    assert "Not a valid choice" in answer.text


@pytest.mark.both_databases
@pytest.mark.parametrize("sort", ["oldest", "newest", "score", "ratings"])
def test_pages_follow_each_other_and_back_while_rows_leave_the_queue(
    moderator: Visitor,
    wiring: Wiring,
    stage: Stage,
    jobs: InlineEngine,
    monkeypatch: pytest.MonkeyPatch,
    sort: str,
) -> None:
    monkeypatch.setattr(review_page, "PAGE_SIZE", 2)
    for number in range(5):
        action_id = stage.post(f"Post number {number}")
        stage.rate(action_id, *[HelpfulnessLevel.SOMEWHAT_HELPFUL] * (number % 3))
    first = moderator.get(f"/review?sort={sort}").text
    assert "1 to 2 of 5" in first
    second = moderator.get(_link(first, "next")).text
    assert "3 to 4 of 5" in second
    third = moderator.get(_link(second, "next")).text
    assert "5 to 5 of 5" in third
    assert not _link(third, "next")
    seen = [number for page in (first, second, third) for number in _numbers(page)]
    assert sorted(seen) == list(range(5))
    assert _numbers(moderator.get(_link(third, "prev")).text) == _numbers(second)

    # The row that the next page begins after is dismissed meanwhile: nothing is skipped.
    moderator.post("/review/dismiss", item=_ticks(second), reason="Banter")
    advance(11)
    jobs.run_all()
    assert _numbers(moderator.get(_link(second, "next")).text) == _numbers(third)
    assert "3 to 3 of 3" in moderator.get(_link(second, "next")).text


@pytest.mark.both_databases
def test_beyond_the_end_stands_the_last_page_and_an_unknown_row_begins_anew(
    moderator: Visitor, stage: Stage
) -> None:
    action_id, foreign = stage.post("The only one"), stage.post("Elsewhere", away=True)
    for query in (
        f"after={action_id}",
        f"before={action_id}",
        f"after={uuid.uuid4()}",
        f"after={foreign}",
        "after=x",
    ):
        assert "1 to 1 of 1" in moderator.get(f"/review?{query}").text, query


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("100%25", {"A discount of 100% today"}),
        ("0_o", {"A face: 0_o"}),
        ("%25", {"A discount of 100% today"}),
        ("_", {"A face: 0_o"}),
        ("POST-2", {"A face: 0_o"}),
    ],
)
def test_search_takes_each_character_as_itself_and_knows_ids(
    moderator: Visitor, stage: Stage, query: str, found: set[str]
) -> None:
    texts = ("A discount of 100% today", "A face: 0_o", "Neither of both")
    for text in texts:
        stage.post(text)
    page = moderator.get(f"/review?q={query}").text
    assert {text for text in texts if text in page} == found


@pytest.mark.both_databases
def test_search_finds_an_item_by_its_author_its_message_and_our_ids(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    wanted, other = stage.post("The one"), stage.post("Another")
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, wanted).request_id)
        request.platform_author_id, request.platform_message_id = "kai-7", "m-4711"
        request_id = request.id
    for text in ("KAI-7", "4711", str(wanted), str(request_id)):
        page = moderator.get(f"/review?q={text}").text
        assert str(wanted) in page, text
        assert f"row-{other}" not in page, text


def test_fifty_rows_cost_as_many_queries_as_one(
    moderator: Visitor, stage: Stage, statements: Callable[[], Any]
) -> None:
    stage.post()
    moderator.get("/review")
    with statements() as few:
        moderator.get("/review")
    for _ in range(49):
        stage.post()
    with statements() as many:
        page = moderator.get("/review").text
    assert page.count("data-row-link") == 50
    assert len(many) == len(few)


def test_two_moderators_claim_one_item_and_the_second_hears_who_has_it(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    assert moderator.post(f"/review/{action_id}/claim", HTMX).status_code == 200
    answer = operator.post(f"/review/{action_id}/claim", HTMX)
    assert answer.status_code == 409
    assert "Claimed by Moderator" in answer.text
    assert claimant_of(wiring, action_id) == cast.moderator.account_id


@pytest.mark.both_databases
def test_a_claim_ends_after_ten_minutes_unless_the_open_page_renews_it(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    moderator.post(f"/review/{action_id}/claim")
    advance(8 * 60)
    assert moderator.post(f"/review/{action_id}/renew", HTMX).status_code == 204
    advance(8 * 60)
    assert operator.post(f"/review/{action_id}/claim", HTMX).status_code == 409
    advance(3 * 60)
    assert operator.post(f"/review/{action_id}/claim", HTMX).status_code == 200
    assert claimant_of(wiring, action_id) == cast.operator.account_id


def test_released_items_are_free_again(moderator: Visitor, wiring: Wiring, stage: Stage) -> None:
    action_id = stage.post()
    moderator.post(f"/review/{action_id}/claim?at=queue")
    answer = moderator.post(f"/review/{action_id}/release?at=queue&category=spam")
    assert answer.headers["Location"] == f"/review?category=spam#row-{action_id}"
    assert claimant_of(wiring, action_id) is None


def test_a_row_claimed_with_script_comes_back_alone(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    answer = moderator.post(f"/review/{action_id}/claim?at=queue", HTMX)
    assert answer.text.lstrip().startswith("<tr")
    assert "Release" in answer.text


def test_review_next_claims_the_first_free_item_of_the_filtered_queue(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    stage.post("Oldest, but an insult")
    taken = stage.post("Taken by somebody", category="spam")
    wanted = stage.post("The one", category="spam")
    operator.post(f"/review/{taken}/claim")
    answer = moderator.post("/review/next?category=spam")
    assert answer.headers["Location"] == f"/review/{wanted}?category=spam&next=1"
    assert claimant_of(wiring, wanted) == cast.moderator.account_id


def test_skipping_goes_round_the_queue_and_lets_go_of_each(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    ids = [stage.post() for _ in range(3)]
    seen, url = [], "/review/next"
    for _ in range(4):
        target = moderator.post(url).headers["Location"]
        seen.append(target.split("?")[0].rsplit("/", 1)[-1])
        url = f"/review/next?after={seen[-1]}"
    assert seen == [str(one) for one in [*ids, ids[0]]]
    assert [claimant_of(wiring, one) is not None for one in ids] == [True, False, False]


@pytest.mark.both_databases
@pytest.mark.parametrize("sort", ["oldest", "newest", "score", "ratings"])
def test_skipping_reaches_every_item_in_every_order(moderator: Visitor, stage: Stage, sort: str) -> None:
    ids = {str(stage.post()) for _ in range(3)}
    seen, url = [], f"/review/next?sort={sort}"
    for _ in range(3):
        target = moderator.post(url).headers["Location"]
        seen.append(target.split("?")[0].rsplit("/", 1)[-1])
        url = f"/review/next?sort={sort}&after={seen[-1]}"
    assert set(seen) == ids


def test_review_next_says_so_when_everything_is_taken(moderator: Visitor, stage: Stage) -> None:
    assert moderator.post("/review/next").headers["Location"] == "/review"
    assert "The queue has nothing that you could claim" in moderator.get("/review").text


def test_the_bar_takes_back_the_newest_decision_alone_or_all_of_them(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    ids = [stage.post(f"Post {number}") for number in range(3)]
    for action_id in ids:
        moderator.post("/review/dismiss", item=chosen(wiring, action_id), reason="Banter")
        advance(0.1)
    page = moderator.get("/review").text
    assert "The newest: “Post 2” stays as it is." in page
    bar = page[page.index('id="undo-bar"') :]
    address = re.search(r'action="(/holds/[0-9a-f-]{36}/undo[^"]*)"', bar)
    assert address
    answer = moderator.post(address.group(1).replace("&amp;", "&"))
    assert answer.headers["Location"] == f"/review#row-{ids[-1]}"
    assert set(holds_on(wiring)) == set(ids[:2])
    assert "Undo all" in moderator.get("/review").text


def test_rows_whose_time_is_over_come_back_decided(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    moderator.post("/review/dismiss", item=chosen(wiring, action_id), reason="Banter")
    advance(11)
    jobs.run_all()
    answer = moderator.get(f"/review/settled?item={action_id}.0", **HTMX).text
    assert f'id="row-{action_id}"' in answer
    assert "Dismissed" in answer
    assert "Undo" not in answer


def test_the_first_view_of_a_long_queue_stays_light(moderator: Visitor, stage: Stage) -> None:
    for _ in range(51):
        stage.post("A post that is long enough to fill the whole width of the column and then some more" * 3)
    page = moderator.get("/review").text
    assert "1 to 50 of 51" in page
    assert len(re.findall(r"<[a-z]", page)) < 1_500


def test_sensitive_posts_are_not_shown_in_lists_while_content_warnings_are_on(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post("Words that hurt somebody", category="threat")
    with wiring.database.writing() as session:
        request_id = session.get_one(Action, action_id).request_id
        session.get_one(Request, request_id).platform_author_id = "kim"
    stage.post("A harmless quarrel")
    page = moderator.get("/review").text
    assert "hurt" not in page
    assert "Content hidden" in page
    assert "Claim: Content hidden, Threat" in page
    assert "A harmless quarrel" in page
    assert "hurt" not in moderator.get("/history").text
    moderator.post("/review/dismiss", item=chosen(wiring, action_id), reason="Seen", unseen="1")
    page = moderator.get("/review").text
    assert "A post by kim (threat) stays as it is." in page
    assert "hurt" not in page

    with wiring.database.writing() as session:
        session.get_one(Account, cast.moderator.account_id).content_warnings = False
    assert "Words that hurt somebody" in moderator.get("/review").text


def _link(page: str, rel: str) -> str:
    _, found, rest = page.partition(f'rel="{rel}" href="')
    return rest.partition('"')[0].replace("&amp;", "&") if found else ""


def _numbers(page: str) -> list[int]:
    return [int(number) for number in re.findall(r"data-row-link[^>]*>Post number (\d)<", page)]


def _ticks(page: str) -> list[str]:
    return re.findall(r'name="item" value="([^"]+)"', page)
