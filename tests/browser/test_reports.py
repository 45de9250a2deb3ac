"""Reports by keys alone: a member reports a post, a moderator mutes the reporter and ends that."""

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place


def test_a_member_reports_a_post_and_a_moderator_mutes_the_reporter_by_keys_alone(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, f"/review/{action_id}")
    rita.press("r")
    expect(rita.page.get_by_label("What is wrong with it?")).to_be_focused()
    rita.page.keyboard.type("Spam")
    rita.press("Tab")
    rita.page.keyboard.type("The same text r again")
    rita.press("Control+Enter")
    expect(rita.page.get_by_text("You reported this post.")).to_be_visible()

    max_ = visit(place.moderator, "/reports?tab=reporters")
    row = max_.page.get_by_role("row").filter(has_text="Rita")
    max_.press("j")
    expect(row.get_by_role("link", name="Rita", exact=True)).to_be_focused()
    max_.press("Tab")
    max_.press("Enter")
    expect(max_.heading("Mute reporter")).to_be_visible()
    max_.page.get_by_label("Reason").focus()
    max_.page.keyboard.type("Cries wolf")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("Muted.")
    expect(row).to_contain_text("Cries wolf")
    max_.press("j")
    max_.press("Tab")
    max_.press("Enter")
    expect(max_.heading("Unmute")).to_be_visible()
    max_.page.get_by_label("Reason").focus()
    max_.page.keyboard.type("A mistake")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("Their reports count again.")
    expect(row).not_to_contain_text("Cries wolf")
