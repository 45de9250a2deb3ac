"""An OpenID Connect provider over real sockets that lies as it is told: what it signs, says and answers can be set.

``authorize`` stands for the browser's visit there: it gives the callback's parameters. Told nothing, it is honest.
"""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from app.core import clock

CLIENT_ID, CLIENT_SECRET = "bridgenote", "a-secret-of-the-client"
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
FIRST_KEY = RSAKey.generate_key(2048, {"kid": "first"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "other"})

Sign = Callable[[Mapping[str, Any]], str]


def signed_by(key: RSAKey, algorithm: str = "RS256", **header: Any) -> Sign:
    """Sign with this key."""
    return lambda claims: jwt.encode({"alg": algorithm, "kid": key.kid, **header}, dict(claims), key)


def unsigned(claims: Mapping[str, Any]) -> str:
    """A token with ``alg`` none and no signature."""
    parts = (_packed({"alg": "none", "kid": "first"}), _packed(claims))
    return ".".join(parts) + "."


def signed_with_public_key(claims: Mapping[str, Any]) -> str:
    """A token whose HS256 secret is the provider's public key, which everybody knows."""
    text = f"{_packed({'alg': 'HS256', 'kid': 'first'})}.{_packed(claims)}"
    digest = hmac.digest(FIRST_KEY.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def with_critical_extension(claims: Mapping[str, Any]) -> str:
    """A token whose reader must know an extension (RFC 7515, 4.1.11)."""
    header = {"alg": "RS256", "kid": "first", "crit": ["example"], "example": 1}
    return f"{_packed(header)}.{_packed(claims)}.c2lnbmF0dXJl"


def _packed(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(dict(value)).encode()).rstrip(b"=").decode()


@dataclass
class LyingProvider:
    """What it says of the person who signs in: ``claims``. ``changes`` replaces claims of the next tokens."""

    server: ThreadingHTTPServer
    claims: dict[str, Any] = field(
        default_factory=lambda: {
            "sub": "Person-1",
            "email": "person@example.org",
            "email_verified": True,
            "name": "A Person",
            "groups": ["staff"],
        }
    )
    changes: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] | None = None
    sign: Sign = field(default_factory=lambda: signed_by(FIRST_KEY))
    keys: list[RSAKey] = field(default_factory=lambda: [FIRST_KEY])
    refusal: tuple[int, dict[str, Any]] | None = None
    fault: Callable[[Any], None] | None = None
    gives_refresh_token: bool = True
    seen: list[tuple[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refresh_tokens: list[str] = field(default_factory=list)
    made: int = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    @property
    def issuer(self) -> str:
        return f"http://{self.host}"

    def authorize(self, url: str, **changes: Any) -> dict[str, str]:
        """What comes back to the browser that opened ``url``. ``changes`` replace claims; None removes one."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert url.startswith(f"{self.issuer}/authorize?")
        self.changes = changes
        self.made += 1
        code = f"code-{self.made}"
        self.codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def id_token(self, nonce: str | None, **more: Any) -> str:
        now = int(clock.now().timestamp())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "auth_time": now,
            **({"nonce": nonce} if nonce is not None else {}),
            **self.claims,
            **more,
            **self.changes,
        }
        return self.sign({name: value for name, value in claims.items() if value is not None})

    def logout_token(self, **changes: Any) -> str:
        now = int(clock.now().timestamp())
        self.made += 1
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 120,
            "jti": f"logout-{self.made}",
            "sub": self.claims["sub"],
            "events": {LOGOUT_EVENT: {}},
            **changes,
        }
        return self.sign({name: value for name, value in claims.items() if value is not None})

    def answer(self, path: str, form: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, Any]:
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
                "backchannel_logout_supported": True,
                **self.document,
            }
        if path == "/keys":
            return 200, {"keys": [{**key.as_dict(private=False), "use": "sig"} for key in self.keys]}
        if path == "/userinfo":
            return 200, self.userinfo if self.userinfo is not None else self.claims
        if path == "/token":
            return self._tokens(form, headers)
        return 404, {}

    def _tokens(self, form: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, Any]:
        if self.refusal is not None:
            return self.refusal
        pair = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if headers.get("Authorization") != f"Basic {pair}":
            return 401, {"error": "invalid_client"}
        nonce = None
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh_tokens:
                return 400, {"error": "invalid_grant"}
            self.refresh_tokens.remove(form["refresh_token"])
        else:
            asked = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if asked is None or asked["code_challenge"] != challenge:
                return 400, {"error": "invalid_grant"}
            assert asked["code_challenge_method"] == "S256"
            assert asked["redirect_uri"] == form["redirect_uri"]
            nonce = asked["nonce"]
        answer = {"access_token": "access", "token_type": "Bearer", "id_token": self.id_token(nonce)}
        if self.gives_refresh_token:
            self.made += 1
            self.refresh_tokens.append(f"refresh-{self.made}")
            answer["refresh_token"] = self.refresh_tokens[-1]
        return 200, answer


@contextmanager
def lying_provider() -> Iterator[LyingProvider]:
    """A provider on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer({name: values[0] for name, values in parse_qs(raw).items()})

        def _answer(self, form: Mapping[str, str]) -> None:
            path = urlsplit(self.path).path
            provider.seen.append((path, urlencode(form)))
            if provider.fault is not None:
                provider.fault(self)
                return
            status, body = provider.answer(path, form, dict(self.headers))
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_arguments: Any) -> None:
            """Failures speak through the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = LyingProvider(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
