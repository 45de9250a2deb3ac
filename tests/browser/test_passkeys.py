"""Passkeys and codes in a browser with a virtual authenticator (docs/run/sign-in.md)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyotp
import pytest
from playwright.sync_api import BrowserContext, CDPSession, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import DESKTOP, PATIENCE, Visit, Visitor
from tests.browser.live import Service
from tests.browser.place import Person, Place
from tests.browser.watch import Watch

NO_OFFER = (
    "if (window.PublicKeyCredential) PublicKeyCredential.isConditionalMediationAvailable = async () => false"
)
"""So that only the button signs in: the virtual authenticator would take the offer of the email field at once."""


@dataclass
class Authenticator:
    """A virtual authenticator, which says yes at once."""

    session: CDPSession
    number: str

    def count(self) -> int:
        answer = self.session.send("WebAuthn.getCredentials", {"authenticatorId": self.number})
        return len(answer["credentials"])

    def knows_person(self, knows: bool) -> None:
        self.session.send(
            "WebAuthn.setUserVerified", {"authenticatorId": self.number, "isUserVerified": knows}
        )


Open = Callable[..., tuple[Visitor, Authenticator]]


@pytest.fixture
def at_localhost(service: Service, new_context: Callable[..., BrowserContext]) -> Iterator[Open]:
    """Open a browser with an authenticator at a host name: at an IP address browsers allow no passkeys."""
    url, watches = service.url.replace("127.0.0.1", "localhost"), []

    def begin(person: Person | None, *, offers: bool = True, **options: Any) -> tuple[Visitor, Authenticator]:
        context = new_context(base_url=url, viewport=DESKTOP, locale="en-GB", **options)
        context.set_default_timeout(PATIENCE)
        if not offers:
            context.add_init_script(NO_OFFER)
        watch = Watch(url)
        watch.over(context)
        watches.append(watch)
        page = context.new_page()
        if person is not None:
            context.add_cookies([{"name": "bridgenote", "value": person.token, "url": url}])
        session = context.new_cdp_session(page)
        session.send("WebAuthn.enable", {"enableUI": False})
        kind = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        made = session.send("WebAuthn.addVirtualAuthenticator", {"options": kind})
        return Visitor(page, watch, person.name if person else ""), Authenticator(
            session, made["authenticatorId"]
        )

    yield begin
    faults = [fault for watch in watches for fault in watch.faults]
    assert not faults, "\n".join(faults)


def _add(visitor: Visitor, name: str) -> None:
    visitor.open("/security")
    visitor.page.get_by_label("Name of the new passkey").fill(name)
    visitor.button("Add a passkey").click()
    expect(visitor.status).to_contain_text(f"The passkey “{name}” is added.")


def _sign_out(visitor: Visitor) -> None:
    visitor.button("Sign out").first.click()


def _is_signed_in(visitor: Visitor) -> None:
    expect(visitor.page.get_by_role("navigation", name="Main")).to_be_visible()


def test_a_passkey_signs_in_by_the_offer_of_the_email_field(place: Place, at_localhost: Open) -> None:
    max_, authenticator = at_localhost(place.moderator)
    _add(max_, "Laptop")
    assert authenticator.count() == 1
    assert not violations(max_, "a passkey")
    _sign_out(max_)
    # The virtual authenticator takes the offer that a person would choose in the field's list.
    _is_signed_in(max_)
    max_.open("/security")
    expect(max_.main).to_contain_text("Last used")


def test_the_button_signs_in_until_the_passkey_is_removed(place: Place, at_localhost: Open) -> None:
    max_, authenticator = at_localhost(place.moderator, offers=False)
    _add(max_, "Laptop")
    max_.button("Add a passkey").click()
    expect(max_.alert).to_contain_text("This device has a passkey of your account already.")
    _sign_out(max_)
    max_.button("Sign in with a passkey").click()
    _is_signed_in(max_)
    max_.open("/security")
    max_.main.locator("summary", has_text="Change").click()
    max_.page.get_by_label("Name", exact=True).fill("Old laptop")
    max_.page.get_by_role("button", name="Rename Laptop").click()
    expect(max_.status).to_contain_text("Old laptop")
    max_.main.locator("summary", has_text="Change").click()
    max_.page.get_by_role("button", name="Remove Old laptop").click()
    expect(max_.status).to_contain_text("is removed.")
    _sign_out(max_)
    assert authenticator.count() == 1, "the device keeps what the service has forgotten"
    max_.wants(401)
    max_.button("Sign in with a passkey").click()
    expect(max_.main).to_contain_text("This passkey was not accepted.")


def test_who_is_not_verified_is_told_so_and_can_use_the_password(place: Place, at_localhost: Open) -> None:
    max_, authenticator = at_localhost(place.moderator, offers=False)
    _add(max_, "Laptop")
    _sign_out(max_)
    authenticator.knows_person(False)
    max_.button("Sign in with a passkey").click()
    expect(max_.alert).to_contain_text("No passkey was used")
    max_.sign_in(place.moderator)
    expect(max_.heading("Second step")).to_be_visible()
    assert not violations(max_, "the second step")
    authenticator.knows_person(True)
    max_.button("Use a passkey").click()
    _is_signed_in(max_)


@pytest.mark.parametrize("scripted", [True, False], ids=["script", "no script"])
def test_codes_are_set_up_and_asked_for_with_and_without_script(
    scripted: bool, place: Place, visit: Visit
) -> None:
    rita = visit(place.rater, "/security", own=True, java_script_enabled=scripted)
    rita.button("Set up codes").click()
    secret = rita.main.locator("code.secret").inner_text().replace(" ", "")
    expect(rita.main.locator(".qr svg")).to_be_visible()
    if scripted:
        assert not violations(rita, "the secret of codes")
    rita.wants(422, 401)
    rita.page.get_by_role("textbox", name="Code").fill("12 34 5")
    rita.button("Set up codes").click()
    expect(rita.main).to_contain_text("This code is wrong.")
    rita.page.get_by_role("textbox", name="Code").fill(pyotp.TOTP(secret).now())
    rita.button("Set up codes").click()
    expect(rita.heading("Keep these recovery codes")).to_be_visible()
    recovery = rita.main.locator(".recovery-codes code").all_inner_texts()
    with rita.page.expect_download() as fetched:
        rita.main.get_by_role("link", name="Download as text").click()
    assert recovery[9] in fetched.value.path().read_text()
    if scripted:
        assert not violations(rita, "recovery codes")
    _sign_out(rita)
    rita.sign_in(place.rater)
    expect(rita.heading("Second step")).to_be_visible()
    rita.main.locator("summary", has_text="Use a recovery code").click()
    rita.page.get_by_label("Recovery code").fill(recovery[0].upper())
    rita.button("Use it").click()
    _is_signed_in(rita)
    rita.open("/security")
    expect(rita.main).to_contain_text("9 of 10 left")


def test_without_script_the_sign_in_page_says_what_works(place: Place, at_localhost: Open) -> None:
    stranger, _ = at_localhost(None, java_script_enabled=False)
    stranger.open("/sign-in")
    expect(stranger.main).to_contain_text("A passkey needs JavaScript")
    expect(stranger.button("Sign in with a passkey")).to_be_hidden()
    stranger.sign_in(place.moderator)
    _is_signed_in(stranger)
