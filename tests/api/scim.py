"""A sign-in provider with a key for SCIM, and calls as its client makes them."""

import uuid
from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.core.models import IdentityProvider
from app.core.people import scim_keys
from app.core.permissions import SYSTEM
from app.wiring import Wiring

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"


@dataclass
class Scim:
    """The SCIM client of one provider."""

    app: Flask
    provider_id: uuid.UUID
    key: str

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.key}", **options.pop("headers", {})}
        if body is not None:
            options |= {"json": body}
            headers.setdefault("Content-Type", "application/scim+json")
        return self.app.test_client().open(f"/scim/v2{path}", method=method, headers=headers, **options)

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.call("GET", path, **options)

    def user(self, name: str, **attributes: Any) -> dict[str, Any]:
        """Create a person, by default with the address ``name`` at example.com, and return the answer."""
        body = {
            "schemas": [USER],
            "userName": f"{name}@example.com",
            "externalId": f"id-{name}",
            "displayName": name.title(),
            "active": True,
            "emails": [{"value": f"{name}@example.com", "type": "work", "primary": True}],
        }
        created = self.call("POST", "/Users", body | attributes)
        assert created.status_code == 201, created.text
        answer: dict[str, Any] = created.json
        return answer

    def group(self, name: str, *members: str, **attributes: Any) -> str:
        """Create a group with these people and return its id."""
        body = {"schemas": [GROUP], "displayName": name, "members": [{"value": one} for one in members]}
        created = self.call("POST", "/Groups", body | attributes)
        assert created.status_code == 201, created.text
        return str(created.json["id"])

    def patch(self, path: str, *operations: dict[str, Any]) -> TestResponse:
        return self.call("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})

    def members(self, group_id: str) -> set[str]:
        return {one["value"] for one in self.get(f"/Groups/{group_id}").json.get("members", [])}


def add_provider(app: Flask, wiring: Wiring, label: str = "Harbour SSO") -> Scim:
    """Add a provider that has a key."""
    with wiring.database.writing() as session:
        host = label.split()[0].lower()
        provider = IdentityProvider(label=label, issuer=f"https://{host}.example.org", client_id="bridgenote")
        session.add(provider)
        session.flush()
        return Scim(app, provider.id, scim_keys.make(session, SYSTEM, provider.id))
