"""Second factors as browsers use them: codes of an app, and a passkey in software."""

from datetime import timedelta

import pyotp
from werkzeug.test import TestResponse

from app.core import clock
from app.core.people import accounts, second_factors
from app.wiring import Wiring
from tests.cast import PASSWORD, Person
from tests.clocks import advance, at
from tests.soft_authenticator import SoftPasskey
from tests.web.conftest import Visitor


def code_at(secret: str, offset: int = 0) -> str:
    return pyotp.TOTP(secret).at(clock.now() + timedelta(seconds=30 * offset))


def set_codes_up(wiring: Wiring, person: Person) -> str:
    """Set codes up and return their secret. The clock stops, at a later step than that of the code used."""
    at(clock.now())
    with wiring.database.writing() as session:
        account = accounts.get(session, person.account_id)
        secret = second_factors.begin_codes(session, wiring.sealer, account)
        assert second_factors.confirm_codes(session, wiring.sealer, account, code_at(secret))
    advance(minutes=2)
    return secret


def add_passkey(visitor: Visitor, passkey: SoftPasskey, name: str = "My phone") -> TestResponse:
    options = visitor.post("/security/passkeys/options").text
    return visitor.post("/security/passkeys", name=name, credential=passkey.create(options))


def sign_in_by_passkey(visitor: Visitor, passkey: SoftPasskey, **fields: str) -> TestResponse:
    options = visitor.post("/sign-in/passkey/options").text
    return visitor.post("/sign-in/passkey", credential=passkey.get(options), **fields)


def enter_password(visitor: Visitor, person: Person, **fields: str) -> TestResponse:
    return visitor.post("/sign-in", email=person.email, password=PASSWORD, **fields)
