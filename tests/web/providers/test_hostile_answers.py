"""What is sent to the pages of sign-in by a stranger, or by a provider that went bad, is refused and breaks nothing."""

import base64
import json
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from joserfc import jws

from app.core.models import IdentityProvider
from app.throttle import Throttle
from app.wiring import Wiring
from tests.lying_provider import FIRST_KEY, LyingProvider
from tests.web.conftest import Visit
from tests.web.providers.visits import identity_of, leave, sign_in


def _escaped(claims: Mapping[str, Any]) -> str:
    """Sign claims whose JSON escapes what UTF-8 cannot express, as a lone surrogate."""
    return jws.serialize_compact(
        {"alg": "RS256", "kid": FIRST_KEY.kid}, json.dumps(dict(claims)).encode(), FIRST_KEY
    )


def _packed(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "header",
    ['{"alg": ["RS256"]}', '{"alg": {"of": 1}}', "[" * 40_000, "[]", '{"alg": "RS256", "kid": ["first"]}'],
)
def test_logout_tokens_with_strange_headers_are_refused(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, header: str
) -> None:
    token = f"{_packed(header)}.{_packed('{}')}.c2ln"
    response = visit(None).client.post(f"/sign-in/logout/{provider_id}", data={"logout_token": token})
    assert response.status_code == 400


@pytest.mark.parametrize(
    "changes",
    [{"sub": "Per\x00son"}, {"sid": "a\x00b"}, {"sid": "\ud800"}, {"jti": "\ud800"}, {"sub": "\ud800"}],
)
def test_logout_tokens_with_texts_that_cannot_be_stored_are_refused(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, changes: dict[str, Any]
) -> None:
    provider.sign = _escaped
    token = provider.logout_token(**changes)
    response = visit(None).client.post(f"/sign-in/logout/{provider_id}", data={"logout_token": token})
    assert response.status_code == 400


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "\ud800"},
        {"at_hash": "\ud800"},
        {"at_hash": ["x"]},
        {"sub": 7},
        {"sub": "Per\x00son"},
        {"aud": []},
        {"aud": [["bridgenote"]]},
        {"iss": ["x"]},
        {"exp": 1e400},
    ],
)
def test_hostile_claims_are_refused(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID, changes: dict[str, Any]
) -> None:
    provider.sign = _escaped
    assert sign_in(visit(None), provider, provider_id, **changes).status_code == 400
    assert identity_of(wiring) is None


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"sid": "a\x00b"}, 400),
        ({"sid": "\ud800"}, 400),
        ({"sid": 5}, 303),
        ({"groups": {"a": "b"}}, 303),
        ({"groups": ["a\x7f", 5, None, ["x"], {"y": "z"}]}, 303),
        ({"groups": ["\ud800"]}, 400),
        ({"groups": [f"group-{number}" for number in range(3_000)]}, 303),
        ({"name": "\x00"}, 400),
        ({"name": "\x07\u202e"}, 303),
        ({"name": ["A"]}, 303),
        ({"name": "n" * 30_000}, 303),
        ({"email": ["a@example.org"]}, 403),
        ({"email": "\ud800@example.org"}, 400),
        ({"email": "a" * 300 + "@example.org"}, 403),
    ],
)
def test_hostile_descriptions_break_nothing(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, changes: dict[str, Any], status: int
) -> None:
    provider.sign = _escaped
    response = sign_in(visit(None), provider, provider_id, **changes)
    assert response.status_code == status, response.text


KEPT = [
    '["/a", "/b", "t", [["x", "\\ud800"]], false]',
    '["/\\ud800", "/b", "\\ud800", [], false]',
    '["/a", "/b", "t", [["x", "\\u0000"]], false]',
    "[" * 100_000,
    '["/a", "/b", "t", 5, false]',
    "5",
]


@pytest.mark.parametrize("kept", KEPT)
def test_hostile_kept_forms_break_nothing(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, kept: str
) -> None:
    visitor = visit(None)
    assert (
        visitor.post("/sign-in", email="a@b.example", password="wrong wrong wrong", kept=kept).status_code
        == 401
    )
    leave(visitor, provider_id, kept=kept)
    assert visitor.post("/sign-in/passkey", credential=kept, kept=kept).status_code in (401, 404)


def test_a_stranger_has_a_provider_that_is_down_asked_only_so_often(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    settings = {"rate_limit_enabled": True, "rate_limit_sign_in_address": "3 per day"}
    wiring.throttle = Throttle.from_settings(wiring.settings.model_copy(update=settings))
    with wiring.database.writing() as session:
        session.get_one(IdentityProvider, provider_id).discovered = None
    provider.document = {"issuer": "https://elsewhere.example"}
    seen = len(provider.seen)
    path, token = f"/sign-in/logout/{provider_id}", provider.logout_token()
    posted = [visit(None).client.post(path, data={"logout_token": token}).status_code for _ in range(5)]
    assert posted == [400, 400, 400, 429, 429]
    assert len(provider.seen) - seen == 3
    visitor = visit(None)
    visitor.client.environ_base["REMOTE_ADDR"] = "192.0.2.1"
    pressed = [visitor.post(f"/sign-in/with/{provider_id}").status_code for _ in range(5)]
    assert pressed == [503, 503, 503, 429, 429]
    assert len(provider.seen) - seen == 6
