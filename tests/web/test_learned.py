"""The community's own model on the dashboard: its state, the trial, putting in force, the way back, the switch."""

import re
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.learning import training
from app.core.learning.standing import State, read_standing
from app.core.models import Request, Score
from app.core.permissions import SYSTEM
from app.jobs import communities
from app.wiring import Wiring
from tests import clocks, talk
from tests.cast import Cast, Person
from tests.web.conftest import Visitor

Visit = Callable[[Person | None], Visitor]
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
PAGE = "/classifiers/learned/spam"


def learn(wiring: Wiring, cast: Cast, count: int, seed: int = 1, days: float = 10.0) -> None:
    """Store decided posts that are raised for spam, and let the job learn from them."""
    raised = [
        talk.Post(item.text, item.author, item.wrong, max(0.56, item.base))
        for item in talk.posts(count, seed=seed)
    ]
    with wiring.database.writing() as session:
        talk.store(session, cast.community_id, raised, days=days)
    communities.learn_all(wiring.database)


def state(wiring: Wiring, cast: Cast) -> tuple[State, int]:
    with wiring.database.reading() as session:
        (now,) = read_standing(session, SYSTEM, cast.community_id).categories
        return now.state, now.version


def text_of(page: str) -> str:
    """The words of a page, without tags and line breaks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_the_page_counts_the_labels_before_there_is_a_model(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    assert "Nothing was decided here yet" in operator.get("/classifiers").text
    assert operator.get(PAGE).status_code == 404
    learn(wiring, cast, 120)
    assert "Learning: 120 of 200 labels" in operator.get("/classifiers").text
    page = text_of(operator.get(PAGE).text)
    assert "120 labels: " in page
    assert "Versions" not in page


def test_asked_first_an_operator_tries_a_version_and_puts_it_in_force(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    assert operator.post("/classifiers/learning", is_on="y", asks_first="y").status_code == 422
    refused = operator.post("/classifiers/learning", is_on="y", asks_first="y")
    assert '<a href="#learning-reason">Enter a reason for the change.</a>' in refused.text
    said = operator.post("/classifiers/learning", is_on="y", asks_first="y", reason="We look first")
    assert said.status_code == 303
    learn(wiring, cast, 260)
    assert state(wiring, cast) == (State.WAITING, 0)
    assert "Version 1 waits for you" in operator.get("/classifiers").text

    page = text_of(operator.get(PAGE).text)
    assert "Figures of version 1" in page
    assert "Reliability" in page
    assert re.search(r"Figures of the plot .*0\.\d to [01]\.\d[^%]*\d%", page)
    assert "Raise the score" in page
    assert re.search(r"Raise the score [^.]*\bour\b", page)
    tried = text_of(operator.post(f"{PAGE}/1/try").text)
    assert "All 260 posts were read." in tried
    assert "Spam, Tier 2 Let through" in tried
    assert "dismissed" in tried
    assert state(wiring, cast) == (State.WAITING, 0), "a trial changes nothing"

    refused = operator.post(f"{PAGE}/1")
    assert refused.status_code == 422
    assert "Enter a reason." in refused.text
    stale = operator.post(f"{PAGE}/1", reason="My words", version="7")
    assert stale.status_code == 409
    assert "My words" in stale.text
    assert operator.post(f"{PAGE}/1", reason="It is better", version="0").status_code == 303
    assert state(wiring, cast) == (State.IN_FORCE, 1)
    assert "Version 1 in force" in operator.get("/classifiers").text
    assert "spam 1" in operator.get("/classifiers").text, "it is listed with the classifiers"

    settings = text_of(operator.get("/history/settings").text)
    assert "Own model put in force" in settings
    assert "It is better" in settings
    assert "Learning from decisions switched" in settings


def test_go_back_to_an_older_version_and_to_none(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    learn(wiring, cast, 260)
    learn(wiring, cast, 60, seed=4, days=0.001)
    assert state(wiring, cast) == (State.IN_FORCE, 2)
    page = operator.get(PAGE).text
    assert "Go back to version 1" in page
    assert operator.post(f"{PAGE}/1", reason="It asked too often", version="2").status_code == 303
    assert state(wiring, cast) == (State.IN_FORCE, 1)
    again = operator.post(f"{PAGE}/1", reason="Twice", version="1")
    assert again.status_code == 422
    assert "in force already" in again.text
    assert "New versions wait here for you" in operator.get(PAGE).text
    assert operator.post(f"{PAGE}/0/try").status_code == 200
    assert operator.post(f"{PAGE}/0", reason="Without it", version="1").status_code == 303
    assert state(wiring, cast)[1] == 0
    assert operator.post(f"{PAGE}/9", reason="x", version="0").status_code == 404


def test_switched_off_the_page_says_so(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    learn(wiring, cast, 260)
    assert operator.post("/classifiers/learning", reason="Not now").status_code == 303
    assert state(wiring, cast) == (State.OFF, 1)
    page = operator.get("/classifiers").text
    assert "spam 1" not in page
    refused = operator.post("/classifiers/learning", reason="Not now")
    assert refused.status_code == 422
    assert "is set like that already" in refused.text
    clocks.advance(minutes=6)
    assert operator.post("/classifiers/learning", is_on="y", reason="Now").status_code == 303
    communities.learn_all(wiring.database)
    assert state(wiring, cast) == (State.IN_FORCE, 2)


def test_only_operators_may_see_and_steer_it(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    learn(wiring, cast, 260)
    for who, status in (("rater", 403), ("moderator", 403), ("outsider", 404)):
        visitor = visit(getattr(cast, who))
        assert visitor.get(f"{PAGE}?community=harbour-forum").status_code == status
        for path in (f"{PAGE}/0", f"{PAGE}/1/try", "/classifiers/learning"):
            answer = visitor.post(f"{path}?community=harbour-forum", reason="x", version="1")
            assert answer.status_code == status, path
    assert state(wiring, cast) == (State.IN_FORCE, 1)


def ordinary_posts(wiring: Wiring, cast: Cast, count: int) -> None:
    """Store posts of the last two days for which nothing was opened."""
    step = timedelta(days=2) / count
    with wiring.database.writing() as session:
        for number, item in enumerate(talk.posts(count, seed=5, share=0.0)):
            at = clock.now() - number * step
            row = talk.request_row(cast.community_id, uuid.uuid4(), item, at)
            session.execute(sa.insert(Request), [row])
            session.execute(sa.insert(Score), [talk.score_row(cast.community_id, row["id"], "spam", 0.3, at)])


def test_the_page_warns_where_no_ordinary_post_is_known_and_says_how_many_more_it_asks_about(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    learn(wiring, cast, 260)
    for page in ("/classifiers", PAGE):
        shown = text_of(operator.get(page).text)
        assert "fewer than 100 posts are known here that nobody acted on" in shown
        assert "1 if all" in shown
        assert "more posts a day" not in shown
    ordinary_posts(wiring, cast, 120)
    learn(wiring, cast, 60, seed=4, days=0.001)
    assert state(wiring, cast) == (State.IN_FORCE, 2)
    shown = text_of(operator.get(PAGE).text)
    assert "fewer than 100 posts are known" not in shown
    assert re.search(r"It would ask people about (no|less than one|1) more posts? a day", shown)


def test_operators_get_a_notice_when_a_version_goes_in_or_out_by_itself(
    visit: Visit, cast: Cast, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator, moderator = visit(cast.operator), visit(cast.moderator)
    learn(wiring, cast, 260)
    shown = text_of(operator.get("/notices").text)
    assert "Version 1 of the own model for Spam is in force in Harbour forum" in shown
    assert "better on the newest of them" in shown
    assert f'href="{PAGE}?community=harbour-forum"' in operator.get("/notices").text
    assert "own model" not in text_of(moderator.get("/notices").text)

    learn(wiring, cast, 60, seed=4, days=0.001)
    shown = text_of(operator.get("/notices").text)
    assert "Version 2 of the own model" in shown
    assert "Version 1 of the own model" not in shown, "only the newest is still news"
    monkeypatch.setattr(training, "GAIN", 1.0)
    learn(wiring, cast, 60, seed=6, days=0.001)
    assert state(wiring, cast)[1] == 0
    shown = text_of(operator.get("/notices").text)
    assert "The own model for Spam is out of force in Harbour forum" in shown
    assert "1 notice" in shown

    assert operator.post("/notices/read").status_code == 303
    assert operator.post(f"{PAGE}/2", reason="It was good", version="0").status_code == 303
    assert "1 notice" in text_of(operator.get("/notices").text), "none about what they did themselves"
