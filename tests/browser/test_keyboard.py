"""Everything by keys: a moderator at work, a rater who answers, and keys that stay quiet while somebody types."""

from playwright.sync_api import expect

from tests.browser.conftest import Visit, Visitor
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place


def _decide(moderator: Visitor, key: str, reason: str) -> None:
    """Open the form with its key, write why, send it."""
    moderator.press(key)
    expect(moderator.page.get_by_label("Reason")).to_be_focused()
    moderator.page.keyboard.type(reason)
    moderator.press("Control+Enter")


def test_a_moderator_clears_five_items_and_undoes_one_without_a_mouse(place: Place, visit: Visit) -> None:
    actions = place.queue(*DOUBTFUL[:6])
    max_ = visit(place.moderator)
    post = max_.page.get_by_role("article", name="Post")
    max_.open("/review")
    for _ in range(3):
        max_.press("j")
    max_.press("k")
    expect(max_.page.get_by_role("link", name=DOUBTFUL[1], exact=True)).to_be_focused()
    max_.press("k")
    max_.press("Enter")
    expect(post).to_contain_text(DOUBTFUL[0])

    # From one item to the next: a key, a reason, Ctrl+Enter. "Review next" has the focus after the first.
    _decide(max_, "d", "Banter")
    expect(max_.button("Review next")).to_be_focused()
    max_.press("Enter")
    for text, key in zip(DOUBTFUL[1:5], "fdfd", strict=True):
        expect(post).to_contain_text(text)
        _decide(max_, key, f"Read it: {key}")
    expect(post).to_contain_text(DOUBTFUL[5])
    expect(max_.button("Undo")).to_be_visible()
    max_.press("u")
    expect(max_.status).to_contain_text("Undone. Nothing was sent.")
    expect(post).to_contain_text(DOUBTFUL[4])

    expected = ["dismissed", "proposed", "dismissed", "proposed", "under_review", "under_review"]
    for action_id, state in zip(actions[:4], expected, strict=False):
        place.becomes(action_id, state)
    assert [place.state(one) for one in actions] == expected


def test_keys_of_the_queue_are_letters_while_somebody_types(place: Place, visit: Visit) -> None:
    place.queue(*DOUBTFUL[:2])
    max_ = visit(place.moderator)
    max_.open("/review")
    max_.press("/")
    search = max_.page.get_by_label("Search")
    expect(search).to_be_focused()
    max_.page.keyboard.type("jkfdcu?/")
    expect(search).to_be_focused()
    expect(search).to_have_value("jkfdcu?/")
    expect(max_.page.get_by_role("dialog")).to_have_count(0)


def test_the_question_mark_opens_keyboard_help_and_escape_closes_it(place: Place, visit: Visit) -> None:
    max_ = visit(place.moderator)
    max_.open("/review")
    max_.press("?")
    help_ = max_.page.get_by_role("dialog", name="Keyboard help")
    expect(help_).to_be_visible()
    expect(help_).to_contain_text("Open the dismiss form")
    max_.press("Escape")
    expect(help_).to_have_count(0)
    max_.page.get_by_role("link", name="Keyboard help").click()
    expect(help_).to_be_visible()


def test_claiming_by_key_takes_the_row_with_the_focus(place: Place, visit: Visit) -> None:
    place.queue(*DOUBTFUL[:2])
    max_ = visit(place.moderator)
    max_.open("/review")
    max_.press("j")
    max_.press("j")
    max_.press("c")
    rows = max_.page.get_by_role("row")
    expect(rows.filter(has_text=DOUBTFUL[1]).get_by_role("button", name="Release")).to_be_visible()
    expect(rows.filter(has_text=DOUBTFUL[0]).get_by_role("button", name="Claim")).to_be_visible()


def test_a_rater_answers_and_skips_by_key_and_goes_on_to_the_next_post(place: Place, visit: Visit) -> None:
    first, second = place.queue(*DOUBTFUL[:2])
    rita = visit(place.rater)
    rita.open("/help-needed")
    rita.press("1")
    expect(rita.status).to_contain_text("Thank you")
    expect(rita.page.get_by_role("article").filter(has_text="You said Yes")).to_be_visible()
    rita.press("s")
    expect(rita.page.get_by_role("article").filter(has_text="Skipped.")).to_be_visible()
    rita.page.reload()
    expect(rita.page.get_by_text("Nothing needs your help.")).to_be_visible()
    counts = [place.ratings_of(one) for one in (first, second)]
    assert sorted(counts) == [0, 1]


def test_an_answer_on_the_items_page_is_chosen_by_key_and_sent_by_ctrl_enter(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater)
    rita.open(f"/review/{action_id}")
    rita.press("2")
    expect(rita.page.get_by_role("radio", name="No", exact=True)).to_be_checked()
    rita.press("Control+Enter")
    expect(rita.page.get_by_text("You said No.")).to_be_visible()
    rita.press("w")
    expect(rita.page.get_by_label("Your note")).to_be_visible()


def test_single_keys_can_be_switched_off(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[0])
    rita = visit(place.rater)
    rita.open("/settings")
    rita.page.get_by_label("Single-key shortcuts").uncheck()
    rita.button("Save").click()
    expect(rita.status).to_contain_text("saved")
    rita.open("/help-needed")
    rita.press("1")
    rita.press("?")
    expect(rita.button("Yes")).to_be_visible()
    expect(rita.page.get_by_role("dialog")).to_have_count(0)
