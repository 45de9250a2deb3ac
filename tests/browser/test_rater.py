"""A rater on a phone, and what no rater may see before answering."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visit, Visitor
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place

TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
THUMB = 44
"""Pixels that a thumb needs (WCAG 2.5.5)."""


def test_before_answering_a_rater_sees_no_score_no_count_and_no_status(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[1])
    action = place.action(action_id)
    place.rate(action["note_id"], "HNH")
    note_id = place.write_note(place.request_uuid(action["request_id"]), "A member explains it.")
    place.rate(note_id, "HHHHH")
    score = action["classifier_evidence"]["score"]

    rita = visit(place.rater)
    for path in ("/help-needed", f"/review/{action_id}", f"/notes/{note_id}"):
        rita.open(path)
        shown, source = rita.text(), rita.page.content()
        assert f"{score:.2f}" not in source
        assert not re.search(r"\d+ (of \d+ )?ratings?\b", shown), path
        assert not re.search(r"\d+ (said|were not sure)", shown), path
        for word in ("Needs more ratings", "Rated helpful", "Community is reviewing", "under_review"):
            assert word.lower() not in source.lower(), f"{word} on {path}"

    rita.open(f"/review/{action_id}")
    rita.page.get_by_role("radio", name="Not sure").check()
    rita.button("Submit answer").click()
    expect(rita.page.get_by_text("4 of 5 ratings. 1 more needed.")).to_be_visible()
    assert not re.search(r"\d+ said", rita.text())


def _out_of_reach(rita: Visitor, post: str) -> list[str]:
    """The answers to this post that a thumb cannot press where they stand: too high, too small, or covered."""
    card = rita.page.get_by_role("article").filter(has_text=post)
    beyond = []
    for name in ("Yes", "No", "Not sure"):
        button = card.get_by_role("button", name=name, exact=True)
        box = button.bounding_box()
        assert box is not None
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        uncovered = button.evaluate("(one, at) => one.contains(document.elementFromPoint(...at))", middle)
        big = min(box["width"], box["height"]) >= THUMB
        low = PHONE["height"] / 2 < box["y"] and box["y"] + box["height"] <= PHONE["height"]
        if not (uncovered and big and low):
            beyond.append(f"{name}: uncovered {uncovered}, {box}")
    return beyond


def test_on_a_phone_the_answers_are_in_thumbs_reach_card_after_card(place: Place, visit: Visit) -> None:
    posts = [f"{text}\n\n{'And so it went on, all evening long. ' * 14}" for text in DOUBTFUL[:2]]
    place.queue(*posts)
    rita = visit(place.rater, **TOUCH)
    rita.open("/help-needed")
    first, second = (posts[0][:20], posts[1][:20])
    if rita.text().index(first) > rita.text().index(second):
        first, second = second, first
    assert _out_of_reach(rita, first) == []
    rita.page.get_by_role("article").filter(has_text=first).get_by_role("button", name="Not sure").tap()
    expect(rita.status).to_contain_text("Thank you")
    expect(rita.page.get_by_role("heading", name="Next post")).to_be_focused()
    assert _out_of_reach(rita, second) == []


def test_on_a_phone_a_rater_writes_a_note_with_a_source(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, **TOUCH)
    rita.wants(422)
    rita.open(f"/review/{action_id}")
    rita.main.get_by_text("Write a note", exact=True).tap()
    rita.page.get_by_role("radio", name="Misinformed or potentially misleading").check()
    rita.page.get_by_label("It leaves out something important").check()
    rita.page.get_by_label("Your note").fill("The minutes of the meeting say otherwise.")
    expect(rita.page.get_by_text("959 characters left")).to_be_visible()
    rita.button("Submit note").tap()
    summary = rita.page.get_by_role("group", name="There is a problem")
    expect(summary).to_be_focused()
    summary.get_by_role("link").tap()
    expect(rita.page.get_by_label("Sources")).to_be_focused()
    rita.page.get_by_label("Sources").fill("https://example.org/minutes")
    rita.button("Preview note").tap()
    expect(rita.page.get_by_text("This is not saved yet.")).to_be_visible()
    rita.button("Submit note").tap()
    note = rita.page.get_by_role("article", name="Your note")
    expect(note).to_contain_text("The minutes of the meeting say otherwise.")
    expect(note.get_by_role("link", name="https://example.org/minutes")).to_be_visible()
    expect(rita.main.get_by_text("Write a note", exact=True)).to_have_count(0)


def test_on_a_phone_a_rater_rates_anothers_note_with_a_reason(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    place.write_note(place.request_uuid(place.action(action_id)["request_id"]), "A member explains it.")
    rita = visit(place.rater, **TOUCH)
    rita.wants(422)
    rita.open(f"/review/{action_id}")
    note = rita.page.get_by_role("article", name="Note", exact=True)
    note.get_by_text("Rate this note").tap()
    note.get_by_role("radio", name="Somewhat").check()
    note.get_by_role("button", name="Submit rating").tap()
    expect(note.get_by_role("link", name=re.compile("Choose at least one reason"))).to_be_visible()
    note.get_by_label("Adds important context").check()
    note.get_by_role("button", name="Submit rating").tap()
    expect(rita.status).to_contain_text("Your rating is saved.")
    expect(note).to_contain_text("You rated it Somewhat: adds important context.")


def test_a_sensitive_post_stays_veiled_until_it_is_asked_for(place: Place, visit: Visit) -> None:
    post = "I will kill you if you show up at the meeting."
    (action_id,) = place.queue(post)
    for person, path in ((place.rater, "/help-needed"), (place.moderator, f"/review/{action_id}")):
        reader = visit(person)
        reader.open(path)
        expect(reader.page.get_by_text("kill")).to_have_count(1)
        expect(reader.page.get_by_text("kill")).to_be_hidden()
        reader.page.get_by_text("Show content").click()
        expect(reader.page.get_by_text(post)).to_be_visible()
