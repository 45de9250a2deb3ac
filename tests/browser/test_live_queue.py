"""The open queue changes in place: a colleague's work appears, and nothing under the reader's hand moves."""

from playwright.sync_api import expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import PHONE, Visit
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, take_a_minute


def test_rows_follow_colleagues_and_keep_ticks_focus_and_order(place: Place, visit: Visit) -> None:
    first, second = place.queue(*DOUBTFUL[:2])
    max_, sam = visit(place.moderator, own=True), visit(place.other_moderator)
    max_.page.clock.install()
    max_.open("/review")
    expect(max_.page).to_have_title("(2) Review queue – Bridgenote")
    row, other = max_.page.locator(f"#row-{first}"), max_.page.locator(f"#row-{second}")
    order = [one.get_attribute("id") for one in max_.page.locator("[data-row]").all()]
    row.get_by_role("checkbox").check()
    row.get_by_role("link", name=DOUBTFUL[0], exact=True).focus()

    sam.open(f"/review/{first}")
    sam.button("Claim").click()
    expect(sam.status).to_contain_text("Claimed.")
    max_.page.clock.run_for(16_000)
    expect(row).to_contain_text("Claimed by Sam")
    expect(row.get_by_role("checkbox")).to_be_checked()
    expect(row.get_by_role("link", name=DOUBTFUL[0])).to_be_focused()

    sam.page.get_by_label("Reason").fill("Banter")
    sam.button("Dismiss").click()
    place.becomes(first, "dismissed")
    max_.page.clock.run_for(16_000)
    expect(row).to_contain_text("Dismissed by Sam")
    expect(row.get_by_role("link", name=DOUBTFUL[0])).to_be_focused()
    expect(other.get_by_role("checkbox")).not_to_be_checked()
    assert [one.get_attribute("id") for one in max_.page.locator("[data-row]").all()] == order
    expect(max_.page).to_have_title("(1) Review queue – Bridgenote")
    expect(max_.page.locator("#count-review")).to_have_text("1 waiting")
    assert Examiner(whole=False).look(max_, "the queue after a colleague's decision") == []
    # A claim by its key keeps the place: the next J goes on from there.
    other.get_by_role("checkbox").check()
    other.locator("[data-row-link]").focus()
    max_.press("c")
    expect(other.get_by_role("button", name="Release: ")).to_be_visible()
    expect(other.locator("[data-row-link]")).to_be_focused()
    expect(other.get_by_role("checkbox")).to_be_checked()


def test_an_open_item_follows_a_colleague_and_keeps_what_is_being_written(
    service: Service, place: Place, visit: Visit
) -> None:
    first, second, third = place.queue(*DOUBTFUL[:3])
    take_a_minute(service, place.other_moderator)
    max_, sam = visit(place.moderator, own=True), visit(place.other_moderator)
    max_.page.clock.install()
    panel = max_.page.get_by_role("complementary", name="Decision")
    for action_id, label, typed in (
        (first, "Reason", ""),
        (second, "Reason", "Half a sentence"),
        (third, "Text to the author", "Half a message"),
    ):
        max_.open(f"/review/{action_id}")
        folded = max_.page.locator("details.more > summary")
        field = panel.get_by_label(label)
        if label != "Reason":
            folded.click()
        if typed:
            field.fill(typed)
        if label != "Reason":
            folded.click()
            expect(field).to_be_hidden()
            max_.main.focus()
        sam.open(f"/review/{action_id}")
        sam.page.get_by_label("Reason").fill("Banter")
        sam.button("Dismiss").click()
        expect(sam.button("Undo")).to_be_visible()
        max_.page.clock.run_for(16_000)
        expect(max_.alert).to_contain_text("Sam is deciding this right now.")
        if typed:
            expect(panel).to_contain_text("What you typed stays here")
            expect(field).to_have_value(typed)
        else:
            expect(max_.button("Dismiss")).to_have_count(0)


def test_a_tab_in_the_background_asks_once_a_minute_and_at_once_when_it_is_looked_at(
    place: Place, visit: Visit
) -> None:
    place.queue(DOUBTFUL[0])
    page = visit(place.moderator, own=True).page
    page.clock.install(time=0)
    page.clock.pause_at(1)  # from here on only the test lets time pass
    page.goto("/review")
    expect(page.locator("html.js")).to_be_attached()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "new-count" in request.url else None)

    look = (
        "(hidden) => { Object.defineProperty(document, 'hidden', {configurable: true, get: () => hidden});"
        + ("document.dispatchEvent(new Event('visibilitychange')); }")
    )
    with page.expect_response("**/review/new-count?*"):
        page.clock.run_for(15_000)
    page.evaluate(look, True)
    with page.expect_response("**/review/new-count?*"):
        page.clock.run_for(60_000)
    page.clock.run_for(30_000)
    assert len(asked) == 2
    with page.expect_response("**/review/new-count?*"):
        page.evaluate(look, False)
    assert len(asked) == 3


def test_the_bell_beside_the_menu_counts_what_came_while_the_queue_is_open(
    place: Place, visit: Visit
) -> None:
    (first,) = place.queue(DOUBTFUL[0])
    max_, sam = visit(place.moderator), visit(place.other_moderator, own=True, viewport=PHONE)
    sam.page.clock.install()
    sam.open(f"/review/{first}")
    sam.button("Claim").click()
    expect(sam.status).to_contain_text("Claimed.")
    sam.open("/review")
    header = sam.page.get_by_role("banner")
    expect(header.get_by_role("link", name="Notices", exact=True)).to_be_visible()
    expect(header.get_by_role("button", name="Menu")).to_be_visible()

    max_.open(f"/review/{first}")
    max_.button("Take over").click()
    expect(max_.status).to_contain_text("Taken over.")
    sam.page.clock.run_for(16_000)
    bell = header.get_by_role("link", name="Notices, 1 unread")
    expect(bell).to_be_visible()
    assert Examiner(whole=False).look(sam, "the queue with a notice") == []
    bell.focus()
    sam.page.keyboard.press("Enter")
    expect(sam.main).to_contain_text("Max took over your claim of")
