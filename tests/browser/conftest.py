"""Browsers for tests against a running service. Page errors and requests to other hosts fail the test."""

import os
import re
import shutil
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Response, ViewportSize, expect

from tests.browser.live import Service, running
from tests.browser.place import PASSWORD, Person, Place, opened_place
from tests.browser.receiver import Receiver, listening
from tests.browser.seats import Seat, Seats
from tests.browser.watch import Watch

DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
CHROMIUM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
"""The shell opens no window behind each page, which saves nearly half of the processor time."""
LOG_SHOWN = 8_000
"""How many characters of the server's log are shown with a failure."""

PATIENCE = 60_000
"""Milliseconds to wait for what a page should show; a loaded machine is slow."""

expect.set_options(timeout=PATIENCE)

_SETTLING = ".htmx-swapping, .htmx-settling, .htmx-added"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="axe over every combination, not a selection")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": chromium_arguments()}


def chromium_arguments() -> list[str]:
    """The system's Chromium, without update checks and without access to other hosts."""
    arguments = [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium has none for root
    return arguments


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory, warm_processes: None) -> Iterator[Service]:
    """The service for the browser tests that this worker runs in a row. It ends before tests of another group begin,
    which would otherwise share their processor with its periodic jobs."""
    with running(tmp_path_factory.mktemp("service")) as started:
        yield started


@pytest.fixture
def place(service: Service) -> Iterator[Place]:
    """A community for this test alone, so that tests do not affect each other."""
    with opened_place(service) as opened:
        yield opened


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with listening() as opened:
        yield opened


@dataclass
class Visitor:
    """One person at one browser; ``name`` is empty when nobody is signed in."""

    page: Page
    watch: Watch
    name: str = ""

    def wants(self, *statuses: int) -> None:
        """Expect responses with these statuses in this visit."""
        self.watch.wanted.update(statuses)

    def open(self, path: str) -> Response:
        response = self.page.goto(path)
        assert response is not None
        return response

    def press(self, key: str) -> None:
        """Press a key, wherever the focus is, on a page whose script has run: before that a page knows no keys."""
        self.page.wait_for_load_state("domcontentloaded")
        # What was swapped in gets its behaviour when htmx settles it; with a clock that stands still it never does.
        for _ in range(20):
            if self.page.locator(_SETTLING).count() == 0:
                break
            self.page.wait_for_timeout(50)
        self.page.keyboard.press(key)

    def sign_in(self, person: Person) -> None:
        self.page.get_by_label("Email").fill(person.email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.button("Sign in").click()

    def button(self, name: str) -> Locator:
        """Find a button by its name, or by its verb alone: "Dismiss" also finds "Dismiss: keep post"."""
        return self.page.get_by_role("button", name=re.compile(rf"^{re.escape(name)}(: .+)?$"))

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", name=name, exact=True)

    @property
    def main(self) -> Locator:
        """The page without navigation and keyboard help."""
        return self.page.get_by_role("main")

    @property
    def status(self) -> Locator:
        """The status region of messages; the bar before a session ends is another."""
        return self.page.get_by_role("status").and_(self.page.locator("#status"))

    @property
    def alert(self) -> Locator:
        """The alert region."""
        return self.page.get_by_role("alert")

    def text(self) -> str:
        """The page's visible text."""
        return self.page.locator("body").inner_text()


Visit = Callable[..., Visitor]


@pytest.fixture(scope="session")
def seats(browser: Browser) -> Iterator[Seats]:
    """The browsers that the tests of this worker use one after the other."""
    made = Seats(browser, PATIENCE)
    yield made
    made.close()


@pytest.fixture
def visit(service: Service, seats: Seats, new_context: Callable[..., BrowserContext]) -> Iterator[Visit]:
    """``visit(person, path)`` opens a page signed in as this person; ``visit(None)`` has no sign-in and opens none.

    ``wants``: statuses of failures that are expected in this visit, as ``Visitor.wants``.

    Another test had the browser before: ``visit(person, own=True)`` opens one that ends with the test, to which it can
    add what stays, such as a clock.
    """
    opened: list[Visitor] = []
    taken: list[Seat] = []

    def begin(
        person: Person | None,
        path: str = "",
        *,
        wants: Collection[int] = (),
        own: bool = False,
        **options: Any,
    ) -> Visitor:
        options = {"viewport": DESKTOP, "locale": "en-GB", **options}
        if own:
            context = new_context(base_url=service.url, **options)
            context.set_default_timeout(PATIENCE)
            watch = Watch(service.url)
            watch.over(context)
            page = context.new_page()
        else:
            seat = seats.take(service.url, options)
            taken.append(seat)
            context, page, watch = seat.context, seat.page, seat.watch
        if person is not None:
            context.add_cookies([{"name": "bridgenote", "value": person.token, "url": service.url}])
        visitor = Visitor(page, watch, person.name if person else "")
        opened.append(visitor)
        visitor.wants(*wants)
        if path:
            visitor.open(path)
        return visitor

    yield begin
    faults = []
    for visitor in opened:
        visitor.page.wait_for_timeout(1)  # receive the last console messages
        faults += visitor.watch.faults
    for seat in taken:
        seats.give_back(seat)
    assert not faults, "\n".join(faults)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Add the server's log to the report of a failure."""
    report: Any = yield
    service = getattr(item, "funcargs", {}).get("service")
    if report.failed and service is not None:
        report.sections.append(("The server's log", service.log.read_text(errors="replace")[-LOG_SHOWN:]))
    return report
