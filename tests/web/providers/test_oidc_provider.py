"""Signing in with a certified provider, the package ``oidc-provider``, on loopback.

``scripts/clients`` installs it the first time with a Node.js that it runs on, which needs PyPI and the npm registry.
"""

import json
import re
import subprocess
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.serving import make_server

from app.adapters.openid import HttpOpenId
from app.core.models import GroupRole, IdentityProvider, Membership
from app.core.outbound import AllowList
from app.core.people import providers
from app.core.people.providers import Draft
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.jobs import sign_in as jobs
from app.wiring import Wiring
from tests.browser.live import ROOT
from tests.cast import Cast
from tests.faults.service import free_port
from tests.web.conftest import Visit, Visitor
from tests.web.providers.visits import come_back, identity_of, leave

CLIENT = {"client_id": "bridgenote", "client_secret": "a-secret-of-the-client"}
SCOPES = "openid email profile groups offline_access"


@dataclass
class RealProvider:
    """The running provider. ``browser`` keeps its cookies there."""

    issuer: str
    browser: httpx.Client

    def control(self, **change: Any) -> None:
        assert httpx.post(f"{self.issuer}/control", json=change).status_code == 200

    def authorize(self, url: str, login: str = "robin") -> dict[str, str]:
        """Sign in there and consent, as its pages ask; return what the browser brings back."""
        response = self.browser.get(url)
        for _ in range(12):
            location = response.headers.get("Location")
            if location and location.startswith("http://localhost/"):
                return dict(parse_qsl(urlsplit(location).query))
            if location:
                response = self.browser.get(httpx.URL(url).join(location))
                continue
            assert response.status_code == 200, response.text
            response = self._submit(response, login)
        raise AssertionError("the provider leads in a circle")

    def sign_out(self) -> None:
        """Sign out there; the provider tells its clients by the back channel."""
        response = self.browser.get(f"{self.issuer}/session/end")
        form = re.search(r'<form[^>]*action="([^"]+)"', response.text)
        token = re.search(r'name="xsrf" value="([^"]+)"', response.text)
        assert form, response.text
        assert token, response.text
        self.browser.post(form[1], data={"xsrf": token[1], "logout": "yes"})

    def _submit(self, response: httpx.Response, login: str) -> httpx.Response:
        form = re.search(r'<form[^>]*action="([^"]+)"', response.text)
        assert form, response.text
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', response.text))
        if 'name="login"' in response.text:
            fields |= {"login": login, "password": "any"}
        return self.browser.post(unescape(form[1]), data=fields)


@pytest.fixture(scope="module")
def running() -> Iterator[str]:
    """The provider's issuer."""
    installed = subprocess.run(
        ["scripts/clients"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=True
    )
    folder, port = Path(installed.stdout.strip()), free_port()
    settings = {
        "port": port,
        "redirect_uri": "http://localhost/sign-in/callback",
        "modules": str(folder / "node_modules"),
        **CLIENT,
    }
    program = Path(__file__).with_name("oidc_provider.mjs")
    with subprocess.Popen(
        [folder / "bin/node", program, json.dumps(settings)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.strip() == "ready":
                    break
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.fixture
def real(running: str, wiring: Wiring) -> Iterator[RealProvider]:
    wiring.openid = HttpOpenId(AllowList.parse(running.removeprefix("http://")))
    with httpx.Client(timeout=10) as browser:
        provider = RealProvider(running, browser)
        person = {"email": "robin@example.org", "email_verified": True, "name": "Robin", "groups": ["staff"]}
        provider.control(people={"robin": person})
        yield provider


@pytest.fixture
def real_id(real: RealProvider, wiring: Wiring, cast: Cast) -> uuid.UUID:
    """The provider's id here. Its staff moderate in the community."""
    draft = Draft(label="Real", issuer=real.issuer, scopes=SCOPES, **CLIENT)
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


def _roles(wiring: Wiring) -> list[Role]:
    identity = identity_of(wiring, "robin")
    assert identity is not None
    with wiring.database.reading() as session:
        theirs = sa.select(Membership.role).where(Membership.account_id == identity.account_id)
        return list(session.scalars(theirs))


def test_discovery_says_what_we_rely_on(real: RealProvider, real_id: uuid.UUID, wiring: Wiring) -> None:
    with wiring.database.reading() as session:
        discovered = session.get_one(IdentityProvider, real_id).discovered
    assert discovered is not None
    assert discovered["authorization_response_iss_parameter_supported"] is True
    assert discovered["backchannel_logout_supported"] is True


def test_a_person_signs_in_and_their_groups_give_roles(signed_in: Visitor, wiring: Wiring) -> None:
    assert signed_in.get("/review").status_code == 200
    assert _roles(wiring) == [Role.MODERATOR]
    identity = identity_of(wiring, "robin")
    assert identity is not None
    assert identity.refresh_token is not None


def test_a_code_is_of_no_use_to_another_browser_or_a_second_time(
    visit: Visit, real: RealProvider, real_id: uuid.UUID, wiring: Wiring
) -> None:
    stolen = real.authorize(leave(visit(None), real_id))
    thief = visit(None)
    answer = real.authorize(leave(thief, real_id)) | {"code": stolen["code"]}
    response = come_back(thief, answer)
    assert response.status_code == 400
    assert "does not accept the code" in response.text
    assert identity_of(wiring, "robin") is None


def test_roles_follow_a_refresh_and_a_person_who_is_gone_is_out(
    signed_in: Visitor,
    real: RealProvider,
    wiring: Wiring,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Its clock is the machine's, so ours cannot be moved.
    monkeypatch.setattr("app.core.people.identities.REFRESH_EVERY", timedelta(0))
    for _ in range(2):
        jobs.refresh(wiring)
        assert _roles(wiring) == [Role.MODERATOR]
    real.control(people={"robin": {"email": "robin@example.org", "groups": ["guests"]}})
    jobs.refresh(wiring)
    assert _roles(wiring) == []
    assert signed_in.get("/review").status_code == 303
    real.control(people={"robin": None})
    jobs.refresh(wiring)
    identity = identity_of(wiring, "robin")
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


def test_a_sign_out_there_ends_the_session_here(
    signed_in: Visitor,
    real: RealProvider,
    real_id: uuid.UUID,
    reachable: str,
) -> None:
    real.control(backchannel_logout_uri=f"{reachable}/sign-in/logout/{real_id}")
    assert signed_in.get("/review").status_code == 200
    real.sign_out()
    assert signed_in.get("/review").status_code == 303
    assert "the provider that you sign in with ended your session" in signed_in.get("/sign-in").text


def test_a_proof_asks_for_the_password_again(
    signed_in: Visitor, real: RealProvider, real_id: uuid.UUID
) -> None:
    signed_in.renew()
    url = leave(signed_in, real_id, "/sign-in/again/{}", next="/settings")
    page = real.browser.get(url, follow_redirects=True)
    assert 'name="login"' in page.text, "it does not take the session that it has"
    assert come_back(signed_in, real.authorize(url)).location == "/settings"
