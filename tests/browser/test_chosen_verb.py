"""A verb that was chosen stays chosen until it is sent; where none is chosen, no key decides."""

import pytest
from playwright.sync_api import Page, expect

from app.core.classify.corpus import SAMPLES
from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit, Visitor
from tests.browser.live import DOUBTFUL
from tests.browser.place import API, Place

NEVER_A_VERB = "() => document.activeElement.matches('button[data-verb]')"


def _summary(page: Page) -> None:
    """The errors are listed and have the focus, which is never on a verb."""
    expect(page.get_by_role("group", name="There is a problem")).to_be_focused()
    assert not page.evaluate(NEVER_A_VERB)


def _asked_for_a_reason(visitor: Visitor) -> None:
    """The errors are listed and read out, and the Reason has the focus: what is typed next is its text."""
    expect(visitor.page.get_by_role("group", name="There is a problem")).to_be_visible()
    expect(visitor.alert).to_contain_text("Enter a reason.")
    expect(visitor.page.get_by_label("Reason")).to_be_focused()


def _write_reason(visitor: Visitor, reason: str) -> None:
    visitor.page.get_by_label("Reason").focus()
    visitor.page.keyboard.type(reason)


def _note(place: Place) -> str:
    (action_id,) = place.queue(DOUBTFUL[0])
    return place.write_note(place.request_uuid(place.action(action_id)["request_id"]), "A member explains.")


def _hidden_by_score(place: Place, number: int = 0) -> str:
    """A post that its score alone had hidden: its action."""
    request_id = place.submit(SAMPLES["spam_certain"][number])
    place.finished(request_id)
    (action_id,) = (one["id"] for one in place.actions("proposed"))
    place.acknowledge(str(action_id))
    return str(action_id)


def test_dismiss_chosen_by_key_is_what_is_sent_after_the_missing_reason(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422])
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_hidden()
    max_.press("d")
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()
    expect(max_.page.get_by_label("Reason")).to_have_accessible_description(
        "The action history shows it. Ctrl+Enter: Dismiss"
    )
    max_.press("Control+Enter")
    _asked_for_a_reason(max_)
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()
    # Each of these letters is a key of the page: none of them may act.
    max_.page.keyboard.type("within the rules, spam again")
    expect(max_.page.get_by_label("Reason")).to_have_value("within the rules, spam again")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("Decided.")
    place.becomes(action_id, "dismissed")


def test_a_verb_pressed_with_the_mouse_stays_chosen_too_and_another_key_chooses_anew(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422])
    # The verbs come before their reason: the first click asks for it, and the second would send.
    max_.button("Dismiss").click()
    expect(max_.page.get_by_label("Reason")).to_be_focused()
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()
    max_.button("Dismiss").click()
    _asked_for_a_reason(max_)
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()
    max_.heading("Decide").click()  # out of the text field, where keys are typing
    max_.press("f")
    expect(max_.page.get_by_text("Ctrl+Enter: Force-publish")).to_be_visible()
    max_.page.keyboard.type("Plain abuse")
    max_.press("Control+Enter")
    place.becomes(action_id, "proposed")


def test_after_somebody_changed_the_item_the_verb_is_still_chosen(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[409])
    request_id = place.action(action_id)["request_id"]
    place.ask("PATCH", f"{API}/requests/{request_id}", json={"data": {"attributes": {"escalated": True}}})
    max_.press("d")
    max_.page.keyboard.type("Banter")
    max_.press("Control+Enter")
    expect(max_.alert).to_contain_text("look again")
    expect(max_.heading("Decide")).to_be_focused()
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()
    max_.page.get_by_label("Reason").focus()
    max_.press("Control+Enter")
    place.becomes(action_id, "dismissed")


def test_with_no_verb_chosen_no_key_decides(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422])
    _write_reason(max_, "I have not made up my mind")
    max_.press("Control+Enter")
    _summary(max_.page)
    expect(max_.main).to_contain_text("Choose what to decide with one of the buttons.")
    expect(max_.page.get_by_label("Reason")).to_have_value("I have not made up my mind")
    max_.press("s")  # in the list of errors no key skips the item
    expect(max_.page.get_by_label("Reason")).to_have_value("I have not made up my mind")
    max_.page.get_by_text("More", exact=True).click()
    max_.page.get_by_label("File under").focus()
    max_.press("Enter")
    max_.press("Escape")
    max_.page.wait_for_timeout(300)
    expect(max_.button("Undo")).to_have_count(0)
    assert place.state(action_id) == "under_review"


@pytest.mark.parametrize("label", ["File under", "Reason"])
def test_without_script_enter_in_a_field_decides_nothing(label: str, place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422], java_script_enabled=False)
    max_.page.get_by_label("Reason").fill("I have not made up my mind")
    max_.page.get_by_text("More", exact=True).click()
    max_.page.get_by_label(label).focus()
    for key in ("Enter", "Escape", "Control+Enter"):
        max_.press(key)
    max_.open(f"/review/{action_id}")
    expect(max_.button("Force-publish")).to_be_visible()
    expect(max_.button("Undo")).to_have_count(0)
    assert place.state(action_id) == "under_review"


def test_without_script_the_page_says_which_verb_was_chosen(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422], java_script_enabled=False)
    max_.button("Dismiss").click()
    expect(max_.page.get_by_text("You chose Dismiss.")).to_be_visible()
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_hidden()


def test_on_a_notes_page_the_chosen_verb_survives(place: Place, visit: Visit) -> None:
    note_id = _note(place)
    max_ = visit(place.moderator, f"/notes/{note_id}", wants=[422])
    _write_reason(max_, "Not sure yet")
    max_.press("Control+Enter")
    _summary(max_.page)
    max_.page.get_by_label("Reason").fill("")
    max_.page.get_by_label("Reason").blur()
    max_.press("d")
    max_.press("Control+Enter")
    _asked_for_a_reason(max_)
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss")).to_be_visible()
    max_.page.keyboard.type("It guesses")
    max_.press("Control+Enter")
    expect(max_.button("Undo")).to_be_visible()
    place.note_becomes(note_id, "CURRENTLY_RATED_NOT_HELPFUL")


def test_second_looks_are_decided_by_keys_in_their_list_and_one_after_the_other(
    place: Place, visit: Visit
) -> None:
    first, second = _hidden_by_score(place), _hidden_by_score(place, 1)
    max_ = visit(place.moderator, "/second-look?sort=oldest", wants=[422])
    # O is about the row in hand while nothing is ticked.
    max_.press("j")
    max_.press("o")
    expect(max_.page.get_by_text("Ctrl+Enter: Overturn 1")).to_be_visible()
    max_.press("Control+Enter")
    _asked_for_a_reason(max_)
    expect(max_.page.get_by_text("Ctrl+Enter: Overturn 1")).to_be_visible()
    max_.page.keyboard.type("It was a joke")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("1 post will be overturned.")
    assert Examiner(whole=False).look(max_, "second looks with a decision that can be undone") == []
    place.becomes(first, "overturned")

    max_.button("Review next").click()
    expect(max_.button("Confirm")).to_be_visible()
    max_.press("c")
    max_.page.keyboard.type("Plain spam")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("Decided. The queue is empty.")
    place.becomes(second, "confirmed")


def test_over_ticked_rows_the_chosen_verb_survives_and_no_row_is_claimed_by_accident(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/review", wants=[422])
    box = max_.page.get_by_role("checkbox", name="Select: You are")
    box.check()
    box.press("Control+Enter")
    expect(max_.alert).to_contain_text("Choose one of the buttons. Nothing was sent.")
    expect(max_.heading("Review queue")).to_be_focused()
    expect(max_.button("Release")).to_have_count(0)
    max_.press("d")
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss 1")).to_be_visible()
    max_.press("Control+Enter")
    _asked_for_a_reason(max_)
    expect(max_.page.get_by_text("Ctrl+Enter: Dismiss 1")).to_be_visible()
    max_.page.keyboard.type("Old quarrels")
    max_.press("Control+Enter")
    expect(max_.status).to_contain_text("1 post will be dismissed.")
    place.becomes(action_id, "dismissed")


def test_without_script_enter_on_a_ticked_row_claims_and_dismisses_nothing(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, "/review", wants=[422], java_script_enabled=False)
    max_.page.get_by_label("Reason").fill("Old quarrels")
    box = max_.page.get_by_role("checkbox", name="Select: You are")
    box.check()
    box.press("Enter")
    expect(max_.main).to_contain_text("Choose what to do with the posts that you ticked.")
    expect(max_.page.get_by_label("Reason")).to_have_value("Old quarrels")
    max_.open("/review")
    expect(max_.page.get_by_role("button", name="Claim: ")).to_be_visible()
    expect(max_.button("Undo")).to_have_count(0)
    assert place.state(action_id) == "under_review"


def test_a_button_says_what_the_verb_does_and_is_found_by_its_name(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    hidden = _hidden_by_score(place)
    max_ = visit(place.moderator)

    for path, expected in (
        (f"/review/{action_id}", ["Force-publish: hide post", "Dismiss: keep post"]),
        ("/review", ["Dismiss selected: keep posts"]),
        (f"/review/{hidden}", ["Confirm: keep hidden", "Overturn: show post again"]),
        ("/second-look", ["Confirm selected: what was done stands", "Overturn selected: take it back"]),
    ):
        max_.open(path)
        if path.endswith(hidden):
            expect(max_.page.get_by_role("button", name=expected[0])).to_be_hidden()
            max_.heading("Change this decision").click()
        for name in expected:
            button = max_.page.get_by_role("button", name=name, exact=True)
            expect(button).to_be_visible()
            verb, effect = name.split(": ")
            shown = button.inner_text().split("\n")
            assert [verb, effect.capitalize()] == shown[:2], path
            expect(max_.page.get_by_role("button", name=verb)).to_have_count(1)
