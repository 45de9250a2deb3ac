"""How long a session has left: asking is no use of it, staying is, and no session outlives its longest time."""

import json
import re

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import SignIn
from app.wiring import Wiring
from tests.clocks import advance
from tests.web.conftest import Visit, Visitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _left(visitor: Visitor) -> tuple[int, bool]:
    said = json.loads(visitor.get("/session").text)
    return said["left"], said["is_last"]


def test_asking_keeps_no_session_alive_and_staying_does(rater: Visitor, wiring: Wiring) -> None:
    minutes = wiring.settings.session_idle_minutes
    assert rater.token
    advance(minutes=minutes - 1)
    for _ in range(3):
        left, is_last = _left(rater)
        assert 0 < left <= 60
        assert not is_last
    advance(minutes=0.5)
    assert _left(rater)[0] <= 30, "asked, and no longer for it"
    stayed = json.loads(rater.post("/session/stay").text)
    assert stayed["left"] > 60
    advance(minutes=minutes - 1)
    assert rater.get("/settings").status_code == 200


def test_nothing_makes_the_longest_time_longer(rater: Visitor, wiring: Wiring) -> None:
    hours = wiring.settings.session_hours
    assert rater.token
    advance(minutes=hours * 60 - 1)
    with wiring.database.writing() as session:
        session.execute(sa.update(SignIn).values(last_seen_at=clock.now()))
    left, is_last = _left(rater)
    assert left <= 60
    assert is_last
    assert json.loads(rater.post("/session/stay").text) == {"left": left, "is_last": True}
    advance(minutes=2)
    assert rater.get("/settings").status_code == 303


def test_a_stranger_has_none(visit: Visit) -> None:
    assert _left(visit(None)) == (0, False)


def test_the_page_says_how_long_the_session_has(rater: Visitor, wiring: Wiring) -> None:
    found = re.search(r'data-session-left="?(\d+)', rater.get("/settings").text)
    assert found
    assert 0 <= wiring.settings.session_idle_minutes * 60 - int(found[1]) <= 5


def test_a_poll_of_a_page_keeps_no_session_alive(moderator: Visitor, wiring: Wiring) -> None:
    assert moderator.token
    advance(minutes=wiring.settings.session_idle_minutes - 1)
    before = _left(moderator)
    assert moderator.get("/review/new-count", **{"HX-Request": "true"}).status_code in {200, 204}
    assert _left(moderator)[0] <= before[0]
