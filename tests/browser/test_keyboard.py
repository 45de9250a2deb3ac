"""Everything by keys: a moderator's desk, a rater who answers, and keys that stay quiet while somebody types."""

import re

from playwright.sync_api import Route, expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import PATIENCE, Visit, Visitor
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, take_a_minute

_FOCUSED = "() => document.activeElement.outerHTML.slice(0, 160)"
_FOCUS_IS_SEEN = """() => {
  const one = document.activeElement;
  if (one === document.body) return true;
  return [one, one.closest("label")].some((shown) => shown && getComputedStyle(shown).outlineStyle !== "none"
    && parseFloat(getComputedStyle(shown).outlineWidth) >= 2);
}"""
_MOVING = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const style = getComputedStyle(one);
  return style.animationName !== "none" || style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0);
}).map((one) => one.outerHTML.slice(0, 120))"""


def _decide(moderator: Visitor, key: str, reason: str) -> None:
    """Open the form with its key, write why, send it."""
    moderator.press(key)
    expect(moderator.page.get_by_label("Reason")).to_be_focused()
    moderator.page.keyboard.type(reason)
    moderator.press("Control+Enter")


def test_a_moderator_clears_five_items_and_undoes_one_without_a_mouse(
    service: Service, place: Place, visit: Visit
) -> None:
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
        if text == DOUBTFUL[4]:
            take_a_minute(service, place.moderator)
        _decide(max_, key, f"Read it: {key}")
    expect(post).to_contain_text(DOUBTFUL[5])
    expect(max_.status).to_contain_text("Decided.")
    expect(max_.button("Undo")).to_be_visible()
    max_.press("u")
    expect(max_.status).to_contain_text("Undone. Nothing was sent.")
    expect(post).to_contain_text(DOUBTFUL[4])

    # What is snoozed opens the next one too.
    max_.page.get_by_text("More", exact=True).click()
    max_.button("Snooze").click()
    expect(post).to_contain_text(DOUBTFUL[5])
    expect(max_.status).to_contain_text("Snoozed.")
    expected = ["dismissed", "proposed", "dismissed", "proposed", "under_review", "under_review"]
    for action_id, state in zip(actions[:4], expected, strict=False):
        place.becomes(action_id, state)
    assert [place.state(one) for one in actions] == expected


def test_keys_of_the_queue_are_letters_while_somebody_types(place: Place, visit: Visit) -> None:
    place.queue(*DOUBTFUL[:2])
    max_ = visit(place.moderator, "/review")
    max_.press("/")
    search = max_.page.get_by_label("Search")
    expect(search).to_be_focused()
    max_.page.keyboard.type("jkfdcu?/")
    expect(search).to_be_focused()
    expect(search).to_have_value("jkfdcu?/")
    expect(max_.page.get_by_role("dialog")).to_have_count(0)


def test_the_question_mark_opens_keyboard_help_and_escape_closes_it(place: Place, visit: Visit) -> None:
    max_ = visit(place.moderator, "/review")
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
    max_ = visit(place.moderator, "/review")
    max_.press("j")
    max_.press("j")
    max_.press("c")
    rows = max_.page.get_by_role("row")
    expect(rows.filter(has_text=DOUBTFUL[1]).get_by_role("button", name="Release")).to_be_visible()
    expect(rows.filter(has_text=DOUBTFUL[0]).get_by_role("button", name="Claim")).to_be_visible()


def test_ten_posts_answered_by_key_are_ten_ratings_and_no_other_key_adds_one(
    place: Place, visit: Visit
) -> None:
    posts = [f"{DOUBTFUL[number % 6]} And this is number {number}." for number in range(12)]
    actions = place.queue_together(*posts)

    def given() -> int:
        return sum(place.ratings_of(one) for one in actions)

    rita = visit(place.rater, "/help-needed")
    answered = rita.page.get_by_role("article", name="Answered")
    for number in range(9):
        rita.press("123"[number % 3])
        rita.press("Control+Enter")
        expect(answered).to_have_count(number + 1)
    # The tenth is held down: what the keyboard repeats answers nothing, not even the post that follows.
    rita.page.keyboard.down("2")
    for _ in range(3):
        rita.page.keyboard.down("2")
    expect(answered).to_have_count(10)
    rita.page.keyboard.down("2")
    rita.page.keyboard.up("2")
    assert given() == 10
    rita.page.reload()
    rita.press("s")
    expect(rita.page.get_by_role("article", name="Skipped")).to_contain_text("You are not asked again.")

    # While somebody writes, the same keys are letters. On an item's page they answer as on a card, and U takes it back.
    rita.open(f"/review/{next(one for one in actions if not place.ratings_of(one))}")
    rita.press("w")
    note = rita.page.get_by_label("What should readers know?")
    note.focus()
    rita.page.keyboard.type("123 sw jk ?")
    expect(note).to_have_value("123 sw jk ?")
    assert given() == 10
    note.blur()
    rita.press("3")
    expect(rita.page.get_by_text("You said Not sure.")).to_be_visible()
    assert given() == 11
    rita.press("u")
    expect(rita.status).to_contain_text("Undone.")
    assert given() == 10


_FOCUS_AT_EACH_LINE = """() => {
  window.found = [];
  new MutationObserver(() => found.push(document.activeElement.closest("[data-row]")?.id))
    .observe(document.getElementById("cards"), { childList: true });
}"""


def test_keys_pressed_while_an_answer_is_on_its_way_are_for_the_card_with_the_focus(
    place: Place, visit: Visit
) -> None:
    place.queue_together(*(f"{DOUBTFUL[number]} And this is number {number}." for number in range(4)))
    rita = visit(place.rater, own=True)
    held: list[Route] = []
    rita.page.route(re.compile("/help-needed/[-0-9a-f]{36}$"), lambda route: held.append(route))

    def release() -> None:
        for _ in range(PATIENCE // 20):
            if held:
                break
            rita.page.wait_for_timeout(20)
        held.pop().continue_()

    rita.open("/help-needed")
    cards = rita.page.locator("#cards > [data-row]")
    first, second, third = (card.get_attribute("id") or "" for card in cards.all())
    rita.page.evaluate(_FOCUS_AT_EACH_LINE)
    # The first is answered twice, before its answer has arrived; the second waits for it.
    for key in "j11j2j":
        rita.press(key)
    for count in (1, 2):
        release()
        expect(rita.page.get_by_role("article", name="Answered")).to_have_count(count)
        expect(rita.page.locator(f"[id='{third}'] a:focus")).to_have_count(1)
    # The focus is on the next card from the moment on that the answered one is a line.
    rita.page.evaluate("found.length = 0")
    rita.press("3")
    release()
    expect(rita.page.get_by_role("article", name="Answered")).to_have_count(3)
    (fourth,) = (card.get_attribute("id") for card in cards.all())
    assert set(rita.page.evaluate("found")) == {fourth}
    answers = ((first, "Yes"), (second, "No"), (third, "Not sure"))
    for card_id, said in answers:
        expect(rita.page.locator(f"[id='{card_id}'] strong")).to_have_text(said)
    assert [place.ratings_of(one.removeprefix("card-")) for one, _ in answers] == [1, 1, 1]


def test_wherever_the_focus_goes_it_can_be_seen_and_nothing_moves_that_need_not(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, reduced_motion="reduce")
    for path in ("/help-needed", f"/review/{action_id}", "/welcome", "/settings"):
        rita.open(path)
        for _ in range(30):
            rita.press("Tab")
            assert rita.page.evaluate(_FOCUS_IS_SEEN), f"{path}: {rita.page.evaluate(_FOCUSED)}"
        assert rita.page.evaluate(_MOVING) == [], path


def test_single_keys_can_be_switched_off(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[0])
    rita = visit(place.rater, "/settings/keys")
    rita.page.get_by_label("Single-key shortcuts").uncheck()
    rita.button("Save").click()
    expect(rita.status).to_contain_text("saved")
    rita.open("/help-needed")
    rita.press("1")
    rita.press("?")
    expect(rita.button("Yes")).to_be_visible()
    expect(rita.page.get_by_role("dialog")).to_have_count(0)


def test_a_persons_own_keys_work_are_shown_and_can_be_given_up(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/settings/keys", wants=[422])
    dismiss = max_.page.get_by_label("Dismiss", exact=True)
    dismiss.fill("c")
    max_.button("Save").click()
    expect(max_.main).to_contain_text("Dismiss cannot be C, which is “Claim or Confirm”.")
    dismiss.fill("q")
    max_.button("Save").click()
    expect(max_.status).to_contain_text("Your settings are saved.")

    max_.open(f"/review/{action_id}")
    expect(max_.button("Dismiss").locator("kbd")).to_have_text("Q")
    max_.press("d")
    expect(max_.page.get_by_label("Reason")).not_to_be_focused()
    max_.press("?")
    line = max_.page.get_by_role("dialog").locator("[data-help=d]")
    expect(line).to_contain_text("Q")
    max_.press("Escape")
    expect(max_.page.get_by_role("dialog")).to_have_count(0)
    max_.press("Control+k")
    max_.page.keyboard.type("keep post")
    listed = max_.page.get_by_role("listbox", name="Commands").get_by_role("option")
    expect(listed).to_have_text(["Dismiss: keep postQ"])
    max_.press("Escape")
    expect(max_.page.get_by_role("dialog")).to_have_count(0)
    max_.press("q")
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()

    max_.open("/settings/keys")
    max_.button("Reset keys").click()
    expect(max_.status).to_contain_text("Your settings are saved.")
    max_.open(f"/review/{action_id}")
    max_.press("d")
    expect(max_.page.get_by_label("Reason")).to_be_focused()


def test_a_key_that_follows_the_closing_of_the_commands_at_once_is_the_pages(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}")
    max_.press("Control+k")
    expect(max_.page.locator("#command")).to_be_focused()
    # In one task, for with the next frame the field that is hidden then loses the focus.
    max_.page.evaluate("""() => {
        document.getElementById("commands").close();
        const key = new KeyboardEvent("keydown", {key: "d", bubbles: true});
        document.getElementById("command").dispatchEvent(key);
    }""")
    expect(max_.page.get_by_label("Reason")).to_be_focused()


def test_rows_pages_and_commands_are_reached_by_keys_alone(place: Place, visit: Visit) -> None:
    actions = place.queue(*DOUBTFUL[:4])
    max_ = visit(place.moderator, "/review?sort=oldest")
    boxes = max_.page.get_by_role("checkbox", name="Select: ")
    max_.press("x")
    expect(boxes.nth(0)).to_be_checked()
    expect(max_.button("Dismiss 1")).to_be_visible()
    for key in ("j", "j", "Shift+X"):
        max_.press(key)
    expect(max_.button("Dismiss 3")).to_be_visible()
    expect(boxes.nth(3)).not_to_be_checked()
    max_.press("d")
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss 3")).to_be_visible()
    max_.heading("Review queue").click()
    max_.press("Control+k")
    max_.page.keyboard.type("claim 3")
    max_.press("Enter")
    expect(max_.button("Claim 3")).to_be_focused()
    max_.press("a")
    expect(max_.page.get_by_label("Assign to")).to_be_focused()
    expect(max_.page.get_by_text("Ctrl+Enter: Assign 3")).to_be_visible()
    max_.page.get_by_label("Assign to").select_option("Sam")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("3 posts are assigned to Sam.")

    max_.open(f"/review/{actions[1]}?sort=oldest")
    post = max_.page.get_by_role("article", name="Post")
    max_.press("n")
    expect(post).to_contain_text(DOUBTFUL[2])
    max_.press("p")
    expect(post).to_contain_text(DOUBTFUL[1])
    max_.press("a")
    expect(max_.page.get_by_label("Assign to")).to_be_focused()
    max_.page.get_by_role("heading", name="Decide", exact=True).click()
    max_.press("Control+k")
    command = max_.page.get_by_role("combobox", name="What do you want to do?")
    expect(command).to_be_focused()
    assert Examiner(whole=False).look(max_, "the list of commands") == []
    max_.page.keyboard.type("keep post")
    listed = max_.page.get_by_role("listbox", name="Commands").get_by_role("option")
    expect(listed).to_have_text(["Dismiss: keep postD"])
    max_.press("Enter")
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()

    # What decides without a key of its own is chosen too, and sent only with its reason.
    max_.page.get_by_role("heading", name="Decide", exact=True).click()
    max_.press("Control+k")
    max_.page.keyboard.type("escalate")
    max_.press("Enter")
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    expect(max_.page.get_by_text("Ctrl+Enter: Escalate")).to_be_visible()
    max_.page.keyboard.type("A threat?")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("Sent to staff.")

    max_.page.get_by_role("heading", name="Decide", exact=True).click()
    max_.press("g")
    max_.press("h")
    expect(max_.page.get_by_role("region", name="Queues")).to_be_visible()
    assert Examiner(whole=False).look(max_, "home") == []
    max_.press("Control+k")
    max_.page.keyboard.type("review queue")
    max_.press("Enter")
    expect(max_.heading("Review queue")).to_be_visible()
