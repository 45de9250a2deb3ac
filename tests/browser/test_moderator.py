"""What a moderator does with the mouse: decide, undo, meet a colleague's decision, dismiss several."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, be_brief, take_a_minute
from tests.browser.receiver import Receiver


def test_an_undone_decision_sends_nothing_and_the_next_one_is_told(
    service: Service, place: Place, visit: Visit, receiver: Receiver
) -> None:
    place.register(receiver)
    first, second = place.queue(*DOUBTFUL[:2])
    take_a_minute(service, place.moderator)
    max_ = visit(place.moderator, "/review")
    max_.button("Review next").click()
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[0])
    expect(max_.button("Release")).to_be_visible()
    max_.page.get_by_label("Reason").fill("An insult, plainly")
    max_.button("Force-publish").click()

    # The next item has opened by itself; the decision before it can still be taken back.
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[1])
    assert place.state(first) == "under_review"
    max_.button("Undo").click()
    expect(max_.status).to_contain_text("Undone. Nothing was sent.")
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[0])
    assert place.state(first) == "under_review"

    be_brief(service, place.moderator)
    max_.page.get_by_label("Reason").fill("An insult after all")
    max_.button("Force-publish").click()
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[1])
    place.becomes(first, "proposed")
    assert receiver.wait("moderation.decision")["request_id"] == place.action(first)["request_id"]
    assert receiver.wait("moderation_action.created")["data"]["id"] == first
    assert len(receiver.named("moderation.decision")) == 1
    assert place.state(second) == "under_review"

    max_.open("/history")
    told = max_.page.get_by_role("row").filter(has_text="An insult after all")
    expect(told).to_contain_text("Waiting for platform")
    expect(told).to_contain_text("Max")
    undone = max_.page.get_by_role("row").filter(has_text="An insult, plainly")
    expect(undone.filter(has_text="Decision undone")).to_contain_text("Force-publish")
    expect(undone.filter(has_text="Waiting for platform")).to_have_count(0)


def test_dismissing_ends_the_review_without_action(
    service: Service, place: Place, visit: Visit, receiver: Receiver
) -> None:
    place.register(receiver)
    (action_id,) = place.queue(DOUBTFUL[2])
    be_brief(service, place.moderator)
    max_ = visit(place.moderator, "/review")
    max_.page.get_by_role("link", name=DOUBTFUL[2], exact=True).click()
    max_.page.get_by_label("Reason").fill("A joke between friends")
    max_.button("Dismiss").click()
    expect(max_.main.get_by_text("This post stays as it is.")).to_have_count(1)

    # When the time is over, the page shows the outcome by itself.
    expect(max_.page.get_by_role("complementary")).to_contain_text("Dismissed")
    assert place.state(action_id) == "dismissed"
    assert receiver.wait("moderation.decision")["decision"] == "none"
    assert receiver.named("moderation_action.created") == []


def test_a_decision_without_a_reason_leads_to_the_field(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422])
    max_.button("Force-publish").click()
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    max_.button("Force-publish").click()
    summary = max_.page.get_by_role("group", name="There is a problem")
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    summary.get_by_role("link", name="Enter a reason.").click()
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    assert place.state(action_id) == "under_review"


def test_whoever_comes_second_is_told_and_keeps_the_text(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[3])
    max_, sam = visit(place.moderator), visit(place.other_moderator)
    max_.wants(409)
    max_.open(f"/review/{action_id}")
    sam.open(f"/review/{action_id}")
    sam.page.get_by_label("Reason").fill("Seen it before")
    sam.button("Dismiss").click()
    place.becomes(action_id, "dismissed")

    max_.page.get_by_label("Reason").fill("Three careful sentences about why")
    max_.page.get_by_text("More", exact=True).click()
    max_.page.get_by_label("Comment").fill("For the others")
    max_.button("Force-publish").click()
    expect(max_.alert).to_contain_text("Already decided by Sam, just now")
    kept = max_.page.get_by_role("region", name="Your text")
    expect(kept).to_contain_text("Three careful sentences about why")
    expect(kept).to_contain_text("For the others")
    assert place.state(action_id) == "dismissed"


def test_while_a_colleague_can_still_undo_nobody_else_decides(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[4])
    max_, sam = visit(place.moderator), visit(place.other_moderator)
    max_.wants(409)
    max_.open(f"/review/{action_id}")
    sam.open(f"/review/{action_id}")
    sam.page.get_by_label("Reason").fill("Over the line")
    sam.button("Force-publish").click()
    expect(sam.button("Undo")).to_be_visible()

    max_.page.get_by_label("Reason").fill("Harmless, in my view")
    max_.button("Dismiss").click()
    expect(max_.alert).to_contain_text("Sam")
    expect(max_.page.get_by_role("region", name="Your text")).to_contain_text("Harmless, in my view")
    place.becomes(action_id, "proposed")


def test_several_are_dismissed_for_one_reason(service: Service, place: Place, visit: Visit) -> None:
    first, second, third = place.queue(*DOUBTFUL[:3])
    be_brief(service, place.moderator)
    max_ = visit(place.moderator, "/review")
    max_.page.get_by_role("checkbox", name=f"Select: {DOUBTFUL[0][:20]}").check()
    max_.page.get_by_role("checkbox", name=f"Select: {DOUBTFUL[2][:20]}").check()
    max_.page.get_by_label("Reason").fill("Old quarrels")
    max_.button("Dismiss 2").click()
    expect(max_.status).to_contain_text("2 posts will be dismissed.")

    # Their rows say so while it can be undone, and afterwards what became of them, without a reload.
    rows = max_.page.get_by_role("row")
    expect(rows.filter(has_text=DOUBTFUL[0])).to_contain_text("Dismissing…")
    expect(rows.filter(has_text=DOUBTFUL[0])).to_contain_text("Dismissed")
    expect(rows.filter(has_text=DOUBTFUL[2])).to_contain_text("Dismissed")
    assert [place.state(one) for one in (first, second, third)] == ["dismissed", "under_review", "dismissed"]


def test_claiming_tells_colleagues_and_releasing_gives_it_back(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[5])
    max_, sam = visit(place.moderator), visit(place.other_moderator)
    max_.open("/review")
    row = max_.page.get_by_role("row").filter(has_text=DOUBTFUL[5])
    row.get_by_role("button", name="Claim").click()
    expect(row.get_by_role("button", name="Release")).to_be_visible()
    sam.open("/review")
    theirs = sam.page.get_by_role("row").filter(has_text=DOUBTFUL[5])
    expect(theirs).to_contain_text("Max")
    expect(theirs.get_by_role("button", name="Claim")).to_have_count(0)
    row.get_by_role("button", name="Release").click()
    expect(row.get_by_role("button", name="Claim")).to_be_visible()
    sam.page.reload()
    expect(theirs.get_by_role("button", name="Claim")).to_be_visible()


def test_filters_stand_in_the_address_and_can_be_cleared(place: Place, visit: Visit) -> None:
    place.queue(*DOUBTFUL[:2])
    max_ = visit(place.moderator, "/review")
    max_.page.get_by_label("Search").fill("stupid face")
    max_.page.get_by_label("Sort by").focus()
    max_.page.get_by_label("Sort by").select_option("Newest first")
    expect(max_.button("Filter")).to_be_hidden()
    expect(max_.page).to_have_url(re.compile(r"q=stupid(%20|\+)face&sort=newest$"))
    expect(max_.status).to_contain_text("1 post waits for a decision with these filters.")
    expect(max_.page.get_by_label("Sort by")).to_be_focused()
    expect(max_.page.get_by_role("link", name=DOUBTFUL[1], exact=True)).to_be_visible()
    expect(max_.page.get_by_role("link", name=DOUBTFUL[0], exact=True)).to_have_count(0)
    max_.page.get_by_label("Search").fill("nothing like it")
    max_.press("Enter")
    expect(max_.page.get_by_text("No items match.")).to_be_visible()
    max_.page.get_by_role("link", name="Clear filters").click()
    expect(max_.page.get_by_role("link", name=DOUBTFUL[0], exact=True)).to_be_visible()


def test_a_note_is_published_by_a_moderator_on_its_own_page(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    note_id = place.write_note(
        place.request_uuid(place.action(action_id)["request_id"]), "A member explains it."
    )
    max_ = visit(place.moderator, f"/notes/{note_id}")
    max_.page.get_by_label("Reason").fill("The archive confirms it")
    max_.button("Force-publish").click()
    expect(max_.button("Undo")).to_be_visible()
    place.note_becomes(note_id, "CURRENTLY_RATED_HELPFUL")
    max_.page.reload()
    expect(max_.main).to_contain_text("Published and locked by Max")
    assert place.state(action_id) == "under_review"
