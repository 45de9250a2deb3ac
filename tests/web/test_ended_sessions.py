"""Sessions: what the list says, why one was ended, and the mail about an unknown browser."""

import uuid

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Account, SignIn
from app.core.people import members, sessions
from app.core.permissions import SYSTEM
from app.core.vocabulary import SessionEnd, SignInMethod
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast, Person
from tests.clocks import advance
from tests.web.conftest import Visit, Visitor
from tests.web.mailbox import Mailbox

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def _sign_in(visit: Visit, person: Person, agent: str = FIREFOX) -> Visitor:
    visitor = visit(None)
    answer = visitor.post("/sign-in", {"User-Agent": agent}, email=person.email, password=PASSWORD)
    assert answer.status_code == 303
    visitor.renew()
    return visitor


def _last(wiring: Wiring, account_id: uuid.UUID) -> SignIn:
    with wiring.database.reading() as session:
        of_account = sa.select(SignIn).where(SignIn.account_id == account_id)
        return session.scalars(of_account.order_by(SignIn.id.desc())).first()  # type: ignore[return-value]


def test_a_sign_in_is_a_proof_and_says_how_it_was_made(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    _sign_in(visit, cast.rater)
    sign_in = _last(wiring, cast.rater.account_id)
    assert sign_in.method is SignInMethod.PASSWORD
    assert not sign_in.is_strong
    assert sessions.is_proved(sign_in)
    advance(minutes=11)
    assert not sessions.is_proved(sign_in)


def test_the_list_says_device_way_and_that_no_place_is_recorded(visit: Visit, cast: Cast) -> None:
    page = _sign_in(visit, cast.rater).get("/settings/account").text
    assert "Firefox on Linux" in page
    assert "Signed in with a password" in page
    assert "No place is recorded or looked up." in page


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (SessionEnd.PASSWORD, "because your password was changed"),
        (SessionEnd.ELSEWHERE, "from another browser of yours"),
        (SessionEnd.ROLES, "because your roles changed"),
        (SessionEnd.PROVIDER, "the provider that you sign in with"),
    ],
)
def test_who_was_signed_out_reads_why_at_the_next_page(
    reason: SessionEnd, words: str, rater: Visitor, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        sessions.end_all(session, cast.rater.account_id, reason=reason)
    page = rater.client.get("/settings", follow_redirects=True)
    assert page.request.path == "/sign-in"
    assert words in page.text


def test_a_form_that_was_sent_then_says_why_too(rater: Visitor, cast: Cast, wiring: Wiring) -> None:
    assert rater.token
    with wiring.database.writing() as session:
        sessions.end_all(session, cast.rater.account_id, reason=SessionEnd.PASSWORD)
    answer = rater.post("/settings", display_name="Another name of mine")
    assert answer.status_code == 401
    assert "because your password was changed. Nothing was changed." in answer.text


def test_an_admin_who_disables_an_account_is_the_reason(rater: Visitor, cast: Cast, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, cast.rater.account_id, True, "Left")
    assert "an admin disabled your account" in rater.client.get("/me", follow_redirects=True).text


@pytest.mark.parametrize(
    ("away", "words"), [("idle", "had not used this page for"), ("long", "because you signed in more than")]
)
def test_who_was_away_reads_that(away: str, words: str, rater: Visitor, wiring: Wiring) -> None:
    settings = wiring.settings
    if away == "idle":
        advance(minutes=settings.session_idle_minutes + 1)
    else:
        advance(minutes=settings.session_hours * 60 + 1)
    assert words in rater.client.get("/me", follow_redirects=True).text


def test_a_stranger_reads_nothing_of_it(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    _sign_in(visit, cast.rater)
    with wiring.database.writing() as session:
        sessions.end_all(session, cast.rater.account_id, reason=SessionEnd.PASSWORD)
    stranger = visit(None)
    stranger.client.set_cookie("bridgenote", "a-token-of-nobody")
    assert "You were signed out" not in stranger.get("/sign-in").text


def test_who_signs_out_is_told_no_reason(rater: Visitor) -> None:
    rater.post("/sign-out")
    assert "You were signed out" not in rater.get("/sign-in").text


def test_an_unknown_browser_is_mailed_to_the_owner(visit: Visit, cast: Cast, mailbox: Mailbox) -> None:
    first = _sign_in(visit, cast.rater)
    assert mailbox.all(cast.rater.email) == [], "the first sign-in of an account surprises nobody"
    _sign_in(visit, cast.rater)
    mail = mailbox.last(cast.rater.email)
    assert mail["Subject"] == "A sign-in with a new browser"
    text = mail.get_content()
    assert "Browser: Firefox on Linux" in text
    assert "With: a password" in text
    assert f"{clock.now():%d %b %Y}" in text
    first.post("/sign-out")
    first.renew()
    first.page_with_form = "/sign-in"
    first.post("/sign-in", email=cast.rater.email, password=PASSWORD)
    assert len(mailbox.all(cast.rater.email)) == 1, "the first browser is known"


def test_a_storm_of_sign_ins_is_none_of_mails(
    visit: Visit, cast: Cast, mailbox: Mailbox, wiring: Wiring
) -> None:
    settings = wiring.settings.model_copy(update={"rate_limit_enabled": True})
    wiring.throttle = Throttle.from_settings(settings)
    for number in range(8):
        visitor = visit(None)
        visitor.client.environ_base["REMOTE_ADDR"] = f"192.0.2.{number}"
        assert visitor.post("/sign-in", email=cast.rater.email, password=PASSWORD).status_code == 303
    assert len(mailbox.all(cast.rater.email)) == 4, "five a day, and the first needed none"


def test_the_time_in_the_mail_is_in_the_zone_of_its_reader(
    visit: Visit, cast: Cast, mailbox: Mailbox, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).timezone = "Asia/Tokyo"
    for _ in range(2):
        _sign_in(visit, cast.rater)
    assert "(JST)" in mailbox.last(cast.rater.email).get_content()
