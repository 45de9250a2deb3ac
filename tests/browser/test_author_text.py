"""A text to the author that nothing would carry is asked about, never dropped in silence."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import Examiner
from tests.browser.conftest import PHONE, Visit, Visitor
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place

TEXT, WHY = "Please stay kind.", "Over the line"
ASKED = "Your text would not reach the author"
SCRIPT = pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])


@pytest.fixture(scope="module")
def examiner(pytestconfig: pytest.Config) -> Examiner:
    return Examiner(whole=pytestconfig.getoption("--whole", default=False))


def _typed(place: Place, visit: Visit, **options: object) -> tuple[Visitor, str]:
    """A moderator who wrote a reason and a text to the author, and the item."""
    (action_id,) = place.queue(DOUBTFUL[0])
    max_ = visit(place.moderator, f"/review/{action_id}", wants=[422], **options)
    max_.page.get_by_label("Reason").fill(WHY)
    max_.page.get_by_text("More", exact=True).click()
    max_.page.get_by_label("Text to the author").fill(TEXT)
    return max_, action_id


def _goes_back(max_: Visitor) -> None:
    question = max_.page.get_by_role("group", name=ASKED)
    expect(question).to_contain_text("Only a warning or a silence carries your text.")
    max_.button("Go back").click()
    expect(question).to_have_count(0)
    expect(max_.page.get_by_label("Text to the author")).to_have_value(TEXT)
    expect(max_.page.get_by_label("Reason")).to_have_value(WHY)


@SCRIPT
def test_dismissing_goes_without_the_text_only_when_that_is_chosen(
    place: Place, visit: Visit, examiner: Examiner, script: bool
) -> None:
    max_, action_id = _typed(place, visit, java_script_enabled=script)
    max_.button("Dismiss").click()
    if script:
        expect(max_.page.get_by_role("group", name=ASKED)).to_be_focused()
        assert not examiner.look(max_, "asked about the text")
    _goes_back(max_)
    if script:
        expect(max_.page.get_by_label("Text to the author")).to_be_focused()
    max_.button("Dismiss").click()
    max_.button("Dismiss without the text").click()
    place.becomes(action_id, "dismissed")


@SCRIPT
def test_escalating_and_deleting_ask_too_and_a_silence_carries_the_text(
    place: Place, visit: Visit, script: bool
) -> None:
    max_, action_id = _typed(place, visit, java_script_enabled=script)
    for name in ("Escalate", "Delete post", "Force-publish"):
        max_.button(name).click()
        _goes_back(max_)
    max_.button("Silence author").click()
    place.becomes(action_id, "proposed")
    decided = place.action(action_id)
    assert (decided["action_type"], decided["reason"]) == ("silence", TEXT)


def test_other_actions_are_named_by_their_effect_and_delete_stands_last_alone_in_red(
    place: Place, visit: Visit
) -> None:
    max_, _ = _typed(place, visit)
    for screen in (PHONE, {"width": 1280, "height": 900}):
        max_.page.set_viewport_size(screen)
        others = max_.page.locator(".other-verbs").get_by_role("button")
        expect(others).to_have_text(
            [
                "Warn author Post stays",
                "Silence author Post stays, author cannot write",
                "Delete post Cannot be brought back",
            ]
        )
        colours = others.evaluate_all("(all) => all.map((one) => getComputedStyle(one).color)")
        assert colours[0] == colours[1] != colours[2]
        tops = others.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)")
        assert tops[2] - tops[1] > tops[1] - tops[0], "apart from the others"
