"""A step is an item of the moderators' queue; members never see it. Operators try steps before they save them."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.actions import strikes
from app.core.history.reason import Reason
from app.core.models import Action, Category, Hold
from app.core.vocabulary import ActionVerb
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.unit.test_strikes import AUTHOR, apply, give_points, propose
from tests.web.conftest import HTMX, Visit, Visitor
from tests.web.test_bulk import chosen


@pytest.fixture
def step(wiring: Wiring, cast: Cast) -> uuid.UUID:
    """The step that six points lead to: a silence of a day."""
    factories.submit(wiring, cast, "Good morning to all", author=AUTHOR)
    with wiring.database.writing() as session:
        strikes.add(
            session, factories.moderator(cast), cast.community_id, AUTHOR, 6, reason=Reason("Threats by mail")
        )
        return session.scalars(sa.select(Action.id).where(Action.strike_step.is_not(None))).one()


def test_a_step_is_in_the_queue_and_its_page_offers_the_length(
    moderator: Visitor, wiring: Wiring, step: uuid.UUID
) -> None:
    assert f"/review/{step}" in moderator.get("/review").text
    page = moderator.get(f"/review/{step}").text
    assert "reached a step" in page
    assert "6 points" in page
    assert "silence author" in page
    select = page.partition('name="silence_for"')[2].partition("</select>")[0]
    assert '<option selected value="1">' in select
    answer = moderator.post(
        f"/review/{step}/decide", HTMX, verb="force_publish", reason="Enough", version="1", silence_for="1"
    )
    assert "silenced until" in answer.text
    with wiring.database.reading() as session:
        held = session.scalars(sa.select(Hold)).one()
    assert (held.verb, held.act_as) == (ActionVerb.FORCE_PUBLISH, None)
    assert held.until is not None


def test_several_rows_are_dismissed_but_a_step_hides_no_post(
    moderator: Visitor, wiring: Wiring, step: uuid.UUID
) -> None:
    items = chosen(wiring, step)
    refused = moderator.post("/review/dismiss", verb="force_publish.hide", reason="All of it", item=items)
    assert refused.status_code == 409
    assert "was not decided" in refused.text
    dismissed = moderator.post("/review/dismiss", verb="dismiss", reason="Not yet", item=items)
    assert dismissed.status_code == 303
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold.verb)).one() is ActionVerb.DISMISS


def test_members_never_see_a_step(visit: Visit, cast: Cast, step: uuid.UUID, wiring: Wiring) -> None:
    rater = visit(cast.rater)
    assert rater.get(f"/review/{step}").status_code == 404
    for path in ("/", "/help-needed", "/notes", "/impact"):
        assert str(step) not in rater.get(path).text
        assert "trike" not in rater.get(path).text


def test_an_item_says_that_its_author_got_a_strike(moderator: Visitor, wiring: Wiring, cast: Cast) -> None:
    give_points(wiring, cast, 2)
    action_id = propose(wiring, cast, "post-1")
    apply(wiring, cast, action_id)
    assert "The author got a strike" in moderator.get(f"/review/{action_id}").text
    assert "Strike added" in moderator.get("/history?state=action.strike_added").text


def test_operators_set_points_and_try_steps_before_they_save(
    visit: Visit, wiring: Wiring, cast: Cast
) -> None:
    operator = visit(cast.operator)
    give_points(wiring, cast, 3)
    for number in range(2):
        apply(wiring, cast, propose(wiring, cast, f"post-{number}"))
    typed = {"strikes_warn": "3", "strikes_silence_1": "6", "strikes_silence_7": "", "strikes_silence_30": ""}
    tried = operator.post("/community/strikes/try", HTMX, **typed, strikes_silence="")
    assert "would have silenced 1 person" in tried.text
    whole = operator.post("/community/strikes/try", **typed, strikes_silence="", reason="Typed and not saved")
    assert "Typed and not saved" in whole.text, "what was typed is kept"
    refused = operator.post("/community/strikes/try", HTMX, **typed, strikes_silence="many")
    assert refused.status_code == 422
    assert "must be a whole number" in refused.text
    assert "Strike points for the author" in operator.get("/thresholds").text
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Category.strike_points).where(Category.strike_points > 0)).all() == [
            3
        ]
