"""axe over a page in both themes and on both kinds of screen."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ViewportSize

from tests.browser.conftest import DESKTOP, PHONE, Visitor

_AXE = Axe()
_SCREENS: tuple[ViewportSize, ...] = (DESKTOP, PHONE)
_RUN = """() => axe.run({resultTypes: ["violations"]}).then((result) => result.violations.flatMap((one) =>
  one.nodes.map((node) => `${one.id} (${one.help}): ${node.html.slice(0, 160)}`)))"""


def violations(visitor: Visitor, where: str) -> list[str]:
    """What axe finds on the page that is open, light and dark, wide and narrow: rule and element."""
    visitor.page.evaluate(_AXE.axe_script)
    found = []
    for screen in _SCREENS:
        visitor.page.set_viewport_size(screen)
        for theme in ("light", "dark"):
            # Without motion, or axe would measure colours on their way from one theme to the other.
            visitor.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            lines: list[str] = visitor.page.evaluate(_RUN)
            found += [f"{where}, {screen['width']} px, {theme}: {line}" for line in lines]
    visitor.page.set_viewport_size(DESKTOP)
    return found
