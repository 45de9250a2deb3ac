"""No axe violation after what script swaps into a page: answers, forms with mistakes, decisions, help."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place
from tests.hostile import HARD


@pytest.fixture(scope="module")
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def test_no_violation_appears_as_a_rater_goes_on(place: Place, visit: Visit, examiner: Examiner) -> None:
    first, second = place.queue(DOUBTFUL[0], HARD[0])
    place.write_note(place.request_uuid(place.action(first)["request_id"]), "A member explains it.")
    rita = visit(place.rater, "/help-needed", wants=[422])
    rita.button("Yes").first.click()
    expect(rita.status).to_contain_text("Thank you")
    found = examiner.look(rita, "an answered card")
    rita.open(f"/review/{first}")
    note = rita.page.get_by_role("article", name="Note", exact=True)
    note.get_by_text("Rate this note").click()
    note.get_by_role("button", name="Submit rating").click()
    expect(rita.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += examiner.look(rita, "a rating with mistakes")
    note.get_by_role("radio", name="Helpful", exact=True).check()
    note.get_by_label("Neutral wording").check()
    note.get_by_role("button", name="Submit rating").click()
    expect(note.get_by_role("button", name="Undo")).to_be_visible()
    found += examiner.look(rita, "a rating that can be undone")
    rita.open(f"/review/{second}")
    rita.main.get_by_text("Write a note", exact=True).click()
    found += examiner.look(rita, "a note being written")
    rita.button("Submit note").click()
    expect(rita.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += examiner.look(rita, "a note with mistakes")
    assert not found, "\n".join(found)


def test_no_violation_appears_as_a_new_rater_practises(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    nora = visit(place.newcomer, "/help-needed")
    found = []
    for answer, following in (("No", "Example 2 of 4"), ("No", "Example 3 of 4"), ("Yes", "Example 4 of 4")):
        nora.button(answer).click()
        expect(nora.main.get_by_text(following, exact=True)).to_have_count(1)
        found += examiner.look(nora, f"practice, {following}")
    assert not found, "\n".join(found)


def test_no_violation_appears_as_a_moderator_goes_on(place: Place, visit: Visit, examiner: Examiner) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422])
    max_.button("Claim").click()
    expect(max_.button("Release")).to_be_visible()
    found = examiner.look(max_, "a claimed item")
    max_.button("Dismiss").click()
    expect(max_.page.get_by_label("Reason", exact=True)).to_be_focused()
    max_.button("Dismiss").click()
    expect(max_.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += examiner.look(max_, "a decision without a reason")
    max_.page.get_by_label("Reason", exact=True).fill("Banter")
    max_.button("Dismiss").click()
    expect(max_.button("Undo")).to_be_visible()
    found += examiner.look(max_, "a decision that can be undone")
    max_.open("/review")
    max_.press("?")
    expect(max_.page.get_by_role("dialog", name="Keyboard help")).to_be_visible()
    found += examiner.look(max_, "Keyboard help")
    assert not found, "\n".join(found)


def test_no_violation_appears_as_an_operator_goes_on(place: Place, visit: Visit, examiner: Examiner) -> None:
    place.queue(DOUBTFUL[0])
    olga = visit(place.operator, "/thresholds?category=toxicity", wants=[422])
    olga.page.get_by_label("Toxicity, Asks people (Tier 2)", exact=True).fill("0.97")
    olga.button("Preview").click()
    expect(olga.page.get_by_role("region", name="What this would have done")).to_be_visible()
    found = examiner.look(olga, "a preview")
    olga.button("Spam").click()
    olga.page.get_by_label("Spam, Asks people (Tier 2)", exact=True).fill("two")
    olga.button("Save").click()
    expect(olga.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found += examiner.look(olga, "thresholds with mistakes")
    assert not found, "\n".join(found)


def test_no_violation_appears_when_charts_and_all_categories_are_opened(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    place.queue(DOUBTFUL[0])
    olga = visit(place.operator, "/insights")
    for figure in olga.page.locator("dl.stats a").all():
        figure.click()
    found = examiner.look(olga, "opened charts")
    olga.open("/thresholds")
    olga.page.get_by_text("All categories", exact=True).first.click()
    olga.button("Add category").click()
    expect(olga.page.get_by_role("heading", name="New category")).to_be_focused()
    olga.page.get_by_text("More about New category").click()
    found += examiner.look(olga, "a category that is added")
    assert not found, "\n".join(found)


def test_no_violation_appears_when_a_sign_in_lacks_its_password(visit: Visit, examiner: Examiner) -> None:
    visitor = visit(None, "/sign-in", wants=[422])
    visitor.button("Sign in").click()
    expect(visitor.page.get_by_role("group", name="There is a problem")).to_be_visible()
    found = examiner.look(visitor, "a sign-in without a password")
    assert not found, "\n".join(found)


def test_no_violation_appears_when_thresholds_are_suggested_and_rules_tried(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    place.queue(DOUBTFUL[0])
    olga = visit(place.operator, "/thresholds")
    olga.page.get_by_text("Add category").click()
    # Both buttons bring the whole part again: a press while it comes would be lost with the form that it was in.
    expect(olga.page.get_by_role("group", name="New category")).to_be_visible()
    olga.button("Suggest").click()
    expect(olga.page.get_by_text("Too little is known")).to_be_visible()
    found = examiner.look(olga, "a suggestion")
    olga.open("/classifiers/new-rule")
    for label, typed in (("Name", "spam.you"), ("Category", "spam"), ("Pattern", "you")):
        olga.page.get_by_label(label).fill(typed)
    olga.button("Save to draft").click()
    olga.button("Preview hits").click()
    expect(olga.page.get_by_text("Samples")).to_be_visible()
    found += examiner.look(olga, "hits of a draft")
    olga.page.get_by_label("Text", exact=True).fill(DOUBTFUL[0])
    olga.button("Test").click()
    expect(olga.page.get_by_text("Result by")).to_be_visible()
    found += examiner.look(olga, "a tested text")
    assert not found, "\n".join(found)
