"""Pages fit: 320 pixels without scrolling sideways, and a full queue within its budget."""

from playwright.sync_api import ViewportSize

from tests.browser import site
from tests.browser.conftest import DESKTOP, PHONE, Visit
from tests.browser.live import DOUBTFUL, PATIENCE, wait_for
from tests.browser.place import Place

NARROW: ViewportSize = {"width": 320, "height": 640}
SCREENS: tuple[ViewportSize, ...] = (NARROW, PHONE, {"width": 1024, "height": 768}, DESKTOP)
REQUESTS_MOST, BYTES_MOST, NODES_MOST = 8, 100_000, 1_500
SHIFT_MOST = 0.001
"""A layout shift (web.dev: CLS) that nobody can see; 0.1 counts as good."""
WAITING = 200

_TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  const inner = (one) => one.closest('.vh') || getComputedStyle(one).position === 'fixed'
    || [...ancestors(one)].some((other) => getComputedStyle(other).overflowX !== 'visible');
  function* ancestors(one) { for (let at = one.parentElement; at; at = at.parentElement) yield at; }
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > width + 1 && !inner(one))
    .map((one) => one.outerHTML.slice(0, 120)).slice(0, 3).concat(
      [`the page is ${document.documentElement.scrollWidth} px wide`]);
}"""
"""The elements that reach beyond the window, when the page can be scrolled sideways."""

_WATCH_SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifted += one.value; })
  .observe({ type: "layout-shift", buffered: true });
"""


def test_no_page_scrolls_sideways(place: Place, visit: Visit) -> None:
    filled = site.fill(place, visit)
    found = []
    for role in ("rater", "operator"):
        visitor = visit(getattr(place, role))
        visitor.wants(403, 404)
        for path in site.pages(visitor, filled):
            visitor.open(path)
            for screen in SCREENS:
                visitor.page.set_viewport_size(screen)
                wide = visitor.page.evaluate(_TOO_WIDE)
                found += [f"{role}, {path} at {screen['width']} px: {one}" for one in wide]
    assert not found, "\n".join(found)


def test_no_page_for_whoever_is_signed_out_scrolls_sideways(visit: Visit) -> None:
    visitor = visit(None, viewport=NARROW)
    visitor.wants(404)
    for path in site.OPEN_PAGES:
        visitor.open(path)
        assert visitor.page.evaluate(_TOO_WIDE) == [], path


def test_a_full_queue_is_light(place: Place, visit: Visit) -> None:
    for number in range(WAITING):
        place.submit(f"{DOUBTFUL[number % len(DOUBTFUL)]} And this is number {number}.")
    wait_for("routing of all", lambda: len(place.actions("under_review")) == WAITING, 2 * PATIENCE)
    visitor = visit(place.moderator)
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
    assert visitor.page.get_by_text("200 items wait for a decision.").is_visible()
    sent = {address: sizes.get(key, 0.0) for key, address in addresses.items() if address.startswith("http")}
    assert len(sent) <= REQUESTS_MOST, sent
    assert sum(sent.values()) <= BYTES_MOST, sent
    assert visitor.page.evaluate("document.querySelectorAll('*').length") <= NODES_MOST
    assert visitor.page.evaluate("window.shifted") <= SHIFT_MOST
