"""A rater links a platform's profile with a code, and lets it go again; an operator sets up the community."""

import re

from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Visit
from tests.browser.place import API, PLATFORM, Place

CODE = re.compile(r"[2-9A-Z]{4}-[2-9A-Z]{4}")


def test_a_code_read_in_the_dashboard_links_the_profile_that_sends_it(place: Place, visit: Visit) -> None:
    rita = visit(place.rater)
    rita.open("/settings")
    rita.button("Show a code").click()
    expect(rita.main).to_contain_text(CODE)
    found = CODE.search(rita.main.inner_text())
    assert found
    headers = {"X-Adapter-Platform": PLATFORM, "X-Adapter-User-Id": "7", "X-Adapter-Username": "Rita R."}
    place.ask("POST", f"{API}/user-profiles/link", json={"code": found.group()}, headers=headers)
    seen = violations(rita, "the page with the code")
    rita.open("/settings")
    row = rita.page.get_by_role("row").filter(has_text="Rita R.")
    expect(row).to_contain_text(PLATFORM)
    assert not seen + violations(rita, "the page with a linked profile")
    rita.page.get_by_role("button", name=f"Unlink Rita R. on {PLATFORM}").click()
    expect(rita.status).to_contain_text("Unlinked")
    expect(rita.main).to_contain_text("No profile is linked yet.")


def test_an_operator_switches_ai_notes_off_with_a_reason(place: Place, visit: Visit) -> None:
    request_id = place.submit("The council meets on Tuesday.")
    olga = visit(place.operator)
    olga.wants(422)
    olga.open("/community")
    olga.page.get_by_label("AI notes").uncheck()
    olga.button("Save").click()
    expect(olga.main).to_contain_text("Enter a reason.")
    olga.page.get_by_label("Reason").fill("We write our own")
    olga.button("Save").click()
    expect(olga.status).to_contain_text("saved")
    expect(olga.page.get_by_role("row").filter(has_text="We write our own")).to_contain_text(
        "AI notes: on → off"
    )
    assert place.client.post(f"{API}/requests/{request_id}/ai-notes").status_code == 403
    assert not violations(olga, "the community's page with a change")
