"""No axe violation on any page: of any role, in either theme, on a phone and on a desk, empty and full. And pages fit.

``make test`` has axe look at a selection in which each two of these meet; ``make a11y`` at every combination.
"""

from collections.abc import Sequence

import pytest
from playwright.sync_api import expect

from tests.browser import accessibility, layout, site
from tests.browser.accessibility import Sight, equip, every, look, pairwise
from tests.browser.conftest import DESKTOP, Visit, Visitor
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Place, opened_place

ROLES = ("rater", "moderator", "operator", "admin")
MEASURED = ("rater", "admin")
"""Whose pages must fit: between them they have every page."""
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
"""What each page says while there is nothing on it (docs/develop/design-system.md)."""


def test_no_page_has_a_violation_or_scrolls_sideways_and_every_date_keeps_its_year(
    service: Service, place: Place, visit: Visit, pytestconfig: pytest.Config
) -> None:
    whole = pytestconfig.getoption("--whole", default=False)
    found: list[str] = []
    with opened_place(service) as empty:
        filled = site.fill(service, place)
        addresses = {("nobody", "empty", page): path for page, path in site.OPEN_PAGES.items()}
        visitors = {("nobody", "empty"): visit(None, own=True)}
        for state, where, what in (("empty", empty, None), ("full", place, filled)):
            # An admin is offered whatever moderators and operators are, so the selection leaves those out.
            for role in ROLES if whole else MEASURED:
                locale = "en-US" if role == "admin" else "en-GB"  # both ways to write a date
                visitor = visitors[role, state] = visit(getattr(where, role), own=True, locale=locale)
                visitor.wants(403, 404)
                addresses |= {(role, state, page): path for page, path in site.pages(visitor, what).items()}
        visitors["nobody", "empty"].wants(401, 404)
        assert ("rater", "full", "Help needed") in addresses
        assert ("admin", "full", "Action history") in addresses
        cells = every(addresses)
        assert len(cells) > 300
        sights: dict[tuple[str, str, str], list[Sight]] = {seen: [] for seen in addresses}
        screens = {screen["width"]: screen for screen in accessibility.SCREENS}
        for cell in cells if whole else pairwise(cells):
            sights[cell.role, cell.state, cell.page].append((cell.theme, screens[cell.width]))
        for visitor in visitors.values():
            equip(visitor)
        for seen, path in addresses.items():
            role, state, _ = seen
            measured = role == "nobody" or (role in MEASURED and state == "full")
            if measured or sights[seen]:
                # Opened once for all that is looked at: a theme and a screen change no element.
                visitors[role, state].open(path)
                found += _faults(visitors[role, state], ", ".join(seen), sights[seen], measured)
    assert not found, "\n".join(found)


def _faults(visitor: Visitor, where: str, sights: Sequence[Sight], measured: bool) -> list[str]:
    """What is wrong with the page that is open: for axe in these sights, and, if it is measured, on all screens."""
    found = [line for sight in sights for line in look(visitor, where, sight)]
    if measured:
        wide_or_cut = layout.too_wide(visitor, *layout.SCREENS) + layout.cut_dates(visitor)
        found += [f"{where}: {line}" for line in wide_or_cut]
    return found


def test_empty_pages_say_what_to_expect(place: Place, visit: Visit) -> None:
    visitor = visit(place.admin, viewport=DESKTOP)
    pages = site.pages(visitor, None)
    for page in EMPTY_STATES.keys() & pages.keys():
        visitor.open(pages[page])
        assert EMPTY_STATES[page] in " ".join(visitor.main.inner_text().split()), page
    (action_id,) = place.queue(DOUBTFUL[0])
    visitor.open(f"/review/{action_id}")
    expect(visitor.page.get_by_text("No notes yet. Write the first.")).to_be_visible()
