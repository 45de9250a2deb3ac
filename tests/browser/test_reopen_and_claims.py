"""Two moderators at one item: a claim holds the other off until it is taken over; a dismissal is taken up again."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, be_brief, take_a_minute
from tests.browser.receiver import Receiver


@pytest.fixture
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def test_a_claim_holds_a_colleague_off_until_they_take_it_over_which_its_holder_is_told(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_, sam = visit(place.moderator), visit(place.other_moderator)
    max_.wants(409)
    max_.open(f"/review/{action_id}")
    sam.open(f"/review/{action_id}")
    sam.press("c")
    expect(sam.button("Release")).to_be_visible()
    expect(sam.heading("Decide")).to_be_focused()
    sam.page.get_by_label("Reason").fill("Sam is still writing")

    max_.page.get_by_label("Reason").fill("Three careful sentences")
    max_.page.get_by_text("More", exact=True).click()
    max_.page.get_by_label("Comment").fill("For the others")
    max_.button("Dismiss").click()
    expect(max_.alert).to_contain_text("Claimed by Sam, for 10 min at most. Your text is kept below.")
    expect(max_.page.get_by_label("Reason")).to_have_value("Three careful sentences")
    expect(max_.page.get_by_label("Comment")).to_have_value("For the others")
    assert place.state(action_id) == "under_review"
    assert examiner.look(max_, "claimed by a colleague") == []

    max_.page.get_by_role("heading", name="Decide").click()  # out of the text field, where keys are typing
    max_.press("c")
    expect(max_.button("Take over")).to_be_focused()
    max_.press("Enter")
    expect(max_.status).to_contain_text("Taken over. Sam is notified.")
    expect(max_.page.get_by_label("Reason")).to_have_value("Three careful sentences")
    expect(max_.button("Release")).to_be_visible()

    expect(sam.alert).to_contain_text("Max took this over from you.")
    expect(sam.page.get_by_label("Reason")).to_have_value("Sam is still writing")
    expect(sam.button("Take over")).to_be_visible()
    assert examiner.look(sam, "a claim that was lost") == []

    max_.button("Dismiss").click()
    place.becomes(action_id, "dismissed")
    sam.open("/notices")
    expect(sam.main).to_contain_text("Max took over your claim of")


def test_an_open_item_says_who_comes_to_look_at_it_and_no_more_once_they_went_on(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    first, second = place.queue(DOUBTFUL[0], DOUBTFUL[1])
    max_ = visit(place.moderator, f"/review/{first}")
    expect(max_.main).not_to_contain_text("looking at this")
    sam = visit(place.other_moderator, f"/review/{first}", java_script_enabled=False)
    expect(sam.main).to_contain_text("Max is looking at this")
    max_.page.locator("[data-live-item]").dispatch_event("look")  # rather than after 15 s
    expect(max_.main).to_contain_text("Sam is looking at this")
    assert examiner.look(max_, "an item that a colleague looks at") == []
    sam.open(f"/review/{second}")
    max_.page.locator("[data-live-item]").dispatch_event("look")
    expect(max_.main).not_to_contain_text("looking at this")


def test_without_script_a_claim_holds_off_and_is_taken_over_with_what_was_typed(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[1])
    sam = visit(place.other_moderator, java_script_enabled=False)
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[409], java_script_enabled=False)
    sam.open(f"/review/{action_id}")
    sam.page.get_by_role("button", name=re.compile("^Claim")).click()
    max_.page.get_by_label("Reason").fill("Three careful sentences")
    max_.page.get_by_role("button", name=re.compile("^Dismiss")).click()
    expect(max_.main).to_contain_text("Claimed by Sam")
    max_.page.get_by_role("button", name=re.compile("^Take over")).click()
    expect(max_.page.get_by_label("Reason")).to_have_value("Three careful sentences")
    sam.page.reload()
    expect(sam.main).to_contain_text("Max took this over from you")
    max_.page.get_by_role("button", name=re.compile("^Dismiss")).click()
    place.becomes(action_id, "dismissed")


def test_a_dismissal_is_reopened_and_the_platform_hears_of_a_new_action_but_of_no_second_decision(
    service: Service, place: Place, visit: Visit, receiver: Receiver, examiner: Examiner
) -> None:
    place.register(receiver)
    (first,) = place.queue(DOUBTFUL[2])
    sam, max_ = visit(place.other_moderator), visit(place.moderator)
    sam.open(f"/review/{first}")
    sam.page.get_by_label("Reason").fill("A joke between friends")
    sam.button("Dismiss").click()
    place.becomes(first, "dismissed")
    receiver.wait("moderation.decision")

    max_.open("/history")
    row = max_.page.get_by_role("row").filter(has_text="A joke between friends")
    row.get_by_role("link", name=re.compile("^Reopen")).click()
    max_.heading("Change this decision").click()
    assert examiner.look(max_, "a dismissal that can be reopened") == []
    take_a_minute(service, place.moderator)
    max_.page.get_by_label("Act at once").check()
    max_.page.get_by_label("Reason").fill("It names her street")
    max_.press("Control+Enter")
    expect(max_.main).to_contain_text("This post will be hidden.")
    max_.button("Undo").click()
    expect(max_.status).to_contain_text("Undone. Nothing was sent.")

    be_brief(service, place.moderator)
    # The second time it is left to go, and the page shows what came of it by itself.
    max_.open(f"/review/{first}")
    max_.heading("Change this decision").click()
    max_.page.get_by_label("Act at once").check()
    max_.page.get_by_label("Reason").fill("It names her street, see the map")
    max_.button("Reopen").click()
    link = max_.page.get_by_role("link", name="Open what came of it")
    expect(link).to_be_visible()
    created = receiver.wait("moderation_action.created")["data"]
    assert created["id"] != first
    assert created["action_state"] == "proposed"
    assert place.action(created["id"])["request_id"] == place.action(first)["request_id"]
    assert place.state(first) == "dismissed"
    link.click()
    expect(max_.main).to_contain_text("A joke between friends")
    expect(max_.main).to_contain_text("Reopened, and sent to the platform to act by Max")

    place.acknowledge(created["id"])
    receiver.wait("moderation_action.applied")
    assert [one["decision"] for one in receiver.named("moderation.decision")] == ["none"]
    assert len(receiver.named("moderation_action.created")) == 1
    assert receiver.refused == []
    sam.open("/notices")
    expect(sam.main).to_contain_text("was reopened by Max")
    max_.open("/history")
    rows = max_.page.get_by_role("row")
    undone = rows.filter(has_text="It names her street").filter(has_text="Decision undone")
    expect(undone).to_contain_text("Reopen")
    expect(undone).to_contain_text("Max")


def test_members_answer_a_second_look_at_what_a_moderator_forced_and_the_pages_tell_both(
    place: Place, visit: Visit, examiner: Examiner
) -> None:
    (action_id,) = place.queue(DOUBTFUL[3])
    max_, rita = visit(place.moderator), visit(place.rater)
    max_.open(f"/review/{action_id}")
    max_.page.get_by_label("Reason").fill("An insult, plainly")
    max_.button("Force-publish").click()
    place.becomes(action_id, "proposed")
    place.acknowledge(action_id)
    max_.open(f"/review/{action_id}")
    max_.heading("Change this decision").click()
    max_.page.get_by_label("Reason").fill("The author appealed")
    max_.button("Ask for a second look").click()
    place.becomes(action_id, "retro_review")

    rita.open("/help-needed")
    expect(rita.main).to_contain_text(DOUBTFUL[3])
    rita.open(f"/review/{action_id}")
    rita.press("2")
    expect(rita.status).to_contain_text("Your answer is saved.")
    assert place.ratings_of(action_id) == 1
    place.rate(place.action(action_id)["note_id"], "N")

    max_.open("/second-look")
    card = max_.page.get_by_role("row").filter(has_text=DOUBTFUL[3])
    for words in ("Hidden", "by Max", "An insult, plainly", "The author appealed"):
        expect(card).to_contain_text(words)
    assert examiner.look(max_, "a second look at what a moderator forced") == []
    card.get_by_role("link", name=DOUBTFUL[3]).click()
    panel = max_.page.get_by_role("complementary", name="Decision")
    for words in ("Hidden", "by Max", "An insult, plainly", "opened by Max", "The author appealed"):
        expect(panel).to_contain_text(words)
    current = max_.page.get_by_role("navigation", name="Main").get_by_role("link", name="Second look")
    expect(current).to_have_attribute("aria-current", "page")
    assert examiner.look(max_, "an item under second look") == []

    place.rate(place.action(action_id)["note_id"], "NNNNN")
    place.becomes(action_id, "overturned")
    max_.page.reload()
    expect(panel).to_contain_text("The post will be shown again")
    max_.page.get_by_role("link", name="Back to Second look").click()
    expect(max_.heading("Second look")).to_be_visible()
