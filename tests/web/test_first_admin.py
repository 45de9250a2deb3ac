"""The one-time link that makes the first admin: who is shown it, what it does once, and what ends it."""

import logging
import re
import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core.communities import communities, founding
from app.core.errors import Conflict
from app.core.models import Account, AccountLink, Community
from app.core.people import accounts, credentials, passwords
from app.core.people.mailed_links import LinkOver
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.process import logs
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast, Person
from tests.clocks import advance
from tests.web.conftest import Visit

ANN = "ann@example.org"
HERE = {"REMOTE_ADDR": "127.0.0.1"}
LINK = re.compile(r'href="(/first-admin/[A-Za-z0-9_-]+)"')
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
FORM = {"display_name": "Ann", "email": ANN, "password": PASSWORD}


def _begin(wiring: Wiring) -> str:
    with wiring.database.writing() as session:
        token = founding.begin(session)
    assert token is not None
    wiring.first_admin_token = token
    return token


def _ask(visit: Visit, environ: dict[str, str] | None = None, **headers: str) -> TestResponse:
    """The start page of somebody who is not signed in."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return visit(None).client.get("/", headers=named, environ_overrides={**HERE, **(environ or {})})


def _admins(wiring: Wiring) -> list[str]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Account.email).where(Account.service_admin)))


def test_the_start_page_leads_somebody_at_this_machine_to_their_first_admin(
    visit: Visit, wiring: Wiring
) -> None:
    token = _begin(wiring)
    found = LINK.search(_ask(visit).text)
    assert found
    assert found.group(1) == f"/first-admin/{token}"
    visitor = visit(None)
    shown = visitor.get(found.group(1))
    assert shown.status_code == 200
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    assert shown.headers["Cache-Control"] == "no-store"
    answer = visitor.post(found.group(1), **FORM, community="Harbour forum")
    assert answer.status_code == 303
    assert answer.location == "/getting-started?community=harbour-forum"
    assert "You are the admin of this service." in visitor.get(answer.location).text
    assert visitor.get("/keys").status_code == 200, "signed in, as the community's admin"
    with wiring.database.reading() as session:
        account = session.scalars(sa.select(Account)).one()
        assert (account.email, account.service_admin) == (ANN, True)
        assert account.confirmed_at is not None
        assert session.scalars(sa.select(Community.name)).all() == ["Harbour forum"]
    assert visit(None).post("/sign-in", email=ANN, password=PASSWORD).status_code == 303
    assert not LINK.search(_ask(visit).text)


def test_without_a_name_for_a_community_none_is_opened(visit: Visit, wiring: Wiring) -> None:
    path = f"/first-admin/{_begin(wiring)}"
    answer = visit(None).post(path, **FORM)
    assert (answer.status_code, answer.location) == (303, "/getting-started")
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(Community.id)) is None


def test_what_is_missing_is_said_and_the_link_stays(visit: Visit, wiring: Wiring) -> None:
    path, visitor = f"/first-admin/{_begin(wiring)}", visit(None)
    assert "Enter your email address." in visitor.post(path, **{**FORM, "email": ""}).text
    assert visitor.post(path, **{**FORM, "password": "short"}).status_code == 422
    assert visitor.post(path, **FORM, community="x" * 300).status_code == 422
    assert _admins(wiring) == []
    assert visitor.post(path, **FORM).status_code == 303


@on_sqlite
@pytest.mark.parametrize(
    ("environ", "headers"),
    [
        ({"REMOTE_ADDR": "203.0.113.9"}, {}),
        ({"REMOTE_ADDR": "10.0.0.5"}, {}),
        ({"REMOTE_ADDR": "203.0.113.9"}, {"X_Forwarded_For": "127.0.0.1"}),
        ({"bridgenote.peer": "203.0.113.9"}, {}),
        ({"bridgenote.proxied": True}, {}),
        ({"SERVER_PROTOCOL": "HTTP/1.0"}, {}),
        ({}, {"X_Forwarded_For": "127.0.0.1"}),
        ({}, {"X_Forwarded_Proto": "https"}),
        ({}, {"X_Forwarded_Host": "localhost"}),
        ({}, {"Forwarded": "for=127.0.0.1"}),
        ({}, {"Via": "1.1 proxy"}),
        ({}, {"X_Real_IP": "127.0.0.1"}),
        ({}, {"Host": "evil.example"}),
        ({}, {"Host": "127.0.0.1.evil.example:8000"}),
        ({}, {"Host": "localhost.evil.example"}),
        ({}, {"Host": "moderation.example.org"}),
        ({}, {"Host": "203.0.113.9:8000"}),
    ],
)
def test_nobody_else_is_shown_the_link(
    environ: dict[str, str], headers: dict[str, str], visit: Visit, wiring: Wiring
) -> None:
    _begin(wiring)
    assert "/first-admin/" not in _ask(visit, environ, **headers).text
    assert "/first-admin/" in _ask(visit).text, "while somebody at this machine is"


@on_sqlite
@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"])
def test_every_name_of_this_machine_is_known(host: str, visit: Visit, wiring: Wiring) -> None:
    _begin(wiring)
    assert "/first-admin/" in _ask(visit, Host=host).text


@on_sqlite
@pytest.mark.parametrize(
    "given",
    [
        {"host": "0.0.0.0"},  # noqa: S104 - where the link must not be shown
        {"environment": "production"},
        {"public_url": "https://moderation.example.org"},
        {"trusted_proxies": "127.0.0.1"},
    ],
)
def test_a_service_that_others_can_reach_shows_no_link(
    given: dict[str, str], visit: Visit, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    _begin(wiring)
    monkeypatch.setattr(wiring, "settings", wiring.settings.model_copy(update=given))
    assert "/first-admin/" not in _ask(visit).text


@on_sqlite
def test_the_link_ends_after_an_hour(visit: Visit, wiring: Wiring) -> None:
    path, visitor = f"/first-admin/{_begin(wiring)}", visit(None)
    advance(seconds=timedelta(minutes=59).total_seconds())
    assert visitor.get(path).status_code == 200
    advance(seconds=120)
    assert visitor.get(path).status_code == 410
    assert visitor.post(path, **FORM).status_code == 410
    assert "/first-admin/" not in _ask(visit).text, "nobody is led to a link that is over"
    assert _admins(wiring) == []


def test_the_link_works_once(visit: Visit, wiring: Wiring) -> None:
    path = f"/first-admin/{_begin(wiring)}"
    assert visit(None).post(path, **FORM).status_code == 303
    again = visit(None)
    assert again.get(path).status_code == 410
    assert again.post(path, **{**FORM, "email": "eve@example.org"}).status_code == 410
    assert _admins(wiring) == [ANN]


@on_sqlite
def test_a_new_start_ends_the_link_before(visit: Visit, wiring: Wiring) -> None:
    earlier, later = _begin(wiring), _begin(wiring)
    assert earlier != later
    assert visit(None).post(f"/first-admin/{earlier}", **FORM).status_code == 410
    assert visit(None).post(f"/first-admin/{later}", **FORM).status_code == 303


@on_sqlite
@pytest.mark.parametrize("token", ["x", "A" * 43, "%00", "A" * 4_000])
def test_a_guess_is_no_link(token: str, visit: Visit, wiring: Wiring) -> None:
    _begin(wiring)
    assert visit(None).get(f"/first-admin/{token}").status_code == 410


@pytest.mark.parametrize("everywhere", [True, False])
def test_an_admin_made_otherwise_meanwhile_ends_it(everywhere: bool, visit: Visit, wiring: Wiring) -> None:
    path = f"/first-admin/{_begin(wiring)}"
    with wiring.database.writing() as session:
        account = accounts.create(
            session, "other@example.org", PASSWORD, confirmed=True, service_admin=everywhere
        )
        if not everywhere:
            community = communities.open_community(session, SYSTEM, "discourse", "forum")
            accounts.give_role(session, SYSTEM, account, community.id, Role.ADMIN)
    assert visit(None).post(path, **FORM).status_code == 410
    assert "/first-admin/" not in _ask(visit).text
    with wiring.database.writing() as session:
        assert founding.begin(session) is None
        assert accounts.find(session, ANN) is None


def test_a_disabled_admin_does_not_open_the_door_again(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(Account).values(disabled_at=sa.func.now()))
        assert founding.begin(session) is None


def test_of_two_who_use_it_at_once_one_is_the_admin(wiring: Wiring) -> None:
    token, hashed = _begin(wiring), passwords.hash_password(PASSWORD)
    ready, made, refused = threading.Barrier(3), list[str](), list[Exception]()

    def use(email: str) -> None:
        ready.wait()
        try:
            with wiring.database.writing() as session:
                founding.create(session, token, email, "Somebody", hashed)
            made.append(email)
        except LinkOver as refusal:
            refused.append(refusal)

    emails = [f"{number}@example.org" for number in range(3)]
    threads = [threading.Thread(target=use, args=(email,)) for email in emails]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert (len(made), len(refused)) == (1, 2)
    assert _admins(wiring) == made


def test_of_the_link_and_the_command_line_at_once_the_link_never_makes_a_second_admin(wiring: Wiring) -> None:
    """The command line may always make one; the link finds it, or was first."""
    token, hashed = _begin(wiring), passwords.hash_password(PASSWORD)
    at_work, refused = threading.Event(), list[Exception]()

    def use_link() -> None:
        at_work.wait()
        try:
            with wiring.database.writing() as session:
                founding.create(session, token, ANN, "Ann", hashed)
        except LinkOver as refusal:
            refused.append(refusal)

    thread = threading.Thread(target=use_link)
    thread.start()
    with wiring.database.writing() as session:
        accounts.create(session, "cli@example.org", PASSWORD, confirmed=True, service_admin=True)
        at_work.set()
        thread.join(1)  # it waits for this transaction to end, or has not begun its own
        assert thread.is_alive()
    thread.join(120)
    assert len(refused) == 1
    assert _admins(wiring) == ["cli@example.org"]


@on_sqlite
def test_an_account_that_was_never_confirmed_is_taken_over(visit: Visit, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        credentials.sign_up(session, ANN, "Somebody", passwords.hash_password("another one of mine"))
    path = f"/first-admin/{_begin(wiring)}"
    assert visit(None).post(path, **FORM).status_code == 303
    assert _admins(wiring) == [ANN]
    assert visit(None).post("/sign-in", email=ANN, password=PASSWORD).status_code == 303


@on_sqlite
def test_an_account_of_somebody_is_not_taken_over_but_may_use_the_link_itself(
    visit: Visit, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        account = accounts.create(session, ANN, "another one of mine", confirmed=True)
        ann = Person(ANN, account.id, account.id)
    path = f"/first-admin/{_begin(wiring)}"
    refused = visit(None).post(path, **FORM)
    assert refused.status_code == 409
    assert "This address has an account already. Sign in with it" in refused.text
    assert _admins(wiring) == []
    signed_in = visit(ann)
    assert "Become the admin" in signed_in.get(path).text
    assert signed_in.post(path, community="Harbour forum").status_code == 303
    assert _admins(wiring) == [ANN]
    assert visit(None).post(path, **FORM).status_code == 410


@on_sqlite
def test_another_site_cannot_send_the_form(visit: Visit, wiring: Wiring) -> None:
    path, visitor = f"/first-admin/{_begin(wiring)}", visit(None)
    assert visitor.post(path, {"Origin": "https://evil.example"}, **FORM).status_code == 403
    assert visitor.client.post(path, data=FORM).status_code == 400, "without the form's own token"
    assert _admins(wiring) == []


def test_the_database_keeps_a_digest_and_no_log_the_token(
    visit: Visit, wiring: Wiring, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        token = _begin(wiring)
        visit(None).post(f"/first-admin/{token}", **FORM)
    with wiring.database.reading() as session:
        link = session.scalars(sa.select(AccountLink)).one()
        assert link.token_hash is not None
        assert token not in (link.token_hash, link.email)
    written = "\n".join(logs.mask(record.getMessage()) for record in caplog.records)
    assert token not in written
    assert token not in logs.mask(f"GET /first-admin/{token} failed")


def test_a_refusal_uses_nothing_up(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        accounts.create(session, ANN, PASSWORD, confirmed=True)
    token = _begin(wiring)
    with pytest.raises(Conflict), wiring.database.writing() as session:
        founding.create(session, token, ANN, "Ann", passwords.hash_password(PASSWORD))
    with wiring.database.reading() as session:
        assert founding.works(session, token)
