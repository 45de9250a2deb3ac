"""Moderators' home, and giving away, putting aside and letting go of items."""

import html
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.models import Action, Hold
from app.core.review import holds
from app.core.vocabulary import HelpfulnessLevel
from app.web import reader_zone
from app.web.filters import sentence_end
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import at
from tests.web.conftest import HTMX, Stage, Visit, Visitor


def test_an_item_is_given_to_a_colleague_put_aside_and_taken_back(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post("A hard one")
    assert "Assign to" in moderator.get(f"/review/{action_id}").text
    answer = moderator.post(
        f"/review/{action_id}/assign", HTMX, assignee=str(cast.operator.account_id), handover="For you?"
    )
    assert "Assigned to Operator." in answer.text
    assert "For <bdi>Operator</bdi>" in moderator.get("/review").text
    assert "For <bdi>you</bdi>" in operator.get("/review").text
    notices = operator.get("/notices").text
    assert "<bdi>Moderator</bdi> gave you" in notices
    assert "For you?" in notices
    again = moderator.post(
        f"/review/{action_id}/assign", HTMX, assignee=str(cast.operator.account_id), handover="It is urgent."
    )
    assert "Assigned to Operator." in again.text
    assert "It is urgent." in operator.get("/notices").text
    theirs = str(cast.operator.account_id)
    for path, sent, why in (
        (
            "assign",
            {"assignee": str(uuid.uuid4())},
            "Assign to must be a moderator of this community.",
        ),
        ("assign", {"assignee": "somebody"}, "Choose from the list whom to assign it to."),
        ("assign", {"assignee": theirs, "handover": "x" * 10_001}, "For them must be at most"),
        ("snooze", {"snooze": "4h"}, "Choose from the list for how long to snooze it."),
        ("snooze", {"snooze": "5"}, "Choose from the list for how long to snooze it."),
    ):
        refused = moderator.post(f"/review/{action_id}/{path}", HTMX, **sent)
        assert refused.status_code == 422
        assert why in refused.text
    typed = {"handover": "A word for you", "reason": "What I think", "version": "7"}
    late = moderator.post(
        f"/review/{action_id}/assign", HTMX, assignee=str(cast.operator.account_id), **typed
    )
    assert late.status_code == 409
    assert "A word for you" in late.text
    assert "What I think" in late.text
    stale = moderator.post(f"/review/{action_id}/snooze", HTMX, snooze="4", version="7")
    assert stale.status_code == 409
    assert "look again" in stale.text

    assert "Snoozed." in moderator.post(f"/review/{action_id}/snooze", HTMX, snooze="4").text
    assert "A hard one" not in moderator.get("/review").text
    assert "A hard one" in moderator.get("/review?snoozed=1").text
    assert "Back in the queue." in moderator.post(f"/review/{action_id}/snooze", HTMX, snooze="").text
    assert "A hard one" in moderator.get("/review").text
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).snoozed_until is None


def _figures(page: str) -> dict[str, str]:
    """The links to rows, by their words."""
    found = re.findall(r'<a href="([^"]+)"[^>]*>((?:(?!</a>).)*)</a>', page)
    return {" ".join(re.sub("<[^>]+>", " ", words).split()): html.unescape(url) for url, words in found}


def _late(wiring: Wiring, *action_ids: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        for action_id in action_ids:
            action = session.get_one(Action, action_id)
            action.due_at = action.created_at


@pytest.mark.both_databases
def test_home_shows_what_waits_and_stop_for_today_lets_go_of_everything(
    moderator: Visitor, stage: Stage
) -> None:
    mine, other = stage.post("Mine to decide"), stage.post("Free")
    moderator.post(f"/review/{mine}/claim")
    page = moderator.get("/desk").text
    assert (
        _figures(page).items()
        >= {
            "1 Yours": "/review?claimed_by=me",
            "1 Unclaimed": "/review?claimed_by=nobody",
        }.items()
    )
    assert "0 Overdue" not in _figures(page), "nothing to open"
    assert "Mine to decide" in page
    assert f"/review/{other}" not in page
    answer = moderator.post("/review/stop")
    assert answer.headers["Location"].startswith("/desk")
    page = moderator.get("/desk").text
    assert "1 claim is released." in page
    assert "1 Yours" not in _figures(page)
    assert "2 Unclaimed" in _figures(page)


def test_in_a_run_what_is_handed_over_opens_the_next_item(
    moderator: Visitor, cast: Cast, stage: Stage
) -> None:
    given, aside, sent, last = (stage.post(text) for text in ("One", "Two", "Three", "Four"))
    order = "sort=oldest&next=1"
    for action_id, verb, posted, following in (
        (given, "assign", {"assignee": str(cast.operator.account_id)}, aside),
        (aside, "snooze", {"snooze": "4"}, sent),
        (sent, "escalate", {"reason": "Legal?"}, last),
    ):
        answer = moderator.post(f"/review/{action_id}/{verb}?{order}", **posted)
        assert answer.status_code == 303, verb
        assert answer.headers["Location"].startswith(f"/review/{following}?"), verb
        assert "next=1" in answer.headers["Location"]
    # What is one's own stays open, and so does a form with text in it.
    mine = moderator.post(f"/review/{last}/assign?{order}", assignee=str(cast.moderator.account_id))
    assert mine.headers["Location"].startswith(f"/review/{last}?")
    kept = moderator.post(f"/review/{last}/snooze?{order}", HTMX, snooze="4", reason="Half", version="1")
    assert "HX-Redirect" not in kept.headers
    assert "Half" in kept.text


@pytest.mark.parametrize(("name", "ended"), [("Sam", "Sam."), ("Marta H.", "Marta H."), ("Who?", "Who?")])
def test_a_name_that_ends_a_sentence_gets_no_second_full_stop(name: str, ended: str) -> None:
    assert sentence_end(name) == ended


@pytest.mark.both_databases
def test_home_names_the_worst_of_what_is_overdue_and_leads_to_its_oldest(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    insult, first, second = (
        stage.post("Rude"),
        *(stage.post(text, category="threat") for text in ("I will find you", "Wait and see")),
    )
    _late(wiring, insult, first, second)
    page = moderator.get("/desk").text
    links = _figures(page)
    assert links["3 overdue"] == "/review?overdue=1"
    assert links["2 of them threats"] == "/review?overdue=1&category=threat"
    for words in ("3 overdue", "2 of them threats"):
        assert len(set(re.findall(r'id="row-([^"]+)"', moderator.get(links[words]).text))) == int(words[0])
    assert "Review the oldest: Threat" in page
    asked = re.search(r'action="(/review/next[^"]*)"', page)
    assert asked
    answer = moderator.post(html.unescape(asked[1]))
    assert answer.headers["Location"].startswith(f"/review/{first}?"), "the oldest threat"


def test_home_of_one_category_says_all(moderator: Visitor, wiring: Wiring, stage: Stage) -> None:
    late = [stage.post(f"Threat {number}", category="threat") for number in range(2)]
    _late(wiring, late[0])
    assert _figures(moderator.get("/desk").text).keys() >= {"1 overdue", "threat"}
    _late(wiring, late[1])
    assert _figures(moderator.get("/desk").text).keys() >= {"2 overdue", "all threats"}


@pytest.mark.both_databases
def test_the_bars_of_the_week_lead_to_what_the_moderator_did_that_day(
    moderator: Visitor, operator: Visitor, stage: Stage
) -> None:
    ids = [stage.post(f"Post {number}") for number in range(4)]
    assert "What you do each day appears here." in moderator.get("/desk").text
    for visitor, action_id in zip((moderator, moderator, operator), ids, strict=False):
        visitor.post(f"/review/{action_id}/decide", verb="dismiss", reason="Fine", version="1")
    (url,) = [
        one
        for words, one in _figures(moderator.get("/desk").text).items()
        if words.startswith("2 ") and "mine=1" in one
    ]
    listed = moderator.get(url).text
    assert "2 changes" in listed
    assert "Remove the filter By You" in re.sub("<[^>]+>", "", listed)
    assert "1 change<" in operator.get(url).text


@pytest.mark.both_databases
def test_home_says_what_happened_since_the_last_visit_and_shows_exactly_that(
    visit: Visit, cast: Cast, stage: Stage, pass_time: Callable[[timedelta], None]
) -> None:
    stage.post("Long ago")
    first = visit(cast.moderator)
    assert "Since you were last here" not in first.get("/desk").text, "never here before"
    pass_time(timedelta(hours=9))
    stage.post("In the night")
    stage.post("Late at night")
    page = visit(cast.moderator).get("/desk").text
    assert "Since you were last here" in page
    url = _figures(page)["2 Came to review"]
    listed = visit(cast.moderator).get(url).text
    assert "2 changes" in listed
    assert "Long ago" not in listed
    assert "Since" in listed
    assert "Since you were last here" in visit(cast.moderator).get("/desk").text, (
        "the same visit, in another browser"
    )


def test_queues_with_their_counts_and_who_else_is_here(
    moderator: Visitor, operator: Visitor, stage: Stage
) -> None:
    for category in ("spam", "spam", "toxicity"):
        stage.post(f"A post of {category}", category=category)
    operator.post("/review/filters?category=spam", name="Spam, night shift", shared="y")
    assert "Spam, night shift" not in moderator.get("/desk").text, "a filter, but no queue yet"
    made = re.search(r'action="(/review/filters/[^"]+/queue)', operator.get("/review?category=spam").text)
    assert made
    operator.post(made[1], position="1")
    operator.get("/desk")
    links = _figures(moderator.get("/desk").text)
    assert links["Spam, night shift 2"] == "/review?category=spam"
    assert links["Review queue 3"] == "/review"
    assert "Operator" in moderator.get("/desk").text
    assert "Here now" in moderator.get("/desk").text


def test_home_asks_the_database_as_often_with_many_rows_as_with_few(
    moderator: Visitor, wiring: Wiring, stage: Stage, statements: Callable[[], Any]
) -> None:
    def count() -> int:
        with statements() as seen:
            assert moderator.get("/desk").status_code == 200
        return len(seen)

    _late(wiring, stage.post("One", category="threat"))
    few = count()
    _late(wiring, *(stage.post(f"More {number}", category="threat") for number in range(6)))
    assert count() == few


def test_raters_have_a_home_that_says_what_needs_them(rater: Visitor, stage: Stage) -> None:
    assert "Nothing needs your help now." in rater.get("/desk").text
    stage.post("One")
    page = rater.get("/desk").text
    assert _figures(page)["1 post needs your answer"] == "/help-needed"
    assert "Overdue" not in page
    assert "What became of your answers appears here." in page


@pytest.mark.parametrize(
    ("hour", "zone", "greeting"),
    [
        (3, "UTC", "Good evening."),
        (4, "UTC", "Good morning."),
        (12, "UTC", "Good afternoon."),
        (18, "UTC", "Good evening."),
        (3, "Asia/Tokyo", "Good afternoon."),
        (3, "", "Hello."),
    ],
)
def test_the_greeting_follows_the_time_where_the_reader_is(
    visit: Visit, cast: Cast, hour: int, zone: str, greeting: str
) -> None:
    at(datetime(2030, 1, 1, hour, 30, tzinfo=UTC))
    moderator = visit(cast.moderator)
    if zone:
        moderator.client.set_cookie(reader_zone.COOKIE, zone)
    assert f"<h1>{greeting}" in moderator.get("/desk").text


def test_an_empty_queue_names_the_last_decision_and_what_is_nearest_to_one(
    moderator: Visitor, stage: Stage
) -> None:
    assert "Last decision" not in moderator.get("/review").text
    done, *aside = (stage.post(text) for text in ("Done with", "Nobody rated", "Two rated", "One rated"))
    stage.rate(aside[1], HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL)
    stage.rate(aside[2], HelpfulnessLevel.HELPFUL)
    for action_id in aside:
        moderator.post(f"/review/{action_id}/snooze", HTMX, snooze="4")
    moderator.post(f"/review/{done}/decide", verb="dismiss", reason="Fine", version="1")
    with stage.wiring.database.writing() as session:
        holds.carry_out(session, session.scalars(sa.select(Hold.id)).one())
    page = moderator.get("/review").text
    words = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "Queue clear" in page
    assert "Last decision: Dismissed, “Done with” by Moderator" in words
    order = [words.index(text) for text in ("Two rated", "One rated", "Nobody rated")]
    assert order == sorted(order)
    assert "Two rated Toxicity, 2 ratings" in words


@pytest.mark.both_databases
def test_a_raters_week_has_a_bar_a_day_and_each_leads_to_the_answers_behind_it(
    visit: Visit, cast: Cast, stage: Stage
) -> None:
    """In the week of the change from summer time, whose Sunday has 25 hours."""
    days = [
        ("Fri", datetime(2026, 10, 23, 22, 30, tzinfo=UTC)),  # Saturday in Berlin
        ("Sat", datetime(2026, 10, 24, 21, 59, tzinfo=UTC)),
        ("Sun", datetime(2026, 10, 24, 22, 0, tzinfo=UTC)),
        ("Sun", datetime(2026, 10, 25, 22, 59, tzinfo=UTC)),
        ("Mon", datetime(2026, 10, 25, 23, 0, tzinfo=UTC)),
    ]
    at(days[0][1])
    fresh = visit(cast.rater)
    assert "Your week" not in fresh.get("/desk").text, "nothing to show yet"
    for _day, moment in days:
        at(moment)
        assert visit(cast.rater).post(f"/review/{stage.post()}/answer", answer="yes").status_code == 303
    at(datetime(2026, 10, 29, 12, tzinfo=UTC))
    rater = visit(cast.rater)
    rater.client.set_cookie(reader_zone.COOKIE, "Europe/Berlin")
    page = rater.get("/desk").text
    week = re.findall(r"<b>(\d)</b> <small>(\w+)</small>", page)
    assert week == [
        ("0", "Fri"),
        ("2", "Sat"),
        ("2", "Sun"),
        ("1", "Mon"),
        *(("0", day) for day in ("Tue", "Wed", "Thu")),
    ]
    opened = {words: url for words, url in _figures(page).items() if words[-3:] in {"Sat", "Sun", "Mon"}}
    assert set(opened) == {"2 Sat", "2 Sun", "1 Mon"}
    for words, url in opened.items():
        rows = rater.get(url.partition("#")[0]).text
        assert rows.count("<tr data-row>") == int(words[0])
        assert f"{words[0]} row" in rows
