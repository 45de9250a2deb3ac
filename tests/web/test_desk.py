"""Moderators' home, and giving away, putting aside and letting go of items."""

import uuid

import pytest

from app.core.models import Action
from app.web.filters import sentence_end
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visitor


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
        ("snooze", {"snooze": "4h"}, "Choose from the list for how long to put it aside."),
        ("snooze", {"snooze": "5"}, "Choose from the list for how long to put it aside."),
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

    assert "Put aside." in moderator.post(f"/review/{action_id}/snooze", HTMX, snooze="4").text
    assert "A hard one" not in moderator.get("/review").text
    assert "A hard one" in moderator.get("/review?snoozed=1").text
    assert "Back in the queue." in moderator.post(f"/review/{action_id}/snooze", HTMX, snooze="").text
    assert "A hard one" in moderator.get("/review").text
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).snoozed_until is None


@pytest.mark.both_databases
def test_home_shows_what_waits_and_stop_for_today_lets_go_of_everything(
    moderator: Visitor, rater: Visitor, wiring: Wiring, stage: Stage
) -> None:
    mine, other = stage.post("Mine to decide"), stage.post("Free")
    moderator.post(f"/review/{mine}/claim")
    page = moderator.get("/desk").text
    for tile in ("<strong>1</strong> Mine", "<strong>1</strong> Unclaimed", "<strong>0</strong> Overdue"):
        assert tile in page
    assert "Mine to decide" in page
    assert f"/review/{other}" not in page
    answer = moderator.post("/review/stop")
    assert answer.headers["Location"].startswith("/desk")
    page = moderator.get("/desk").text
    assert "1 claim is released." in page
    assert "<strong>0</strong> Mine" in page
    assert rater.get("/desk").status_code == 403


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
