"""Overturning in bulk, as operators do it: preview, reason, progress, stop; what is refused."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements
from app.core.models import Action, Overturn
from app.core.vocabulary import ActionState, OverturnState
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.web.conftest import HTMX, Visitor

URL = "/community/overturns"


@pytest.mark.both_databases
def test_an_operator_previews_gives_a_reason_watches_and_stops(
    moderator: Visitor, operator: Visitor, rater: Visitor, outsider: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    since = f"{clock.now() - timedelta(hours=2):%Y-%m-%dT%H:%M}"
    asked = f"{URL}?category=spam&since={since}"
    assert moderator.get(URL).status_code == 403
    assert moderator.post(URL, category="spam", since=since, reason="Mine").status_code == 403
    page = operator.get(asked).text
    assert "1 action would be overturned" in page
    assert "Double your Bitcoin" in page
    nothing = operator.get(f"{URL}?rule=no-such-rule&since={since}").text
    assert "0 actions would be overturned" in nothing
    assert "Nothing matches." in nothing
    for query, said in (
        (f"since={since}", "Choose a category or enter a rule, not both."),
        (f"category=spam&rule=x&since={since}", "Choose a category or enter a rule, not both."),
        ("category=spam&since=yesterday", "Enter a day and a time"),
        ("category=spam&since=2999-01-01T00:00", "Since must not lie ahead."),
    ):
        refused = operator.get(f"{URL}?{query}")
        assert (refused.status_code, said in refused.text) == (422, True), query
    form = {"category": "spam", "since": since}
    missing = operator.post(URL, **form, reason=" ")
    assert (missing.status_code, "Enter a reason." in missing.text) == (422, True)
    begun = operator.post(URL, **form, reason="The rule went wild")
    assert begun.status_code == 303
    page = operator.get(begun.location).text
    assert "Running" in page
    assert "0 of 1" in page
    assert outsider.get(begun.location).status_code == 404
    assert rater.post(f"{begun.location}/stop").status_code == 403
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    part = operator.get(f"{begun.location}/progress", **HTMX).text
    assert "<html" not in part
    assert "Ended" in part
    assert "every 2s" not in part
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.OVERTURNED
    assert operator.post(f"{begun.location}/stop").status_code == 303
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Overturn)).one().state is OverturnState.FINISHED
    empty = operator.post(URL, **form, reason="Again")
    assert (empty.status_code, "Since leaves nothing to overturn." in empty.text) == (422, True)
    assert "The rule went wild" in operator.get("/history/settings?area=community").text
