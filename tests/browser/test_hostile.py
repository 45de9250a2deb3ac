"""What people write to break pages stays text: inert, readable, and within its place."""

import re
import uuid

import sqlalchemy as sa
from playwright.sync_api import ViewportSize, expect

from app.core.classify.corpus import SAMPLES
from app.core.factcheck import items
from app.core.factcheck.items import Item
from app.core.models import Account, ApiKey, Community
from tests.browser import site
from tests.browser.conftest import DESKTOP, PHONE, Visit, Visitor
from tests.browser.layout import too_wide
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place
from tests.hostile import HARD, LETTERS, NOTHINGS

WIDTHS: tuple[ViewportSize, ...] = (DESKTOP, {"width": 1024, "height": 768}, PHONE)
NAME_LENGTH = 80
"""Characters of a name; people may choose it."""
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
    expect(max_.page.get_by_text(f"{len(HARD)} posts wait for a decision.")).to_be_visible()
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
    """On one line: browsers draw line ends and tabs as they like. Many empty lines are said to be some."""
    return " ".join(re.sub(r"\n\d+ empty lines\n", "\n", text).split())


def test_one_endless_letter_or_a_wave_of_posts_alike_widens_no_page(
    service: Service, place: Place, visit: Visit
) -> None:
    filled = site.fill(service, place)
    wave = [f"{DOUBTFUL[0]} {'Cheap lines at the quay, today only. ' * 8}{number}" for number in range(13)]
    place.queue_together(*wave, platform_author_id="wave", platform_channel_id="market")
    pages, certain = dict[str, str](), list[str]()
    for number, letter in enumerate(LETTERS):
        name, post = letter[:200], f"{DOUBTFUL[0]} {letter}"
        extra = {"title": name, "thread": [{"text": letter, "author": name}]}
        waiting, decided = place.queue_together(
            post, post, platform_author_id=name, platform_channel_id=name, metadata=extra
        )
        place.rate(place.action(decided)["note_id"], "HHHHHH")
        place.acknowledge(decided)
        note_id = place.write_note(place.request_uuid(place.action(waiting)["request_id"]), letter)
        pages |= {
            f"letter {number}, waiting": f"/review/{waiting}",
            f"letter {number}, decided": f"/review/{decided}",
            f"letter {number}, note": f"/notes/{note_id}",
        }
        certain.append(place.submit(f"{SAMPLES['spam_certain'][0]} {letter}", platform_author_id=name))
    for request_id in certain:
        place.finished(request_id)
    for action in place.actions("proposed"):
        place.acknowledge(str(action["id"]))
    with service.wiring.database.writing() as session:
        emails = [person.email for person in (place.rater, place.operator, place.admin)]
        for account in session.scalars(sa.select(Account).where(Account.email.in_(emails))):
            account.display_name = LETTERS[-1][:NAME_LENGTH]
        session.get_one(Community, place.community_id).name = LETTERS[-2][:NAME_LENGTH]
        session.get_one(ApiKey, uuid.UUID(filled.key)).name = LETTERS[-1][:NAME_LENGTH]
        letters = [
            Item(
                letter[:100],
                f"item-{number}",
                letter,
                letter[:255],
                "https://checks.example.org/1",
                letter[:255],
            )
            for number, letter in enumerate(LETTERS)
        ]
        items.keep(session, letters, place.community_id)
    ada, rita, found = visit(place.admin, own=True), visit(place.rater, own=True), list[str]()
    for visitor in (ada, rita):
        for path in (site.pages(visitor, filled) | pages).values():
            visitor.wants(403, 404)
            visitor.open(path)
            visitor.page.evaluate(
                "document.querySelectorAll('main details').forEach((one) => { one.open = true; })"
            )
            found += too_wide(visitor, *WIDTHS)
    assert not found, "\n".join(map(ascii, found))
    ada.page.set_viewport_size(DESKTOP)
    ada.open("/review")
    heights = ada.page.locator("tr[data-row]").evaluate_all(
        "(rows) => rows.map((one) => one.getBoundingClientRect().height)"
    )
    assert max(heights) - min(heights) < 1, "every row has one line for its post"
