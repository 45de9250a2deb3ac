"""axe over pages: which to look at, in which theme and on which screen, and what it finds."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import combinations, product
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ViewportSize

from tests.browser.conftest import DESKTOP, PHONE, Visitor

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
SCREENS: tuple[ViewportSize, ...] = (DESKTOP, PHONE)
Sight = tuple[Theme, ViewportSize]
ALTERNATE: tuple[Sight, ...] = (("light", DESKTOP), ("dark", PHONE))
"""Both themes and both screens, in two looks."""

_AXE = Axe()
_RUN = """() => axe.run({
  resultTypes: ["violations"], rules: {"target-size": {enabled: true}}, preload: {assets: ["media"]},
}).then((result) => result.violations.flatMap(
  (one) => one.nodes.map((node) => `${one.id} (${one.help}): ${node.html.slice(0, 160)}`)))"""
"""With WCAG 2.2's targets of at least 24 pixels, which axe leaves out unless told, and without a second reading of all
style sheets: only a rule that is still an experiment, and not among these, needs it."""


@dataclass(frozen=True)
class Cell:
    """One sight: a page in one theme on one screen, for one role, in a community that is empty or full."""

    role: str
    state: str
    page: str
    theme: Theme
    width: int


def every(pages: Iterable[tuple[str, str, str]]) -> list[Cell]:
    """The whole matrix of these (role, state, page)."""
    widths = [screen["width"] for screen in SCREENS]
    return [Cell(*page, theme, width) for page, theme, width in product(pages, THEMES, widths)]


def pairwise(cells: Sequence[Cell]) -> list[Cell]:
    """A small selection in which each two values that meet in some cell still meet (all-pairs testing).

    Greedy: always the first cell that shows the most pairs not yet seen.
    """
    pairs = {cell: set(combinations(enumerate(astuple(cell)), 2)) for cell in cells}
    wanted = set().union(*pairs.values())
    chosen: list[Cell] = []
    while wanted:
        best = max(cells, key=lambda cell: len(pairs[cell] & wanted))
        chosen.append(best)
        wanted -= pairs[best]
    return sorted(chosen, key=cells.index)


@dataclass
class Examiner:
    """Looks at what a visitor has open: in both themes on both screens, or, by turns, in one theme on one screen."""

    whole: bool
    looks: int = 0

    def look(self, visitor: Visitor, where: str) -> list[str]:
        """What axe finds: where, in which theme, on which screen, which rule and which element."""
        sights = list(product(THEMES, SCREENS))
        if not self.whole:
            sights = [sights[self.looks % len(sights)]]
        self.looks += 1
        return violations(visitor, where, *sights)


_SETTLED = "() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')"
"""What htmx puts in carries the old element's classes for a moment, and with them the paleness of a request."""

_PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""A theme that was just chosen is on the screen: before that, axe would mix its colours with those of the other."""


def equip(visitor: Visitor) -> None:
    """Let every page that this visitor opens have axe ready: handing it over anew for each takes longer."""
    visitor.page.add_init_script(_AXE.axe_script)


def dress(visitor: Visitor, theme: Theme, screen: ViewportSize) -> None:
    """Put the visitor before this screen. Without motion, or axe would measure colours on their way."""
    visitor.page.set_viewport_size(screen)
    visitor.page.emulate_media(color_scheme=theme, reduced_motion="reduce")


def look(visitor: Visitor, where: str, sight: Sight) -> list[str]:
    """What axe finds on the page that is open, in this theme and on this screen: rule and element."""
    theme, screen = sight
    dress(visitor, theme, screen)
    visitor.page.wait_for_function(_SETTLED)
    visitor.page.evaluate(_PAINTED)
    if not visitor.page.evaluate("() => 'axe' in window"):
        visitor.page.evaluate(_AXE.axe_script)
    lines: list[str] = visitor.page.evaluate(_RUN)
    return [f"{where}, {screen['width']} px, {theme}: {line}" for line in lines]


def violations(visitor: Visitor, where: str, *sights: Sight) -> list[str]:
    """What axe finds on the page that is open, in several sights. Afterwards the visitor is back at a desk."""
    found = [line for sight in sights or ALTERNATE for line in look(visitor, where, sight)]
    visitor.page.set_viewport_size(DESKTOP)
    return found
