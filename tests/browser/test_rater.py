"""A rater: practice, answers, notes on a phone; drawn seats; covered pictures. What they may not see yet is asked in
tests/web/test_blindness.py."""

import re
import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, expect

from app.core import clock
from app.core.classify.corpus import SAMPLES
from app.core.models import Account, Action, Panel, PanelSeat, Profile
from app.core.panels import opening
from app.core.vocabulary import SeatState
from tests.attached import attach
from tests.browser.accessibility import Examiner
from tests.browser.conftest import PHONE, Visit, Visitor
from tests.browser.layout import NARROW
from tests.browser.live import DOUBTFUL, Service, wait_for
from tests.browser.place import Person, Place

TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
THUMB = 44
"""Pixels that a thumb needs (WCAG 2.5.5)."""


@pytest.mark.parametrize("scripted", [True, False], ids=["script", "no script"])
def test_a_new_rater_practises_first_and_then_rates(scripted: bool, place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    nora = visit(place.newcomer, "/help-needed", **TOUCH, java_script_enabled=scripted)
    expect(nora.page.get_by_role("heading", name="Welcome to")).to_be_visible()
    for said, words, following in (
        ("Yes", "Most would say so too.", "Example 2 of 4"),
        ("Not sure", "Most would say No", "Example 3 of 4"),
        ("No", "Most would say so too.", "Example 4 of 4"),
    ):
        nora.button(said).tap()
        expect(nora.main.get_by_text(following)).to_have_count(1)
        expect(nora.status).to_contain_text(words)
    nora.page.get_by_role("radio", name="Not helpful").check()
    nora.page.get_by_label("Argues or takes sides").check()
    nora.button("Submit rating").tap()
    expect(nora.main.get_by_text("You are ready.")).to_have_count(1)
    expect(nora.status).to_contain_text("Most would say so too.")
    nora.page.get_by_role("link", name="Start rating").tap()
    expect(nora.heading("Help needed")).to_be_visible()
    assert place.ratings_of(action_id) == 0
    nora.open("/settings")
    nora.page.get_by_role("link", name="Open the welcome page").tap()
    nora.button("Practise again").tap()
    expect(nora.main.get_by_text("Example 1 of 4")).to_have_count(1)


def test_posts_that_come_meanwhile_are_announced_and_move_nothing(place: Place, visit: Visit) -> None:
    rita = visit(place.rater, own=True)
    rita.page.clock.install()
    rita.open("/help-needed")
    expect(rita.page.get_by_text("Nothing needs your help. Next check in 15 s.")).to_be_visible()
    with rita.page.expect_response(re.compile("new-count")) as asked:
        rita.page.clock.fast_forward(16_000)
    assert asked.value.status == 204
    place.queue(DOUBTFUL[0])
    rita.page.clock.fast_forward(16_000)
    rita.page.get_by_role("link", name="1 new item – Show").click()
    expect(rita.page.get_by_text(DOUBTFUL[0])).to_be_visible()


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
    posts = [
        f"{text}\n\n{'The ferry leaves at seven, and the council meets after that. ' * 9}"
        for text in DOUBTFUL[:2]
    ]
    place.queue(*posts)
    rita = visit(place.rater, "/help-needed", **TOUCH)
    first, second = (posts[0][:20], posts[1][:20])
    if rita.text().index(first) > rita.text().index(second):
        first, second = second, first
    assert _out_of_reach(rita, first) == []
    rita.page.get_by_role("article").filter(has_text=first).get_by_role("button", name="Not sure").tap()
    expect(rita.status).to_contain_text("Thank you")
    expect(rita.page.get_by_role("heading", name=re.compile("^Post 2: "))).to_be_focused()
    # The card slides up to its place.
    rita.page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
    assert _out_of_reach(rita, second) == []


def test_on_a_phone_the_question_stands_on_the_first_screen_of_a_long_post(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(f"{DOUBTFUL[0]}\n\n{'And so it went on, all evening long. ' * 60}")
    rita = visit(place.rater, f"/review/{action_id}", **TOUCH)
    expect(rita.page.get_by_text("Should this post be hidden?", exact=True)).to_be_in_viewport(ratio=1)
    expect(rita.button("Yes")).to_be_in_viewport(ratio=1)


def test_on_a_phone_a_rater_writes_a_note_with_a_source(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(SAMPLES["misinformation"][0])
    rita = visit(place.rater, f"/review/{action_id}", wants=[422], **TOUCH)
    rita.main.get_by_text("Write a note", exact=True).tap()
    rita.page.get_by_role("radio", name="Misinformed or potentially misleading").check()
    expect(rita.page.get_by_label("It is a personal opinion")).to_be_hidden()
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
    note.get_by_role("link", name="Edit").tap()
    expect(rita.page.get_by_label("Sources")).to_have_value("https://example.org/minutes")
    rita.page.get_by_label("Your note").fill("The minutes, page 2, say otherwise.")
    rita.button("Save").tap()
    expect(rita.page.get_by_role("article", name="Your note")).to_contain_text("page 2")


def test_on_a_phone_a_rater_rates_anothers_note_with_a_reason(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    place.write_note(place.request_uuid(place.action(action_id)["request_id"]), "A member explains it.")
    rita = visit(place.rater, f"/review/{action_id}", wants=[422], **TOUCH)
    note = rita.page.get_by_role("article", name="Note", exact=True)
    note.get_by_text("Rate this note").tap()
    note.get_by_role("radio", name="Somewhat").check()
    note.get_by_role("button", name="Submit rating").tap()
    expect(note.get_by_role("link", name=re.compile("Choose at least one reason"))).to_be_visible()
    note.get_by_label("Adds important context").check()
    note.get_by_role("button", name="Submit rating").tap()
    expect(rita.status).to_contain_text("Your rating is saved.")
    expect(note).to_contain_text("You rated it Somewhat: adds important context.")
    note.get_by_text("Change rating").tap()
    note.get_by_role("radio", name="Not helpful").check()
    expect(note.get_by_label("Adds important context")).to_be_hidden()
    note.get_by_label("Misses the point").check()
    note.get_by_role("button", name="Submit rating").tap()
    expect(note).to_contain_text("You rated it Not helpful: misses the point.")
    note.get_by_role("button", name="Undo").tap()
    expect(rita.status).to_contain_text("Undone. Your rating is taken back.")
    expect(note).to_be_focused()
    expect(note).not_to_contain_text("You rated it")


def test_a_sensitive_post_stays_veiled_until_it_is_asked_for(place: Place, visit: Visit) -> None:
    post = "I will kill you if you show up at the meeting."
    (action_id,) = place.queue(post)
    for person, path in ((place.rater, "/help-needed"), (place.moderator, f"/review/{action_id}")):
        reader = visit(person, path)
        expect(reader.page.get_by_text("kill")).to_have_count(1)
        expect(reader.page.get_by_text("kill")).to_be_hidden()
        reader.page.get_by_text("Show content").click()
        expect(reader.page.get_by_text(post)).to_be_visible()


@pytest.mark.parametrize("script", [True, False], ids=["htmx", "plain"])
def test_a_note_with_mistakes_leads_to_its_errors(place: Place, visit: Visit, script: bool) -> None:
    (action_id,) = place.queue(SAMPLES["misinformation"][0])
    rita = visit(place.rater, viewport=NARROW, java_script_enabled=script, wants=[422])
    # An address that names a part of the page, as a bookmark or the browser's back button has it.
    rita.open(f"/review/{action_id}#notes")
    rita.main.get_by_text("Write a note", exact=True).click()
    rita.page.get_by_role("radio", name="Not misleading").check()
    rita.page.get_by_label("Your note").fill("Nobody claims a fact here.")
    rita.button("Submit note").click()
    summary = rita.page.get_by_role("group", name="There is a problem")
    expect(summary).to_be_focused()
    expect(summary).to_be_in_viewport(ratio=1)
    expect(rita.page.get_by_label("Your note")).to_have_value("Nobody claims a fact here.")


def test_a_note_with_mistakes_leads_to_its_errors_when_only_htmx_is_missing(
    place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, own=True, wants=[422])
    # The form is sent as a form, and our own script is there.
    rita.page.route("**/htmx*.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    rita.open(f"/review/{action_id}#notes")
    rita.main.get_by_text("Write a note", exact=True).click()
    rita.button("Submit note").click()
    expect(rita.page.get_by_role("group", name="There is a problem")).to_be_focused()


def _draw(service: Service, action_id: str, person: Person) -> None:
    """A panel of the action in which this person has a seat; its turn to draw others does not come."""
    with service.wiring.database.writing() as session:
        action = session.get_one(Action, uuid.UUID(action_id))
        panel = opening.open_for(session, action, "In this test.", earlier=None)
        assert panel is not None
        profile = session.scalars(
            sa.select(Profile)
            .join(Account, Account.id == Profile.account_id)
            .where(Account.email == person.email)
        ).one()
        expires_at = clock.now() + timedelta(hours=24)
        panel.due_at = expires_at
        session.add(
            PanelSeat(
                panel_id=panel.id,
                profile_id=profile.id,
                number=1,
                state=SeatState.OPEN,
                drawn_at=clock.now(),
                expires_at=expires_at,
            )
        )


def _states(service: Service, actions: list[str]) -> list[SeatState]:
    with service.wiring.database.reading() as session:
        found = session.scalars(
            sa.select(PanelSeat.state)
            .join(Panel, Panel.id == PanelSeat.panel_id)
            .where(Panel.action_id.in_([uuid.UUID(one) for one in actions]))
        )
        return sorted(found)


def test_a_drawn_rater_answers_one_post_and_declines_the_other(
    place: Place, service: Service, visit: Visit
) -> None:
    other, *drawn = place.queue(*DOUBTFUL[:3])
    rita = visit(place.rater, "/help-needed")
    expect(rita.main.get_by_text("You were drawn")).to_have_count(0)
    for action_id in drawn:
        _draw(service, action_id, place.rater)
    rita.open("/help-needed")
    cards = rita.page.locator("#cards > [data-row]")
    expect(cards.get_by_text("You were drawn")).to_have_count(2)
    expect(cards.nth(2)).to_have_attribute("id", f"card-{other}")
    rita.page.locator(f"#card-{drawn[1]}").get_by_role("button", name="Decline").click()
    expect(rita.status).to_contain_text("Declined. The next person is drawn.")
    expect(rita.page.locator(f"#card-{drawn[1]}")).to_have_count(0)
    rita.page.locator(f"#card-{drawn[0]} form.rate button[name=answer]").first.click()
    wait_for("the answer", lambda: place.ratings_of(drawn[0]) == 1)
    assert _states(service, drawn) == [SeatState.ANSWERED, SeatState.DECLINED]
    assert place.ratings_of(drawn[1]) == 0


THREAT = SAMPLES["threat"][0]


def _filter(picture: Locator) -> str:
    return str(picture.evaluate("one => getComputedStyle(one).filter"))


def _opened(visitor: Visitor, path: str) -> tuple[Locator, Locator]:
    visitor.open(path)
    picture = visitor.page.get_by_role("img", name="A pier")
    return picture, visitor.page.get_by_role("checkbox", name="Show clearly: Picture 1")


def test_a_covered_picture_opens_by_click_by_v_and_without_script(
    service: Service, place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(THREAT)
    attach(service.wiring, uuid.UUID(action_id))
    path = f"/review/{action_id}"
    rita = visit(place.rater, own=True)
    asked: list[str] = []
    rita.page.on("request", lambda request: asked.append(request.url))
    picture, box = _opened(rita, path)
    expect(picture).to_be_hidden()
    rita.press("v")  # the content of a sensitive post first, then its pictures one by one
    expect(picture).to_be_visible()
    assert "blur" in _filter(picture)
    assert not Examiner(whole=False).look(rita, "a covered picture")
    rita.press("v")
    expect(box).to_be_checked()
    assert _filter(picture) == "none"
    assert rita.page.evaluate("document.images[0].naturalWidth") > 0
    rita.page.locator("label", has_text="Cover again").first.click()
    assert "blur" in _filter(picture)
    assert {url.split("/")[2] for url in asked} == {service.url.split("/")[2]}
    assert not any(url.endswith("/media/2") for url in asked)  # the video waits to be started

    bare = visit(place.rater, java_script_enabled=False)
    picture, box = _opened(bare, f"{path}?show={action_id}")
    bare.page.locator(".cover").first.click()
    expect(box).to_be_checked()
