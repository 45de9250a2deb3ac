"""Members who joined by a link that was shown to the inviter: they never proved to own their address."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.communities import founding
from app.core.errors import Forbidden
from app.core.models import Account, Membership
from app.core.people import accounts, credentials, invitations, passwords
from app.core.raters import digests
from app.core.vocabulary import Digest, Role
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.web.conftest import Visit, Visitor
from tests.web.mailbox import Mailbox

ANN = "ann@example.org"
OTHER_PASSWORD = "another horse battery"


@pytest.fixture
def shown_link(visit: Visit, cast: Cast) -> Callable[[str], str]:
    """Invite an address without a mail server; return the path of the link that the admin is shown."""
    admin = visit(cast.admin)

    def invite(email: str) -> str:
        page = admin.post("/people/invite", email=email, role="moderator").text
        found = re.search(r'id="invitation-link"[^>]*value="http://localhost(/join/[\w-]+)"', page)
        assert found, page
        return found.group(1)

    return invite


def _join(visit: Visit, link: str) -> Visitor:
    ann = visit(None)
    assert ann.post(link, display_name="Ann", password=PASSWORD).status_code == 303
    return ann


def _account(wiring: Wiring, address: str) -> Account | None:
    with wiring.database.reading() as session:
        return accounts.find(session, address)


def test_a_shown_link_makes_a_member_who_owns_no_address(
    visit: Visit, cast: Cast, wiring: Wiring, shown_link: Callable[[str], str], mailbox: Mailbox
) -> None:
    link = shown_link(ANN)
    assert "stays unconfirmed" in visit(None).get(link).text
    ann = _join(visit, link)
    assert ann.get("/review").status_code == 200, "a member, with the role"
    assert _account(wiring, ANN) is None
    again = visit(None)
    assert again.post("/sign-in", email=ANN.upper(), password=PASSWORD).status_code == 303
    again.renew()
    page = again.get("/settings/account").text
    assert f"<bdi>{ANN}</bdi>" in page
    assert "Not confirmed" in page
    assert "invalid" not in page
    assert "Not confirmed yet" in visit(cast.admin).get("/people").text
    assert visit(None).post("/sign-in", email=ANN, password="wrong password").status_code == 401
    assert visit(None).post("/forgot", email=ANN).status_code == 303
    change = {"current_password": PASSWORD, "new_password": OTHER_PASSWORD}
    assert again.post("/settings/password", **change).status_code == 303
    assert mailbox.all() == [], "no mail goes to an address that nobody proved to own"
    with wiring.database.writing() as session:
        account = accounts.find_unconfirmed_member(session, ANN)
        assert account is not None
        account.digest = Digest.DAILY
        session.flush()
        assert account.id not in digests.due(session)
        actor = accounts.actor_for(accounts.get(session, account.id))
        values = founding.Founding("Mine")
        with pytest.raises(Forbidden, match="Confirm your email address"):
            founding.found_community(session, actor, values, open_to_all=True)


def test_a_shown_link_takes_over_no_sign_up_and_blocks_none(
    visit: Visit, wiring: Wiring, shown_link: Callable[[str], str], mailbox: Mailbox
) -> None:
    visit(None).post("/sign-up", display_name="The owner", email=ANN, password=OTHER_PASSWORD)
    pending = _account(wiring, ANN)
    _join(visit, shown_link(ANN))
    after = _account(wiring, ANN)
    assert pending is not None
    assert after is not None
    assert (after.id, after.password_hash) == (pending.id, pending.password_hash)
    assert after.confirmed_at is None
    assert visit(None).post(mailbox.link(ANN)).status_code == 303
    owner = visit(None)
    assert owner.post("/sign-in", email=ANN, password=OTHER_PASSWORD).status_code == 303
    assert owner.get("/review").status_code != 200, "the owner of the address got no role of the member"
    assert visit(None).post("/sign-in", email=ANN, password=PASSWORD).status_code == 303, "each by their own"


def test_a_mailed_invitation_does_not_match_the_member(
    visit: Visit, cast: Cast, wiring: Wiring, shown_link: Callable[[str], str], mailbox: Mailbox
) -> None:
    ann = _join(visit, shown_link(ANN))
    with wiring.database.writing() as session:
        admin = accounts.actor_for(accounts.get(session, cast.admin.account_id))
        invitations.invite(session, admin, cast.community_id, ANN, Role.ADMIN)
    link = mailbox.link(ANN)
    ann.renew()
    answer = ann.post(link)
    assert answer.status_code == 422, "what is offered is a new account, not this one"
    with wiring.database.reading() as session:
        roles = session.scalars(
            sa.select(Membership.role).where(Membership.community_id == cast.community_id)
        )
        assert sorted(roles).count(Role.ADMIN) == 1


def test_the_member_confirms_the_address_by_mail(
    visit: Visit, wiring: Wiring, shown_link: Callable[[str], str], mailbox: Mailbox
) -> None:
    ann = _join(visit, shown_link(ANN))
    ann.renew()
    assert ann.post("/settings/email", email=ANN, email_password=PASSWORD).status_code == 303
    assert ann.post(mailbox.link(ANN)).status_code == 303
    account = _account(wiring, ANN)
    assert account is not None
    assert account.confirmed_at is not None
    assert "Not confirmed" not in ann.get("/settings/account").text
    assert len(mailbox.all()) == 1, "no mail to the placeholder of the unconfirmed address"
    assert ann.get("/review").status_code == 200


def test_one_member_at_a_time_signs_in_with_an_unconfirmed_address(
    visit: Visit, cast: Cast, shown_link: Callable[[str], str]
) -> None:
    first, second = shown_link(ANN), shown_link("bob@example.org")
    assert first
    link = shown_link(ANN)
    _join(visit, link)
    refused = visit(cast.admin).post("/people/invite", email=ANN, role="rater")
    assert refused.status_code == 422
    assert "belongs to a member of this community already" in refused.text
    _join(visit, second)


def test_another_communitys_link_names_the_conflict(
    visit: Visit, cast: Cast, wiring: Wiring, shown_link: Callable[[str], str]
) -> None:
    link = shown_link(ANN)
    with wiring.database.writing() as session:
        hashed = passwords.hash_password(OTHER_PASSWORD)
        accounts.insert_unconfirmed_member(session, ANN, hashed, "Another Ann")
    answer = visit(None).post(link, display_name="Ann", password=PASSWORD)
    assert answer.status_code == 409
    assert "Another member signs in with this address without having confirmed it" in answer.text


def test_a_service_admin_vouches_for_the_address(
    visit: Visit, cast: Cast, wiring: Wiring, shown_link: Callable[[str], str]
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    _join(visit, shown_link(ANN))
    account = _account(wiring, ANN)
    assert account is not None
    assert account.confirmed_at is not None


def test_a_member_with_an_unconfirmed_address_is_not_pruned(
    visit: Visit, cast: Cast, wiring: Wiring, shown_link: Callable[[str], str]
) -> None:
    _join(visit, shown_link(ANN))
    with wiring.database.writing() as session:
        account = accounts.find_unconfirmed_member(session, ANN)
        assert account is not None
        session.execute(sa.delete(Membership).where(Membership.account_id == account.id))
        assert credentials.prune_unconfirmed(session, clock.now() + timedelta(days=1)) == 0
