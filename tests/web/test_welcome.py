"""The welcome page: what a new rater meets first, once, and can come back to."""

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Account, Community, Membership, Rating
from app.core.raters.practice import EXAMPLES
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visit, Visitor

RIGHT = {example.name: example.best for example in EXAMPLES}


LEVELS = {"yes": "HELPFUL", "no": "NOT_HELPFUL", "unsure": "SOMEWHAT_HELPFUL"}


def _said(name: str, answer: str) -> dict[str, str]:
    """What the form of an example sends: for the note its level with a reason."""
    if name != "note":
        return {"example": name, "answer": answer}
    points = {"practice-good": "clear", "practice-bad": "biased"}
    return {"example": name, "practice-level": LEVELS[answer], **points}


@pytest.fixture
def newcomer(visit: Visit, cast: Cast, wiring: Wiring) -> Visitor:
    """The rater, as if they had never been here."""
    with wiring.database.writing() as session:
        _membership(session, cast).welcomed_at = None
    return visit(cast.rater)


def _membership(session: Session, cast: Cast) -> Membership:
    return session.scalars(sa.select(Membership).where(Membership.account_id == cast.rater.account_id)).one()


def test_a_new_rater_is_led_there_once_and_finds_it_again_in_the_settings(
    newcomer: Visitor, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).policy_text = "Sell nothing <b>here</b>."
    assert newcomer.get("/help-needed").location == "/welcome"
    text = newcomer.get("/welcome").text
    assert "Sell nothing &lt;b&gt;here" in text
    assert EXAMPLES[0].text in text
    assert newcomer.get("/help-needed").status_code == 200
    assert 'href="/welcome"' in newcomer.get("/settings").text


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_whoever_is_no_new_rater_goes_straight_to_work(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(Membership).where(Membership.role != "rater").values(welcomed_at=None))
    for person in (cast.rater, cast.moderator, cast.admin):
        visitor = visit(person)
        assert visitor.get("/help-needed").status_code == 200
        assert visitor.get("/welcome").status_code == 200


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
def test_each_answer_gets_its_feedback_and_the_next_post(
    newcomer: Visitor, cast: Cast, wiring: Wiring, headers: dict[str, str]
) -> None:
    first, second, _third, _note = EXAMPLES
    for example, said, words in (
        (first, "no", "Most would say"),
        (second, second.best, "Most would say so too"),
    ):
        reply = newcomer.post("/welcome", headers, example=example.name, answer=said)
        assert reply.status_code == (200 if headers else 303)
        shown = reply.text if headers else newcomer.get("/welcome").text
        assert words in shown
        assert "Start rating" not in shown
    # Somebody who comes back goes on where they stopped.
    later = newcomer.get("/welcome").text
    assert first.why["no"] in later
    assert "Example 3 of 4" in later
    for name, said in RIGHT.items():
        newcomer.post("/welcome", headers, **_said(name, said))
    assert "Start rating" in newcomer.get("/welcome").text
    newcomer.post("/welcome/again", headers)
    assert "Example 1 of 4" in newcomer.get("/welcome").text


def test_practice_is_no_rating(newcomer: Visitor, cast: Cast, wiring: Wiring, stage: Stage) -> None:
    stage.post()
    for name, said in RIGHT.items():
        newcomer.post("/welcome", **_said(name, said))
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Rating)).all() == []
        assert _membership(session, cast).practice == RIGHT


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"example": "attack"},
        {"example": "nothing", "answer": "yes"},
        {"example": "attack", "answer": "x"},
        {"example": "note", "answer": "yes"},
        {"example": "note", "practice-level": "HELPFUL"},
    ],
)
def test_a_strange_answer_is_refused(
    newcomer: Visitor, cast: Cast, wiring: Wiring, fields: dict[str, str]
) -> None:
    assert newcomer.post("/welcome", **fields).status_code == 422
    with wiring.database.reading() as session:
        assert _membership(session, cast).practice == {}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_admin_of_the_whole_service_may_look_around_without_being_a_member(
    admin: Visitor, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
        session.execute(sa.delete(Membership).where(Membership.account_id == cast.admin.account_id))
    assert admin.get("/help-needed").status_code == 200
    reply = admin.post("/welcome", example="attack", answer="yes")
    assert reply.status_code == 200
    assert "Most would say so too" in reply.text
