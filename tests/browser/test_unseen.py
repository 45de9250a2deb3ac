"""Posts behind "Show content": keys lead there and say why; V shows and hides; it works without script too."""

import pytest
from playwright.sync_api import expect

from app.core.classify.corpus import SAMPLES
from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit, Visitor
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place

THREAT, OTHER = SAMPLES["threat"][:2]
WHY = "Choose “Show content” first"


@pytest.fixture(scope="module")
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def _led_to_the_content(visitor: Visitor, post: str) -> None:
    expect(visitor.button("Show content").first).to_be_focused()
    expect(visitor.alert).to_contain_text(WHY)
    expect(visitor.page.get_by_text(post)).to_be_hidden()


def test_a_rater_is_led_to_the_content_before_any_key_or_button_answers(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    (action_id,) = place.queue(THREAT)
    rita = visit(place.rater, "/help-needed")
    for key in "123":
        rita.main.focus()
        rita.press(key)
        _led_to_the_content(rita, THREAT)
    found = examiner.look(rita, "led to the content")
    rita.button("Yes").click()
    _led_to_the_content(rita, THREAT)
    assert place.ratings_of(action_id) == 0
    rita.press("v")
    expect(rita.page.get_by_text(THREAT)).to_be_visible()
    found += examiner.look(rita, "the content shown")
    rita.press("v")
    expect(rita.page.get_by_text(THREAT)).to_be_hidden()
    rita.press("2")
    expect(rita.status).to_contain_text("Thank you")
    assert place.ratings_of(action_id) == 1
    assert not found, "\n".join(found)


def test_skipping_needs_no_look(place: Place, visit: Visit) -> None:
    place.queue(THREAT)
    rita = visit(place.rater, "/help-needed")
    rita.press("s")
    expect(rita.status).to_contain_text("Skipped.")


def test_on_an_items_page_answers_and_verbs_wait_until_the_content_was_shown(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(THREAT)
    rita, max_ = visit(place.rater), visit(place.moderator)
    rita.open(f"/review/{action_id}")
    rita.press("1")
    _led_to_the_content(rita, THREAT)
    assert place.ratings_of(action_id) == 0
    max_.wants(422)
    max_.open(f"/review/{action_id}")
    for key in "fd":
        max_.press(key)
        _led_to_the_content(max_, THREAT)
    max_.page.get_by_label("Reason").fill("Seen it before")
    max_.button("Dismiss").click()
    _led_to_the_content(max_, THREAT)
    expect(max_.page.get_by_label("Reason")).to_have_value("Seen it before")
    max_.button("Show content").click()
    # What was shown stays known when the panel is swapped.
    max_.button("Claim").click()
    expect(max_.button("Release")).to_be_visible()
    max_.press("d")
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    max_.page.keyboard.type("Banter")
    max_.press("Control+Enter")
    place.becomes(action_id, "dismissed")


def test_without_script_the_refusal_says_the_same_and_the_text_stays(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(THREAT)
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422], java_script_enabled=False)
    max_.page.get_by_label("Reason").fill("Three careful sentences")
    max_.button("Dismiss").click()
    expect(max_.main).to_contain_text(WHY)
    assert place.state(action_id) == "under_review"
    max_.button("Show content").click()
    expect(max_.page.get_by_text(THREAT)).to_be_visible()
    expect(max_.page.get_by_label("Reason")).to_have_value("Three careful sentences")
    max_.button("Dismiss").click()
    place.becomes(action_id, "dismissed")


def test_without_script_a_rater_opens_a_card_and_answers_it(place: Place, visit: Visit) -> None:
    first, second = place.queue(THREAT, OTHER)
    rita = visit(place.rater, "/help-needed", wants=[422], java_script_enabled=False)
    card = rita.page.get_by_role("article", name="Post 1")
    card.get_by_role("button", name="Yes").click()
    expect(rita.alert).to_contain_text(WHY)
    assert place.ratings_of(first) + place.ratings_of(second) == 0
    card.get_by_role("button", name="Show content").click()
    expect(card.get_by_role("button", name="Hide content")).to_be_visible()
    card.get_by_role("button", name="Yes").click()
    expect(rita.status).to_contain_text("Your answer is saved.")
    assert place.ratings_of(first) + place.ratings_of(second) == 1


def test_hidden_rows_are_dismissed_after_one_question_that_names_their_number(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    first, second = place.queue(THREAT, DOUBTFUL[0])
    max_ = visit(place.moderator, "/review", wants=[422])
    for box in max_.page.get_by_role("checkbox", name="Select: ").all():
        box.check()
    max_.press("d")
    max_.page.keyboard.type("Old quarrels")
    max_.press("Control+Enter")
    summary = max_.page.get_by_role("group", name="There is a problem")
    expect(summary).to_contain_text("1 post is hidden by your settings, so you have not seen it.")
    box = max_.page.get_by_label("Decide 1 hidden post unseen")
    expect(box).to_be_focused()
    found = examiner.look(max_, "asked about hidden rows")
    max_.press("Space")
    expect(box).to_be_checked()
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("2 posts will be dismissed.")
    for one in (first, second):
        place.becomes(one, "dismissed")
    assert not found, "\n".join(found)
