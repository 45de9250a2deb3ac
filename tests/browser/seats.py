"""Browsers that tests use one after the other: a first page costs three times what a later one does.

What a test leaves there is cleared, and what cannot be cleared is refused: a test that needs such a thing asks for a
browser of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from playwright.sync_api import Browser, BrowserContext, CDPSession, Error, Page

from tests.browser.watch import Watch

KEPT = 4
"""How many browsers wait for the next visitor. Each is a process."""

_OF_BOTH = (
    "add_init_script",
    "expose_binding",
    "expose_function",
    "on",
    "once",
    "route",
    "set_extra_http_headers",
)
_OF_CONTEXT = ("clear_permissions", "grant_permissions", "new_cdp_session", "set_geolocation", "set_offline")
_OF_CLOCK = (
    "fast_forward",
    "install",
    "pause_at",
    "resume",
    "run_for",
    "set_fixed_time",
    "set_system_time",
)
"""What would stay for the next visitor."""

_EMPTY = """() => {
  window.stop();
  for (let last = setTimeout(() => {}); last > 0; last -= 1) clearTimeout(last);
  sessionStorage.clear();
  localStorage.clear();
  document.open();
  document.close();
}"""
"""Ends what the page does and shows nothing. To leave the site, for about:blank, would end the process."""

_IS_EMPTY = "() => !document.querySelector('body *') && !sessionStorage.length && !localStorage.length"


@dataclass
class Seat:
    """One page in a browser of this kind, at the service with this address."""

    url: str
    kind: frozenset[tuple[str, object]]
    page: Page
    watch: Watch
    protocol: CDPSession

    @property
    def context(self) -> BrowserContext:
        return self.page.context

    def welcome(self, options: Mapping[str, Any]) -> None:
        """Be as a new browser with these options would be."""
        self.watch.begin()
        self.page.set_viewport_size(options["viewport"])
        self.page.emulate_media(
            media="null",
            color_scheme=options.get("color_scheme", "light"),
            reduced_motion=options.get("reduced_motion", "no-preference"),
        )

    def leave(self) -> bool:
        """Empty the page; return whether the next visitor will find nothing there."""
        try:
            self.page.mouse.move(-1, -1)  # or the next page would have the pointer on it
            self.page.evaluate(_EMPTY)
            self.protocol.send("Page.resetNavigationHistory")
            self.context.clear_cookies()
        except Error:
            return False  # the page was closed, or on its way to another
        return self.context.pages == [self.page]

    def is_empty(self) -> bool:
        """Whether it stayed as it was left: an answer may have been on its way."""
        try:
            return bool(self.page.evaluate(_IS_EMPTY)) and not self.context.cookies()
        except Error:
            return False  # it went on to another page, or ended


@dataclass
class Seats:
    browser: Browser
    patience: float
    free: list[Seat] = field(default_factory=list)

    def take(self, url: str, options: Mapping[str, Any]) -> Seat:
        """A page for a visitor to the service at this address, with these options of a new browser."""
        if any(seat.url != url for seat in self.free):
            self.close()  # that service has ended
        seat = self._waiting(_kind(options)) or self._new(url, options)
        seat.welcome(options)
        return seat

    def give_back(self, seat: Seat) -> None:
        if seat.leave():
            self.free.append(seat)
        else:
            seat.context.close()
        while len(self.free) > KEPT:
            self.free.pop(0).context.close()

    def close(self) -> None:
        while self.free:
            self.free.pop().context.close()

    def _waiting(self, kind: frozenset[tuple[str, object]]) -> Seat | None:
        for seat in reversed(self.free):
            if seat.kind == kind:
                self.free.remove(seat)
                if seat.is_empty():
                    return seat
                seat.context.close()
        return None

    def _new(self, url: str, options: Mapping[str, Any]) -> Seat:
        context = self.browser.new_context(base_url=url, **options)
        context.set_default_timeout(self.patience)
        watch = Watch(url)
        watch.over(context)
        page = context.new_page()
        seat = Seat(url, _kind(options), page, watch, context.new_cdp_session(page))
        for target, names in ((page, _OF_BOTH), (page.clock, _OF_CLOCK), (context, _OF_BOTH + _OF_CONTEXT)):
            for name in names:
                setattr(target, name, _refuse)
        return seat


def _kind(options: Mapping[str, Any]) -> frozenset[tuple[str, object]]:
    """Which browsers can serve with these options: what ``Seat.welcome`` sets makes no difference."""
    changeable = {"viewport", "color_scheme", "reduced_motion"}
    return frozenset((name, value) for name, value in options.items() if name not in changeable)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError(
        "The next test will have this browser, too: visit(..., own=True) opens one for this test alone."
    )
