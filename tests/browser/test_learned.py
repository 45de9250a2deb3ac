"""An operator looks at the community's own model, tries a version, goes back, and switches it off."""

from playwright.sync_api import expect

from app.jobs import communities
from tests import talk
from tests.browser.accessibility import violations
from tests.browser.conftest import Visit
from tests.browser.layout import SCREENS, too_wide
from tests.browser.live import Service
from tests.browser.place import Place


def test_a_model_is_looked_at_tried_and_taken_back(service: Service, place: Place, visit: Visit) -> None:
    raised = [talk.Post(item.text, item.author, item.wrong, max(0.56, item.base)) for item in talk.posts(300)]
    with service.wiring.database.writing() as session:
        talk.store(session, place.community_id, raised)
    communities.learn(service.wiring.database, place.community_id)
    olga = visit(place.operator)
    olga.open("/classifiers")
    row = olga.page.get_by_role("table", name="Own model of this community").get_by_role("row", name="Spam")
    expect(row).to_contain_text("Version 1 in force")
    row.get_by_role("link", name="Spam").click()
    expect(olga.page.get_by_role("heading", name="Spam, own model")).to_be_visible()
    expect(olga.page.get_by_role("img", name="Reliability")).to_be_visible()
    expect(olga.page.get_by_text("Raise the score")).to_be_visible()

    olga.button("Try the other classifiers alone on the last 30 days").click()
    trial = olga.page.get_by_role("region", name="The other classifiers alone on the last 30 days")
    expect(trial).to_contain_text("All 300 posts were read.")
    expect(trial.get_by_role("row").filter(has_text="Let through").first).to_contain_text("Spam, Tier 2")
    found = violations(olga, "a trial of the own model")
    assert not found, "\n".join(found)
    assert too_wide(olga, *SCREENS) == []

    olga.page.get_by_label("Reason").fill("It let offers through")
    olga.button("Score without it").click()
    expect(olga.status).to_contain_text("The other classifiers score alone again.")
    olga.page.get_by_label("Reason").fill("It was the weather")
    olga.button("Put in force version 1").click()
    expect(olga.status).to_contain_text("Version 1 is in force.")

    olga.open("/classifiers")
    olga.page.get_by_text("Change how it learns").click()
    olga.page.get_by_label("Learn from this community's decisions").uncheck()
    form = olga.page.locator("form", has=olga.button("Save how it learns"))
    form.get_by_label("Reason for the change").fill("Not this winter")
    assert too_wide(olga, *SCREENS) == []
    olga.button("Save how it learns").click()
    expect(olga.status).to_contain_text("Learning is off.")
    expect(olga.page.get_by_role("table", name="Own model of this community")).to_contain_text("Off")
