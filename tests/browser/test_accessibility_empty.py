"""No axe violation where nothing has happened yet, and before anybody signs in."""

import pytest
from playwright.sync_api import expect

from tests.browser import site
from tests.browser.accessibility import violations
from tests.browser.conftest import Visit
from tests.browser.place import Place


@pytest.mark.parametrize("role", ["rater", "moderator", "admin"])
def test_no_page_of_an_empty_community_has_a_violation(role: str, place: Place, visit: Visit) -> None:
    visitor = visit(getattr(place, role))
    visitor.wants(403, 404)
    found = []
    for path in site.pages(visitor, None):
        visitor.open(path)
        found += violations(visitor, path)
    assert not found, "\n".join(found)


def test_no_page_for_whoever_is_signed_out_has_a_violation(visit: Visit) -> None:
    visitor = visit(None)
    visitor.wants(401, 404, 422)
    found = []
    for path in site.OPEN_PAGES:
        visitor.open(path)
        found += violations(visitor, path)
    visitor.open("/sign-in")
    visitor.button("Sign in").click()
    expect(visitor.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += violations(visitor, "a sign-in without a password")
    assert not found, "\n".join(found)


def test_empty_pages_say_what_to_expect(place: Place, visit: Visit) -> None:
    visitor = visit(place.operator)
    for path, words in (
        ("/help-needed", "Nothing needs your help. Next check in 15 s."),
        ("/review", "Queue clear"),
        ("/history", "No actions in this period"),
    ):
        visitor.open(path)
        expect(visitor.page.get_by_text(words)).to_be_visible()
