"""With JavaScript off, every step still works."""

import re

from playwright.sync_api import expect

from app.core.classify.corpus import SAMPLES
from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, be_brief, take_a_minute


def test_a_rater_signs_in_answers_and_writes_a_note_without_script(place: Place, visit: Visit) -> None:
    post = DOUBTFUL[0]
    (action_id,) = place.queue(post)
    rita = visit(None, "/help-needed", java_script_enabled=False)
    rita.sign_in(place.rater)
    expect(rita.heading("Help needed")).to_be_visible()
    rita.button("No").click()
    expect(rita.status).to_contain_text("Your answer is saved.")
    assert place.ratings_of(action_id) == 1

    rita.status.get_by_role("link", name="Change answer").click()
    expect(rita.page).to_have_url(re.compile(f"/review/{action_id}"))
    expect(rita.page.get_by_text("You said No.")).to_be_visible()
    rita.button("Yes").click()
    expect(rita.page.get_by_text("You said Yes.")).to_be_visible()
    assert place.ratings_of(action_id) == 1
    rita.button("Undo").click()
    expect(rita.status).to_contain_text("Undone.")
    assert place.ratings_of(action_id) == 0

    rita.main.get_by_text("Write a note", exact=True).click()
    rita.page.get_by_label("What should readers know?").fill("Nobody claims a fact here.")
    rita.button("Preview note").click()
    expect(rita.page.get_by_text("This is not saved yet.")).to_be_visible()
    rita.button("Submit note").click()
    expect(rita.status).to_contain_text("Your note is saved.")
    expect(rita.page.get_by_role("article", name="Your note")).to_contain_text("Nobody claims a fact here.")


def test_a_moderator_decides_and_undoes_without_script(service: Service, place: Place, visit: Visit) -> None:
    first, second = place.queue(*DOUBTFUL[:2])
    take_a_minute(service, place.moderator)
    max_ = visit(None, "/review", java_script_enabled=False)
    max_.sign_in(place.moderator)
    max_.button("Review next").click()
    max_.page.get_by_label("Reason").fill("An insult")
    max_.button("Force-publish").click()
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[1])
    max_.button("Undo").click()
    expect(max_.status).to_contain_text("Undone. Nothing was sent.")
    expect(max_.page.get_by_role("article", name="Post")).to_contain_text(DOUBTFUL[0])
    assert place.state(first) == "under_review"

    be_brief(service, place.moderator)
    max_.open(f"/review/{second}")
    max_.page.get_by_label("Reason").fill("Banter")
    max_.button("Dismiss").click()
    expect(max_.status).to_contain_text("Decided.")
    place.becomes(second, "dismissed")
    max_.page.reload()
    expect(max_.page.get_by_role("complementary")).to_contain_text("Banter")


def test_mistakes_are_explained_without_script_and_the_text_stays(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(SAMPLES["misinformation"][0])
    rita = visit(place.rater, f"/review/{action_id}", wants=[422], java_script_enabled=False)
    rita.main.get_by_text("Write a note", exact=True).click()
    rita.page.get_by_role("radio", name="Misinformed or potentially misleading").check()
    rita.page.get_by_label("Your note").fill("This was checked last year.")
    rita.button("Submit note").click()
    expect(rita.page).to_have_title("Error: Possible misinformation · #general – Bridgenote")
    expect(rita.page.get_by_role("group", name="There is a problem")).to_be_focused()
    expect(rita.page.get_by_role("link", name="Give at least one source")).to_be_visible()
    expect(rita.page.get_by_label("Your note")).to_have_value("This was checked last year.")
