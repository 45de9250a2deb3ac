"""The page Security: codes set up and switched off, and recovery codes."""

import re
from html import unescape
from urllib.parse import unquote

import pytest
import sqlalchemy as sa

from app.core.models import Account, Passkey, RecoveryCode, SignInRules
from app.core.people import second_factors
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.clocks import advance
from tests.soft_authenticator import SoftPasskey
from tests.web.conftest import Visit
from tests.web.factors import add_passkey, code_at, enter_password, set_codes_up
from tests.web.mailbox import Mailbox

SECRET = re.compile(r'class="secret">([A-Z2-7 ]+)<')
CODES = re.compile(r"<li><code>([0-9a-z-]{29})</code></li>")


def _account(wiring: Wiring, person: Person) -> Account:
    with wiring.database.reading() as session:
        return session.get_one(Account, person.account_id)


def test_codes_are_set_up_with_a_picture_and_a_text_that_are_shown_until_then(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    visitor = visit(cast.rater)
    assert "Set up codes" in visitor.get("/security").text
    assert visitor.post("/security/codes/begin").location == "/security/codes"
    page = visitor.get("/security/codes").text
    found = SECRET.search(page)
    assert found
    secret = found[1].replace(" ", "")
    assert "<svg" in page
    assert f"secret={secret}" in unescape(page)
    assert visitor.post("/security/codes", code="000000").status_code == 422
    assert visitor.post("/security/codes", code="").status_code == 422
    assert _account(wiring, cast.rater).totp_since is None
    done = visitor.post("/security/codes", code=code_at(secret))
    assert len(set(CODES.findall(done.text))) == 10
    assert _account(wiring, cast.rater).totp_since is not None
    assert visitor.get("/security/codes").location == "/security"
    assert secret not in visitor.get("/security").text.replace(" ", "")
    assert visitor.post("/security/codes/begin").status_code == 409
    subjects = [mail["Subject"] for mail in mailbox.all(cast.rater.email)]
    assert "Codes were set up for your account" in subjects


def test_beginning_again_makes_another_secret(visit: Visit, cast: Cast) -> None:
    visitor, secrets = visit(cast.rater), set()
    for _ in range(2):
        visitor.post("/security/codes/begin")
        secrets.update(SECRET.findall(visitor.get("/security/codes").text))
    assert len(secrets) == 2


def test_recovery_codes_are_shown_once_hashed_and_counted(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    set_codes_up(wiring, cast.rater)
    visitor = visit(cast.rater)
    assert "0 of 10 left" in visitor.get("/security").text
    page = visitor.post("/security/recovery-codes").text
    codes = CODES.findall(page)
    file = re.search(r'href="(data:text/plain[^"]+)"', page)
    assert file
    assert unquote(file[1]).count("\r\n") == 13
    assert all(code in unquote(file[1]) for code in codes)
    with wiring.database.reading() as session:
        assert not set(codes) & set(session.scalars(sa.select(RecoveryCode.code_hash)))
    other = visit(None)
    enter_password(other, cast.rater)
    for code in codes[:3]:
        with wiring.database.writing() as session:
            account = session.get_one(Account, cast.rater.account_id)
            assert second_factors.verify_code(session, wiring.sealer, account, code)
    again = visitor.get("/security").text
    assert "7 of 10 left" in again
    assert not CODES.findall(again)
    assert "Your account has new recovery codes" in [
        mail["Subject"] for mail in mailbox.all(cast.rater.email)
    ]


def test_recovery_codes_need_a_factor_that_they_replace(visit: Visit, cast: Cast) -> None:
    visitor = visit(cast.rater)
    assert visitor.post("/security/recovery-codes").status_code == 409
    add_passkey(visitor, SoftPasskey())
    assert len(CODES.findall(visitor.post("/security/recovery-codes").text)) == 10


def test_switching_codes_off_asks_for_one(visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox) -> None:
    secret, visitor = set_codes_up(wiring, cast.rater), visit(cast.rater)
    for code in ("", "000000"):
        assert visitor.post("/security/codes/off", code=code).status_code == 422
    assert _account(wiring, cast.rater).totp_since is not None
    assert visitor.post("/security/codes/off", code=code_at(secret)).status_code == 303
    assert _account(wiring, cast.rater).totp_secret is None
    assert "Codes were switched off for your account" in [
        mail["Subject"] for mail in mailbox.all(cast.rater.email)
    ]
    assert enter_password(visit(None), cast.rater).location == "/"


def test_the_last_factor_stays_while_the_role_requires_one(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(cast.moderator)
    add_passkey(visitor, SoftPasskey())
    with wiring.database.writing() as session:
        session.add(SignInRules(id=1, factor_role=Role.MODERATOR))
        passkey_id = session.scalars(sa.select(Passkey.id)).one()
    assert visitor.post("/security/codes/off", code=code_at(secret)).status_code == 303
    refused = visitor.post(f"/security/passkeys/{passkey_id}/remove")
    assert refused.status_code == 409
    assert "requires a second factor of your role" in refused.text
    with wiring.database.writing() as session:
        assert session.scalars(sa.select(Passkey.id)).all() == [passkey_id]
        session.get_one(SignInRules, 1).factor_role = Role.OPERATOR
    assert visitor.post(f"/security/passkeys/{passkey_id}/remove").status_code == 303


@pytest.mark.parametrize(
    "path",
    ["/security/passkeys/options", "/security/passkeys", "/security/codes/begin", "/security/recovery-codes"],
)
def test_a_change_asks_again_who_it_is_after_ten_minutes(visit: Visit, cast: Cast, path: str) -> None:
    visitor = visit(cast.rater)
    assert visitor.token
    advance(minutes=11)
    asked = visitor.post(path, name="Key")
    assert asked.status_code == 401
    assert "Confirm it is you" in asked.text


def test_settings_lead_to_it(visit: Visit, cast: Cast) -> None:
    assert 'href="/security"' in visit(cast.rater).get("/settings").text
