"""An operator connects a platform and tests its webhook; a doubtful post is decided, told and carried out."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL, wait_for
from tests.browser.place import Place
from tests.browser.receiver import Receiver


def test_a_test_event_is_seen_to_arrive_and_a_new_secret_is_shown_once(
    place: Place, visit: Visit, receiver: Receiver
) -> None:
    olga = visit(place.operator, "/endpoints", wants=[409])
    olga.page.get_by_label("URL").fill(receiver.url)
    olga.page.get_by_label("I enter one").check()
    olga.page.get_by_label("Your secret").fill(receiver.secret)
    olga.button("Register").click()
    expect(olga.status).to_contain_text("is registered.")
    olga.button("Send test event").click()
    result = olga.page.get_by_role("region", name="What became of it")
    expect(result).to_contain_text("Delivered")
    expect(result).to_contain_text("200")
    receiver.wait("webhook.test")
    assert receiver.refused == []

    result.get_by_role("link", name=re.compile("127.0.0.1")).click()
    assert receiver.secret not in olga.page.content()
    olga.page.get_by_role("group").filter(has_text="Rotate secret").locator("summary").click()
    olga.page.locator("#secret").get_by_role("button", name="Rotate secret").click()
    shown = olga.page.locator("code.secret")
    expect(shown).to_be_visible()
    secret = shown.inner_text()
    expect(olga.page.get_by_text("The secret before this one also signs each delivery until")).to_be_visible()
    olga.page.reload()
    expect(olga.alert).to_contain_text("nothing was changed")
    assert secret not in olga.page.content()


def test_without_script_the_result_stands_there_after_a_reload(
    place: Place, visit: Visit, receiver: Receiver
) -> None:
    place.register(receiver)
    olga = visit(place.operator, "/endpoints", java_script_enabled=False)
    olga.page.get_by_role("button", name=re.compile("Send test event")).click()
    receiver.wait("webhook.test")
    result = olga.page.get_by_role("region", name="What became of it")
    # The event may arrive before the browser has the next page, and a page on its way cannot be loaded again.
    expect(result).to_be_visible()
    olga.page.wait_for_load_state()

    def is_delivered() -> bool:
        olga.page.reload()
        return "Delivered" in result.inner_text()

    wait_for("the delivery on the page", is_delivered)
    expect(result).to_contain_text("Delivered")
    olga.open("/insights")
    expect(olga.heading("Insights")).to_be_visible()


def test_fields_appear_by_keyboard_with_the_choice_that_needs_them(place: Place, visit: Visit) -> None:
    olga = visit(place.operator, "/endpoints")
    page = olga.page
    url, secret = page.get_by_label("URL"), page.get_by_label("Your secret")
    event = page.get_by_label("Decision about a post (moderation.decision)")
    expect(url).to_be_visible()
    expect(secret).to_be_hidden()
    expect(event).to_be_hidden()

    url.focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Make one for me")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("All events")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("I enter one")).to_be_checked()
    page.keyboard.press("Tab")
    expect(secret).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(event).to_be_focused()
    page.keyboard.press("Space")

    # What was chosen stays chosen when the form comes back, and what is missing is in sight.
    olga.wants(422)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("link", name="Enter a secret, or let one be generated.")).to_be_visible()
    expect(secret).to_be_visible()
    expect(event).to_be_checked()


def test_five_raters_decide_a_doubtful_post_and_the_platform_carries_it_out(
    place: Place, visit: Visit, receiver: Receiver
) -> None:
    post = DOUBTFUL[0]
    place.register(receiver)
    (action_id,) = place.queue(post)

    moderator = visit(place.moderator, "/review")
    expect(moderator.page.get_by_role("link", name=post, exact=True)).to_be_visible()

    place.rate(place.action(action_id)["note_id"], "HHHH")
    rater = visit(None, "/")
    rater.page.get_by_role("link", name="Sign in").click()
    rater.sign_in(place.rater)
    expect(rater.heading("Help needed")).to_be_visible()
    expect(rater.page.get_by_text(post)).to_be_visible()
    rater.button("Yes").click()
    expect(rater.status).to_contain_text("Thank you")
    expect(rater.page.get_by_role("article")).to_contain_text("That decided it.")

    decision, created = receiver.wait("moderation.decision"), receiver.wait("moderation_action.created")
    assert decision["decision"] == "hide"
    assert decision["request_id"] == place.action(action_id)["request_id"]
    assert created["data"]["id"] == action_id
    assert decision["event_id"] != created["event_id"]
    assert receiver.refused == []

    place.acknowledge(action_id)
    moderator.open("/review")
    expect(moderator.page.get_by_text("Queue clear")).to_be_visible()
    moderator.open("/history")
    carried_out = (
        moderator.page.get_by_role("row").filter(has_text="Forum adapter").filter(has_text="Applied")
    )
    expect(carried_out.get_by_role("link", name=f"No reason: {post[:29]}")).to_be_visible()
