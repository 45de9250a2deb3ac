"""Accounts from sign-up to deletion, through pages and the mails between them (docs/run/reliability.md)."""

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Literal

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.core import outbox
from app.core.models import Account, AccountLink, Membership, SignIn
from app.core.people import accounts, credentials, members, passwords
from app.core.people.mailed_links import LinkOver
from app.core.permissions import SYSTEM
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.inline_engine import InlineEngine
from tests.web.conftest import Visit, Visitor
from tests.web.mailbox import Mailbox

ANN = "ann@example.org"
NEW = "tree lamp river stone"
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _sign_up(visitor: Visitor, email: str = ANN, password: str = PASSWORD, name: str = "Ann") -> TestResponse:
    return visitor.post("/sign-up", email=email, password=password, display_name=name)


def _sign_in(visitor: Visitor, email: str, password: str = PASSWORD) -> TestResponse:
    return visitor.post("/sign-in", email=email, password=password)


def test_from_creating_an_account_to_rating_in_a_community(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    visitor = visit(None)
    assert 'href="/sign-up"' in visitor.get("/").text
    weak = _sign_up(visitor, password="Password1")
    assert weak.status_code == 422
    assert "Password is too easy to guess" in weak.text
    assert ANN in weak.text, "what was typed stays"
    assert "Password is too easy to guess" in _sign_up(visitor, ANN, ANN.upper()).text
    for bad in ("ann", "ann@", "ann@example..org", "<ann@example.org>", "ann@example.org, eve@example.org"):
        assert "Enter an email address such as" in _sign_up(visitor, bad).text

    assert _sign_up(visitor).location == "/mail-sent?about=confirm"
    first = mailbox.link(ANN)
    early = _sign_in(visitor, ANN)
    assert early.status_code == 401
    assert "not confirmed yet" in early.text
    assert "not confirmed yet" not in _sign_in(visit(None), ANN, "wrong password").text
    assert visitor.post("/confirm/again").location == "/mail-sent?about=confirm"
    again = mailbox.link(ANN)
    assert again != first

    for _ in range(2):  # programs that check mail open links; only the button confirms
        shown = visitor.get(again)
        assert shown.status_code == 200
        assert shown.headers["Referrer-Policy"] == "no-referrer"
        assert shown.headers["Cache-Control"] == "no-store"
    sent = visitor.post(again, {"Origin": "null"})
    assert sent.location == "/sign-in"
    for spent in (first, again, "/confirm/nonsense"):
        assert visitor.get(spent).status_code == visitor.post(spent).status_code == 410
    assert visitor.client.get_cookie("bridgenote") is None, "a link signs nobody in"

    assert _sign_in(visitor, ANN).status_code == 303
    assert visitor.get("/").location == "/communities"
    visitor.renew()
    listed = visitor.get("/communities").text
    assert "Harbour forum" in listed
    joined = visitor.post(f"/communities/{cast.community_id}/join")
    assert joined.location == "/?community=harbour-forum"
    assert visitor.get("/help-needed").status_code in {200, 303}
    assert "Your role: rater" in visitor.get("/communities").text
    assert visitor.post(f"/communities/{cast.community_id}/leave").status_code == 303
    assert visitor.get("/").location == "/communities"
    visitor.post(f"/communities/{cast.community_id}/join")
    with wiring.database.writing() as session:
        account_id = session.scalars(sa.select(Account.id).where(Account.email == ANN)).one()
        role = sa.select(Membership.id).where(Membership.account_id == account_id)
        members.remove(session, SYSTEM, session.scalars(role).one(), "Spam")
    again = visitor.post(f"/communities/{cast.community_id}/join")
    assert again.status_code == 403
    assert "An admin of this community removed you." in again.text
    moderator = visit(cast.moderator)
    assert moderator.post(f"/communities/{cast.community_id}/leave").status_code == 409
    with wiring.database.reading() as session:
        assert session.scalars(
            sa.select(Membership.role).where(Membership.account_id == cast.moderator.account_id)
        ).one()


@on_sqlite
def test_no_answer_tells_whether_an_address_has_an_account(
    visit: Visit, cast: Cast, mailbox: Mailbox
) -> None:
    visitor, shown = visit(None), {}
    for path, fields in (
        ("/sign-up", {"display_name": "Eve", "password": NEW}),
        ("/forgot", {}),
    ):
        replies = []
        for email in ("nobody@example.org", cast.rater.email):
            reply = visitor.post(path, email=email, **fields)
            replies.append((reply.status_code, reply.location, visitor.get(reply.location).text))
        assert replies[0] == replies[1], path
        shown[path] = replies[0]
    subjects = [mail["Subject"] for mail in mailbox.all(cast.rater.email)]
    assert subjects == ["You already have an account", "Choose a new password"]
    assert len(mailbox.all("nobody@example.org")) == 2, (
        "the sign-up that waits may be reset, which confirms it"
    )
    assert _sign_in(visitor, cast.rater.email).status_code == 303, "and nothing was changed"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_of_many_at_once_one_account_is_made_and_one_link_is_used(wiring: Wiring, mailbox: Mailbox) -> None:
    def together(act: Callable[[Session], object]) -> list[bool]:
        start = threading.Barrier(6)

        def one(_number: int) -> bool:
            start.wait()
            try:
                with wiring.database.writing() as session:
                    act(session)
            except LinkOver:
                return False
            return True

        with ThreadPoolExecutor(6) as pool:
            return sorted(pool.map(one, range(6)))

    hashed = passwords.hash_password(PASSWORD)
    assert all(together(lambda session: credentials.sign_up(session, ANN, "Ann", hashed)))
    assert len(mailbox.all(ANN)) == 6, "each gets a link of its own"
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Account.id))) == 1
    token = mailbox.link(ANN).rpartition("/")[2]
    assert together(lambda session: credentials.confirm(session, token)) == [False] * 5 + [True]


@on_sqlite
def test_every_answer_costs_the_same_work_on_passwords(
    visit: Visit, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    class Counting(PasswordHasher):
        def hash(self, password: str | bytes, **more: Any) -> str:
            done.append("hash")
            return super().hash(password, **more)

        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            done.append("verify")
            return super().verify(hash, password)

    monkeypatch.setattr(passwords, "hasher", Counting(time_cost=1, memory_cost=8, parallelism=1))
    visitor = visit(None)
    _sign_in(visitor, "nobody@example.org")  # makes what stands in for unknown accounts, once in a process

    def cost(ask: Callable[[str], TestResponse], email: str) -> list[str]:
        done.clear()
        ask(email)
        return done.copy()

    addresses = (cast.rater.email, "eve@example.org", ANN)
    assert [cost(lambda email: _sign_up(visitor, email), one) for one in addresses] == [["hash"]] * 3
    addresses = (cast.rater.email, "nobody@example.org", ANN)
    tried = [cost(lambda email: _sign_in(visitor, email, "wrong password"), one) for one in addresses]
    assert tried == [["verify"]] * 3, "known, unconfirmed and unknown"
    asked = [cost(lambda email: visitor.post("/forgot", email=email), one) for one in addresses]
    assert asked == [[]] * 3


@on_sqlite
def test_whoever_signs_up_with_anothers_address_gets_nothing_from_it(visit: Visit, mailbox: Mailbox) -> None:
    ann, eve = visit(None), visit(None)
    _sign_up(ann)
    own = mailbox.link(ANN)
    _sign_up(eve, password=NEW, name="Eve")
    assert ann.post(own).location == "/sign-in"
    assert _sign_in(eve, ANN, NEW).status_code == 401
    assert _sign_in(ann, ANN).status_code == 303
    assert 'value="Ann"' in ann.get("/settings").text
    assert eve.post(mailbox.link(ANN)).status_code == 410


def test_a_reset_ends_every_session_and_works_once_for_ten_minutes(
    visit: Visit, cast: Cast, mailbox: Mailbox, pass_time: Callable[[timedelta], None]
) -> None:
    signed_in, visitor = visit(cast.rater), visit(None)
    visitor.post("/forgot", email=cast.rater.email)
    late = mailbox.link(cast.rater.email)
    pass_time(timedelta(minutes=11))
    assert visitor.get(late).status_code == visitor.post(late, password=NEW).status_code == 410
    visitor.post("/forgot", email=f" {cast.rater.email.upper()} ")
    link = mailbox.link(cast.rater.email)
    page = visitor.get(link)
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert visitor.post(link, password="short").status_code == 422
    assert signed_in.get("/settings").status_code == 200, "an attempt that fails changes nothing"
    assert visitor.post(link, password=NEW).location == "/sign-in"
    assert visitor.post(link, password=PASSWORD).status_code == 410
    assert signed_in.get("/settings").status_code == 303
    assert _sign_in(visitor, cast.rater.email).status_code == 401
    assert _sign_in(visitor, cast.rater.email, NEW).status_code == 303
    subjects = [mail["Subject"] for mail in mailbox.all(cast.rater.email)]
    assert subjects[-2:] == ["Your password was changed", "A sign-in with a new browser"]


@on_sqlite
def test_an_address_changes_when_the_new_one_answers_and_the_old_one_is_told(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    visitor = visit(cast.rater)
    wrong = visitor.post("/settings/email", email="new@example.org", email_password="wrong password")
    assert "This is not your current password." in wrong.text
    same = visitor.post("/settings/email", email=cast.rater.email, email_password=PASSWORD)
    assert "is your address already" in same.text
    visitor.post("/settings/email", email=cast.moderator.email, email_password=PASSWORD)
    assert mailbox.last(cast.moderator.email)["Subject"] == "You already have an account"
    assert (
        visitor.post("/settings/email", email="new@example.org", email_password=PASSWORD).status_code == 303
    )
    _sign_up(visit(None), "new@example.org", NEW)  # somebody sits on it, unconfirmed: it is whose mail it is
    with wiring.database.reading() as session:
        assert session.get_one(Account, cast.rater.account_id).email == cast.rater.email
    change = next(
        mail for mail in mailbox.all("new@example.org") if mail["Subject"].startswith("Confirm your new")
    )
    link = re.search(r"/confirm/\S+", change.get_content())
    assert link
    assert visit(None).post(link.group()).status_code == 303
    notice = mailbox.last(cast.rater.email)
    assert notice["Subject"] == "Your email address was changed"
    assert "new@example.org" not in notice.get_content()
    assert _sign_in(visit(None), cast.rater.email).status_code == 401
    assert _sign_in(visit(None), "new@example.org").status_code == 303


@on_sqlite
def test_a_new_password_needs_the_old_one_and_leaves_this_browser_signed_in(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    here, there, third = visit(cast.rater), visit(cast.rater), visit(cast.rater)
    assert here.get("/settings/account").text.count("This browser") == 1
    fields = {"current_password": PASSWORD, "new_password": NEW}
    assert (
        "not your current password"
        in here.post("/settings/password", **fields | {"current_password": "x"}).text
    )
    assert "easy to guess" in here.post("/settings/password", **fields | {"new_password": "password"}).text
    with wiring.database.reading() as session:
        rows = session.scalars(sa.select(SignIn).where(SignIn.account_id == cast.rater.account_id)).all()
    newest = max(rows, key=lambda row: row.created_at)
    end = f"/settings/sessions/{newest.id}/end"
    assert visit(cast.moderator).post(end).status_code == 404
    assert here.post(end).status_code == 303
    assert (there.get("/settings").status_code, third.get("/settings").status_code) == (200, 303)
    assert here.post("/settings/password", **fields).status_code == 303
    assert (here.get("/settings").status_code, there.get("/settings").status_code) == (200, 303)
    third = visit(cast.rater)
    assert here.post("/settings/sessions/end-others").status_code == 303
    assert (here.get("/settings").status_code, third.get("/settings").status_code) == (200, 303)
    assert _sign_in(visit(None), cast.rater.email, NEW).status_code == 303


@on_sqlite
def test_a_name_is_kept_and_a_blank_one_refused(visit: Visit, cast: Cast) -> None:
    visitor = visit(cast.rater)
    assert "Enter a name." in visitor.post("/settings", display_name=" ").text
    assert visitor.post("/settings", display_name="<b>Ann</b>").status_code == 303
    assert "&lt;b&gt;Ann&lt;/b&gt;" in visitor.get("/settings").text


@on_sqlite
def test_accounts_by_invitation_only_when_sign_up_is_closed(
    visit: Visit, wiring: Wiring, mailbox: Mailbox
) -> None:
    wiring.settings = wiring.settings.model_copy(update={"open_sign_up": False})
    visitor = visit(None)
    assert "/sign-up" not in visitor.get("/").text + visitor.get("/sign-in").text
    assert visitor.get("/sign-up").status_code == _sign_up(visitor).status_code == 403
    assert mailbox.all() == []


@on_sqlite
def test_mails_to_one_address_and_asked_for_by_one_are_limited(
    visit: Visit, wiring: Wiring, mailbox: Mailbox
) -> None:
    limits = {"rate_limit_enabled": True, "rate_limit_mail": "1 per hour", "rate_limit_sign_up": "3 per hour"}
    wiring.throttle = Throttle.from_settings(wiring.settings.model_copy(update=limits))
    visitor = visit(None)
    asked = [
        visitor.post("/forgot", email=email).status_code
        for email in (ANN, ANN, "bob@example.org", "eve@example.org")
    ]
    assert asked == [303, 429, 303, 429]
    told = visitor.post("/forgot", email="eve@example.org")
    assert int(told.headers["Retry-After"]) > 60
    assert "minutes, then try again." in told.text


@on_sqlite
def test_links_that_ended_are_forgotten_a_month_later(
    wiring: Wiring, visit: Visit, cast: Cast, jobs: InlineEngine, pass_time: Callable[[timedelta], None]
) -> None:
    _sign_up(visit(None))
    visit(cast.rater), visit(cast.rater)
    jobs.run_all()
    for days, left in ((20, 1), (12, 0)):
        pass_time(timedelta(days=days))
        with wiring.database.writing() as session:
            outbox.enqueue(session, "prune_attempts", {}, community_id=None)
        jobs.run_all()
        with wiring.database.reading() as session:
            assert session.scalar(sa.select(sa.func.count(AccountLink.id))) == left
            assert (accounts.find(session, ANN) is None) == (left == 0), "nor is the address, unconfirmed"
            sessions = session.scalar(sa.select(sa.func.count(SignIn.id)))
            assert sessions == 1 + left, "the latest says when they were here"


def test_an_account_is_deleted_with_its_password(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    last = visit(cast.admin).post("/settings/delete", delete_password=PASSWORD)
    assert (last.status_code, "You are the last admin of Harbour forum." in last.text) == (409, True)
    visitor, other = visit(cast.rater), visit(cast.rater)
    visitor.post("/settings/email", email="new@example.org", email_password=PASSWORD)
    wrong = visitor.post("/settings/delete", delete_password="wrong password")
    assert "This is not your current password." in wrong.text
    assert visitor.post("/settings/delete", delete_password=PASSWORD).location == "/"
    assert "Your account is deleted." in visitor.get("/").text
    assert visitor.get("/settings").status_code == other.get("/settings").status_code == 303
    assert _sign_in(visit(None), cast.rater.email).status_code == 401
    with wiring.database.reading() as session:
        assert accounts.find(session, cast.rater.email) is None
        assert session.scalars(sa.select(AccountLink.email)).all() == []
    assert _sign_up(visit(None), cast.rater.email).status_code == 303, "the address is free again"
