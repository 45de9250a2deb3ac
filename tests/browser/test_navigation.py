"""The navigation of each role: it leads where it says, and nowhere that refuses."""

import pytest
from playwright.sync_api import expect

from tests.browser import site
from tests.browser.conftest import PHONE, Visit
from tests.browser.place import Place

OFFERED = {
    "rater": {"Help needed", "Settings"},
    "moderator": {"Help needed", "Review queue", "Action history", "Settings"},
    "operator": {"Help needed", "Review queue", "Action history", "Thresholds", "Settings"},
    "admin": {"Help needed", "Review queue", "Action history", "Thresholds", "Settings"},
}
"""What each role is offered at least."""
REFUSED = {"rater": ("/review", "/history", "/thresholds"), "moderator": ("/thresholds",)}


@pytest.mark.parametrize("role", OFFERED)
def test_every_link_of_the_navigation_leads_to_its_page(role: str, place: Place, visit: Visit) -> None:
    visitor = visit(getattr(place, role))
    offered = site.navigation(visitor)
    assert OFFERED[role] <= set(offered)
    for label in offered:
        link = visitor.page.get_by_role("navigation", name="Main").get_by_role("link", name=label)
        with visitor.page.expect_navigation() as gone:
            link.click()
        assert gone.value.status == 200, label
        expect(link).to_have_attribute("aria-current", "page")
        expect(visitor.page.get_by_role("heading", level=1)).to_have_count(1)
        assert visitor.page.title().endswith(" – Bridgenote")


@pytest.mark.parametrize(("role", "path"), [(role, path) for role in REFUSED for path in REFUSED[role]])
def test_a_page_of_a_higher_role_is_refused_with_a_way_on(
    role: str, path: str, place: Place, visit: Visit
) -> None:
    visitor = visit(getattr(place, role), wants=[403])
    assert visitor.open(path).status == 403
    expect(visitor.heading("You cannot do this")).to_be_visible()
    visitor.page.get_by_role("link", name="Go to the start page").click()
    queues = visitor.page.get_by_role("region", name="Queues")
    expect(queues if role == "moderator" else visitor.heading("Help needed")).to_be_visible()


def test_a_message_that_repeats_a_heading_is_for_screen_readers_alone(place: Place, visit: Visit) -> None:
    rita = visit(place.rater, "/me")
    module = rita.page.locator("link[rel=modulepreload][href*='page.js']").get_attribute("href")
    say = "([module, text]) => import(module).then((page) => page.say('status', text))"
    for text, shown in (("My impact.", False), ("Something else.", True)):
        rita.page.evaluate(say, [module, text])
        expect(rita.status).to_have_text(text)
        expect(rita.status.locator("p")).to_have_class("toast" if shown else "vh")


def test_another_communitys_item_is_not_there(place: Place, visit: Visit) -> None:
    visitor = visit(place.moderator, wants=[404])
    assert visitor.open(site.UNKNOWN).status == 404


def test_signed_out_everything_leads_to_signing_in_and_back(place: Place, visit: Visit) -> None:
    visitor = visit(None, "/history?state=applied")
    expect(visitor.heading("Sign in")).to_be_visible()
    visitor.sign_in(place.moderator)
    expect(visitor.heading("Action history")).to_be_visible()
    expect(visitor.main).to_contain_text("State Applied")
    visitor.button("Sign out").click()
    expect(visitor.status).to_contain_text("You are signed out.")
    visitor.open("/review")
    expect(visitor.heading("Sign in")).to_be_visible()


def test_a_wrong_password_is_refused_without_saying_which_half_was_wrong(place: Place, visit: Visit) -> None:
    visitor = visit(None, "/sign-in", wants=[401, 422])
    for email in (place.rater.email, "nobody@example.org"):
        visitor.page.get_by_label("Email").fill(email)
        visitor.page.get_by_label("Password").fill("not the password")
        visitor.button("Sign in").click()
        expect(visitor.main).to_contain_text("Email address or password is wrong")


def test_on_a_phone_the_menu_opens_and_leads_on(place: Place, visit: Visit) -> None:
    visitor = visit(place.moderator, "/review", viewport=PHONE, has_touch=True, is_mobile=True)
    link = visitor.page.get_by_role("link", name="Action history")
    expect(link).to_be_hidden()
    visitor.button("Menu").tap()
    link.tap()
    expect(visitor.heading("Action history")).to_be_visible()
