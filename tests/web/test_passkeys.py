"""Passkeys in the dashboard: added, named, used to sign in, removed (docs/run/sign-in.md)."""

import json
import logging
import re

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.models import Account, Passkey, SignIn
from app.core.people import passwords
from app.core.vocabulary import SignInMethod
from app.web.account.relying_party import relying_party
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.soft_authenticator import SoftPasskey
from tests.web.conftest import HTMX, Visit, Visitor
from tests.web.factors import add_passkey, enter_password, sign_in_by_passkey
from tests.web.mailbox import Mailbox


def _passkeys(wiring: Wiring, person: Person) -> list[Passkey]:
    with wiring.database.reading() as session:
        rows = sa.select(Passkey).where(Passkey.account_id == person.account_id).order_by(Passkey.created_at)
        return list(session.scalars(rows))


def _latest(wiring: Wiring, person: Person) -> SignIn:
    with wiring.database.reading() as session:
        rows = (
            sa.select(SignIn).where(SignIn.account_id == person.account_id).order_by(SignIn.created_at.desc())
        )
        return session.scalars(rows).all()[0]


def test_a_passkey_is_added_and_signs_in_without_an_address(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "bridgenote.security")
    passkey = SoftPasskey()
    assert add_passkey(visit(cast.moderator), passkey, "Blue key").location == "/security"
    assert [one.name for one in _passkeys(wiring, cast.moderator)] == ["Blue key"]
    assert "passkey was added" in mailbox.last(cast.moderator.email)["Subject"]
    assert "factor.added" in caplog.text
    stranger = visit(None)
    response = sign_in_by_passkey(stranger, passkey, next="/review")
    assert (response.status_code, response.location) == (303, "/review")
    assert stranger.get("/review").status_code == 200
    sign_in = _latest(wiring, cast.moderator)
    assert (sign_in.method, sign_in.is_strong) == (SignInMethod.PASSKEY, True)
    assert sign_in.proved_at is not None
    assert "Blue key" in stranger.get("/security").text


@pytest.mark.parametrize(
    "lie",
    [
        {"origin": "https://evil.example"},
        {"rp_id": "evil.example"},
        {"verifies": False},
        {"user_handle": b"x"},
    ],
)
def test_what_a_false_page_or_another_device_sends_signs_nobody_in(
    visit: Visit, cast: Cast, lie: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    passkey, stranger = SoftPasskey(), visit(None)
    add_passkey(visit(cast.moderator), passkey)
    for name, value in lie.items():
        setattr(passkey, name, value)
    caplog.set_level(logging.INFO, "bridgenote.security")
    response = sign_in_by_passkey(stranger, passkey)
    assert response.status_code == 401
    assert "This passkey was not accepted" in response.text
    assert stranger.get("/review").status_code == 303
    assert "sign_in.failed" in caplog.text


def test_an_answer_works_once_and_in_the_browser_that_asked(visit: Visit, cast: Cast) -> None:
    passkey, mine, other = SoftPasskey(), visit(None), visit(None)
    add_passkey(visit(cast.moderator), passkey)
    answer = passkey.get(mine.post("/sign-in/passkey/options").text)
    other.post("/sign-in/passkey/options")
    assert other.post("/sign-in/passkey", credential=answer).status_code == 401
    assert mine.post("/sign-in/passkey", credential=answer).status_code == 303
    mine.post("/sign-out")
    mine.renew()
    assert mine.post("/sign-in/passkey", credential=answer).status_code == 401


def test_a_copied_passkey_is_refused_and_its_owner_hears_of_it(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    passkey = SoftPasskey(count=9)
    add_passkey(visit(cast.moderator), passkey)
    assert sign_in_by_passkey(visit(None), passkey).status_code == 303
    passkey.count = 3
    response = sign_in_by_passkey(visit(None), passkey)
    assert response.status_code == 401
    assert "a sign of a copy" in response.text
    assert _passkeys(wiring, cast.moderator)[0].refused_at is not None
    assert "A passkey of yours was refused" in [mail["Subject"] for mail in mailbox.all(cast.moderator.email)]
    assert "passkey.refused" in caplog.text
    # Alone it asks for no second step either: that would lock its owner out.
    assert enter_password(visit(None), cast.moderator).location == "/"
    assert "Refused" in visit(cast.moderator).get("/security").text


def test_the_second_of_one_device_has_another_name(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(cast.moderator)
    add_passkey(visitor, SoftPasskey(), "First")
    options = json.loads(visitor.post("/security/passkeys/options").text)
    assert [one["id"] for one in options["excludeCredentials"]]
    add_passkey(visitor, SoftPasskey(), "Second")
    first, second = _passkeys(wiring, cast.moderator)
    assert visitor.post(f"/security/passkeys/{first.id}/rename", name="Red key").status_code == 303
    assert visitor.post(f"/security/passkeys/{second.id}/rename", name=" ").status_code == 422
    assert [one.name for one in _passkeys(wiring, cast.moderator)] == ["Red key", "Second"]


def test_removing_is_mailed_and_ends_the_sign_in_with_it(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    visitor, passkey = visit(cast.moderator), SoftPasskey()
    add_passkey(visitor, passkey)
    (stored,) = _passkeys(wiring, cast.moderator)
    assert visit(cast.operator).post(f"/security/passkeys/{stored.id}/remove").status_code == 404
    assert visitor.post(f"/security/passkeys/{stored.id}/remove").status_code == 303
    assert "passkey was removed" in mailbox.last(cast.moderator.email)["Subject"]
    assert sign_in_by_passkey(visit(None), passkey).status_code == 401


def test_the_only_way_in_stays(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(cast.moderator)
    add_passkey(visitor, SoftPasskey())
    add_passkey(visitor, SoftPasskey())
    with wiring.database.writing() as session:
        session.get_one(Account, cast.moderator.account_id).password_hash = passwords.NO_PASSWORD
    first, second = _passkeys(wiring, cast.moderator)
    assert visitor.post(f"/security/passkeys/{first.id}/remove").status_code == 303
    refused = visitor.post(f"/security/passkeys/{second.id}/remove")
    assert refused.status_code == 409
    assert "only way to sign in" in refused.text
    assert len(_passkeys(wiring, cast.moderator)) == 1


@pytest.mark.parametrize("field", ["", "{}", "[" * 30_000, "\x00"])
def test_a_form_without_an_answer_is_explained(visit: Visit, cast: Cast, wiring: Wiring, field: str) -> None:
    visitor = visit(cast.moderator)
    visitor.post("/security/passkeys/options")
    assert visitor.post("/security/passkeys", name="Key", credential=field).status_code == 422
    assert visitor.post("/security/passkeys", name="", credential="{}").status_code == 422
    assert visitor.post("/security/passkeys", name="x" * 101, credential="{}").status_code == 422
    assert visit(None).post("/sign-in/passkey", credential=field).status_code == 401
    assert _passkeys(wiring, cast.moderator) == []


def test_at_an_ip_address_passkeys_are_not_offered(visit: Visit, cast: Cast) -> None:
    visitor = visit(cast.moderator)
    base = "http://127.0.0.1"
    visitor.client.set_cookie("bridgenote", visitor.client.get_cookie("bridgenote").value, domain="127.0.0.1")  # type: ignore[union-attr]
    page = visitor.client.get("/security", base_url=base)
    assert "Browsers do not allow passkeys at this address" in page.text
    assert "Add a passkey</span>" not in page.text
    assert "Sign in with a passkey" not in visit(None).client.get("/sign-in", base_url=base).text
    assert visitor.client.post("/sign-in/passkey/options", base_url=base, data={}).status_code in {400, 404}


def test_the_sign_in_page_offers_passkeys_in_the_email_field(visit: Visit) -> None:
    page = visit(None).get("/sign-in").text
    assert re.search(r'autocomplete="username webauthn"', page)
    assert "Sign in with a passkey" in page
    assert "needs JavaScript" in page


def test_a_passkey_signs_in_above_the_page_with_what_was_typed(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    passkey, visitor = SoftPasskey(), visit(cast.moderator)
    add_passkey(visitor, passkey)
    token = visitor.token
    visitor.client.delete_cookie("bridgenote")
    asked = visitor.post("/settings", _headers=HTMX, display_name="Mo")
    assert asked.status_code == 401
    assert "Sign in with a passkey" in asked.text
    kept = json.dumps(["/settings", "/settings", token, [], False])
    options = visitor.post("/sign-in/passkey/options", csrf_token=_signed_out_token(visitor)).text
    response = visitor.post(
        "/sign-in/passkey",
        _headers=HTMX,
        csrf_token=_signed_out_token(visitor),
        credential=passkey.get(options),
        kept=kept,
    )
    assert response.status_code == 200
    assert "You are signed in" in response.text
    assert "formToken" in response.headers["HX-Trigger"]


def _signed_out_token(visitor: Visitor) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', visitor.get("/sign-in").text)
    assert found
    return found.group(1)


@pytest.mark.parametrize(
    ("public_url", "party"),
    [
        ("https://Mod.Example.org:443/desk", ("mod.example.org", "https://mod.example.org")),
        ("https://mod.example.org:8443", ("mod.example.org", "https://mod.example.org:8443")),
        ("https://bücher.example", ("xn--bcher-kva.example", "https://xn--bcher-kva.example")),
        ("http://localhost:8000", ("localhost", "http://localhost:8000")),
        ("http://mod.example.org", None),
        ("https://192.0.2.7", None),
        ("https://[2001:db8::1]", None),
        ("http://127.0.0.1:8000", None),
    ],
)
def test_the_public_url_says_which_host_and_origin_count(
    app: Flask, wiring: Wiring, public_url: str, party: tuple[str, str] | None
) -> None:
    wiring.settings.public_url = public_url
    with app.test_request_context():
        found = relying_party()
    assert (found and (found.id, found.origin)) == party
