"""Drawn panels in the dashboard: the setting, a drawn rater's card, what moderators and admins see."""

import uuid

import pytest

from app.core.communities.declarations import Section
from app.core.models import Action, Community, Profile
from app.core.vocabulary import SeatState
from app.jobs import communities as jobs
from app.wiring import Wiring
from tests.cast import SETTINGS, Cast, Person
from tests.panels import answer, seated, set_up, settle_in
from tests.web.conftest import Stage, Visit, Visitor
from tests.web.test_community import as_form
from tests.web.test_run import CARD

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
DRAWN = "You were drawn"


@pytest.fixture
def drawn(wiring: Wiring, cast: Cast, stage: Stage) -> tuple[uuid.UUID, list[uuid.UUID]]:
    """An item with a panel, among others without: its id, and who could be drawn."""
    people = settle_in(wiring, cast, 20)
    first = stage.post("Decided by a panel")
    set_up(wiring, cast, who_decides="panel")
    jobs.sweep_panels(wiring.database)
    set_up(wiring, cast)
    for number in range(3):
        stage.post(f"Another post {number}")
    return first, people


def person(wiring: Wiring, profile_id: uuid.UUID) -> Person:
    with wiring.database.reading() as session:
        account_id = session.get_one(Profile, profile_id).account_id
    assert account_id is not None
    return Person("", account_id, profile_id)


def test_drawn_raters_see_their_item_first_and_others_nothing_of_it(
    visit: Visit, wiring: Wiring, drawn: tuple[uuid.UUID, list[uuid.UUID]]
) -> None:
    action_id, people = drawn
    holder = seated(wiring, action_id)[0]
    other = next(one for one in people if one not in seated(wiring, action_id))
    page = visit(person(wiring, holder)).get("/help-needed").text
    assert page.count(DRAWN) == 1
    assert "23 hours left" in page or "24 hours left" in page
    assert CARD.findall(page)[0] == str(action_id)
    assert len(CARD.findall(page)) == 3
    unasked = visit(person(wiring, other))
    assert DRAWN not in unasked.get("/help-needed").text
    assert unasked.post(f"/help-needed/{action_id}/decline").status_code == 404


def test_declining_gives_the_seat_away_and_asks_no_more(
    visit: Visit, wiring: Wiring, drawn: tuple[uuid.UUID, list[uuid.UUID]]
) -> None:
    action_id, _ = drawn
    holder = seated(wiring, action_id)[0]
    visitor = visit(person(wiring, holder))
    assert visitor.post(f"/help-needed/{action_id}/decline").status_code == 303
    page = visitor.get("/help-needed").text
    assert "Declined. The next person is drawn." in page
    assert str(action_id) not in CARD.findall(page)
    assert seated(wiring, action_id, SeatState.DECLINED) == [holder]


def test_moderators_see_until_when_a_panel_can_decide_and_after_the_decision_admins_what_to_check(
    moderator: Visitor, admin: Visitor, wiring: Wiring, cast: Cast, drawn: tuple[uuid.UUID, list[uuid.UUID]]
) -> None:
    action_id, people = drawn
    with wiring.database.reading() as session:
        note_id = session.get_one(Action, action_id).note_id
    assert note_id is not None
    seats = seated(wiring, action_id)
    volunteers = [one for one in people if one not in seats]
    answer(wiring, cast, note_id, volunteers, "NNN")
    answer(wiring, cast, note_id, seats, "H")
    path = f"/review/{action_id}"
    assert "Decides by" in moderator.get(path).text
    answer(wiring, cast, note_id, seats[1:], "H")
    before = moderator.get(path).text
    assert "have answered" not in before, "a count beside the ratings would show who sits on the panel"
    assert "verify-draw" not in admin.get(path).text
    answer(wiring, cast, note_id, seats[2:], "HHHHH")
    after = moderator.get(path).text
    assert "Volunteers: 0 yes, 3 no; a drawn panel decided (7 yes, 0 no)." in after
    assert "verify-draw" not in after
    assert "verify-draw" in admin.get(path).text
    for seat in seats:
        assert str(seat) not in before + after


def test_who_decides_is_set_with_a_reason_and_listed_with_its_words(
    operator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    assert (
        operator.post(
            "/community/decides", **as_form(wiring, cast, Section.DECIDES, panel_seats="6")
        ).status_code
        == 422
    )
    sent = as_form(
        wiring, cast, Section.DECIDES, who_decides="panel_when_needed", panel_seats="15", panel_hours="48"
    )
    assert operator.post("/community/decides", **sent).status_code == 303
    with wiring.database.reading() as session:
        settings = session.get_one(Community, cast.community_id).settings
    assert settings == SETTINGS | {"who_decides": "panel_when_needed", "panel_seats": 15, "panel_hours": 48}
    page = operator.get("/history/settings").text
    assert "Who decides reviews: Everyone who answers → Everyone, and" in page
