"""Accounts and signed-in browsers (docs/run/reliability.md)."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher

from app.core import clock, limits
from app.core.errors import Conflict, Invalid, Unauthenticated
from app.core.models import Account
from app.core.people import accounts, passwords, sessions
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast

IDLE, LONGEST = timedelta(minutes=30), timedelta(hours=12)


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("short", "at least 8"),
        ("Password1", "easy to guess"),
        ("ann@example.org", "easy to guess"),
        ("x" * 1001, "at most"),
    ],
)
def test_weak_passwords_are_refused_by_name(wiring: Wiring, password: str, why: str) -> None:
    with wiring.database.writing() as session, pytest.raises(Invalid, match=why) as refusal:
        accounts.create(session, "ann@example.org", password)
    assert refusal.value.problems[0].loc == ("password",)


def test_one_address_has_one_account_whatever_its_case(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session, pytest.raises(Conflict, match="already has an account"):
        accounts.create(session, "RATER@example.org", PASSWORD)


def test_every_failed_sign_in_gets_the_same_refusal(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        waiting = accounts.create(session, "unconfirmed@example.org", PASSWORD)
        session.get_one(Account, cast.operator.account_id).disabled_at = clock.now()
    said = set()
    for email, password in (
        ("nobody@example.org", PASSWORD),
        (cast.rater.email, "wrong password"),
        (waiting.email, "wrong password"),
        (cast.operator.email, PASSWORD),
        ("not an address", PASSWORD),
        (cast.rater.email, "\ud800"),
    ):
        with wiring.database.reading() as session, pytest.raises(Unauthenticated) as refusal:
            accounts.verify_credentials(session, email, password)
        said.add(refusal.value.detail)
    assert said == {accounts.BAD_SIGN_IN}
    with wiring.database.reading() as session, pytest.raises(accounts.Unconfirmed) as right_password:
        accounts.verify_credentials(session, waiting.email, PASSWORD)
    assert right_password.value.account_id == waiting.id


@pytest.mark.parametrize(
    "password",
    [
        "P@ssw0rd1",
        "Summer2026!",
        "qwertzuiop",
        "1q2w3e4r",
        "dragondragon",
        "aaaaaaaaab",
        "123shadow",
        "Bridgenote1!",
        "dfghjkl1",
    ],
)
def test_what_is_tried_first_is_no_password(password: str) -> None:
    with pytest.raises(Invalid, match="easy to guess"):
        passwords.check_password(password)


@pytest.mark.parametrize(
    "password", ["correct horse battery", "tree-lamp-1234", "äöüß äöüß", "x" * 7 + "y z"]
)
def test_no_rule_of_composition_refuses_what_is_hard_to_guess(password: str) -> None:
    passwords.check_password(password)
    assert PasswordHasher().hash(password).startswith("$argon2id$")


def test_a_session_ends_when_idle_old_or_signed_out(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.rater.account_id)
        tokens = [sessions.begin(session, account, "Browser") for _ in range(3)]

    def lives(token: str) -> bool:
        with wiring.database.reading() as session:
            return sessions.signed_in(session, token, idle=IDLE, longest=LONGEST) is not None

    assert all(map(lives, tokens))
    with wiring.database.reading() as session:
        assert tokens[0] not in repr(session.execute(sa.text("SELECT * FROM sign_ins")).all())
    with wiring.database.writing() as session:
        sessions.end(session, tokens[0])
    assert [lives(token) for token in tokens] == [False, True, True]
    start = clock.now()
    clock.set_source(lambda: start + timedelta(minutes=29))
    with wiring.database.writing() as session:
        found = sessions.signed_in(session, tokens[1], idle=IDLE, longest=LONGEST)
        assert found is not None
        sessions.mark_seen(session, found[1])
    clock.set_source(lambda: start + timedelta(minutes=31))
    assert [lives(token) for token in tokens] == [False, True, False]
    clock.set_source(lambda: start + timedelta(hours=12, minutes=1))
    assert not lives(tokens[1])


@pytest.mark.parametrize(
    ("entered", "stored"),
    [
        ("Ann@Example.ORG", "ann@example.org"),
        ("ann@STRASSE.example", "ann@strasse.example"),
        ("ann@straße.example", "ann@straße.example"),
        ("ann@xn--strae-oqa.example", "ann@straße.example"),
        ("ann@MÜLLER.example", "ann@müller.example"),
        ("ann@mu\u0308ller.example", "ann@müller.example"),
        ("ann@ｅｘａｍｐｌｅ。org", "ann@example.org"),
        ("Groß@example.org", "groß@example.org"),
        ("ann@localhost", "ann@localhost"),
    ],
)
def test_an_address_is_normalised_without_becoming_another_one(entered: str, stored: str) -> None:
    assert limits.email(entered) == stored


@pytest.mark.parametrize(
    "entered",
    [
        "ann",
        "@example.org",
        "ann@",
        "ann@xn--zzzzzzz-.de",
        "ann@\ud800.de",
        "ann@example.org.unconfirmed.invalid",
    ],
)
def test_what_is_no_address_is_refused(entered: str) -> None:
    with pytest.raises(Invalid, match="email"):
        limits.email(entered)


def test_an_account_stored_with_an_encoded_domain_is_still_found(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).email = "rita@xn--strae-oqa.example"
        for entered in ("rita@straße.example", "Rita@XN--STRAE-OQA.example"):
            assert accounts.verify_credentials(session, entered, PASSWORD).id == cast.rater.account_id
        with pytest.raises(Unauthenticated):
            accounts.verify_credentials(session, "rita@strasse.example", PASSWORD)
