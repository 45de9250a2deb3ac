"""What a provider, or somebody between it and the browser, may try: nobody is signed in, and the page says why."""

import base64
import hashlib
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from app.adapters.openid import HttpOpenId
from app.core import clock
from app.core.outbound import AllowList
from app.core.people.openid import ProviderRefused
from app.wiring import Wiring
from tests import stub_services
from tests.clocks import advance
from tests.lying_provider import (
    OTHER_KEY,
    LyingProvider,
    Sign,
    signed_by,
    signed_with_public_key,
    unsigned,
    with_critical_extension,
)
from tests.web.conftest import Visit
from tests.web.providers.visits import come_back, identity_of, leave, sign_in


def _now() -> int:
    return int(clock.now().timestamp())


def _same_id(key: RSAKey, key_id: str = "first") -> Sign:
    return signed_by(RSAKey.import_key({**key.as_dict(private=True), "kid": key_id}))


CLAIMS: list[tuple[str, Callable[[], dict[str, Any]], str]] = [
    ("another audience", lambda: {"aud": "another-service"}, "made for another service"),
    ("two audiences and no azp", lambda: {"aud": ["bridgenote", "another"]}, "made for another service"),
    ("azp of another", lambda: {"azp": "another-service"}, "made for another service"),
    ("another issuer", lambda: {"iss": "https://evil.example"}, "of another issuer"),
    ("an issuer with a slash more", lambda: {"iss": "http://127.0.0.1/"}, "of another issuer"),
    ("another nonce", lambda: {"nonce": "another"}, "belongs to another sign-in"),
    ("no nonce", lambda: {"nonce": None}, "belongs to another sign-in"),
    ("a nonce that is no text", lambda: {"nonce": 7}, "belongs to another sign-in"),
    ("expired", lambda: {"exp": _now() - 61}, "has expired"),
    ("no end", lambda: {"exp": None}, "has no exp"),
    ("an end that is no number", lambda: {"exp": "tomorrow"}, "has no exp"),
    ("from the future", lambda: {"iat": _now() + 62}, "not valid yet"),
    ("not yet valid", lambda: {"nbf": _now() + 62}, "not valid yet"),
    ("no person", lambda: {"sub": None}, "names no person"),
    ("a person that is no text", lambda: {"sub": ["Person-1"]}, "names no person"),
    ("a person that is too long", lambda: {"sub": "p" * 256}, "names no person"),
    ("another access token", lambda: {"at_hash": "bm90IHRoaXMgb25l"}, "does not belong to its ID token"),
]


@pytest.mark.parametrize(("_what", "changes", "words"), CLAIMS, ids=[row[0] for row in CLAIMS])
def test_claims_that_are_wrong_sign_nobody_in(
    visit: Visit,
    wiring: Wiring,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    _what: str,
    changes: Callable[[], dict[str, Any]],
    words: str,
) -> None:
    visitor = visit(None)
    response = sign_in(visitor, provider, provider_id, **changes())
    assert response.status_code == 400
    assert words in response.text
    assert visitor.get("/communities").status_code == 303
    assert identity_of(wiring) is None


def test_claims_that_are_nearly_late_are_taken(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    digest = hashlib.sha256(b"access").digest()
    changes = {
        "exp": _now() - 50,
        "iat": _now() + 50,
        "aud": ["bridgenote", "another"],
        "azp": "bridgenote",
        "at_hash": base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode(),
    }
    assert sign_in(visit(None), provider, provider_id, **changes).status_code == 303


SIGNATURES: list[tuple[str, Sign, str]] = [
    ("alg none", unsigned, "algorithm that is safe"),
    ("HS256 with the public key", signed_with_public_key, "algorithm that is safe"),
    ("a key of its own under a known id", _same_id(OTHER_KEY), "not signed by a key of the provider"),
    ("a key with an unknown id", signed_by(OTHER_KEY), "not signed by a key of the provider"),
    ("critical extensions", with_critical_extension, "extensions"),
    ("no token", lambda claims: "no.to.ken", "cannot be read"),
    ("a long token", lambda claims: "a" * 70_000, "too long"),
]


@pytest.mark.parametrize(("_what", "sign", "words"), SIGNATURES, ids=[row[0] for row in SIGNATURES])
def test_signatures_that_are_wrong_sign_nobody_in(
    visit: Visit,
    wiring: Wiring,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    _what: str,
    sign: Sign,
    words: str,
) -> None:
    provider.sign = sign
    response = sign_in(visit(None), provider, provider_id)
    assert response.status_code == 400
    assert words in response.text
    assert identity_of(wiring) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"iss": "https://evil.example"}, "from another issuer"),
        ({"iss": None}, "does not name the issuer"),
        ({"code": None}, "has no code"),
        ({"code": "code-of-another"}, "does not accept the code"),
        ({"code": None, "error": "access_denied"}, "cancelled or refused"),
        ({"code": None, "error": "<script>alert(1)</script>"}, "answered with an error"),
    ],
)
def test_an_answer_that_is_wrong_signs_nobody_in(
    visit: Visit,
    wiring: Wiring,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    change: dict[str, str | None],
    words: str,
) -> None:
    visitor = visit(None)
    answer = provider.authorize(leave(visitor, provider_id)) | change
    response = come_back(visitor, {name: value for name, value in answer.items() if value is not None})
    assert response.status_code == 400
    assert words in response.text
    assert "alert(1)" not in response.text
    assert identity_of(wiring) is None


def test_the_answer_of_one_provider_is_not_taken_for_that_of_another(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    """The mix-up attack: the code of an honest provider must not go to the token endpoint of the other."""
    visitor = visit(None)
    answer = provider.authorize(leave(visitor, provider_id))
    before = len(provider.seen)
    assert come_back(visitor, answer | {"iss": "https://honest.example"}).status_code == 400
    assert len(provider.seen) == before, "the code was sent nowhere"


def test_state_is_of_this_browser_and_used_once(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor, victim = visit(None), visit(None)
    answer = provider.authorize(leave(visitor, provider_id))
    leave(victim, provider_id)
    # A link that somebody else made: their code and state in the victim's browser.
    assert come_back(victim, answer).status_code == 400
    assert come_back(visitor, answer | {"state": "another"}).status_code == 400
    # A wrong state uses the step up, so it cannot be guessed.
    assert come_back(visitor, answer).status_code == 400
    assert come_back(visit(None), {}).status_code == 400
    again = provider.authorize(leave(visitor, provider_id))
    assert come_back(visitor, again).status_code == 303
    assert come_back(visitor, again).status_code == 400


def test_a_code_is_of_no_use_without_its_verifier(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    """A stolen code, put into another browser's answer, fails by PKCE before the nonce is looked at."""
    stolen = provider.authorize(leave(visit(None), provider_id))["code"]
    thief = visit(None)
    answer = provider.authorize(leave(thief, provider_id)) | {"code": stolen}
    response = come_back(thief, answer)
    assert response.status_code == 400
    assert "does not accept the code" in response.text
    assert identity_of(wiring) is None


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "\t//e.x"],
)
def test_the_way_back_leads_nowhere_else(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, target: str
) -> None:
    response = sign_in(visit(None), provider, provider_id, next=target)
    assert response.status_code == 303
    assert "evil" not in response.location.split("/")[0]
    assert response.location.startswith("/")
    assert not response.location.startswith("//")


def test_the_userinfo_endpoint_must_speak_of_the_same_person(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    provider.userinfo = {"sub": "Person-2", "email": "two@example.org", "groups": ["admins"]}
    response = sign_in(visit(None), provider, provider_id, groups=None)
    assert response.status_code == 400
    assert "another person" in response.text
    assert identity_of(wiring) is None


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (stub_services.dripping(), "did not answer within"),
        (stub_services.endless(), "more than 256 KB"),
        (stub_services.body(b"<html>"), "is no JSON"),
        (stub_services.body(b"[]"), "is no JSON object"),
        (stub_services.body(b"[" * 100_000), "is no JSON"),
        (stub_services.body(b"{}", **{"Content-Encoding": "gzip"}), "is compressed"),
        (stub_services.status(503), "answered 503"),
    ],
)
def test_a_provider_that_fails_is_named_and_no_page_fails(
    visit: Visit,
    wiring: Wiring,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    fault: Callable[[Any], None],
    words: str,
) -> None:
    visitor = visit(None)
    answer = provider.authorize(leave(visitor, provider_id))
    provider.fault = fault
    response = come_back(visitor, answer)
    assert response.status_code == 502
    assert f"Example: Its token endpoint {words}" in response.text or words in response.text
    with pytest.raises(ProviderRefused):
        wiring.openid.discover(provider.issuer)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"issuer": "https://evil.example"}, "names another issuer"),
        ({"issuer": None}, "names another issuer"),
        ({"token_endpoint": "http://169.254.169.254/token"}, "token_endpoint must start with https"),
        ({"jwks_uri": "https://10.0.0.1/keys"}, "private or reserved"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint must start with https"),
        ({"userinfo_endpoint": 7}, "userinfo_endpoint is missing"),
        ({"response_types_supported": ["token"]}, "authorization code"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
    ],
)
def test_a_discovery_document_that_is_wrong_is_not_taken(
    wiring: Wiring, provider: LyingProvider, document: dict[str, Any], words: str
) -> None:
    provider.document = document
    with pytest.raises(ProviderRefused) as refusal:
        wiring.openid.discover(provider.issuer)
    assert words in refusal.value.sentence


@pytest.mark.parametrize(
    "issuer", ["http://example.org", "https://10.0.0.1", "file:///etc/passwd", "https://a b"]
)
def test_an_issuer_is_public_and_https_unless_it_is_on_the_list_of_hosts(
    provider: LyingProvider, issuer: str
) -> None:
    client = HttpOpenId(AllowList())
    for one in (issuer, provider.issuer):
        with pytest.raises(ProviderRefused, match="The issuer must"):
            client.discover(one)
    assert provider.seen == []


def test_new_keys_are_fetched_for_an_unknown_id_but_once_a_minute(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetches() -> int:
        return [path for path, _ in provider.seen].count("/keys")

    assert sign_in(visit(None), provider, provider_id).status_code == 303
    assert sign_in(visit(None), provider, provider_id).status_code == 303
    assert fetches() == 1
    provider.sign, provider.keys = signed_by(OTHER_KEY), [OTHER_KEY]
    assert sign_in(visit(None), provider, provider_id).status_code == 400
    assert fetches() == 1, "the keys are too fresh to be asked for again"
    monkeypatch.setattr("app.adapters.openid.KEYS_AGAIN_AFTER", 0.0)
    assert sign_in(visit(None), provider, provider_id).status_code == 303
    assert fetches() == 2


LOGOUTS: list[tuple[str, dict[str, Any]]] = [
    ("another audience", {"aud": "another"}),
    ("another issuer", {"iss": "https://evil.example"}),
    ("an ID token", {"events": None}),
    ("another event", {"events": {"https://example.org/event": {}}}),
    ("events of another form", {"events": ["http://schemas.openid.net/event/backchannel-logout"]}),
    ("a nonce", {"nonce": "any"}),
    ("no id", {"jti": None}),
    ("neither person nor session", {"sub": None, "sid": None}),
    ("expired", {"exp": 1_000}),
    ("old and with a late end", {"exp": 90_000_000_000, "iat": 1_000}),
    ("old and without an end", {"exp": None, "iat": 1_000}),
    ("a session that is no text", {"sid": {"a": 1}}),
]


@pytest.mark.parametrize(("_what", "changes"), LOGOUTS, ids=[row[0] for row in LOGOUTS])
def test_a_logout_token_that_is_wrong_ends_nothing(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, _what: str, changes: dict[str, Any]
) -> None:
    visitor = visit(None)
    sign_in(visitor, provider, provider_id)
    path = f"/sign-in/logout/{provider_id}"
    token = provider.logout_token(**changes)
    response = visit(None).client.post(path, data={"logout_token": token})
    assert response.status_code == 400
    assert response.json["error"] == "invalid_request"
    assert visitor.get("/communities").status_code == 200
    for sign in (unsigned, signed_with_public_key, signed_by(OTHER_KEY)):
        provider.sign = sign
        response = visit(None).client.post(path, data={"logout_token": provider.logout_token()})
        assert response.status_code == 400
    assert visit(None).client.post(path).status_code == 400
    assert visitor.get("/communities").status_code == 200


def test_a_logout_of_an_unknown_person_or_provider_ends_nothing(
    visit: Visit, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    sign_in(visitor, provider, provider_id)
    server = visit(None).client
    token = provider.logout_token(sub="person-1")
    assert server.post(f"/sign-in/logout/{provider_id}", data={"logout_token": token}).status_code == 200
    token = provider.logout_token()
    assert server.post(f"/sign-in/logout/{uuid.uuid4()}", data={"logout_token": token}).status_code == 404
    assert visitor.get("/communities").status_code == 200


def test_a_proof_has_to_be_fresh(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    sign_in(visitor, provider, provider_id)
    visitor.renew()
    advance(seconds=700)
    old = {"auth_time": _now() - 700}
    answer = provider.authorize(leave(visitor, provider_id, "/sign-in/again/{}", next="/settings"), **old)
    response = come_back(visitor, answer)
    assert response.status_code == 400
    assert "did not ask you to sign in again" in response.text
    url = leave(visitor, provider_id, "/sign-in/again/{}", next="/settings")
    assert "max_age=0" in url
    response = come_back(visitor, provider.authorize(url, sub="person-2"))
    assert response.status_code == 403
    url = leave(visitor, provider_id, "/sign-in/again/{}", next="/settings")
    assert come_back(visitor, provider.authorize(url)).location == "/settings"
