"""Content behind "Show content": nobody answers or decides about a post that was not shown to them."""

import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.models import Account, Hold
from app.core.vocabulary import HelpfulnessLevel
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visitor, only_hold
from tests.web.test_second_looks import applied

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
POST = "A threat of violence."
WORDS = "Choose “Show content” first"
BOTH = pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])


@pytest.fixture
def veiled(stage: Stage) -> uuid.UUID:
    return stage.post(POST, category="threat")


def holds(wiring: Wiring) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Hold)) or 0


def fields(**more: str) -> dict[str, str]:
    return {"verb": "dismiss", "reason": "A long and careful reason", "version": "1", **more}


@BOTH
@pytest.mark.parametrize("path", ["/help-needed/{}", "/review/{}/answer"])
def test_an_answer_about_an_unseen_post_is_refused_and_one_about_a_seen_post_is_kept(
    rater: Visitor, cast: Cast, stage: Stage, veiled: uuid.UUID, headers: dict[str, str], path: str
) -> None:
    for seen in ({}, {"seen": ""}, {"seen": str(uuid.uuid4())}):
        refused = rater.post(path.format(veiled), headers, answer="yes", **seen)
        assert refused.status_code == 422
        assert WORDS in refused.text
    assert stage.own_rating(veiled, cast.rater) is None
    rater.post(path.format(veiled), headers, answer="yes", seen=str(veiled))
    assert stage.own_rating(veiled, cast.rater) is HelpfulnessLevel.HELPFUL


def test_a_post_can_be_skipped_unseen(rater: Visitor, veiled: uuid.UUID) -> None:
    assert rater.post(f"/help-needed/{veiled}", skip="1").status_code == 303
    assert "Nothing needs your help" in rater.get("/help-needed").text


@BOTH
def test_a_decision_about_an_unseen_post_is_refused_and_its_text_and_verb_stay(
    moderator: Visitor, wiring: Wiring, veiled: uuid.UUID, headers: dict[str, str]
) -> None:
    refused = moderator.post(f"/review/{veiled}/decide", headers, **fields())
    assert refused.status_code == 422
    assert WORDS in refused.text
    assert "A long and careful reason" in refused.text
    assert "You chose <strong>Dismiss</strong>." in refused.text
    assert only_hold(wiring) is None
    moderator.post(f"/review/{veiled}/decide", headers, **fields(seen=str(veiled)))
    assert only_hold(wiring) is not None


def test_showing_the_content_after_a_refusal_keeps_what_was_typed(
    moderator: Visitor, wiring: Wiring, veiled: uuid.UUID
) -> None:
    shown = moderator.post(f"/review/{veiled}/decide", **fields(show=str(veiled)))
    assert shown.status_code == 200
    assert "A long and careful reason" in shown.text
    assert "Hide content" in shown.text
    assert f'name="seen" value="{veiled}"' in shown.text
    assert only_hold(wiring) is None


def test_a_second_look_at_an_unseen_post_is_asked_about_first(
    moderator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = applied(wiring, cast)
    with wiring.database.writing() as session:
        session.execute(sa.text("UPDATE moderation_actions SET category = 'threat'"))
    ticked = {"item": f"{action_id}.2", "verb": "confirm", "reason": "A long and careful reason"}
    refused = moderator.post("/second-look/decide", **ticked)
    assert refused.status_code == 422
    assert "1 post is hidden by your settings" in refused.text
    assert "A long and careful reason" in refused.text
    assert holds(wiring) == 0
    moderator.post("/second-look/decide", unseen="1", **ticked)
    assert holds(wiring) == 1


@pytest.mark.parametrize("path", ["/help-needed", "/review/{}"])
def test_the_address_that_shows_the_content_lets_the_form_say_so(
    rater: Visitor, veiled: uuid.UUID, path: str
) -> None:
    address = path.format(veiled)
    closed, opened = rater.get(address).text, rater.get(f"{address}?show={veiled}").text
    assert f'name="seen" value="{veiled}"' in opened
    assert f'name="seen" value="{veiled}"' not in closed
    assert "Hide content" in opened


def test_who_wants_no_warnings_needs_to_open_nothing(
    rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage, veiled: uuid.UUID
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).content_warnings = False
    assert rater.post(f"/help-needed/{veiled}", answer="no").status_code == 303
    assert stage.own_rating(veiled, cast.rater) is HelpfulnessLevel.NOT_HELPFUL


def test_several_hidden_posts_are_dismissed_only_once_their_number_was_agreed_to(
    moderator: Visitor, wiring: Wiring, stage: Stage, veiled: uuid.UUID
) -> None:
    other, plain = stage.post("Another threat.", category="hate"), stage.post("Plain abuse.")
    ticked: dict[str, Any] = {
        "item": [f"{one}.1" for one in (veiled, other, plain)],
        "reason": "Old quarrels",
    }
    asked = moderator.post("/review/dismiss", **ticked)
    assert asked.status_code == 422
    assert "2 posts are hidden by your settings, so you have not seen them." in asked.text
    assert "Decide 2 hidden posts unseen" in asked.text
    assert "Old quarrels" in asked.text
    assert moderator.post("/review/dismiss", unseen="1", **ticked).status_code == 422, (
        "one more than agreed to"
    )
    assert holds(wiring) == 0
    assert moderator.post("/review/dismiss", unseen="2", **ticked).status_code == 303
    assert holds(wiring) == 3


def test_rows_that_are_not_hidden_are_dismissed_without_a_question(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    plain = stage.post("Plain abuse.")
    reply = moderator.post("/review/dismiss", item=[f"{plain}.1"], reason="Old quarrels")
    assert reply.status_code == 303
    assert holds(wiring) == 1


@pytest.mark.parametrize(
    ("category", "words"),
    [
        ("sexual", "Sexual content. Hidden by your settings."),
        ("hate", "Hateful content. Hidden by your settings."),
        ("threat", "Threat. Hidden by your settings."),
        ("self_harm", "Self-harm. Hidden by your settings."),
    ],
)
def test_the_veil_says_what_it_hides_and_why(rater: Visitor, stage: Stage, category: str, words: str) -> None:
    stage.post("Something hard to read.", category=category)
    assert words in rater.get("/help-needed").text
