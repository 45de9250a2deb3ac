"""A person whom the provider sent by SCIM is the one who signs in there (docs/run/scim.md)."""

import uuid

from flask import Flask

from app.core.people import scim_keys
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
