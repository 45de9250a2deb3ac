"""The page Sign-in: service admins add, try, enable, change and remove providers (docs/run/sign-in.md)."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.models import Account, Identity, IdentityProvider
from app.wiring import Wiring
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.lying_provider import CLIENT_ID, CLIENT_SECRET, LyingProvider
from tests.web.conftest import Visit, Visitor
from tests.web.providers.visits import come_back, identity_of, leave, sign_in

FIELDS = {"label": "Example", "scopes": "openid email", "groups_claim": "groups", "creates_accounts": "y"}
CLIENT = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}


@pytest.fixture
def service_admin(visit: Visit, wiring: Wiring, cast: Cast) -> Visitor:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    return visit(cast.admin)


def _row(wiring: Wiring) -> IdentityProvider | None:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(IdentityProvider)).one_or_none()


def test_a_provider_is_added_tried_and_enabled(
    service_admin: Visitor, visit: Visit, wiring: Wiring, provider: LyingProvider
) -> None:
    assert "Sign-in" in service_admin.get("/communities").text
    assert "/sign-in/callback" in service_admin.get("/sign-in-methods/new").text
    response = service_admin.post("/sign-in-methods/new", issuer=provider.issuer, **CLIENT, **FIELDS)
    assert response.status_code == 303
    row = _row(wiring)
    assert row is not None
    assert row.enabled_at is None
    assert row.client_secret is not None
    assert CLIENT_SECRET.encode() not in row.client_secret
    page = service_admin.get(response.location).text
    assert f"{provider.issuer}/token" in page
    assert f"/sign-in/logout/{row.id}" in page
    assert CLIENT_SECRET not in page
    # It is no way in before it was tried.
    assert service_admin.post(f"/sign-in-methods/{row.id}/enable").status_code == 409
    visitor = visit(None)
    assert "Example" not in visitor.get("/sign-in").text
    assert visitor.post(f"/sign-in/with/{row.id}").status_code == 404
    shown = come_back(
        service_admin, provider.authorize(leave(service_admin, row.id, "/sign-in-methods/{}/try"))
    )
    assert shown.status_code == 200
    assert "Person-1" in shown.text
    assert "staff" in shown.text
    assert identity_of(wiring) is None, "a try connects nothing"
    assert service_admin.post(f"/sign-in-methods/{row.id}/enable").status_code == 303
    assert sign_in(visitor, provider, row.id).status_code == 303


def test_a_try_that_fails_does_not_count(
    service_admin: Visitor, wiring: Wiring, provider: LyingProvider
) -> None:
    service_admin.post("/sign-in-methods/new", issuer=provider.issuer, client_id=CLIENT_ID, **FIELDS)
    row = _row(wiring)
    assert row is not None
    shown = come_back(
        service_admin, provider.authorize(leave(service_admin, row.id, "/sign-in-methods/{}/try"))
    )
    assert shown.status_code == 502
    assert "client id or secret" in shown.text
    assert service_admin.post(f"/sign-in-methods/{row.id}/enable").status_code == 409


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"issuer": "http://10.0.0.1"}, "must start with https"),
        ({"issuer": ""}, "Enter the issuer"),
        ({"issuer": "https://\u00e4.example"}, "without spaces and accents"),
        ({"client_id": ""}, "Enter the client id"),
        ({"client_id": "x" * 256}, "at most 255"),
        ({"client_secret": "\u00e4"}, "without accents"),
        ({"scopes": "email"}, "must include openid"),
        ({"label": "x" * 101}, "at most 100"),
        ({"label": "a\x00b"}, "Label"),
        ({"groups_claim": "x" * 101}, "at most 100"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    service_admin: Visitor, wiring: Wiring, provider: LyingProvider, changed: dict[str, str], words: str
) -> None:
    response = service_admin.post(
        "/sign-in-methods/new", **({"issuer": provider.issuer} | CLIENT | FIELDS | changed)
    )
    assert response.status_code == 422
    assert words in response.text
    assert _row(wiring) is None


def test_the_same_provider_is_not_added_twice(
    service_admin: Visitor, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    response = service_admin.post("/sign-in-methods/new", issuer=provider.issuer, **CLIENT, **FIELDS)
    assert response.status_code == 422
    assert "is that of another provider" in response.text
    response = service_admin.post(
        "/sign-in-methods/new", **({"issuer": provider.issuer} | CLIENT | FIELDS | {"label": "Second"})
    )
    assert response.status_code == 422
    assert "has a provider with this client id" in response.text


def test_a_changed_provider_keeps_its_secret_unless_another_is_entered(
    service_admin: Visitor, visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    path = f"/sign-in-methods/{provider_id}"
    response = service_admin.post(path, etag="1", **FIELDS | {"label": "Renamed"})
    assert response.status_code == 303
    assert "Sign in with Renamed" in visit(None).get("/sign-in").text
    assert sign_in(visit(None), provider, provider_id).status_code == 303
    assert service_admin.post(path, etag="1", **FIELDS).status_code == 409, "of another version"
    assert service_admin.post(path, etag="2", client_secret="wrong", **FIELDS).status_code == 303
    assert sign_in(visit(None), provider, provider_id).status_code == 502


def test_a_removed_provider_signs_nobody_in_and_takes_its_sessions_along(
    service_admin: Visitor,
    visit: Visit,
    wiring: Wiring,
    jobs: InlineEngine,
    provider: LyingProvider,
    provider_id: uuid.UUID,
) -> None:
    visitor = visit(None)
    sign_in(visitor, provider, provider_id)
    answer = provider.authorize(leave(visit(None), provider_id))
    assert service_admin.post(f"/sign-in-methods/{provider_id}/remove").status_code == 303
    jobs.run_all()
    assert visitor.get("/communities").status_code == 303
    assert come_back(visit(None), answer).status_code == 400
    with wiring.database.reading() as session:
        assert session.get_one(IdentityProvider, provider_id).client_secret is None
        assert session.scalars(sa.select(Identity.refresh_token)).one() is None
    assert service_admin.get(f"/sign-in-methods/{provider_id}").status_code == 404
    # The same can be set up anew.
    assert (
        service_admin.post("/sign-in-methods/new", issuer=provider.issuer, **CLIENT, **FIELDS).status_code
        == 303
    )
