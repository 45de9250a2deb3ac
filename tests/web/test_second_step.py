"""The second step of a sign-in with a password (ASVS 5.0: 6.3, 6.5, 6.6)."""

import re

import pytest
import sqlalchemy as sa

from app.core.models import Account, SignIn, SignInStep
from app.core.people import second_factors
from app.core.vocabulary import SignInMethod
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast, Person
from tests.clocks import advance
from tests.soft_authenticator import SoftPasskey
from tests.web.conftest import HTMX, Visit, Visitor
from tests.web.factors import add_passkey, code_at, enter_password, set_codes_up
from tests.web.mailbox import Mailbox

STEP = "/sign-in/second-step"


def _is_signed_in(visitor: Visitor) -> bool:
    return visitor.get("/settings").status_code == 200


def _recovery_codes(wiring: Wiring, person: Person) -> list[str]:
    with wiring.database.writing() as session:
        return second_factors.new_recovery_codes(session, session.get_one(Account, person.account_id))


def test_the_password_alone_signs_nobody_in(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(None)
    response = enter_password(visitor, cast.moderator, next="/review")
    assert response.location == f"{STEP}?next=/review"
    assert not _is_signed_in(visitor)
    assert "Your password is right" in visitor.get(response.location).text
    assert visitor.post(STEP, code=code_at(secret), next="/review").location == "/review"
    assert _is_signed_in(visitor)
    with wiring.database.reading() as session:
        sign_in = session.scalars(sa.select(SignIn).order_by(SignIn.created_at.desc())).first()
        assert sign_in is not None
        assert (sign_in.method, sign_in.is_strong) == (SignInMethod.PASSWORD, True)
        assert session.scalar(sa.select(sa.func.count()).select_from(SignInStep)) == 0


def test_a_password_alone_stays_enough_for_who_has_nothing_else(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    visitor = visit(None)
    assert enter_password(visitor, cast.moderator).location == "/"
    with wiring.database.reading() as session:
        sign_in = session.scalars(sa.select(SignIn).order_by(SignIn.created_at.desc())).first()
        assert sign_in is not None
        assert not sign_in.is_strong


def test_a_code_that_was_used_or_is_wrong_is_refused_with_the_step_open(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    secret, first, second = set_codes_up(wiring, cast.moderator), visit(None), visit(None)
    for visitor in (first, second):
        enter_password(visitor, cast.moderator)
    assert first.post(STEP, code=code_at(secret)).status_code == 303
    for code in (code_at(secret), "", "12345", "x" * 5_000):
        refused = second.post(STEP, code=code)
        assert refused.status_code == 401
        assert "This code is wrong, or it was used already" in refused.text
    advance(seconds=30)
    assert second.post(STEP, code=code_at(secret)).status_code == 303


def test_a_recovery_code_works_once_and_its_owner_hears_of_it(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    set_codes_up(wiring, cast.moderator)
    code, *_ = _recovery_codes(wiring, cast.moderator)
    statuses = []
    for _ in range(2):
        visitor = visit(None)
        enter_password(visitor, cast.moderator)
        statuses.append(visitor.post(STEP, recovery_code=code).status_code)
    assert statuses == [303, 401]
    assert "A recovery code of yours was used" in [
        mail["Subject"] for mail in mailbox.all(cast.moderator.email)
    ]


def test_a_passkey_finishes_it_and_only_one_of_this_account(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    mine, of_other, visitor = SoftPasskey(), SoftPasskey(), visit(None)
    add_passkey(visit(cast.moderator), mine)
    add_passkey(visit(cast.operator), of_other)
    enter_password(visitor, cast.moderator)
    page = visitor.get(STEP).text
    assert "Use a passkey" in page
    assert "six digits" not in page
    options = visitor.post(f"{STEP}/options").text
    assert visitor.post(STEP, credential=of_other.get(options)).status_code == 401
    options = visitor.post(f"{STEP}/options").text
    assert visitor.post(STEP, credential=mine.get(options)).status_code == 303
    assert _is_signed_in(visitor)


def test_the_step_is_over_after_ten_minutes(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(None)
    enter_password(visitor, cast.moderator)
    advance(minutes=10, seconds=1)
    late = visitor.post(STEP, code=code_at(secret))
    assert late.status_code == 401
    assert "took too long" in late.text
    assert visitor.get(STEP).location == "/sign-in?next=/"
    assert visitor.post(f"{STEP}/options").status_code == 401


def test_without_the_password_there_is_no_second_step(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(None)
    assert visitor.post(STEP, code=code_at(secret)).status_code == 401
    assert not _is_signed_in(visitor)


def test_a_new_password_ends_the_sign_ins_that_the_old_one_began(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    secret, thief, owner = set_codes_up(wiring, cast.moderator), visit(None), visit(None)
    enter_password(thief, cast.moderator)
    owner.post("/forgot", email=cast.moderator.email)
    owner.post(mailbox.link(cast.moderator.email), password="another horse battery")
    assert thief.post(STEP, code=code_at(secret)).status_code == 401
    assert owner.post(
        "/sign-in", email=cast.moderator.email, password="another horse battery"
    ).location.startswith(STEP), "the mail replaces the password, never the second factor"


def test_a_disabled_account_does_not_finish_it(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(None)
    enter_password(visitor, cast.moderator)
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        account.disabled_at = account.created_at
    assert visitor.post(STEP, code=code_at(secret)).status_code == 401


def test_wrong_codes_lock_out_as_wrong_passwords_do(
    visit: Visit, cast: Cast, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = wiring.settings.model_copy(
        update={"rate_limit_enabled": True, "rate_limit_sign_in": "4 per hour"}
    )
    monkeypatch.setattr(wiring, "throttle", Throttle.from_settings(settings))
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(None)
    enter_password(visitor, cast.moderator)
    statuses = [visitor.post(STEP, code="000000").status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]
    assert visitor.post(STEP, code=code_at(secret)).status_code == 429


def test_only_so_many_wrong_codes_are_taken_on_one_day(
    visit: Visit, cast: Cast, wiring: Wiring, monkeypatch: pytest.MonkeyPatch, mailbox: Mailbox
) -> None:
    many = dict.fromkeys(
        ("rate_limit_sign_in", "rate_limit_sign_in_account", "rate_limit_sign_in_address"), "999/hour"
    )
    settings = wiring.settings.model_copy(update={"rate_limit_enabled": True, **many})
    monkeypatch.setattr(wiring, "throttle", Throttle.from_settings(settings))
    secret, thief, owner = set_codes_up(wiring, cast.moderator), visit(None), visit(None)
    enter_password(owner, cast.moderator)
    assert owner.post(STEP, code=code_at(secret)).status_code == 303
    owner.post("/sign-out")
    owner.renew()
    enter_password(thief, cast.moderator)
    statuses = [thief.post(STEP, code="000000").status_code for _ in range(51)]
    assert statuses == [401] * 50 + [429]
    advance(seconds=60)
    assert thief.post(STEP, code=code_at(secret)).status_code == 429
    assert "Many failed attempts to sign in" in [
        mail["Subject"] for mail in mailbox.all(cast.moderator.email)
    ]
    # A browser where they signed in before is counted by itself.
    enter_password(owner, cast.moderator)
    assert owner.post(STEP, code=code_at(secret)).status_code == 303


def test_what_was_typed_goes_through_both_steps(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(cast.moderator)
    assert visitor.token
    visitor.client.delete_cookie("bridgenote")
    asked = visitor.post("/settings", display_name="Captain of the harbour")
    kept = _hidden(asked.text, "kept")
    signed_out = _hidden(asked.text, "csrf_token")
    second = visitor.post(
        "/sign-in", csrf_token=signed_out, email=cast.moderator.email, password=PASSWORD, kept=kept
    )
    assert second.status_code == 200
    assert _hidden(second.text, "kept") == kept
    third = visitor.post(STEP, csrf_token=signed_out, code=code_at(secret), kept=_hidden(second.text, "kept"))
    assert third.status_code == 200
    assert "Send it now" in third.text
    assert "Captain of the harbour" in third.text


def test_the_dialog_asks_for_it_too(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    secret, visitor = set_codes_up(wiring, cast.moderator), visit(cast.moderator)
    assert visitor.token
    visitor.client.delete_cookie("bridgenote")
    asked = visitor.post("/settings", _headers=HTMX, display_name="Mo")
    kept, token = _hidden(asked.text, "kept"), _hidden(asked.text, "csrf_token")
    fields = {"csrf_token": token, "kept": kept}
    second = visitor.post("/sign-in", _headers=HTMX, email=cast.moderator.email, password=PASSWORD, **fields)
    assert second.status_code == 200
    assert 'id="sign-in-here"' in second.text
    wrong = visitor.post(STEP, _headers=HTMX, code="000000", **fields)
    assert wrong.status_code == 422
    done = visitor.post(STEP, _headers=HTMX, code=code_at(secret), **fields)
    assert done.status_code == 200
    assert "formToken" in done.headers["HX-Trigger"]


def _hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}"\s+value="([^"]*)"', page)
    assert found, name
    return found.group(1).replace("&#34;", '"').replace("&amp;", "&")
