"""A moderator chooses how long a silence lasts, sees its end on the item, and lifts it."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements, silences
from app.core.models import Action, Hold
from app.jobs import upkeep
from app.wiring import Wiring
from tests import clocks, factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visitor

DECIDE = {
    "verb": "force_publish.silence",
    "reason": "Again",
    "version": "1",
    "author_text": "Calm down, please.",
}


def held(wiring: Wiring) -> Hold:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Hold)).one()


@pytest.mark.parametrize(
    ("chosen", "days", "words"),
    [("1", 1, "silenced until"), ("30", 30, "silenced until"), ("never", None, "silenced for good")],
)
def test_the_chosen_length_is_held_with_the_text_to_the_author(
    moderator: Visitor, wiring: Wiring, stage: Stage, chosen: str, days: int | None, words: str
) -> None:
    answer = moderator.post(f"/review/{stage.post()}/decide", HTMX, **DECIDE, silence_for=chosen)
    assert words in answer.text
    hold = held(wiring)
    assert hold.author_text == "Calm down, please."
    if days is None:
        assert hold.until is None
    else:
        assert hold.until is not None
        assert abs(hold.until - clock.now() - timedelta(days=days)) < timedelta(minutes=1)


def test_a_day_is_meant_to_its_end_and_must_be_named_and_ahead(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    url = f"/review/{stage.post()}/decide"
    for day, why in (("", "needs a day"), ("2001-01-01", "must not be in the past"), ("soon", "valid date")):
        refused = moderator.post(url, HTMX, **DECIDE, silence_for="day", until=day)
        assert refused.status_code == 422, day
        assert why in refused.text
        assert "Calm down, please." in refused.text
    day = (clock.now() + timedelta(days=40)).date()
    moderator.post(url, HTMX, **DECIDE, silence_for="day", until=day.isoformat())
    until = held(wiring).until
    assert until is not None
    assert until.date() == day + timedelta(days=1), "midnight at the end of the day"


def test_an_unknown_length_is_refused(moderator: Visitor, stage: Stage) -> None:
    refused = moderator.post(f"/review/{stage.post()}/decide", HTMX, **DECIDE, silence_for="1000000")
    assert refused.status_code == 422


def test_the_item_says_until_when_and_lift_ends_it(
    moderator: Visitor, wiring: Wiring, stage: Stage, cast: Cast, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    moderator.post(f"/review/{action_id}/decide", HTMX, **DECIDE, silence_for="7")
    clocks.advance(minutes=1)
    jobs.run_all()
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    page = moderator.get(f"/review/{action_id}").text
    assert "Silenced until" in page
    unexplained = moderator.post(f"/review/{action_id}/lift", HTMX)
    assert unexplained.status_code == 422
    assert "Enter a reason to lift it." in unexplained.text
    lifted = moderator.post(f"/review/{action_id}/lift", HTMX, lift_reason="They apologised")
    assert "The silence is lifted." in lifted.text
    assert "The silence ended" in lifted.text
    clocks.advance(seconds=1)
    assert moderator.post(f"/review/{action_id}/lift", HTMX, lift_reason="Again").status_code == 409
    listed = moderator.get("/history?state=action.ended").text
    assert "Silence ended" in listed.partition('id="history-rows"')[2]
    assert "They apologised" in moderator.get("/history").text
    clocks.advance(days=8)
    upkeep.sweep(wiring)
    with wiring.database.reading() as session:
        assert silences.due(session) == []
