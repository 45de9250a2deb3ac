"""A rater's run: thirty posts and notes by keys, twelve by thumb, and what is in the database afterwards."""

import uuid
from collections import Counter

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, expect

from app.core.models import Account, Note, Profile, Rating
from tests.browser.accessibility import Examiner
from tests.browser.conftest import PHONE, Visit, Visitor
from tests.browser.live import DOUBTFUL, Service, wait_for
from tests.browser.place import Person, Place

POSTS, NOTES = 24, 10
BY_KEY, BY_THUMB = 31, 12
THUMB = 44
WORDS = {"HELPFUL": "1", "NOT_HELPFUL": "2", "SOMEWHAT_HELPFUL": "3"}


@pytest.fixture(scope="module")
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def _fill(place: Place) -> None:
    submitted = [
        place.submit(f"{DOUBTFUL[number % len(DOUBTFUL)]} And this is number {number}.")
        for number in range(POSTS)
    ]
    for number, request_id in enumerate(submitted[:NOTES]):
        place.write_note(place.request_uuid(request_id), f"What members know about it, {number}.")
    wait_for("routing to people", lambda: len(place.actions("under_review")) == POSTS)


def _given(service: Service, person: Person) -> tuple[Counter[tuple[bool, str]], int]:
    """The person's ratings by kind of note and level, and how many of those of notes have reasons."""
    with service.wiring.database.reading() as session:
        rows = session.execute(
            sa.select(Note.rationale, Rating.helpfulness_level, Rating.reasons)
            .join(Note, Note.id == Rating.note_id)
            .join(Profile, Profile.id == Rating.rater_id)
            .join(Account, Account.id == Profile.account_id)
            .where(Account.email == person.email)
        ).all()
    counted = Counter((rationale, level.value) for rationale, level, _ in rows)
    return counted, sum(bool(reasons) for rationale, _, reasons in rows if not rationale)


def _current(visitor: Visitor) -> Locator:
    """The card whose heading has the focus, or on a fresh page the first."""
    focused = visitor.page.locator("#cards > [data-row]:has(h2:focus)")
    return focused if focused.count() else visitor.page.locator("#cards > [data-row]").first


def _is_note(card: Locator) -> bool:
    return "/notes/" in (card.locator("form.rate").get_attribute("action") or "")


def _counts(visitor: Visitor, done: int) -> None:
    expect(visitor.page.locator("#run-count")).to_have_text(f"{done} today, {POSTS + NOTES - done} left")


def test_thirty_one_cards_by_key_and_twelve_by_thumb_are_exactly_the_ratings_that_were_given(
    place: Place, service: Service, visit: Visit, examiner: Examiner
) -> None:
    _fill(place)
    rita = visit(place.rater, "/help-needed", wants=[422])
    found: list[str] = []
    expected: Counter[tuple[bool, str]] = Counter()
    levels, undone, done = list(WORDS), set[int](), 0
    while done < BY_KEY:
        level = levels[done % 3]
        card_id, is_note = _current(rita).get_attribute("id"), _is_note(_current(rita))
        if is_note:  # the browser says a frame later that its last line was in sight
            expect(_current(rita).locator("[data-seen]")).not_to_have_value("")
        rita.press(WORDS[level])
        if is_note:
            if expected[(False, level)] == 0 and level == "HELPFUL":
                rita.press("Enter")
                expect(rita.page.get_by_role("group", name="There is a problem")).to_be_focused()
                found += examiner.look(rita, "a note without a reason")
            # The letter of a reason sends.
            rita.press("b" if level == "NOT_HELPFUL" else "e")
        done += 1
        expected[(not is_note, level)] += 1
        _counts(rita, done)
        if done % 13 == 0 and done not in undone:
            undone.add(done)
            expect(rita.page.locator("#cards > [data-row] h2:focus")).to_have_count(1)
            # What was said last is taken back and said again.
            rita.press("u")
            _counts(rita, done - 1)
            expect(rita.page.locator(f"[id='{card_id}'] h2")).to_be_focused()
            done -= 1
            expected[(not is_note, level)] -= 1
            levels = [*levels[1:], levels[0]]
        if done == 30:
            expect(rita.page.get_by_role("group", name="A break")).to_be_focused()
            found += examiner.look(rita, "a break")
            rita.page.get_by_role("link", name="Keep going").click()
        expect(rita.page.locator("#cards > [data-row] h2:focus")).to_have_count(1)
        expect(_current(rita).locator(".answers")).to_be_in_viewport(ratio=1)
    counted, with_reasons = _given(service, place.rater)
    assert counted == +expected
    assert counted.total() == BY_KEY
    assert with_reasons == sum(count for (rationale, _), count in counted.items() if not rationale) > 0

    olga = visit(place.operator, "/help-needed", viewport=PHONE, has_touch=True, is_mobile=True)
    for number in range(1, BY_THUMB + 1):
        card = _current(olga)
        card_id = (card.get_attribute("id") or "").removeprefix("card-")
        card = olga.page.locator(f"#card-{uuid.UUID(card_id)}")
        if _is_note(card):
            _tap(card.locator(".answers label").first)
            _tap(card.locator(".good-points label").first)
            _tap(card.get_by_role("button", name="Submit rating"))
        else:
            _tap(card.get_by_role("button", name="Yes"))
        expect(olga.page.locator("#run-count")).to_contain_text(f"{number} today")
        expect(olga.page.locator("#cards > [data-row] h2:focus")).to_have_count(1)
    counted, with_reasons = _given(service, place.operator)
    assert counted.total() == BY_THUMB
    assert set(counted) == {(True, "HELPFUL"), (False, "HELPFUL")}
    assert with_reasons == counted[(False, "HELPFUL")]
    assert not found, "\n".join(found)


def _tap(target: Locator) -> None:
    """Tap where it stands, without scrolling: in the lower half of the screen, and big enough for a thumb."""
    expect(target).to_be_in_viewport(ratio=1)
    box = target.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= THUMB, box
    assert box["y"] > PHONE["height"] / 2 - THUMB, box
    target.tap()
