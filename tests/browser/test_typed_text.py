"""What a person typed outlives the end of a session, a sign-in in place, a reload, and lists that change."""

import re

import pytest
from playwright.sync_api import Locator, ViewportSize, expect

from app.core.models import Account
from app.core.people import sessions
from app.core.vocabulary import SessionEnd
from tests.browser.accessibility import violations
from tests.browser.conftest import DESKTOP, PHONE, Visit, Visitor
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import PASSWORD, Person, Place

NOTE = "Nobody claims a fact here,\nand the author says so."


def end_sessions(service: Service, person: Person) -> None:
    with service.wiring.database.writing() as session:
        account = session.query(Account).filter_by(email=person.email).one()
        sessions.end_all(session, account.id, reason=SessionEnd.ELSEWHERE)


def open_note(visitor: Visitor, action_id: str) -> Locator:
    visitor.open(f"/review/{action_id}")
    visitor.main.get_by_text("Write a note", exact=True).click()
    field = visitor.page.get_by_label("What should readers know?")
    field.fill(NOTE)
    return field


def fill_sign_in(visitor: Visitor, person: Person, password: str = PASSWORD) -> None:
    dialog = visitor.page.get_by_role("dialog", name="Sign in")
    dialog.get_by_label("Email").fill(person.email)
    dialog.get_by_label("Password").fill(password)
    dialog.get_by_role("button", name="Sign in").click()


def ask_for_news(visitor: Visitor) -> None:
    """Let the item's page ask at once, as it does when its tab is looked at again."""
    visitor.page.locator("[data-live-item]").dispatch_event("look")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_note_is_saved_after_a_sign_in_in_place(
    service: Service, place: Place, visit: Visit, viewport: ViewportSize
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, viewport=viewport, wants=[401, 422])
    field = open_note(rita, action_id)
    end_sessions(service, place.rater)
    rita.button("Submit note").click()
    dialog = rita.page.get_by_role("dialog", name="Sign in")
    expect(dialog).to_contain_text("Nothing was changed")
    assert violations(rita, "the sign-in in place") == []
    fill_sign_in(rita, place.rater, "wrong password")
    expect(dialog).to_contain_text("Email address or password is wrong")
    fill_sign_in(rita, place.rater)
    expect(dialog).to_be_hidden()
    expect(rita.status).to_contain_text("You are signed in. Press the button again.")
    expect(field).to_have_value(NOTE)
    rita.button("Submit note").click()
    expect(rita.status).to_contain_text("Your note is saved.")
    expect(rita.page.get_by_role("article", name="Your note")).to_contain_text("and the author says so.")


def test_a_note_is_still_typed_after_a_reload_and_a_sign_in(
    service: Service, place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, wants=[401])
    open_note(rita, action_id)
    end_sessions(service, place.rater)
    rita.button("Submit note").click()
    rita.page.get_by_role("link", name="Close").click()
    rita.page.reload()
    rita.sign_in(place.rater)
    field = rita.page.get_by_label("What should readers know?")
    expect(field).to_be_visible()
    expect(field).to_have_value(NOTE)
    rita.button("Submit note").click()
    expect(rita.status).to_contain_text("Your note is saved.")
    # What was sent is not typed again.
    rita.page.reload()
    expect(rita.page.get_by_role("article", name="Your note")).to_be_visible()
    assert rita.page.evaluate("sessionStorage.getItem('typed')") is None


def test_a_form_that_is_open_since_before_a_new_sign_in_in_another_tab_is_taken(
    service: Service, place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(None, "/help-needed", own=True)
    rita.sign_in(place.rater)
    expect(rita.heading("Help needed")).to_be_visible()
    open_note(rita, action_id)
    tab = Visitor(rita.page.context.new_page(), rita.watch, rita.name)
    tab.open("/settings")
    tab.button("Sign out").first.click()
    expect(tab.heading("Sign in")).to_be_visible()
    tab.sign_in(place.rater)
    expect(tab.heading("Help needed")).to_be_visible()
    rita.button("Submit note").click()
    expect(rita.status).to_contain_text("Your note is saved.")


def test_after_a_sign_in_in_place_the_page_says_again_what_others_do(
    service: Service, place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    mo, olga = visit(place.moderator), visit(place.other_moderator)
    mo.wants(401)
    mo.open(f"/review/{action_id}")
    mo.page.get_by_label("Reason", exact=True).fill("Read twice")
    end_sessions(service, place.moderator)
    ask_for_news(mo)
    expect(mo.main).to_contain_text("You are signed out. Sign in to go on.")
    mo.button("Dismiss").click()
    fill_sign_in(mo, place.moderator)
    expect(mo.main).not_to_contain_text("You are signed out")
    olga.open(f"/review/{action_id}")
    olga.button("Claim").click()
    expect(olga.button("Release")).to_be_visible()
    ask_for_news(mo)
    expect(mo.main).to_contain_text(f"Claimed by {place.other_moderator.name}")
    expect(mo.page.get_by_label("Reason", exact=True)).to_have_value("Read twice")


def test_another_person_gets_nothing_of_it(service: Service, place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, wants=[401])
    open_note(rita, action_id)
    end_sessions(service, place.rater)
    rita.button("Submit note").click()
    fill_sign_in(rita, place.moderator)
    expect(rita.alert).to_contain_text("belongs to another person")
    rita.open(f"/review/{action_id}")
    expect(rita.page.get_by_label("What should readers know?")).to_have_value("")
    assert rita.page.evaluate("sessionStorage.getItem('typed')") is None


def test_who_signs_out_leaves_nothing_behind(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater)
    open_note(rita, action_id)
    rita.button("Sign out").click()
    expect(rita.heading("Sign in")).to_be_visible()
    assert rita.page.evaluate("sessionStorage.getItem('typed')") is None


@pytest.mark.parametrize("script", [False, True], ids=["without script", "with script"])
def test_a_reason_for_ticked_items_is_sent_after_a_sign_in(
    service: Service, place: Place, visit: Visit, script: bool
) -> None:
    first, _ = place.queue(*DOUBTFUL[:2])
    max_ = visit(place.moderator, "/review", wants=[401], java_script_enabled=script)
    max_.page.locator(f"#row-{first}").get_by_role("checkbox").check()
    max_.page.get_by_label("Reason", exact=True).fill(NOTE)
    end_sessions(service, place.moderator)
    max_.button("Dismiss 1" if script else "Dismiss selected").click()
    expect(max_.main).to_contain_text("What you sent is kept in this page")
    assert NOTE.split("\n")[0] not in max_.text()
    seen = violations(max_, "the sign-in of a kept form") if script else []
    max_.sign_in(place.moderator)
    expect(max_.heading("Send it now?")).to_be_visible()
    assert seen + (violations(max_, "a kept form") if script else []) == []
    expect(max_.main).to_contain_text("and the author says so.")
    max_.button("Send it now").click()
    expect(max_.heading("Review queue")).to_be_visible()
    expect(max_.page.locator(f"#row-{first}").get_by_role("checkbox")).to_have_count(0)


def test_a_filter_that_finds_the_session_ended_keeps_the_reason(
    service: Service, place: Place, visit: Visit
) -> None:
    place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/review", wants=[401])
    reason = max_.page.get_by_label("Reason", exact=True)
    reason.fill(NOTE)
    end_sessions(service, place.moderator)
    max_.page.get_by_label("Sort by").select_option("newest")
    max_.sign_in(place.moderator)
    expect(reason).to_have_value(NOTE)


def test_filters_keep_the_reason_and_the_ticks_of_rows_that_stay(place: Place, visit: Visit) -> None:
    first, second, third = place.queue(*DOUBTFUL[:3])
    max_ = visit(place.moderator, "/review")
    for action_id in (first, second):
        max_.page.locator(f"#row-{action_id}").get_by_role("checkbox").check()
    reason = max_.page.get_by_label("Reason", exact=True)
    reason.fill(NOTE)
    search = max_.page.get_by_label("Search")
    search.fill(DOUBTFUL[0])
    search.press("Enter")
    expect(max_.page.locator(f"#row-{second}")).to_have_count(0)
    expect(max_.page.locator(f"#row-{first}").get_by_role("checkbox")).to_be_checked()
    expect(max_.status).to_contain_text(
        "1 post waits for a decision with these filters. Ticked posts that are not in this list any more: 1."
    )
    expect(reason).to_have_value(NOTE)
    expect(max_.button("Dismiss 1")).to_be_visible()
    max_.page.get_by_text("Save these filters").click()
    name = max_.page.get_by_label("Filter name")
    name.fill("Mine alone")
    # A list without rows has no place for a reason: it waits.
    search.fill("nothing that anyone wrote")
    search.press("Enter")
    expect(max_.main).to_contain_text("No items match.")
    expect(max_.status).to_contain_text("What you typed for “Reason” is kept until its field is back.")
    expect(name).to_have_value("Mine alone")
    max_.page.get_by_role("link", name="Clear filters").last.click()
    expect(max_.page.locator(f"#row-{third}")).to_be_visible()
    expect(reason).to_have_value(NOTE)
    # The rows that left were unticked for good.
    expect(max_.page.locator(f"#row-{first}").get_by_role("checkbox")).not_to_be_checked()


def test_links_among_the_filters_and_the_back_button_keep_them_too(place: Place, visit: Visit) -> None:
    first, _ = place.queue(*DOUBTFUL[:2])
    max_ = visit(place.moderator, "/review?sort=oldest")
    box = max_.page.locator(f"#row-{first}").get_by_role("checkbox")
    box.check()
    reason = max_.page.get_by_label("Reason", exact=True)
    reason.fill(NOTE)
    max_.page.get_by_label("Sort by").select_option(index=0)
    expect(max_.page).not_to_have_url(re.compile("oldest"))
    expect(reason).to_have_value(NOTE)
    max_.page.go_back()
    expect(max_.page).to_have_url(re.compile("oldest"))
    expect(reason).to_have_value(NOTE)
    expect(box).to_be_checked()
    max_.page.get_by_role("link", name="Notices").click()
    expect(max_.heading("Notices")).to_be_visible()
    max_.open("/review")
    expect(reason).to_have_value("")
    expect(box).not_to_be_checked()


def test_a_poll_keeps_the_reason_and_says_that_a_ticked_item_changed(
    service: Service, place: Place, visit: Visit
) -> None:
    first, second = place.queue(*DOUBTFUL[:2])
    max_, sam = visit(place.moderator, own=True), visit(place.other_moderator)
    max_.page.clock.install()
    max_.open("/review")
    for action_id in (first, second):
        max_.page.locator(f"#row-{action_id}").get_by_role("checkbox").check()
    reason = max_.page.get_by_label("Reason", exact=True)
    reason.fill(NOTE)
    sam.open(f"/review/{first}")
    sam.page.get_by_label("Reason").fill("Banter")
    sam.button("Dismiss").click()
    place.becomes(first, "dismissed")
    max_.page.clock.run_for(16_000)
    expect(max_.page.locator(f"#row-{first}")).to_contain_text("Dismissed by Sam")
    expect(max_.status).to_contain_text("Ticked posts that changed and are not ticked any more: 1.")
    expect(max_.page.locator(f"#row-{second}").get_by_role("checkbox")).to_be_checked()
    expect(max_.button("Dismiss 1")).to_be_visible()
    expect(reason).to_have_value(NOTE)
    # The notice of an ended session leads to the sign-in and back to the same text.
    end_sessions(service, place.moderator)
    max_.page.clock.run_for(16_000)
    max_.page.get_by_role("link", name="Sign in").click()
    max_.sign_in(place.moderator)
    expect(reason).to_have_value(NOTE)
    expect(max_.page.locator(f"#row-{second}").get_by_role("checkbox")).to_be_checked()


def test_sending_one_form_of_a_page_leaves_what_is_typed_in_another(place: Place, visit: Visit) -> None:
    rita = visit(place.rater, "/settings/account", wants=[422])
    rita.main.get_by_text("Change email", exact=True).first.click()
    email = rita.page.get_by_label("New email", exact=True)
    email.fill("new@example.org")
    rita.main.get_by_text("Change password", exact=True).first.click()
    rita.page.get_by_role("button", name="Change password").click()
    expect(rita.main).to_contain_text("There is a problem")
    expect(email).to_be_visible()
    expect(email).to_have_value("new@example.org")
