"""A drawn rater: the posts they were drawn for come first, one is answered and the seat of the other declined."""

import uuid
from datetime import timedelta

import sqlalchemy as sa
from playwright.sync_api import expect

from app.core import clock
from app.core.models import Account, Action, Panel, PanelSeat, Profile
from app.core.panels import opening
from app.core.vocabulary import SeatState
from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL, Service, wait_for
from tests.browser.place import Person, Place


def _draw(service: Service, action_id: str, person: Person) -> None:
    """A panel of the action in which this person has a seat; its turn to draw others does not come."""
    with service.wiring.database.writing() as session:
        action = session.get_one(Action, uuid.UUID(action_id))
        panel = opening.open_for(session, action, "In this test.", earlier=None)
        assert panel is not None
        profile = session.scalars(
            sa.select(Profile)
            .join(Account, Account.id == Profile.account_id)
            .where(Account.email == person.email)
        ).one()
        expires_at = clock.now() + timedelta(hours=24)
        panel.due_at = expires_at
        session.add(
            PanelSeat(
                panel_id=panel.id,
                profile_id=profile.id,
                number=1,
                state=SeatState.OPEN,
                drawn_at=clock.now(),
                expires_at=expires_at,
            )
        )


def _states(service: Service, actions: list[str]) -> list[SeatState]:
    with service.wiring.database.reading() as session:
        found = session.scalars(
            sa.select(PanelSeat.state)
            .join(Panel, Panel.id == PanelSeat.panel_id)
            .where(Panel.action_id.in_([uuid.UUID(one) for one in actions]))
        )
        return sorted(found)


def test_a_drawn_rater_answers_one_post_and_declines_the_other(
    place: Place, service: Service, visit: Visit
) -> None:
    other, *drawn = place.queue(*DOUBTFUL[:3])
    rita = visit(place.rater)
    rita.open("/help-needed")
    expect(rita.main.get_by_text("You were drawn")).to_have_count(0)
    for action_id in drawn:
        _draw(service, action_id, place.rater)
    rita.open("/help-needed")
    cards = rita.page.locator("#cards > [data-row]")
    expect(cards.get_by_text("You were drawn")).to_have_count(2)
    expect(cards.nth(2)).to_have_attribute("id", f"card-{other}")
    rita.page.locator(f"#card-{drawn[1]}").get_by_role("button", name="Decline").click()
    expect(rita.status).to_contain_text("Declined. Somebody else is drawn.")
    expect(rita.page.locator(f"#card-{drawn[1]}")).to_have_count(0)
    rita.page.locator(f"#card-{drawn[0]} form.rate button[name=answer]").first.click()
    wait_for("the answer", lambda: place.ratings_of(drawn[0]) == 1)
    assert _states(service, drawn) == [SeatState.ANSWERED, SeatState.DECLINED]
    assert place.ratings_of(drawn[1]) == 0
