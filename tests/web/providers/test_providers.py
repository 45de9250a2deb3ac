"""Signing in with an OpenID Connect provider, and connecting an account with one (docs/run/sign-in.md)."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.errors import NotFound
from app.core.models import Account, Identity, Membership, SignIn, SignInRules, SignInStep
from app.core.people import credentials, invitations, providers
from app.core.people.providers import Draft
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import Role, SessionEnd, SignInMethod
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.lying_provider import CLIENT_ID, CLIENT_SECRET, LyingProvider
from tests.web.conftest import Visit
from tests.web.mailbox import Mailbox
from tests.web.providers.visits import (
    account_with,
    add,
    come_back,
    identity_of,
    leave,
    open_sessions,
    sign_in,
)

CONNECT = "/settings/providers/{}/connect"


def test_a_new_person_gets_an_account_and_is_signed_in(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    assert "Sign in with Example" in visitor.get("/sign-in").text
    response = sign_in(visitor, provider, provider_id, next="/communities", sid="there-1")
    assert (response.status_code, response.location) == (303, "/communities")
    assert visitor.get("/communities").status_code == 200
    account = account_with(wiring, "person@example.org")
    assert account is not None
    assert account.confirmed_at is not None
    assert account.display_name == "A Person"
    (session,) = open_sessions(wiring, account.id)
    assert (session.method, session.is_strong) == (SignInMethod.PROVIDER, True)
    assert (session.provider_id, session.provider_session) == (provider_id, "there-1")
    identity = identity_of(wiring)
    assert identity is not None
    assert (identity.account_id, identity.claimed_groups) == (account.id, ["staff"])
    assert identity.refresh_token is not None
    assert b"refresh" not in identity.refresh_token
    with wiring.database.reading() as session_:
        assert session_.scalar(sa.select(sa.func.count()).select_from(SignInStep)) == 0


def test_the_same_person_comes_back_to_the_same_account_whatever_their_address_is_now(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    sign_in(visit(None), provider, provider_id)
    first = identity_of(wiring)
    assert sign_in(visit(None), provider, provider_id, email="new@example.org").status_code == 303
    second = identity_of(wiring)
    assert first is not None
    assert second is not None
    assert first.account_id == second.account_id
    assert account_with(wiring, "new@example.org") is None


def test_a_subject_that_changes_case_is_another_person(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    sign_in(visit(None), provider, provider_id)
    response = sign_in(visit(None), provider, provider_id, sub="person-1")
    assert response.status_code == 409  # unknown, with an address that has an account
    response = sign_in(visit(None), provider, provider_id, sub="person-1", email="two@example.org")
    assert response.status_code == 303
    one, two = identity_of(wiring, "Person-1"), identity_of(wiring, "person-1")
    assert one is not None
    assert two is not None
    assert one.account_id != two.account_id


def test_an_address_alone_never_leads_into_an_account(
    visit: Visit, wiring: Wiring, cast: Cast, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    response = sign_in(visitor, provider, provider_id, email=cast.moderator.email.upper())
    assert response.status_code == 409
    assert "connect Example in Settings" in response.text
    assert visitor.get("/communities").status_code == 303
    assert identity_of(wiring) is None


def test_an_account_is_connected_while_its_owner_is_signed_in(
    visit: Visit,
    wiring: Wiring,
    cast: Cast,
    mailbox: Mailbox,
    provider: LyingProvider,
    provider_id: uuid.UUID,
) -> None:
    owner = visit(cast.moderator)
    assert "Connect" in owner.get("/settings/account").text
    response = come_back(owner, provider.authorize(leave(owner, provider_id, CONNECT)))
    assert response.location == "/settings/account#providers"
    identity = identity_of(wiring)
    assert identity is not None
    assert identity.account_id == cast.moderator.account_id
    assert "connected with a sign-in provider" in mailbox.last(cast.moderator.email)["Subject"]
    assert sign_in(visit(None), provider, provider_id).status_code == 303
    assert len(open_sessions(wiring, cast.moderator.account_id)) == 2
    # Another account cannot have the same identity.
    other = visit(cast.operator)
    response = come_back(other, provider.authorize(leave(other, provider_id, CONNECT)))
    assert response.status_code == 409
    # It is disconnected by its owner, who has a password; sessions from there end.
    assert other.post(f"/settings/providers/{identity.id}/disconnect").status_code == 404
    assert owner.post(f"/settings/providers/{identity.id}/disconnect").status_code == 303
    assert identity_of(wiring) is None
    assert "no longer connected" in mailbox.last(cast.moderator.email)["Subject"]
    (left,) = open_sessions(wiring, cast.moderator.account_id)
    assert left.provider_id is None


def test_the_last_way_in_is_not_disconnected(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    sign_in(visitor, provider, provider_id)
    identity = identity_of(wiring)
    assert identity is not None
    visitor.renew()
    response = visitor.post(f"/settings/providers/{identity.id}/disconnect")
    assert response.status_code == 303
    assert "your only way to sign in" in visitor.get("/settings/account").text
    assert identity_of(wiring) is not None


@pytest.mark.parametrize(
    ("claims", "status", "words"),
    [
        ({"email": None}, 403, "sent no email address"),
        ({"email_verified": False}, 403, "has not verified your email address"),
        ({"email": "not an address"}, 403, "cannot be used here"),
    ],
)
def test_a_new_account_needs_an_address_that_is_not_denied(
    visit: Visit,
    wiring: Wiring,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    claims: dict[str, object],
    status: int,
    words: str,
) -> None:
    provider.userinfo = {"sub": "Person-1"}
    response = sign_in(visit(None), provider, provider_id, **claims)
    assert response.status_code == status
    assert words in response.text
    assert identity_of(wiring) is None


def test_an_address_that_is_not_said_to_be_verified_is_not_confirmed_here(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    assert sign_in(visit(None), provider, provider_id, email_verified=None).status_code == 303
    assert account_with(wiring, "person@example.org") is None
    identity = identity_of(wiring)
    assert identity is not None
    with wiring.database.reading() as session:
        account = session.get_one(Account, identity.account_id)
    assert (account.sign_in_name, account.confirmed_at) == ("person@example.org", None)


def test_a_provider_that_makes_no_accounts_lets_in_whom_it_knows(
    visit: Visit, wiring: Wiring, cast: Cast, provider: LyingProvider
) -> None:
    provider_id = add(wiring, provider, creates_accounts=False)
    response = sign_in(visit(None), provider, provider_id)
    assert response.status_code == 403
    assert "invitation" in response.text
    owner = visit(cast.rater)
    come_back(owner, provider.authorize(leave(owner, provider_id, CONNECT)))
    assert sign_in(visit(None), provider, provider_id).status_code == 303


def test_a_disabled_account_does_not_get_in(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    sign_in(visit(None), provider, provider_id)
    with wiring.database.writing() as session:
        account = session.scalars(sa.select(Account).where(Account.email == "person@example.org")).one()
        account.disabled_at = clock.now()
    response = sign_in(visit(None), provider, provider_id)
    assert response.status_code == 403
    assert "switched off" in response.text


def test_groups_and_address_come_from_the_userinfo_endpoint_where_the_token_lacks_them(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    response = sign_in(
        visit(None), provider, provider_id, email=None, email_verified=None, name=None, groups=None
    )
    assert response.status_code == 303
    identity = identity_of(wiring)
    assert identity is not None
    assert identity.claimed_groups == ["staff"]


def test_the_provider_ends_its_sessions_by_the_back_channel(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    here, there = visit(None), visit(None)
    sign_in(here, provider, provider_id, sid="one")
    sign_in(there, provider, provider_id, sid="two")
    server = visit(None).client
    token = provider.logout_token(sid="one", sub=None)
    path = f"/sign-in/logout/{provider_id}"
    response = server.post(path, data={"logout_token": token})
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    assert here.get("/communities").status_code == 303
    assert "ended your session" in here.get("/sign-in").text
    assert there.get("/communities").status_code == 200
    assert server.post(path, data={"logout_token": token}).status_code == 400, "it is used once"
    assert server.post(path, data={"logout_token": provider.logout_token()}).status_code == 200
    assert there.get("/communities").status_code == 303
    with wiring.database.reading() as session:
        reasons = set(session.scalars(sa.select(SignIn.end_reason).where(SignIn.provider_id == provider_id)))
        assert reasons == {SessionEnd.PROVIDER}
        assert session.scalars(sa.select(Identity.refresh_token)).one() is None


def test_passwords_can_be_switched_off_and_nobody_is_locked_out(
    visit: Visit, wiring: Wiring, cast: Cast, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    admin = visit(cast.admin)
    response = admin.post("/sign-in-methods/passwords", passwords="off")
    assert response.status_code == 409
    assert "connect a service admin" in response.text
    come_back(admin, provider.authorize(leave(admin, provider_id, CONNECT)))
    assert admin.post("/sign-in-methods/passwords", passwords="off").status_code == 303
    visitor = visit(None)
    assert 'type="password"' not in visitor.get("/sign-in").text
    response = visitor.post("/sign-in", email=cast.rater.email, password=PASSWORD)
    assert response.status_code == 403
    assert "Passwords are switched off" in response.text
    for path in ("/sign-up", "/forgot", "/reset/anything"):
        assert visitor.get(path).status_code == 403
    # What would lock every service admin out is refused.
    assert admin.post(f"/sign-in-methods/{provider_id}/disable").status_code == 409
    assert admin.post(f"/sign-in-methods/{provider_id}/remove").status_code == 409
    identity = identity_of(wiring)
    assert identity is not None
    admin.post(f"/settings/providers/{identity.id}/disconnect")
    assert identity_of(wiring) is not None
    assert sign_in(visitor, provider, provider_id).status_code == 303
    assert admin.post("/sign-in-methods/passwords", passwords="on").status_code == 303
    assert visit(None).post("/sign-in", email=cast.rater.email, password=PASSWORD).status_code == 303


def test_the_command_line_signs_a_service_admin_in_when_nothing_else_does(
    visit: Visit, wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session, pytest.raises(NotFound):
        credentials.make_sign_in_link(session, cast.admin.email)
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    with wiring.database.writing() as session:
        former = credentials.make_sign_in_link(session, cast.admin.email)
    with wiring.database.writing() as session:
        token = credentials.make_sign_in_link(session, cast.admin.email.upper())
    visitor = visit(None)
    assert visitor.get(f"/sign-in/link/{former}").status_code == 410
    assert cast.admin.email in visitor.get(f"/sign-in/link/{token}").text
    assert visitor.get("/sign-in-methods").status_code == 303, "a mail scanner that opens it changes nothing"
    assert visitor.post(f"/sign-in/link/{token}").location == "/sign-in-methods"
    assert visitor.get("/sign-in-methods").status_code == 200
    assert visit(None).post(f"/sign-in/link/{token}").status_code == 410
    methods = [session.method for session in open_sessions(wiring, cast.admin.account_id)]
    assert methods == [SignInMethod.LINK]


def test_the_server_sets_a_provider_which_the_dashboard_does_not_change(
    visit: Visit, wiring: Wiring, cast: Cast, provider: LyingProvider
) -> None:
    draft = Draft("Server", provider.issuer, CLIENT_ID, CLIENT_SECRET, groups_claim="")
    for _ in range(2):
        with wiring.database.writing() as session:
            row = providers.set_by_server(session, wiring.sealer, draft)
            assert row is not None
            provider_id = row.id
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    admin = visit(cast.admin)
    assert "Set by the server" in admin.get("/sign-in-methods").text
    for what in ("", "/disable", "/remove"):
        response = admin.post(f"/sign-in-methods/{provider_id}{what}", label="Mine", scopes="openid")
        assert response.status_code in (403, 409)
    visitor = visit(None)
    assert sign_in(visitor, provider, provider_id).status_code == 303
    # Without the setting it ends with its sessions, and can be removed.
    with wiring.database.writing() as session:
        providers.set_by_server(session, wiring.sealer, None)
    assert visitor.get("/communities").status_code == 303
    assert visitor.post(f"/sign-in/with/{provider_id}").status_code == 404
    assert admin.post(f"/sign-in-methods/{provider_id}/enable").status_code == 409
    assert admin.post(f"/sign-in-methods/{provider_id}/remove").status_code == 303


def test_an_invitation_is_accepted_by_a_person_who_has_no_password(
    visit: Visit,
    wiring: Wiring,
    cast: Cast,
    mailbox: Mailbox,
    provider: LyingProvider,
    provider_id: uuid.UUID,
) -> None:
    with wiring.database.writing() as session:
        roles = {cast.community_id: Role.ADMIN}
        admin = Actor(
            kind="account",
            name="Admin",
            account_id=cast.admin.account_id,
            roles=roles,
            communities=frozenset(roles),
        )
        invitations.invite(session, admin, cast.community_id, "person@example.org", Role.MODERATOR)
    path = mailbox.link("person@example.org")
    with wiring.database.writing() as session:
        session.add(SignInRules(id=1, passwords=False))
    visitor = visit(None)
    assert 'type="password"' not in visitor.get(path).text
    visitor.page_with_form = "/sign-in"
    assert visitor.post(path, display_name="P", password=PASSWORD).status_code == 403
    assert sign_in(visitor, provider, provider_id, next=path).location == path
    visitor.renew()
    assert visitor.post(path).status_code == 303
    identity = identity_of(wiring)
    assert identity is not None
    with wiring.database.reading() as session:
        theirs = sa.select(Membership.role).where(Membership.account_id == identity.account_id)
        assert list(session.scalars(theirs)) == [Role.MODERATOR]


def test_pages_that_list_providers_cost_the_same_for_many(
    visit: Visit,
    wiring: Wiring,
    cast: Cast,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    statements: Callable[[], Any],
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    admin = visit(cast.admin)
    pages = [(visit(None), "/sign-in"), (admin, "/settings"), (admin, "/sign-in-methods")]
    costs = []
    for more in (8, 0):
        with statements() as seen:
            for visitor, path in pages:
                assert visitor.get(path).status_code == 200
        costs.append(len(seen))
        with wiring.database.writing() as session:
            for number in range(more):
                draft = Draft(f"P{number}", f"https://p{number}.example", "bridgenote")
                providers.add(session, SYSTEM, wiring.sealer, draft, {}).enabled_at = clock.now()
    assert costs[0] == costs[1]


def test_a_step_that_was_not_finished_in_time_is_over(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, pass_time: object
) -> None:
    visitor = visit(None)
    answer = provider.authorize(leave(visitor, provider_id))
    pass_time(timedelta(minutes=11))  # type: ignore[operator]
    response = come_back(visitor, answer)
    assert response.status_code == 400
    assert "Begin again" in response.text


def test_a_logout_ends_sessions_of_which_the_provider_did_not_say_which_they_are(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    unsaid, other = visit(None), visit(None)
    sign_in(unsaid, provider, provider_id)
    sign_in(other, provider, provider_id, sid="two")
    token = provider.logout_token(sid="one")
    assert (
        visit(None).client.post(f"/sign-in/logout/{provider_id}", data={"logout_token": token}).status_code
        == 200
    )
    assert unsaid.get("/communities").status_code == 303
    assert other.get("/communities").status_code == 200
