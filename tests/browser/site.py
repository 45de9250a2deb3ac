"""Which pages there are to look at, by role: whatever the navigation offers, and the pages behind it."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.browser.conftest import Visit, Visitor
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place

SENSITIVE = "I know where you live. Sleep well."
LONG_WORD = "Hafendampfschifffahrtsgesellschaft" * 12
HARD_POSTS = (
    DOUBTFUL[0],
    SENSITIVE,
    f"You are such an idiot, {LONG_WORD}, nobody wants to read this.",
    "מי כתב את זה? You are such an idiot, nobody wants to read this. هذا الكلام غير مقبول.",
    "You are such an idiot, nobody wants to read this.\n\n" + "And another thing about the quay wall. " * 60,
)
"""Posts that pages find hard to hold: veiled, without a place to break, right to left, long."""
UNKNOWN = "/review/00000000-0000-7000-8000-000000000009"


@dataclass(frozen=True)
class Filled:
    """What stands in a community that is not empty."""

    actions: tuple[str, ...]
    decided: str
    note_id: str


def fill(place: Place, visit: Visit) -> Filled:
    """Posts under review, one decided and carried out, notes by two people, a saved version of the thresholds."""
    open_, decided = place.queue(*HARD_POSTS), place.queue(DOUBTFUL[1])[0]
    place.rate(place.action(decided)["note_id"], "HHHHHH")
    place.acknowledge(decided)
    request = place.request_uuid(place.action(open_[0])["request_id"])
    note_id = place.write_note(request, f"A member explains it: {LONG_WORD}")
    place.rate(note_id, "HHN")
    rita = visit(place.rater)
    rita.open(f"/review/{open_[0]}")
    rita.main.get_by_text("Write a note", exact=True).click()
    rita.page.get_by_role("radio", name="Not misleading").check()
    rita.page.get_by_label("It is a personal opinion").check()
    rita.page.get_by_label("Your note").fill("Nobody claims a fact here.")
    rita.button("Submit note").click()
    rita.page.get_by_role("article", name="Your note").wait_for()
    olga = visit(place.operator)
    olga.open("/thresholds")
    olga.page.get_by_label("Spam, Tier 1", exact=True).fill("0.9")
    olga.page.get_by_label("Reason").fill("Market day")
    olga.button("Save").click()
    olga.status.get_by_text("Version 2").wait_for()
    return Filled(tuple(open_), decided, note_id)


def navigation(visitor: Visitor) -> dict[str, str]:
    """The links of the main navigation that lead to pages: label → address."""
    visitor.open("/settings")
    links = visitor.page.get_by_role("navigation", name="Main").get_by_role("link").all()
    found = {link.inner_text().strip(): link.get_attribute("href") or "" for link in links}
    return {label: address for label, address in found.items() if address.startswith("/")}


def pages(visitor: Visitor, filled: Filled | None) -> Iterator[str]:
    """The addresses of every page that this visitor can reach, those that refuse them too."""
    offered = set(navigation(visitor).values())
    yield from sorted(offered)
    yield UNKNOWN
    if "/review" not in offered:
        yield "/review"
    else:
        yield "/review?q=nothing+like+it"
        yield "/history?from=2001-01-01&to=2001-01-02"
    if filled is not None:
        yield f"/review/{filled.actions[0]}"
        yield f"/review/{filled.actions[1]}"
        yield f"/review/{filled.actions[2]}"
        yield f"/review/{filled.decided}"
        yield f"/notes/{filled.note_id}"


OPEN_PAGES = ("/", "/sign-in", "/sign-in?next=/review", "/nothing-here")
"""Pages for whoever is not signed in."""
