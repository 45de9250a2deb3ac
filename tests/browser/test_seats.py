"""Tests use browsers one after the other, and none finds there what another left."""

import pytest

from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.live import Service
from tests.browser.place import Place
from tests.browser.seats import Seat, Seats

_OPTIONS = {"viewport": DESKTOP, "locale": "en-GB"}
_LEAVE = """() => {
  localStorage.setItem("left", "1");
  sessionStorage.setItem("left", "1");
  setInterval(() => { document.body.append("late"); localStorage.setItem("left", "2"); }, 5);
  console.error("left");
}"""


def _used(seats: Seats, service: Service, place: Place) -> Seat:
    """A seat whose visitor signed in, went to two pages and left what a page can leave."""
    seat = seats.take(service.url, {**_OPTIONS, "color_scheme": "dark"})
    seat.context.add_cookies([{"name": "bridgenote", "value": place.rater.token, "url": service.url}])
    seat.watch.wanted.add(404)
    seat.page.goto("/help-needed")
    seat.page.goto("/settings")
    seat.page.evaluate(_LEAVE)
    seat.page.wait_for_function("() => document.body.innerText.includes('latelate')")
    assert seat.watch.faults
    return seat


def test_the_next_visitor_finds_nothing_of_the_one_before(
    service: Service, place: Place, seats: Seats
) -> None:
    seat = _used(seats, service, place)
    seats.give_back(seat)
    again = seats.take(service.url, {**_OPTIONS, "viewport": PHONE})
    assert again is seat
    assert again.context.cookies() == []
    assert (again.watch.wanted, again.watch.faults) == (set(), [])
    assert again.page.go_back() is None
    again.page.wait_for_timeout(50)  # ten times as long as what was left needs to come back
    assert again.page.evaluate(
        "() => [document.body?.innerText ?? '', localStorage.length, sessionStorage.length]"
    ) == ["", 0, 0]
    assert again.page.viewport_size == PHONE
    assert again.page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches") is False
    again.page.goto("/help-needed")
    assert again.page.get_by_label("Password").is_visible()
    seats.give_back(again)


def test_a_browser_whose_page_was_closed_is_given_to_nobody(
    service: Service, place: Place, seats: Seats
) -> None:
    seat = _used(seats, service, place)
    seat.page.close()
    seats.give_back(seat)
    assert seat not in seats.free


def test_what_would_stay_for_the_next_visitor_is_refused(service: Service, seats: Seats) -> None:
    seat = seats.take(service.url, _OPTIONS)
    with pytest.raises(AssertionError, match="own=True"):
        seat.page.on("request", print)
    with pytest.raises(AssertionError, match="own=True"):
        seat.page.clock.install()
    with pytest.raises(AssertionError, match="own=True"):
        seat.context.grant_permissions(["clipboard-read"])
    seats.give_back(seat)
