"""What moderators keep at hand: saved filters, reasons to choose from, notices, the newest decision to take back."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit, Visitor
from tests.browser.layout import overlap
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, take_a_minute


@pytest.fixture
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def _add_reason(operator: Visitor, title: str, text: str) -> None:
    operator.open("/reasons")
    if not operator.page.get_by_label("Title").is_visible():
        operator.page.get_by_text("Add a reason", exact=True).click()
    operator.page.get_by_label("Title").fill(title)
    operator.page.get_by_label("Text", exact=True).fill(text)
    operator.button("Add").click()
    expect(operator.status).to_contain_text(f"“{title}” is added.")


def test_a_filter_is_saved_shared_opened_by_a_colleague_and_deleted(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    place.queue(*DOUBTFUL[:2])
    max_, sam = visit(place.moderator), visit(place.other_moderator)
    max_.open("/review")
    max_.page.get_by_label("Search").fill("stupid face")
    max_.press("Enter")
    max_.page.get_by_text("Save these filters").click()
    max_.page.get_by_label("Filter name").fill("Faces")
    max_.page.get_by_label("Share with all moderators").check()
    max_.button("Save filter").click()
    expect(max_.status).to_contain_text("Filter “Faces” is saved.")
    assert examiner.look(max_, "saved filters") == []

    sam.open("/review")
    sam.page.get_by_role("navigation", name="Saved filters").get_by_role("link", name="Faces").click()
    expect(sam.page.get_by_role("link", name=DOUBTFUL[1], exact=True)).to_be_visible()
    expect(sam.page.get_by_role("link", name=DOUBTFUL[0], exact=True)).to_have_count(0)
    expect(sam.page.get_by_role("button", name="Delete filter")).to_have_count(0)

    max_.page.get_by_role("button", name="Delete filter").click()
    expect(max_.status).to_contain_text("Filter “Faces” is deleted.")


def test_a_chosen_reason_fills_the_field_and_what_was_typed_stays(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    olga = visit(place.operator)
    _add_reason(olga, "Banter", "Friends teasing each other.")
    _add_reason(olga, "Attack", "It attacks a person.")
    assert examiner.look(olga, "reasons") == []
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}")
    reason = max_.page.get_by_label("Reason")
    reason.fill("See the thread.")
    max_.page.get_by_role("radio", name="Banter").check()
    expect(reason).to_have_value("See the thread.\nFriends teasing each other.")
    max_.press("1")
    expect(reason).to_have_value("See the thread.\nIt attacks a person.")
    max_.page.get_by_text("More", exact=True).click()
    max_.page.get_by_label("File under").select_option("Threat")
    max_.button("Dismiss").click()
    place.becomes(action_id, "dismissed")
    max_.page.reload()
    expect(max_.main).to_contain_text("Filed under Threat instead of Toxicity")
    expect(max_.main).to_contain_text("See the thread. It attacks a person.")


def test_the_bar_to_undo_leaves_the_next_decision_free_and_its_key_takes_back_the_newest(
    service: Service, place: Place, visit: Visit
) -> None:
    first, second = place.queue(*DOUBTFUL[:2])
    take_a_minute(service, place.moderator)
    max_ = visit(place.moderator, f"/review/{first}?next=1")
    max_.page.get_by_label("Reason").fill("Over the line")
    max_.button("Dismiss").click()
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[1])
    panel = max_.page.get_by_role("complementary", name="Decision")
    assert not overlap(max_.button("Undo"), panel)

    max_.open("/review")
    max_.press("?")
    help_ = max_.page.get_by_role("dialog", name="Keyboard help")
    expect(help_).to_contain_text("Undo your newest decision")
    expect(help_.get_by_text("Write a note")).to_be_hidden()
    max_.press("Escape")
    max_.press("u")
    expect(max_.status).to_contain_text("Undone. Nothing was sent.")
    assert [place.state(one) for one in (first, second)] == ["under_review", "under_review"]


def test_whoever_was_overturned_finds_a_notice_and_the_whole_entry(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_, sam = visit(place.moderator), visit(place.other_moderator)
    for visitor, verb, reason, state in (
        (max_, "Force-publish", "Plain abuse", "proposed"),
        (sam, "Dismiss", "It quotes somebody else", "dismissed"),
    ):
        visitor.open(f"/review/{action_id}")
        if visitor is sam:
            visitor.heading("Change this decision").click()
        visitor.page.get_by_label("Reason").fill(reason)
        visitor.button(verb).click()
        place.becomes(action_id, state)
    max_.open("/review")
    max_.page.get_by_role("link", name="Notices, 1 unread", exact=True).click()
    expect(max_.heading("Notices")).to_be_visible()
    expect(max_.main).to_contain_text("It quotes somebody else")
    expect(max_.main).to_contain_text("Sam")
    assert examiner.look(max_, "notices") == []
    max_.button("Mark all as read").click()
    expect(max_.page.get_by_role("link", name="Notices, 1 unread", exact=True)).to_have_count(0)
    max_.page.get_by_role("link", name="Entry in the history").click()
    expect(max_.heading("Dismissed")).to_be_visible()
    assert examiner.look(max_, "an entry") == []
