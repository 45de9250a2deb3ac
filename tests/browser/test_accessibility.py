"""No axe violation on any page: of any role, in either theme, on a phone and on a desk, empty and full.

``make test`` looks at a selection in which each two of these meet; ``make a11y`` at every combination.
"""

from itertools import groupby

import pytest
from playwright.sync_api import expect

from tests.browser import site
from tests.browser.accessibility import SCREENS, equip, every, pairwise, violations
from tests.browser.conftest import DESKTOP, Visit
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, opened_place

ROLES = ("rater", "moderator", "operator", "admin")
EMPTY_STATES = {
    "Help needed": "Nothing needs your help. Next check in 15 s.",
    "My impact": "Impact appears after a first note gets a status.",
    "Review queue": "Queue clear",
    "Review queue, nothing found": "No items match. Clear filters",
    "Second look": "No second looks",
    "Action history": "No actions in this period",
    "Insights": "Nothing to show for this period",
    "Datasets": "No datasets yet",
    "Deliveries": "No deliveries yet",
}
"""What each page says while there is nothing on it (docs/design-system.md)."""


def test_no_page_has_a_violation(
    service: Service, place: Place, visit: Visit, pytestconfig: pytest.Config
) -> None:
    found: list[str] = []
    with opened_place(service) as empty:
        filled = site.fill(service, place)
        visitors = {}
        addresses = {("nobody", "empty", page): path for page, path in site.OPEN_PAGES.items()}
        visitors["nobody", "empty"] = visit(None, own=True)
        for state, where, what in (("empty", empty, None), ("full", place, filled)):
            for role in ROLES:
                visitor = visitors[role, state] = visit(getattr(where, role), own=True)
                visitor.wants(403, 404)
                addresses |= {(role, state, page): path for page, path in site.pages(visitor, what).items()}
        visitors["nobody", "empty"].wants(401, 404)
        cells = every(addresses)
        assert len(cells) > 300
        if not pytestconfig.getoption("--whole", default=False):
            # An admin is offered whatever moderators and operators are, so the selection leaves those out.
            cells = pairwise([cell for cell in cells if cell.role not in {"moderator", "operator"}])
        for visitor in visitors.values():
            equip(visitor)
        screens = {screen["width"]: screen for screen in SCREENS}
        for seen, sights in groupby(cells, key=lambda cell: (cell.role, cell.state, cell.page)):
            # Opened once for all its sights: a theme and a screen change no element.
            visitor = visitors[seen[:2]]
            visitor.open(addresses[seen])
            found += violations(
                visitor, ", ".join(seen), *((cell.theme, screens[cell.width]) for cell in sights)
            )
    assert not found, "\n".join(found)


def test_empty_pages_say_what_to_expect(place: Place, visit: Visit) -> None:
    visitor = visit(place.admin, viewport=DESKTOP)
    pages = site.pages(visitor, None)
    for page in EMPTY_STATES.keys() & pages.keys():
        visitor.open(pages[page])
        assert EMPTY_STATES[page] in " ".join(visitor.main.inner_text().split()), page
    (action_id,) = place.queue(DOUBTFUL[0])
    visitor.open(f"/review/{action_id}")
    expect(visitor.page.get_by_text("No notes yet. Write the first.")).to_be_visible()
