"""Signing in with two real providers: PKCE, groups to roles, refreshes, a proof, and logouts by the back channel."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.serving import make_server

from app.adapters.openid import HttpOpenId
from app.core.models import GroupRole, Identity, IdentityProvider, Membership
from app.core.outbound import AllowList
from app.core.people import providers
from app.core.people.providers import Draft
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.jobs import sign_in as jobs
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import Visit, Visitor
from tests.web.providers.real import CLIENT, OidcProvider, RealProvider, glewlwyd, oidc_provider
from tests.web.providers.visits import come_back, leave

KINDS = {"oidc-provider": oidc_provider, "glewlwyd": glewlwyd}


@pytest.fixture(scope="module")
def running() -> Iterator[dict[str, RealProvider]]:
    """The providers by kind, each started by the first test that needs it."""
    with ExitStack() as stack:

        class Started(dict[str, RealProvider]):
            def __missing__(self, kind: str) -> RealProvider:
                self[kind] = stack.enter_context(KINDS[kind]())
                return self[kind]

        yield Started()


@pytest.fixture(params=KINDS)
def real(request: pytest.FixtureRequest, running: dict[str, RealProvider], wiring: Wiring) -> RealProvider:
    provider = running[request.param]
    wiring.openid = HttpOpenId(AllowList.parse(provider.issuer.split("/")[2]))
    provider.set_groups("staff")
    return provider


only_oidc_provider = pytest.mark.parametrize("real", ["oidc-provider"], indirect=True)


@pytest.fixture
def real_id(real: RealProvider, wiring: Wiring, cast: Cast) -> uuid.UUID:
    """The provider's id here. Its staff moderate in the community."""
    draft = Draft(label="Real", issuer=real.issuer, scopes=real.scopes, **CLIENT)
    document = wiring.openid.discover(real.issuer)
    with wiring.database.writing() as session:
        row = providers.add(session, SYSTEM, wiring.sealer, draft, document)
        providers.record_try(session, SYSTEM, row.id)
        session.flush()
        providers.enable(session, SYSTEM, row.id)
        session.add(
            GroupRole(provider_id=row.id, community_id=cast.community_id, value="staff", role=Role.MODERATOR)
        )
        return row.id


@pytest.fixture
def signed_in(visit: Visit, real: RealProvider, real_id: uuid.UUID) -> Visitor:
    visitor = visit(None)
    response = come_back(visitor, real.authorize(leave(visitor, real_id)))
    assert response.status_code == 303, response.text
    return visitor


def _identity(wiring: Wiring) -> Identity | None:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Identity)).one_or_none()


def _roles(wiring: Wiring) -> list[Role]:
    identity = _identity(wiring)
    assert identity is not None
    with wiring.database.reading() as session:
        theirs = sa.select(Membership.role).where(Membership.account_id == identity.account_id)
        return list(session.scalars(theirs))


@only_oidc_provider
def test_discovery_says_what_we_rely_on(real: RealProvider, real_id: uuid.UUID, wiring: Wiring) -> None:
    with wiring.database.reading() as session:
        discovered = session.get_one(IdentityProvider, real_id).discovered
    assert discovered is not None
    assert discovered["authorization_response_iss_parameter_supported"] is True
    assert discovered["backchannel_logout_supported"] is True


def test_a_person_signs_in_and_their_groups_give_roles(signed_in: Visitor, wiring: Wiring) -> None:
    assert signed_in.get("/review").status_code == 200
    assert _roles(wiring) == [Role.MODERATOR]
    identity = _identity(wiring)
    assert identity is not None
    assert identity.refresh_token is not None


def test_a_person_comes_back_to_the_same_account(
    signed_in: Visitor, visit: Visit, real: RealProvider, real_id: uuid.UUID, wiring: Wiring
) -> None:
    again = visit(None)
    assert come_back(again, real.authorize(leave(again, real_id))).status_code == 303
    assert _roles(wiring) == [Role.MODERATOR]


def test_a_code_is_of_no_use_to_another_browser(
    visit: Visit, real: RealProvider, real_id: uuid.UUID, wiring: Wiring
) -> None:
    stolen = real.authorize(leave(visit(None), real_id))
    thief = visit(None)
    answer = real.authorize(leave(thief, real_id)) | {"code": stolen["code"]}
    assert come_back(thief, answer).status_code == 400
    assert thief.get("/communities").status_code == 303
    assert _identity(wiring) is None


def test_roles_follow_a_refresh_and_a_person_who_is_gone_is_out(
    signed_in: Visitor, real: RealProvider, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its clock is the machine's, so ours cannot be moved.
    monkeypatch.setattr("app.core.people.refreshes.REFRESH_EVERY", timedelta(0))
    for _ in range(2):
        jobs.refresh(wiring)
        assert _roles(wiring) == [Role.MODERATOR]
    real.set_groups("guests")
    jobs.refresh(wiring)
    assert _roles(wiring) == []
    assert signed_in.get("/review").status_code == 303
    real.remove_person()
    jobs.refresh(wiring)
    identity = _identity(wiring)
    assert identity is not None
    assert identity.refresh_token is None


@pytest.fixture
def reachable(app: Flask) -> Iterator[str]:
    """The service over a real socket, for calls of the provider."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@only_oidc_provider
def test_a_sign_out_there_ends_the_session_here(
    signed_in: Visitor, real: OidcProvider, real_id: uuid.UUID, reachable: str
) -> None:
    real.control(backchannel_logout_uri=f"{reachable}/sign-in/logout/{real_id}")
    assert signed_in.get("/review").status_code == 200
    real.sign_out()
    assert signed_in.get("/review").status_code == 303
    assert "the provider that you sign in with ended your session" in signed_in.get("/sign-in").text


@only_oidc_provider
def test_a_proof_asks_for_the_password_again(
    signed_in: Visitor, real: OidcProvider, real_id: uuid.UUID
) -> None:
    signed_in.renew()
    url = leave(signed_in, real_id, "/sign-in/again/{}", next="/settings")
    page = real.browser.get(url, follow_redirects=True)
    assert 'name="login"' in page.text, "it does not take the session that it has"
    assert come_back(signed_in, real.authorize(url)).location == "/settings"
