"""The desk's keys: tick and tick a range, go from item to item and from page to page, and the list of commands."""

from playwright.sync_api import expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place


def test_rows_pages_and_commands_are_reached_by_keys_alone(place: Place, visit: Visit) -> None:
    actions = place.queue(*DOUBTFUL[:4])
    max_ = visit(place.moderator)
    max_.open("/review?sort=oldest")
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
    expect(max_.status).to_contain_text("3 items are assigned to Sam.")

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
    expect(max_.heading("Home")).to_be_visible()
    assert Examiner(whole=False).look(max_, "home") == []
    max_.press("Control+k")
    max_.page.keyboard.type("review queue")
    max_.press("Enter")
    expect(max_.heading("Review queue")).to_be_visible()
