"""The whole way of a doubtful post: submitted, asked about, decided, told, carried out."""

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place
from tests.browser.receiver import Receiver


def test_five_raters_decide_a_doubtful_post_and_the_platform_carries_it_out(
    place: Place, visit: Visit, receiver: Receiver
) -> None:
    post = DOUBTFUL[0]
    place.register(receiver)
    (action_id,) = place.queue(post)

    moderator = visit(place.moderator)
    moderator.open("/review")
    expect(moderator.page.get_by_role("link", name=post, exact=True)).to_be_visible()

    place.rate(place.action(action_id)["note_id"], "HHHH")
    rater = visit(None)
    rater.open("/")
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
