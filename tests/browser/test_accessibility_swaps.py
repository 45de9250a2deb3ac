"""No axe violation after what script swaps into a page: answers, forms with mistakes, decisions, help."""

from playwright.sync_api import expect

from tests.browser import site
from tests.browser.accessibility import violations
from tests.browser.conftest import Visit
from tests.browser.place import Place


def test_no_violation_appears_as_a_rater_goes_on(place: Place, visit: Visit) -> None:
    _, action_id = place.queue(site.HARD_POSTS[0], site.HARD_POSTS[2])
    rita = visit(place.rater)
    rita.wants(422)
    rita.open("/help-needed")
    rita.button("Yes").first.click()
    expect(rita.status).to_contain_text("Thank you")
    found = violations(rita, "an answered card")
    rita.open(f"/review/{action_id}")
    rita.main.get_by_text("Write a note", exact=True).click()
    found += violations(rita, "a note being written")
    rita.button("Submit note").click()
    expect(rita.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += violations(rita, "a note with mistakes")
    assert not found, "\n".join(found)


def test_no_violation_appears_as_a_moderator_goes_on(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(site.HARD_POSTS[0])
    max_ = visit(place.moderator)
    max_.wants(422)
    max_.open(f"/review/{action_id}")
    max_.button("Claim").click()
    expect(max_.button("Release")).to_be_visible()
    found = violations(max_, "a claimed item")
    max_.button("Dismiss").click()
    expect(max_.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += violations(max_, "a decision without a reason")
    max_.page.get_by_label("Reason").fill("Banter")
    max_.button("Dismiss").click()
    expect(max_.page.get_by_role("complementary")).to_contain_text("Dismissed")
    found += violations(max_, "a dismissed item")
    max_.open("/review")
    max_.press("?")
    expect(max_.page.get_by_role("dialog", name="Keyboard help")).to_be_visible()
    found += violations(max_, "Keyboard help")
    assert not found, "\n".join(found)


def test_no_violation_appears_as_an_operator_goes_on(place: Place, visit: Visit) -> None:
    place.queue(site.HARD_POSTS[0])
    olga = visit(place.operator)
    olga.wants(422)
    olga.open("/thresholds")
    olga.page.get_by_label("Toxicity, Tier 2", exact=True).fill("0.97")
    olga.button("Preview").click()
    expect(olga.page.get_by_role("region", name="What this would have done")).to_be_visible()
    found = violations(olga, "a preview")
    olga.page.get_by_label("Spam, Tier 2", exact=True).fill("two")
    olga.button("Save").click()
    expect(olga.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += violations(olga, "thresholds with mistakes")
    assert not found, "\n".join(found)
