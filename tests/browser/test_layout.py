"""Long names push nothing away, and a full queue keeps within its budget. That every page fits, test_accessibility.py
sees while it has them open."""

import sqlalchemy as sa
from playwright.sync_api import ViewportSize

from app.core.models import Account
from tests.browser import site
from tests.browser.conftest import Visit
from tests.browser.layout import too_wide
from tests.browser.live import DOUBTFUL, PATIENCE, Service, wait_for
from tests.browser.place import Place

REQUESTS_MOST, BYTES_MOST, NODES_MOST = 16, 100_000, 1_500
"""Of the requests, 13 are for sheets and modules, which later pages take from the cache."""
SHIFT_MOST = 0.001
"""A layout shift (web.dev: CLS) that nobody can see; 0.1 counts as good."""
WAITING = 60
LAPTOP: ViewportSize = {"width": 1024, "height": 768}
LISTS = ("/review", "/history", "/history/settings", "/deliveries", "/thresholds", "/people", "/keys")
DESK: ViewportSize = {"width": 1440, "height": 900}
THRESHOLDS_MOST = 1_700
"""Pixels above the table of all categories."""
DESKS: tuple[tuple[ViewportSize, int], ...] = ((DESK, 19), (LAPTOP, 14))
"""Screens of moderators, and how many rows of the queue each shows at least."""
POST_LEAST = 200
"""Pixels in which a moderator still recognises a post."""

_BROKEN_BADGES = """() => [...document.querySelectorAll(".badge")]
  .filter((one) => one.offsetHeight > 32).map((one) => one.innerText)"""

_ROWS_IN_SIGHT = """() => [...document.querySelectorAll("[data-row]")]
  .filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length"""

_WATCH_SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  const { domInteractive } = performance.getEntriesByType("navigation")[0];
  for (const one of list.getEntries())
    if (domInteractive > 0 && one.startTime >= domInteractive) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""
"""What moves once all of the page is there: a busy machine may show it while it is still read, and then rows push."""


def test_on_a_small_laptop_long_names_push_nothing_away(service: Service, place: Place, visit: Visit) -> None:
    site.fill(service, place)
    name = "Wolfeschlegelsteinhausenbergerdorff" * 5
    with service.wiring.database.writing() as session:
        emails = (place.admin.email, place.operator.email, place.moderator.email)
        for account in session.scalars(sa.select(Account).where(Account.email.in_(emails))):
            account.display_name = name
    visitor, found = visit(place.admin, viewport=LAPTOP), list[str]()
    for path in LISTS:
        visitor.open(path)
        found += too_wide(visitor, LAPTOP)
        found += [f"{path}: {words} is broken" for words in visitor.page.evaluate(_BROKEN_BADGES)]
    assert not found, "\n".join(found)
    visitor.open("/review")
    posts = visitor.page.locator("td.excerpt").first.bounding_box()
    assert posts
    assert posts["width"] >= POST_LEAST


def test_thresholds_come_before_two_windows_end_and_insights_lead_to_their_charts(
    place: Place, visit: Visit
) -> None:
    place.queue(DOUBTFUL[0])
    visitor = visit(place.operator, "/thresholds", viewport=DESK)
    assert visitor.page.evaluate("document.querySelectorAll('*').length") <= NODES_MOST
    fold = visitor.page.get_by_text("All categories", exact=True).first.bounding_box()
    assert fold
    assert fold["y"] <= THRESHOLDS_MOST
    visitor.open("/insights")
    assert visitor.page.evaluate("document.querySelectorAll('*').length") <= NODES_MOST
    chart = visitor.page.get_by_role("img", name="Submitted posts")
    assert not chart.is_visible()
    visitor.page.get_by_role("link", name="Posts: 1", exact=True).click()
    chart.wait_for(state="visible")


def test_a_full_queue_is_light(place: Place, visit: Visit) -> None:
    for number in range(WAITING):
        place.submit(f"{DOUBTFUL[number % len(DOUBTFUL)]} And this is number {number}.")
    wait_for("routing of all", lambda: len(place.actions("under_review")) == WAITING, 2 * PATIENCE)
    visitor = visit(place.moderator, own=True)
    visitor.page.add_init_script(_WATCH_SHIFTS)
    sizes: dict[str, float] = {}
    addresses: dict[str, str] = {}
    protocol = visitor.page.context.new_cdp_session(visitor.page)
    protocol.send("Network.enable")
    protocol.on(
        "Network.requestWillBeSent", lambda one: addresses.update({one["requestId"]: one["request"]["url"]})
    )
    protocol.on(
        "Network.loadingFinished", lambda one: sizes.update({one["requestId"]: one["encodedDataLength"]})
    )
    visitor.open("/review")
    visitor.page.wait_for_load_state("networkidle")
    assert visitor.page.get_by_text(f"{WAITING} posts wait for a decision.").is_visible()
    sent = {address: sizes.get(key, 0.0) for key, address in addresses.items() if address.startswith("http")}
    assert len(sent) <= REQUESTS_MOST, sent
    assert sum(sent.values()) <= BYTES_MOST, sent
    assert visitor.page.evaluate("document.querySelectorAll('*').length") <= NODES_MOST
    assert visitor.page.evaluate("window.shifted") <= SHIFT_MOST
    for screen, least in DESKS:
        visitor.page.set_viewport_size(screen)
        assert visitor.page.evaluate(_ROWS_IN_SIGHT) >= least
