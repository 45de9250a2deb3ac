"""The moderators' and operators' lists: their filters, the names of their rows, and what stands over them."""

import re

import pytest
from playwright.sync_api import Locator, ViewportSize, expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import DESKTOP, PHONE, Visit, Visitor
from tests.browser.layout import NARROW, SCREENS, covered, overlap, too_wide
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, be_brief, take_a_minute


@pytest.fixture
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def _open_filters(visitor: Visitor) -> None:
    visitor.main.locator("summary").get_by_text("Filter", exact=True).click()


def _in_use(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("list", name="Filters in use").get_by_role("listitem")


def test_several_types_and_states_are_chosen_with_the_keyboard_alone(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/history")
    max_.page.get_by_label("Search").focus()
    max_.press("Tab")
    assert max_.page.evaluate("document.activeElement.innerText").strip() == "Filter"
    max_.press("Enter")
    types = max_.page.get_by_role("group", name="Type", exact=True)
    expect(types.get_by_role("checkbox")).to_have_count(5)
    for screen in SCREENS:
        assert too_wide(max_, screen) == []
    assert examiner.look(max_, "open filters") == []
    for _ in range(2):
        max_.press("Tab")
        max_.press("Space")
    assert types.get_by_role("checkbox", checked=True).count() == 2
    states = max_.page.get_by_role("group", name="State", exact=True)
    states.get_by_role("checkbox", name="Members are reviewing").check()
    expect(max_.page).to_have_url(re.compile(r"type=hide&type=unhide&.*state=under_review"))
    for words in ("Type Hide", "Type Unhide", "State Members are reviewing"):
        expect(_in_use(max_).filter(has_text=words)).to_have_count(1)
    # Escape closes it and leads back; leaving it with Tab closes it too, so that it covers nothing that has the focus.
    max_.press("Escape")
    expect(types).to_be_hidden()
    assert max_.page.evaluate("document.activeElement.innerText").strip() == "Filter"
    max_.press("Enter")
    expect(types).to_be_visible()
    max_.page.get_by_label("To", exact=True).focus()
    for _ in range(4):  # the parts of a date, and what follows
        max_.press("Tab")
    expect(types).to_be_hidden()
    expect(max_.button("Filter")).to_be_hidden()
    expect(max_.page.get_by_role("row").filter(has_text=DOUBTFUL[0])).to_be_visible()


def test_several_categories_are_chosen_without_script(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, java_script_enabled=False)
    for path in ("/review", "/history"):
        max_.open(path)
        _open_filters(max_)
        max_.page.get_by_role("checkbox", name="Toxicity").check()
        max_.button("Filter").click()
        expect(max_.page).to_have_url(re.compile("category=toxicity"))
        expect(_in_use(max_).first).to_contain_text("Category Toxicity")
        expect(max_.page.get_by_role("row").filter(has_text=DOUBTFUL[0])).to_be_visible()


@pytest.mark.parametrize("with_script", [True, False], ids=["script", "no script"])
def test_the_lists_of_operators_and_admins_are_filtered_like_the_queue(
    place: Place, visit: Visit, *, with_script: bool
) -> None:
    def choose(path: str, label: str, value: str, chip: str, address: str) -> None:
        admin.open(path)
        field = admin.main.get_by_label(label, exact=True)
        if not field.is_visible():
            _open_filters(admin)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(label=value)
        else:
            field.fill(value)
        if with_script:
            field.press("Enter")
        else:
            admin.button("Filter").click()
        expect(admin.page).to_have_url(re.compile(re.escape(address)))
        expect(_in_use(admin).first).to_contain_text(chip)
        if with_script:
            expect(admin.status).not_to_be_empty()
        _in_use(admin).first.get_by_role("link", name=f"Remove the filter {chip}").click()
        expect(admin.page).not_to_have_url(re.compile(re.escape(address)))
        expect(_in_use(admin)).to_have_count(0)

    place.queue(DOUBTFUL[0])
    admin = visit(place.admin, java_script_enabled=with_script)
    choose("/people", "Name or email", "a", "Name or email a", "q=a")
    choose("/history/settings", "Settings of", "Thresholds", "Settings of Thresholds", "area=thresholds")
    choose("/insights", "From", "2026-01-02", "From 2 Jan 2026", "from=2026-01-02")


def test_a_filter_that_does_not_exist_leads_to_its_field(place: Place, visit: Visit) -> None:
    max_ = visit(place.moderator, "/history?state=applied&state=exploded", wants=[422])
    summary = max_.page.get_by_role("group", name="There is a problem")
    expect(summary).to_be_focused()
    summary.get_by_role("link", name="State cannot be “exploded”. Choose from the list.").click()
    expect(max_.page.get_by_role("group", name="State", exact=True)).to_be_focused()


def test_a_date_is_typed_to_its_end_before_it_applies(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/history", wants=[422], locale="en-GB")
    _open_filters(max_)
    first = max_.page.get_by_label("From", exact=True)
    first.focus()
    max_.page.keyboard.type("05052026", delay=50)
    expect(first).to_have_value("2026-05-05")
    expect(first).to_be_focused()
    assert "from=" not in max_.page.url
    max_.page.keyboard.press("Tab")
    max_.page.keyboard.press("Tab")
    expect(max_.page).to_have_url(re.compile("from=2026-05-05"))
    # A wrong one is named, and does not take the focus from the field that came next.
    first.focus()
    max_.page.keyboard.type("05050002", delay=50)
    max_.page.get_by_label("To", exact=True).focus()
    expect(max_.page.get_by_role("group", name="There is a problem")).to_contain_text("1970")
    expect(max_.page.get_by_label("To", exact=True)).to_be_focused()
    # By Enter it applies at once, and then the list of errors has the focus.
    max_.page.get_by_label("To", exact=True).focus()
    max_.page.keyboard.type("06052026", delay=50)
    first.focus()
    max_.page.keyboard.type("05050003", delay=50)
    max_.page.keyboard.press("Enter")
    expect(max_.page.get_by_role("group", name="There is a problem")).to_be_focused()


@pytest.mark.parametrize("screen", [DESKTOP, PHONE, NARROW], ids=["1280", "390", "320"])
def test_what_can_be_undone_in_bulk_covers_no_field_and_nothing_that_has_the_focus(
    service: Service, place: Place, visit: Visit, screen: ViewportSize
) -> None:
    place.queue_together(*[f"{DOUBTFUL[number % 4]} And this is number {number}." for number in range(12)])
    take_a_minute(service, place.moderator)
    max_ = visit(place.moderator, own=True, viewport=screen)
    max_.page.clock.install()  # the bar stays for as long as the test looks
    max_.open("/review")
    max_.page.clock.pause_at(max_.page.evaluate("Date.now()") + 1000)
    boxes = max_.page.get_by_role("checkbox", name="Select: ")
    for number in range(6):
        boxes.nth(number).check()
    assert covered(max_) == []
    if screen == DESKTOP:
        # The bar of the ticked rows is in sight, so its key scrolls none of them away.
        max_.page.evaluate("scrollTo(0, 0)")
        max_.press("d")
        expect(max_.page.get_by_label("Reason")).to_be_focused()
        assert max_.page.evaluate("scrollY") == 0
    max_.page.get_by_label("Reason").fill("Old quarrels")
    max_.button("Dismiss 6: keep posts").click()
    bar = max_.main.get_by_text("6 decisions can still be undone.")
    # Work goes on at the first row that is still open.
    expect(max_.page.locator("[data-row]").nth(6).locator("[data-row-link]")).to_be_focused()
    expect(bar).to_be_in_viewport()
    expect(max_.page.get_by_role("button", name="Undo", exact=True)).to_be_in_viewport()
    for number in range(2):
        boxes.nth(number).check()
    reason = max_.page.get_by_label("Reason")
    reason.scroll_into_view_if_needed()
    assert not overlap(reason, bar)
    assert not overlap(reason, max_.page.get_by_role("button", name="Undo", exact=True))
    assert covered(max_) == []


@pytest.mark.parametrize("screen", [DESKTOP, PHONE, NARROW], ids=["1280", "390", "320"])
def test_what_can_be_undone_on_an_item_covers_nothing(
    service: Service, place: Place, visit: Visit, screen: ViewportSize
) -> None:
    first, second = place.queue(*DOUBTFUL[:2])
    take_a_minute(service, place.moderator)
    max_ = visit(place.moderator, f"/review/{first}?next=1", viewport=screen)
    max_.page.get_by_label("Reason").fill("Over the line")
    max_.button("Dismiss").click()
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[1])
    expect(max_.page.get_by_role("button", name="Undo", exact=True)).to_be_in_viewport()
    assert covered(max_) == []
    # Another decision: its own bar stands where it was made, and the key takes back that one.
    max_.open(f"/review/{second}")
    max_.page.get_by_label("Reason").fill("Banter")
    max_.button("Dismiss").click()
    expect(max_.page.get_by_role("button", name="Undo", exact=True)).to_have_count(1)
    expect(max_.page.get_by_role("button", name="Undo", exact=True)).to_be_in_viewport()
    assert covered(max_) == []
    max_.press("u")
    expect(max_.status).to_contain_text("Undone. Nothing was sent.")
    assert place.state(second) == "under_review"


def test_on_the_next_item_the_bar_says_sent_and_leaves_its_place_empty(
    service: Service, place: Place, visit: Visit
) -> None:
    first, _ = place.queue(*DOUBTFUL[:2])
    take_a_minute(service, place.moderator)
    max_ = visit(place.moderator, own=True)
    max_.page.clock.install()
    max_.open(f"/review/{first}?next=1")
    max_.page.get_by_label("Reason").fill("Over the line")
    max_.button("Dismiss").click()
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[1])
    before = max_.page.get_by_role("heading", level=1).bounding_box()
    max_.page.clock.run_for(62_500)
    expect(max_.main).to_contain_text("Sent.")
    expect(max_.page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
    max_.page.clock.run_for(4_000)
    expect(max_.page.locator("#undo-bar")).to_be_hidden()
    assert max_.page.get_by_role("heading", level=1).bounding_box() == before


def test_when_the_time_is_over_nothing_moves(service: Service, place: Place, visit: Visit) -> None:
    place.queue(*DOUBTFUL[:3])
    be_brief(service, place.moderator)
    max_ = visit(place.moderator, "/review", viewport=NARROW)
    max_.page.get_by_role("checkbox", name="Select: ").first.check()
    max_.page.get_by_label("Reason").fill("Old quarrels")
    max_.button("Dismiss 1: keep posts").click()
    expect(max_.page.get_by_role("button", name="Undo", exact=True)).to_be_visible()
    before = max_.heading("Review queue").bounding_box()
    expect(max_.main).to_contain_text("Sent. The rows below say what became of them.")
    assert max_.heading("Review queue").bounding_box() == before


@pytest.mark.parametrize("screen", [PHONE, NARROW], ids=["390", "320"])
def test_a_message_never_covers_the_menu(place: Place, visit: Visit, screen: ViewportSize) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/review", viewport=screen)
    max_.page.get_by_role("button", name="Claim: ").click()
    message = max_.status.get_by_text("Claimed. Yours for 10 minutes.")
    expect(message).to_be_in_viewport()
    max_.page.evaluate("scrollTo(0, 0)")
    for far in (0, 30, 60):
        max_.page.evaluate("(far) => scrollTo(0, far)", far)
        assert not overlap(message, max_.button("Menu"))
    expect(message).to_be_in_viewport()
    max_.page.evaluate("scrollTo(0, 0)")
    max_.button("Menu").click()
    expect(max_.page.get_by_role("link", name="Action history")).to_be_visible()


def test_on_paper_a_list_is_a_table_without_what_is_pressed(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/review?category=toxicity", viewport=ViewportSize(width=718, height=1000))
    pressed = max_.page.locator("button, .btn, input, select, nav").filter(visible=True)
    assert pressed.count() > 10
    max_.page.emulate_media(media="print")
    # The number of rows stays, of all that leads on.
    expect(pressed.filter(has_not_text="1 to 1 of 1")).to_have_count(0)
    for column in ("Post", "Author", "Ratings"):
        expect(max_.page.get_by_role("columnheader", name=column, exact=True)).to_be_visible()
    expect(_in_use(max_).filter(has_text="Category Toxicity")).to_be_visible()
    row = max_.page.get_by_role("link", name=DOUBTFUL[0])
    assert row.evaluate("link => getComputedStyle(link).whiteSpace") == "normal"
