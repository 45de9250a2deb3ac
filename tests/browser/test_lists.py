"""The moderators' and operators' lists: their filters, the names of their rows, and what stands over them."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit, Visitor
from tests.browser.layout import SCREENS, too_wide
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place


@pytest.fixture
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def _menu(visitor: Visitor, name: str) -> Locator:
    """What opens a filter of several values; it says what is ticked."""
    return visitor.main.locator("summary").filter(has_text=re.compile(f"^{name} "))


def _focus(visitor: Visitor) -> str:
    return str(visitor.page.evaluate("document.activeElement.innerText"))


def test_several_types_and_states_are_chosen_with_the_keyboard_alone(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator)
    max_.open("/history")
    expect(_menu(max_, "Type")).to_have_text("Type All")
    max_.page.get_by_label("Search").focus()
    max_.press("Tab")
    assert _focus(max_).split() == ["Type", "All"]
    max_.press("Enter")
    types = max_.page.get_by_role("group", name="Type", exact=True)
    expect(types.get_by_role("checkbox")).to_have_count(5)
    for screen in SCREENS:
        assert too_wide(max_, screen) == []
    assert examiner.look(max_, "an open filter") == []
    for _ in range(2):
        max_.press("Tab")
        max_.press("Space")
    assert types.get_by_role("checkbox", checked=True).count() == 2
    # Escape closes it and leads back; leaving it with Tab closes it too, so that it covers nothing that has the focus.
    max_.press("Escape")
    expect(types).to_be_hidden()
    assert _focus(max_).startswith("Type")
    max_.press("Tab")
    max_.press("Enter")
    states = max_.page.get_by_role("group", name="State", exact=True)
    states.get_by_role("checkbox", name="Community is reviewing").check()
    states.get_by_role("checkbox", name="Dismissed").focus()
    max_.press("Tab")
    expect(states).to_be_hidden()
    max_.button("Filter").click()
    expect(max_.page).to_have_url(re.compile(r"type=hide&type=unhide&.*state=under_review"))
    expect(_menu(max_, "Type")).to_have_text("Type Hide, Unhide")
    expect(_menu(max_, "State")).to_have_text("State Community is reviewing")
    expect(max_.page.get_by_role("row").filter(has_text=DOUBTFUL[0])).to_be_visible()


def test_several_categories_are_chosen_without_script(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, java_script_enabled=False)
    for path in ("/review", "/history"):
        max_.open(path)
        _menu(max_, "Category").click()
        max_.page.get_by_role("checkbox", name="Toxicity").check()
        max_.button("Filter").click()
        expect(max_.page).to_have_url(re.compile("category=toxicity"))
        expect(_menu(max_, "Category")).to_have_text("Category Toxicity")
        expect(max_.page.get_by_role("row").filter(has_text=DOUBTFUL[0])).to_be_visible()


def test_a_filter_that_does_not_exist_leads_to_its_field(place: Place, visit: Visit) -> None:
    max_ = visit(place.moderator)
    max_.wants(422)
    max_.open("/history?state=applied&state=exploded")
    summary = max_.page.get_by_role("group", name="There is a problem")
    expect(summary).to_be_focused()
    summary.get_by_role("link", name="State cannot be “exploded”. Choose from the list.").click()
    expect(max_.page.get_by_role("group", name="State", exact=True)).to_be_focused()
