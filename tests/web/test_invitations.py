"""Invitations: mailed, accepted once by whoever reads mail at that address, and never above one's own role."""

import json
import threading
import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core import clock, outbox
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.history import chain as history
from app.core.models import Account, HistoryEntry, HistoryText, Membership
from app.core.people import accounts, invitations, passwords
from app.core.permissions import SYSTEM, Actor
from app.core.raters import digests
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast, Person
from tests.inline_engine import InlineEngine
from tests.web.conftest import Stage, Visit
from tests.web.mailbox import Mailbox

ANN = "ann@example.org"
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _actor(wiring: Wiring, person: Person) -> Actor:
    with wiring.database.reading() as session:
        return accounts.actor_for(accounts.get(session, person.account_id))


def _invite(
    wiring: Wiring, cast: Cast, email: str, role: Role = Role.RATER, by: Person | None = None
) -> uuid.UUID:
    with wiring.database.writing() as session:
        actor = _actor(wiring, by or cast.admin)
        return invitations.invite(session, actor, cast.community_id, email, role).id


def _role(wiring: Wiring, email: str, community_id: uuid.UUID) -> Role | None:
    with wiring.database.reading() as session:
        return session.scalar(
            sa.select(Membership.role)
            .join(Account, Account.id == Membership.account_id)
            .where(Account.email == email, Membership.community_id == community_id)
        )


def test_a_new_address_creates_its_account_by_accepting(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    _invite(wiring, cast, "Ann@Example.org", Role.MODERATOR)
    mail = mailbox.last(ANN)
    assert mail["Subject"] == "Join Harbour forum"
    assert "Admin invites you to join Harbour forum as a moderator" in mail.get_content()
    link, visitor = mailbox.link(ANN), visit(None)
    assert visitor.get(link).headers["Referrer-Policy"] == "no-referrer"
    assert "Create account and join" in visitor.get(link).text
    assert visitor.post(link, display_name="Ann", password="short").status_code == 422
    assert visitor.post(link, display_name="Ann", password=PASSWORD).status_code == 303
    assert visitor.get("/review").status_code == 200, "signed in, with the role"
    again = visit(None).get(link)
    assert again.status_code == 410
    assert "This invitation has been used" in again.text
    assert "Sign in with the address" in again.text
    signed_in = visitor.get(link).text
    assert "This invitation has been used" in signed_in
    assert "Sign in with the address" not in signed_in, "who is signed in is led on"
    assert visit(None).post("/sign-in", email=ANN, password=PASSWORD).status_code == 303, "confirmed thereby"
    with wiring.database.reading() as session:
        assert invitations.pending(session, _actor(wiring, cast.admin), cast.community_id) == []
        entries = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.community_id == cast.community_id)
            .order_by(HistoryEntry.number)
        ).all()
        assert [entry.what for entry in entries[-2:]] == ["invitation.sent", "role.given"]
        written = json.dumps([[one.before, one.after, one.cause] for one in entries])
        texts = session.scalars(sa.select(HistoryText)).all()
        assert ANN not in written + "".join(one.reason + one.comment for one in texts)
        assert history.verify(session, cast.community_id)[1] is None


def test_an_invitation_that_is_accepted_twice_at_once_says_to_the_second_that_it_has_been_used(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    _invite(wiring, cast, ANN)
    link, second = mailbox.link(ANN), visit(None)
    answers: list[TestResponse] = []
    typed = {"display_name": "Ann", "password": PASSWORD}
    late = threading.Thread(target=lambda: answers.append(second.post(link, **typed)))
    with wiring.database.writing() as session:
        hashed = passwords.hash_password(PASSWORD, ANN)
        invitations.accept_new(session, link.rpartition("/")[2], "Ann", hashed)
        # Until this commits, PostgreSQL shows the second the invitation as it was; SQLite has it wait.
        late.start()
        late.join(timeout=0.5)
    late.join(timeout=120)
    (answer,) = answers
    assert answer.status_code == 410
    assert "This invitation has been used" in answer.text
    assert 'href="/sign-in"' in answer.text
    with wiring.database.reading() as session:
        assert (
            session.scalar(
                sa.select(sa.func.count()).select_from(Membership).join(Account).where(Account.email == ANN)
            )
            == 1
        )


def test_an_address_that_got_its_account_otherwise_meanwhile_is_asked_to_sign_in(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    _invite(wiring, cast, ANN)
    link, visitor = mailbox.link(ANN), visit(None)
    answers: list[TestResponse] = []
    typed = {"display_name": "Ann", "password": PASSWORD}
    late = threading.Thread(target=lambda: answers.append(visitor.post(link, **typed)))
    with wiring.database.writing() as session:
        accounts.create(session, ANN, PASSWORD, confirmed=True)
        late.start()
        late.join(timeout=0.5)
    late.join(timeout=120)
    (answer,) = answers
    assert answer.status_code in {403, 409}
    assert f"Sign in as <bdi>{ANN}</bdi> to accept." in answer.text


@on_sqlite
def test_whoever_has_an_account_accepts_signed_in_to_it(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    _invite(wiring, cast, cast.outsider.email, Role.OPERATOR)
    link, visitor = mailbox.link(cast.outsider.email), visit(None)
    page = visitor.get(link).text
    assert f"/sign-in?next={link}" in page
    assert visitor.post(link, display_name="Eve", password=PASSWORD).status_code == 403
    wrong = visit(cast.rater)
    assert f"This invitation is for {cast.outsider.email}" in wrong.get(link).text
    assert wrong.post(link).status_code == 403
    assert _role(wiring, cast.outsider.email, cast.community_id) is None
    right = visit(cast.outsider)
    assert right.get(link).status_code == 200
    assert right.post(link).location == "/?community=harbour-forum"
    assert _role(wiring, cast.outsider.email, cast.community_id) is Role.OPERATOR
    assert right.post(link).status_code == 410


@on_sqlite
def test_who_may_invite_whom(cast: Cast, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        operator, admin = _actor(wiring, cast.operator), _actor(wiring, cast.admin)
        with pytest.raises(Forbidden):
            invitations.invite(session, operator, cast.community_id, ANN, Role.RATER)
        with pytest.raises(NotFound):
            invitations.invite(session, admin, cast.other_community_id, ANN, Role.RATER)
        with pytest.raises(NotFound):
            invitations.pending(session, admin, cast.other_community_id)
        with pytest.raises(Forbidden, match="above your own"):
            invitations.refuse_above_own(operator, cast.community_id, Role.ADMIN)
        with pytest.raises(Invalid, match="a member of this community already"):
            invitations.invite(session, admin, cast.community_id, cast.rater.email.upper(), Role.OPERATOR)
        invitation = invitations.invite(session, admin, cast.community_id, ANN, Role.ADMIN)
        with pytest.raises(NotFound):
            invitations.withdraw(session, _actor(wiring, cast.outsider), invitation.id)
        with pytest.raises(Forbidden):
            invitations.withdraw(session, operator, invitation.id)
        (shown,) = invitations.pending(session, admin, cast.community_id)
        assert (shown.email, shown.role, shown.invited_by, shown.sent_at) == (ANN, Role.ADMIN, "Admin", None)


@on_sqlite
def test_an_invitation_ends_with_time_a_newer_one_its_withdrawal_or_its_senders_role(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    visitor = visit(None)
    _invite(wiring, cast, ANN)
    replaced = mailbox.link(ANN)
    withdrawn_id = _invite(wiring, cast, ANN, Role.MODERATOR)
    withdrawn = mailbox.link(ANN)
    assert [visitor.get(link).status_code for link in (replaced, withdrawn)] == [410, 200]
    with wiring.database.writing() as session:
        invitations.withdraw(session, _actor(wiring, cast.admin), withdrawn_id)
        with pytest.raises(Conflict):
            invitations.withdraw(session, _actor(wiring, cast.admin), withdrawn_id)
    assert visitor.post(withdrawn, display_name="Ann", password=PASSWORD).status_code == 410
    _invite(wiring, cast, ANN)
    link = mailbox.link(ANN)
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.admin.account_id)
        accounts.give_role(session, SYSTEM, account, cast.community_id, Role.OPERATOR)
    assert visitor.get(link).status_code == 410
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.admin.account_id)
        accounts.give_role(session, SYSTEM, account, cast.community_id, Role.ADMIN)
    assert visitor.get(link).status_code == 200
    later = clock.now() + timedelta(days=7, minutes=1)
    clock.set_source(lambda: later)
    try:
        assert visitor.get(link).status_code == 410
    finally:
        clock.set_source(None)
    assert _role(wiring, ANN, cast.community_id) is None


def test_a_digest_says_how_many_need_help_once_a_period_and_stops_with_one_click(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox, stage: Stage, jobs: InlineEngine
) -> None:
    visitor = visit(cast.rater)
    assert visitor.post("/settings/mail", digest="hourly").status_code == 422
    visitor.post("/settings/mail", digest="daily")

    def tick(hours: float) -> int:
        moment = clock.now() + timedelta(hours=hours)
        clock.set_source(lambda: moment)
        with wiring.database.writing() as session:
            outbox.enqueue(session, digests.DIGEST_JOB, {}, community_id=None)
        return len(mailbox.all(cast.rater.email))

    try:
        assert tick(0) == 0, "nothing needs help"
        stage.post("Somebody wrote this.")
        stage.post("And this.")
        stage.post("Elsewhere.", away=True)
        assert [tick(0), tick(12), tick(12.1), tick(1)] == [1, 1, 2, 2]
    finally:
        clock.set_source(None)
    mail = mailbox.last(cast.rater.email)
    text = mail.get_content()
    assert mail["Subject"] == "2 posts need your help"
    assert "Harbour forum: 2" in text
    for secret in ("Somebody wrote", "Mountain", "toxicity", "0.83"):
        assert secret not in text
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    stop = mail["List-Unsubscribe"].strip("<>").removeprefix("http://127.0.0.1:8000")
    stranger = visit(None).client
    assert "Stop these mails" in stranger.get(stop).text
    forged = stop.replace(str(cast.rater.account_id), str(cast.moderator.account_id))
    assert stranger.get(forged).status_code == stranger.post(forged).status_code == 404
    with wiring.database.reading() as session:
        assert session.get_one(Account, cast.rater.account_id).digest == "daily", "a look changes nothing"
    assert stranger.post(stop, data={"List-Unsubscribe": "One-Click"}).status_code == 200
    with wiring.database.reading() as session:
        assert session.get_one(Account, cast.rater.account_id).digest == "off"
