"""Nobody judges a note that they did not read: buttons and keys lead to it until its last line was in the window."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import PHONE, Visit, Visitor
from tests.browser.layout import overlap
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place

WHY = "Read the note first"
LONG = "The harbour office says that the quay is closed until May. " * 30
POST = f"{DOUBTFUL[0]} " + "And another thing about the quay wall. " * 12


@pytest.fixture(scope="module")
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def _noted(
    place: Place, visit: Visit, note: str, post: str = POST, **options: object
) -> tuple[Visitor, Locator, str]:
    """Help needed of a rater who has answered everything but this note: the visit, the note's card, and its id."""
    (action_id,) = place.queue(post)
    note_id = place.write_note(place.request_uuid(place.action(action_id)["request_id"]), note)
    rita = visit(place.rater, "/help-needed", **options)
    rita.page.get_by_role("article", name="Post ").get_by_role("button", name="Skip").click()
    expect(rita.main).to_contain_text("Skipped")
    rita.open("/help-needed")
    return rita, rita.page.get_by_role("article", name="Note 1"), note_id


def _foot_is_in_sight(card: Locator) -> bool:
    sees: bool = card.locator("form.rate").evaluate(
        "(foot) => foot.getBoundingClientRect().bottom <= innerHeight + 1"
    )
    return sees


def test_on_a_phone_the_answers_stick_only_once_the_last_line_was_in_the_window(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    rita, card, note_id = _noted(place, visit, LONG, viewport=PHONE, has_touch=True, is_mobile=True)
    assert not _foot_is_in_sight(card), "they cover nothing of the note"
    card.get_by_text("Helpful", exact=True).dispatch_event("click")
    expect(rita.alert).to_contain_text(WHY)
    expect(card.locator(".the-note")).to_be_focused()
    assert not overlap(card.get_by_text("A note on this post"), rita.alert.locator(".toast"))
    expect(card.get_by_role("radio", name="Helpful", exact=True)).not_to_be_checked()
    expect(card.get_by_role("button", name="Submit rating")).to_be_hidden()
    found = examiner.look(rita, "led to the note")
    rita.page.set_viewport_size(PHONE)

    card.locator(".end").scroll_into_view_if_needed()
    rita.page.wait_for_timeout(100)
    rita.page.evaluate("scrollTo(0, 0)")
    expect(card.locator(".answers label").first).to_be_in_viewport(ratio=1)
    assert _foot_is_in_sight(card), "now they are in the thumb's reach wherever the page is"
    found += examiner.look(rita, "the note was read")
    rita.page.set_viewport_size(PHONE)
    card.get_by_text("Helpful", exact=True).tap()
    card.locator(".good-points label").first.tap()
    card.get_by_role("button", name="Submit rating").tap()
    expect(rita.status).to_contain_text("Your rating is saved.")
    assert place.note(note_id)["ratings_count"] == 1
    assert not found, "\n".join(found)


def test_keys_lead_to_the_note_until_it_was_read(place: Place, visit: Visit) -> None:
    rita, card, note_id = _noted(place, visit, LONG * 2)
    for key in "123":
        rita.main.focus()
        rita.press(key)
        expect(card.locator(".the-note")).to_be_focused()
        expect(rita.alert).to_contain_text(WHY)
    expect(card.get_by_role("radio", checked=True)).to_have_count(0)
    rita.press("End")
    expect(card.locator(".end")).to_be_in_viewport()
    rita.press("2")
    expect(card.get_by_role("radio", name="Not helpful")).to_be_checked()
    rita.press("b")
    rita.press("Control+Enter")
    expect(rita.status).to_contain_text("Your rating is saved.")
    assert place.note(note_id)["ratings_count"] == 1


def test_a_note_that_fits_into_the_window_is_rated_at_once(place: Place, visit: Visit) -> None:
    rita, card, _ = _noted(place, visit, "It is a quotation.")
    rita.press("1")
    expect(card.get_by_role("radio", name="Helpful", exact=True)).to_be_checked()
    expect(rita.alert).to_be_empty()


def test_above_its_note_a_post_has_three_lines_and_the_note_is_the_largest_text(
    place: Place, visit: Visit
) -> None:
    _rita, card, _ = _noted(place, visit, LONG, viewport=PHONE)
    few = card.locator(".few")
    sizes = card.evaluate(
        """(card) => [...card.querySelectorAll('p, legend, .content, button, label')]
          .filter((one) => !one.closest('.vh'))
          .map((one) => [parseFloat(getComputedStyle(one).fontSize), one.closest('.the-note .content') !== null])"""
    )
    note = [size for size, is_note in sizes if is_note]
    assert note
    assert min(note) > max(size for size, is_note in sizes if not is_note)
    line = few.evaluate("(one) => parseFloat(getComputedStyle(one).lineHeight)")
    folded = few.bounding_box()
    assert folded
    assert folded["height"] <= 3 * line + 1
    card.get_by_text("Show the whole post").click()
    whole = few.bounding_box()
    assert whole
    assert whole["height"] > folded["height"]
    expect(card.get_by_text("Show less")).to_be_visible()


def test_a_post_that_three_lines_hold_is_shown_whole_without_a_gap(place: Place, visit: Visit) -> None:
    _rita, card, _ = _noted(place, visit, "It is a quotation.", POST[:150])
    post = card.locator(".noted .few")
    expect(card.get_by_text("Show the whole post")).to_be_hidden()
    assert post.evaluate("(one) => getComputedStyle(one).maskImage") == "none"
    line = post.evaluate("(one) => parseFloat(getComputedStyle(one).lineHeight)")
    box, around = post.bounding_box(), card.locator(".noted").bounding_box()
    assert box
    assert around
    assert around["height"] - box["height"] < line


def test_without_script_the_note_stands_above_its_answers_and_is_rated(place: Place, visit: Visit) -> None:
    rita, card, note_id = _noted(
        place, visit, LONG, viewport=PHONE, has_touch=True, is_mobile=True, java_script_enabled=False
    )
    card.get_by_text("Helpful", exact=True).tap()
    card.locator(".good-points label").first.tap()
    card.get_by_role("button", name="Submit rating").tap()
    expect(rita.status).to_contain_text("Your rating is saved.")
    assert place.note(note_id)["ratings_count"] == 1
