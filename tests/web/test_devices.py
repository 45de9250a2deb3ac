"""Attempts to sign in: counted by account, by device, and mailed to the owner when many failed."""

from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.web.conftest import Visit, Visitor
from tests.web.mailbox import Mailbox

WRONG = "wrong password"


def _limit(wiring: Wiring, **limits: str) -> None:
    settings = wiring.settings.model_copy(update={"rate_limit_enabled": True, **limits})
    wiring.throttle = Throttle.from_settings(settings)


def _try(visitor: Visitor, email: str, password: str = WRONG) -> int:
    return visitor.post("/sign-in", email=email, password=password).status_code


def _from(visit: Visit, ip: str) -> Visitor:
    visitor = visit(None)
    visitor.client.environ_base["REMOTE_ADDR"] = ip
    return visitor


def _known_device(visit: Visit, email: str, ip: str = "203.0.113.1") -> Visitor:
    owner = _from(visit, ip)
    assert _try(owner, email, PASSWORD) == 303
    owner.renew()
    owner.post("/sign-out")
    owner.renew()
    owner.page_with_form = "/sign-in"
    return owner


def test_attempts_count_for_the_account_in_whatever_form_its_address_is_entered(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    _limit(wiring, rate_limit_sign_in_account="3 per day")
    forms = (cast.rater.email, cast.rater.email.upper(), f" {cast.rater.email} ", "rater@ｅｘａｍｐｌｅ。org")
    tried = [_try(_from(visit, f"192.0.2.{number}"), email) for number, email in enumerate(forms)]
    assert tried == [401, 401, 401, 429]


def test_failures_from_elsewhere_do_not_lock_out_a_device_that_signed_in_before(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    _limit(wiring, rate_limit_sign_in_account="3 per day", rate_limit_sign_in_address="5 per day")
    owner = _known_device(visit, cast.rater.email)
    attacker = _from(visit, "203.0.113.1")
    assert [_try(attacker, cast.rater.email) for _ in range(4)][-1] == 429
    assert _try(_from(visit, "198.51.100.1"), cast.rater.email, PASSWORD) == 429, "a new device waits"
    assert _try(owner, cast.rater.email, PASSWORD) == 303


def test_a_known_device_has_a_limit_of_its_own_and_for_its_accounts_alone(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    _limit(wiring, rate_limit_sign_in="2 per day", rate_limit_sign_in_account="3 per day")
    owner = _known_device(visit, cast.rater.email)
    assert [_try(owner, cast.rater.email) for _ in range(3)] == [401, 401, 429]
    others = [_try(owner, cast.moderator.email) for _ in range(3)]
    assert others == [401, 401, 429], "for other accounts it is like any device"


def test_a_forged_or_foreign_device_cookie_is_worth_nothing(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    _limit(wiring, rate_limit_sign_in_account="1 per day")
    cookie = _known_device(visit, cast.moderator.email).client.get_cookie("bridgenote-device")
    assert cookie is not None
    assert _try(_from(visit, "192.0.2.1"), cast.rater.email) == 401
    for number, value in enumerate(("", "x", "e30.x.y", cookie.value, cookie.value[:-2] + "AA")):
        stranger = _from(visit, f"198.51.100.{number}")
        stranger.client.set_cookie("bridgenote-device", value)
        assert _try(stranger, cast.rater.email, PASSWORD) == 429


def test_the_owner_is_mailed_once_when_fifty_attempts_failed(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    generous = "1000 per day"
    _limit(
        wiring,
        rate_limit_sign_in=generous,
        rate_limit_sign_in_account=generous,
        rate_limit_sign_in_address=generous,
    )
    attacker = visit(None)
    for _ in range(49):
        assert _try(attacker, cast.rater.email.upper()) == 401
    assert mailbox.all() == []
    for _ in range(60):
        assert _try(attacker, cast.rater.email) == 401
        assert _try(attacker, "nobody@example.org") == 401
    (mail,) = mailbox.all()
    assert mail["To"] == cast.rater.email
    assert mail["Subject"] == "Many failed attempts to sign in"
    assert "50 attempts" in mail.get_content()
