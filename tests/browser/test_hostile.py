"""What people write to break pages stays text: inert, readable, and within its place."""

from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, Visit, Visitor
from tests.browser.layout import too_wide
from tests.browser.place import Place
from tests.hostile import HARD, NOTHINGS

LEGIBLE = 600
"""Characters of a post that its item page is asked for word by word."""
_ALIVE = """() => [...document.querySelectorAll('main script, main img, main b, main iframe, main style')]
  .map((one) => one.outerHTML.slice(0, 120))"""
"""Elements that only a post could have brought; none of ours are of these kinds."""


def test_hostile_posts_notes_and_names_are_shown_and_do_nothing(place: Place, visit: Visit) -> None:
    names = [{"platform_author_id": name, "platform_channel_id": name} for name in NOTHINGS]
    actions = [place.queue(post, **names[number % len(names)])[0] for number, post in enumerate(HARD)]
    for number, action_id in enumerate(actions[:8]):
        request = place.request_uuid(place.action(action_id)["request_id"])
        place.write_note(request, HARD[number], author=NOTHINGS[number % len(NOTHINGS)])
    rita, max_ = visit(place.rater, own=True), visit(place.moderator, own=True)
    opened: list[str] = []
    for visitor in (rita, max_):
        visitor.page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))

    def is_in_its_place(visitor: Visitor) -> None:
        assert too_wide(visitor, PHONE, DESKTOP) == []
        assert visitor.page.evaluate(_ALIVE) == []

    rita.open("/help-needed")
    max_.open("/review")
    expect(max_.page.get_by_text(f"{len(HARD)} items wait for a decision.")).to_be_visible()
    is_in_its_place(rita)
    is_in_its_place(max_)
    max_.open("/history")
    is_in_its_place(max_)
    for visitor in (rita, max_):
        for post, action_id in zip(HARD, actions, strict=True):
            visitor.open(f"/review/{action_id}?show={action_id}")  # some are veiled
            shown = visitor.page.get_by_role("article", name="Post").inner_text()
            assert _plain(post)[:LEGIBLE] in _plain(shown)
            is_in_its_place(visitor)
    for name, action_id in zip(NOTHINGS, actions, strict=False):
        rita.open(f"/review/{action_id}")
        assert f"by {name}" in _plain(rita.page.get_by_role("article", name="Post").inner_text())
    assert opened == []


def _plain(text: str) -> str:
    """On one line: browsers draw line ends and tabs as they like."""
    return " ".join(text.split())
