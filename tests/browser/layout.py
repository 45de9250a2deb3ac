"""Whether a page fits its window."""

from playwright.sync_api import ViewportSize

from tests.browser.conftest import DESKTOP, PHONE, Visitor

NARROW: ViewportSize = {"width": 320, "height": 640}
ZOOMED: ViewportSize = {"width": 640, "height": 400}
"""What is left of a desk at 200 %."""
SCREENS: tuple[ViewportSize, ...] = (NARROW, PHONE, ZOOMED, {"width": 1024, "height": 768}, DESKTOP)

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


def too_wide(visitor: Visitor, *screens: ViewportSize) -> list[str]:
    """The elements that reach beyond the window on these screens, where the page can be scrolled sideways."""
    found = []
    for screen in screens:
        visitor.page.set_viewport_size(screen)
        wide: list[str] = visitor.page.evaluate(_TOO_WIDE)
        found += [f"{visitor.page.url} at {screen['width']} px: {one}" for one in wide]
    return found
