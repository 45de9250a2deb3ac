"""A person whom the provider sent by SCIM is the one who signs in there (docs/run/scim.md)."""

import uuid
from datetime import timedelta

from flask import Flask

from app.core import clock, limits
from app.core.models import Account
from app.core.people import credentials, scim_keys
from app.core.permissions import SYSTEM
from app.wiring import Wiring
from tests.api.scim import Scim
from tests.lying_provider import LyingProvider
from tests.web.conftest import Visit
from tests.web.providers.visits import account_with, identity_of, open_sessions, sign_in

OFF = {"op": "replace", "path": "active", "value": False}


def test_who_was_created_by_scim_signs_in_until_they_are_deactivated(
    visit: Visit, app: Flask, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    with wiring.database.writing() as session:
        scim = Scim(app, provider_id, scim_keys.make(session, SYSTEM, provider_id))
    sent = scim.user("dana", externalId="Person-1")
    visitor = visit(None)
    assert sign_in(visitor, provider, provider_id, next="/communities").status_code == 303
    identity, account = identity_of(wiring), account_with(wiring, "dana@example.com")
    assert identity is not None
    assert account is not None
    assert (str(identity.id), identity.account_id) == (sent["id"], account.id)
    assert account_with(wiring, "person@example.org") is None
    assert visitor.get("/communities").status_code == 200
    assert scim.patch(f"/Users/{sent['id']}", OFF).status_code == 200
    assert visitor.get("/communities").status_code == 303
    assert open_sessions(wiring, account.id) == []
    assert sign_in(visit(None), provider, provider_id).status_code == 403
    assert open_sessions(wiring, account.id) == []


def test_who_signs_in_with_an_address_unconfirmed_stays_a_member_when_scim_renames_them(
    visit: Visit, app: Flask, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    assert sign_in(visitor, provider, provider_id, email_verified=None).status_code == 303
    with wiring.database.writing() as session:
        scim = Scim(app, provider_id, scim_keys.make(session, SYSTEM, provider_id))
    address = [{"value": "person@example.org"}]
    sent = scim.user("person", externalId="Person-1", emails=address)
    renamed = scim.call("PUT", f"/Users/{sent['id']}", sent | {"displayName": "Dana", "emails": address})
    assert (renamed.status_code, renamed.json["displayName"]) == (200, "Dana")
    identity = identity_of(wiring)
    assert identity is not None
    with wiring.database.reading() as session:
        account = session.get_one(Account, identity.account_id)
        assert account.email == "person@example.org" + limits.UNCONFIRMED
    moved = scim.call("PUT", f"/Users/{sent['id']}", sent | {"emails": [{"value": "dana@example.org"}]})
    assert moved.status_code == 200
    with wiring.database.writing() as session:
        account = session.get_one(Account, identity.account_id)
        assert account.email == "dana@example.org"
        assert account.confirmed_at is not None, "the provider vouches for it"
        assert credentials.prune_unconfirmed(session, clock.now() + timedelta(days=1)) == 0
    assert visitor.get("/communities").status_code == 200
