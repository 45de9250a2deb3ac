"""Paths below ``/.well-known/`` where programs look."""

from datetime import datetime, timedelta

import pytest
from pydantic import ValidationError

from app.core import clock
from app.settings import Settings
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.web.conftest import Visit

PATH = "/.well-known/security.txt"


def test_security_txt_names_the_contacts_an_end_and_its_own_address(visit: Visit, wiring: Wiring) -> None:
    assert visit(None).get(PATH).status_code == 404, "without a contact there is none"
    contact = "mailto:security@example.org, https://example.org/report"
    wiring.settings = wiring.settings.model_copy(
        update={"security_contact": contact, "public_url": "https://moderation.example.org"}
    )
    answer = visit(None).get(PATH)
    assert answer.status_code == 200
    assert answer.mimetype == "text/plain"
    lines = [line.split(": ", 1) for line in answer.text.splitlines()]
    assert [value for name, value in lines if name == "Contact"] == contact.split(", ")
    fields = dict(lines)
    assert fields["Canonical"] == f"https://moderation.example.org{PATH}"
    end = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=170) < end - clock.now() < timedelta(days=365)


@pytest.mark.parametrize("contact", ["security@example.org", "http://example.org", "mailto:", "https://a b"])
def test_a_contact_is_an_address_with_its_scheme(contact: str) -> None:
    with pytest.raises(ValidationError, match="must begin with mailto:, https:// or tel:"):
        Settings(security_contact=contact)


def test_change_password_leads_to_the_form_by_way_of_the_sign_in(visit: Visit, cast: Cast) -> None:
    visitor = visit(None)
    answer = visitor.get("/.well-known/change-password")
    assert answer.status_code == 303
    assert answer.location == "/sign-in?next=/.well-known/change-password"
    signed_in = visitor.post(
        "/sign-in", email=cast.rater.email, password=PASSWORD, next="/.well-known/change-password"
    )
    assert signed_in.location == "/.well-known/change-password"
    answer = visitor.get(signed_in.location)
    assert answer.location == "/settings/account"
    assert 'id="account-title"' in visitor.get("/settings/account").text
