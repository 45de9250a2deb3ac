"""What the tests of sign-in providers share: a provider in the database, and a browser's way there and back."""

import re
import uuid
from html import unescape
from typing import Any

import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core import clock
from app.core.models import Account, Identity, SignIn
from app.core.people import providers
from app.core.people.providers import Draft
from app.core.permissions import SYSTEM
from app.wiring import Wiring
from tests.lying_provider import CLIENT_ID, CLIENT_SECRET, LyingProvider
from tests.web.conftest import Visitor


def add(wiring: Wiring, provider: LyingProvider, *, is_enabled: bool = True, **draft: Any) -> uuid.UUID:
    settings = {"label": "Example", "issuer": provider.issuer, "client_id": CLIENT_ID} | draft
    document = wiring.openid.discover(provider.issuer)
    with wiring.database.writing() as session:
        row = providers.add(
            session, SYSTEM, wiring.sealer, Draft(client_secret=CLIENT_SECRET, **settings), document
        )
        if is_enabled:
            row.tried_at = clock.now()
            session.flush()
            providers.enable(session, SYSTEM, row.id)
        return row.id


def leave(visitor: Visitor, provider_id: uuid.UUID, path: str = "/sign-in/with/{}", **data: str) -> str:
    """Press the button and return the address at the provider."""
    response = visitor.post(path.format(provider_id), **data)
    assert response.status_code == 200, response.text
    url = response.headers["Refresh"].removeprefix("0; url=")
    links = [unescape(link) for link in re.findall(r'href="([^"]+)"', response.text)]
    assert url in links, "without the header, the page's link leads there"
    return url


def come_back(visitor: Visitor, answer: dict[str, str]) -> TestResponse:
    return visitor.client.get("/sign-in/callback", query_string=answer)


def sign_in(
    visitor: Visitor, provider: LyingProvider, provider_id: uuid.UUID, next: str = "/", **changes: Any
) -> TestResponse:
    """Go to the provider and come back. ``changes`` replace claims of the ID token."""
    return come_back(visitor, provider.authorize(leave(visitor, provider_id, next=next), **changes))


def open_sessions(wiring: Wiring, account_id: uuid.UUID) -> list[SignIn]:
    with wiring.database.reading() as session:
        theirs = sa.select(SignIn).where(SignIn.account_id == account_id, SignIn.ended_at.is_(None))
        return list(session.scalars(theirs))


def identity_of(wiring: Wiring, subject: str = "Person-1") -> Identity | None:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Identity).where(Identity.subject == subject)).one_or_none()


def account_with(wiring: Wiring, email: str) -> Account | None:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Account).where(Account.email == email)).one_or_none()
