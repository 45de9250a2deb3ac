"""Whether a page fits its window."""

import re

from playwright.sync_api import Locator, ViewportSize

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


_COVERED = """(backwards) => {
  const shown = (one) => one.checkVisibility() && !one.disabled && !one.closest('.vh, [popover]:not(:popover-open)');
  const controls = 'a[href], button, input:not([type=hidden]), select, textarea, summary';
  const all = [...document.querySelectorAll(`main :is(${controls})`)].filter(shown);
  const found = [];
  for (const one of backwards ? all.reverse() : all) {
    one.focus();
    const box = one.getBoundingClientRect();
    const inset = (from, to) => [from + 3, (from + to) / 2, to - 3];
    const over = new Set();
    let outside = 0;
    for (const x of inset(box.left, box.right)) for (const y of inset(box.top, box.bottom)) {
      const hit = document.elementFromPoint(x, y);
      if (hit === null) outside += 1;
      else if (![one, one.closest('label')].some((own) => own?.contains(hit) || hit.contains(one)))
        over.add(hit.outerHTML.slice(0, 80));
    }
    if (outside === 9) over.add('the edge of the window');
    for (const what of over) found.push(`${one.outerHTML.slice(0, 100)} is covered by ${what}`);
  }
  return found;
}"""


def covered(visitor: Visitor) -> list[str]:
    """The controls that something lies over while they have the focus (WCAG 2.4.11), met in either order."""
    forwards: list[str] = visitor.page.evaluate(_COVERED, False)
    backwards: list[str] = visitor.page.evaluate(_COVERED, True)
    return forwards + backwards


def overlap(one: Locator, other: Locator) -> bool:
    """Whether two things on the page lie over each other."""
    first, second = one.bounding_box(), other.bounding_box()
    assert first
    assert second
    return (
        first["x"] < second["x"] + second["width"]
        and second["x"] < first["x"] + first["width"]
        and first["y"] < second["y"] + second["height"]
        and second["y"] < first["y"] + first["height"]
    )


def too_wide(visitor: Visitor, *screens: ViewportSize) -> list[str]:
    """The elements that reach beyond the window on these screens, where the page can be scrolled sideways."""
    found = []
    for screen in screens:
        visitor.page.set_viewport_size(screen)
        wide: list[str] = visitor.page.evaluate(_TOO_WIDE)
        found += [f"{visitor.page.url} at {screen['width']} px: {one}" for one in wide]
    return found


_CUT_DATES = """() => [...document.querySelectorAll('main :is(input[type=date], input[type=datetime-local], time)')]
  .filter((one) => one.checkVisibility())
  .flatMap((one) => {
    const box = one.getBoundingClientRect(), found = [];
    if (one.matches('input')) {
      const width = one.style.width;
      one.style.width = 'max-content';
      const needed = one.getBoundingClientRect().width;
      one.style.width = width;
      if (needed > box.width + 1) found.push(`${one.name} needs ${needed} px and has ${box.width}`);
    }
    for (let at = one.parentElement; at && at.id !== 'main'; at = at.parentElement) {
      const edge = at.getBoundingClientRect();
      if (getComputedStyle(at).overflowX !== 'visible' && box.right > edge.right + 1 && !at.matches('[tabindex]'))
        found.push(`${one.innerText || one.name} is cut`);
    }
    return found;
  })"""
"""Fields and times that are not shown whole; what can be scrolled into view is."""
_NO_YEAR = re.compile(r"\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b(?! 20\d\d)")


def cut_dates(visitor: Visitor) -> list[str]:
    """The dates that a narrow screen cuts or shows without their year, with everything opened that can be."""
    visitor.page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    found = []
    for screen in (PHONE, NARROW):
        visitor.page.set_viewport_size(screen)
        where = f"{visitor.page.url} at {screen['width']} px"
        found += [f"{where}: {cut}" for cut in visitor.page.evaluate(_CUT_DATES)]
        found += [f"{where}: {date}" for date in _NO_YEAR.findall(visitor.main.inner_text())]
    return found
