"""OpenID Connect over HTTP: discovery, the authorization code with PKCE, refreshes and back-channel logout.

Every call goes over a guarded connection (``adapters.net``): https to public addresses, or hosts on the allow-list, one
deadline, a limit of bytes, no redirects. ``adapters.openid_tokens`` checks what the provider signed.

Sources: OpenID Connect Core 1.0, Discovery 1.0 and Back-Channel Logout 1.0; RFC 7636 (PKCE), RFC 9207 (``iss``).
"""

# authlib has no types.
# mypy: disallow-untyped-calls=False

import base64
import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

import httpx
from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from app.adapters import net, openid_tokens
from app.adapters.net import Deadline, Guarded
from app.core import limits, texts
from app.core.errors import Invalid
from app.core.outbound import AllowList, BadAddress, check_url, excerpt_of
from app.core.people.openid import Attempt, Claims, Client, LoggedOut, ProviderRefused
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

DEADLINE = 10.0
"""Seconds for one call, from the first byte to the last."""
ANSWER_BYTES = 256 * 1024
KEYS_AGAIN_AFTER = 60.0
"""Seconds before the keys of a provider are fetched again for an unknown key id."""
KEYS_LIVE = 3600.0
"""Seconds that fetched keys are used; a key that the provider withdrew stops counting after that."""
WELL_KNOWN = "/.well-known/openid-configuration"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_KEPT = (
    *_ENDPOINTS,
    "issuer",
    "userinfo_endpoint",
    "token_endpoint_auth_methods_supported",
    "authorization_response_iss_parameter_supported",
    "backchannel_logout_supported",
    "backchannel_logout_session_supported",
    "scopes_supported",
    "claims_supported",
)
_WORDS = {
    "access_denied": lazy_gettext("The sign-in was cancelled or refused there"),
    "login_required": lazy_gettext("It asks you to sign in there first"),
    "consent_required": lazy_gettext("It needs your consent"),
    "interaction_required": lazy_gettext("It asks for something more there"),
    "invalid_scope": lazy_gettext("It does not know one of the scopes that are set for it"),
    "unauthorized_client": lazy_gettext("It does not allow this service to sign people in"),
    "invalid_client": lazy_gettext("It does not accept this service's client id or secret"),
    "invalid_request": lazy_gettext("It does not accept the request"),
    "invalid_grant": lazy_gettext("It does not accept the code: it was used before, or is too old"),
    "unsupported_response_type": lazy_gettext("It does not offer the authorization code flow"),
    "server_error": lazy_gettext("It failed"),
    "temporarily_unavailable": lazy_gettext("It is not available now"),
}


class HttpOpenId:
    """The ``OpenIdClient`` used in production. Threads share one instance, and its keys of providers."""

    def __init__(self, allow: AllowList, guarded: Guarded | None = None, deadline: float = DEADLINE) -> None:
        self._allow = allow
        self._guarded = guarded or Guarded()
        self._seconds = deadline
        self._lock = threading.Lock()
        self._keys: dict[str, tuple[float, Sequence[Mapping[str, Any]]]] = {}

    def discover(self, issuer: str) -> dict[str, Any]:
        self._check_address(issuer, "The issuer")
        status, document = self._call("GET", issuer.rstrip("/") + WELL_KNOWN)
        if status != 200:
            raise ProviderRefused(
                _("Its discovery document was answered with %(status)s", status=status), is_down=True
            )
        if document.get("issuer") != issuer:
            said = excerpt_of(str(document.get("issuer", "none")).encode("utf-8", "replace"))[:200]
            raise ProviderRefused(_("Its discovery document names another issuer: %(said)s", said=said))
        for name in _ENDPOINTS:
            self._check_address(document.get(name), f"Its {name}")
        if document.get("userinfo_endpoint") is not None:
            self._check_address(document["userinfo_endpoint"], "Its userinfo_endpoint")
        if "code" not in _words_of(document, "response_types_supported", "code"):
            raise ProviderRefused(_("It does not offer the authorization code flow"))
        if "S256" not in _words_of(document, "code_challenge_methods_supported", "S256"):
            raise ProviderRefused(_("It does not offer PKCE with S256"))
        return {name: document[name] for name in _KEPT if name in document}

    def authorization_url(self, client: Client, attempt: Attempt) -> str:
        parameters = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": attempt.redirect_uri,
            "scope": client.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": create_s256_code_challenge(attempt.code_verifier),
            "code_challenge_method": "S256",
        }
        if attempt.max_age is not None:
            parameters |= {"max_age": str(attempt.max_age), "prompt": "login"}
        if "offline_access" in client.scopes.split():
            # OpenID Connect Core 1.0, 11: a request for offline access must ask for consent.
            parameters["prompt"] = "login consent" if attempt.max_age is not None else "consent"
        url: str = add_params_to_uri(client.discovered["authorization_endpoint"], list(parameters.items()))
        return url

    def finish(self, client: Client, attempt: Attempt, answer: Mapping[str, str]) -> Claims:
        sender = answer.get("iss")
        if sender is None and client.discovered.get("authorization_response_iss_parameter_supported") is True:
            raise ProviderRefused(_("Its answer does not name the issuer, though it always should"))
        if sender is not None and sender != client.issuer:
            raise ProviderRefused(_("The answer comes from another issuer"))
        if "error" in answer:
            raise ProviderRefused(str(_WORDS.get(answer["error"], _("It answered with an error"))))
        if not answer.get("code"):
            raise ProviderRefused(_("Its answer has no code"))
        tokens = self._tokens(
            client,
            {
                "grant_type": "authorization_code",
                "code": answer["code"],
                "redirect_uri": attempt.redirect_uri,
                "code_verifier": attempt.code_verifier,
            },
        )
        if not isinstance(tokens.get("id_token"), str):
            raise ProviderRefused(_("It sent no ID token"))
        claims = self._checked(client, tokens["id_token"])
        openid_tokens.check_id_token(
            claims,
            client.issuer,
            client.client_id,
            nonce=attempt.nonce,
            max_age=attempt.max_age,
            access_token=tokens.get("access_token"),
        )
        return self._claims_of(client, claims, tokens, expects_groups=True)

    def refresh(self, client: Client, subject: str, refresh_token: str) -> Claims:
        tokens = self._tokens(client, {"grant_type": "refresh_token", "refresh_token": refresh_token})
        claims: Mapping[str, Any] = {"sub": subject}
        has_token = isinstance(tokens.get("id_token"), str)
        if has_token:
            claims = self._checked(client, tokens["id_token"])
            openid_tokens.check_id_token(claims, client.issuer, client.client_id)
            if claims["sub"] != subject:
                raise ProviderRefused(_("It answers for another person"))
        return self._claims_of(client, claims, tokens, expects_groups=has_token)

    def read_logout(self, client: Client, token: str) -> LoggedOut:
        claims = self._checked(client, token)
        return openid_tokens.check_logout_token(claims, client.issuer, client.client_id)

    def _claims_of(
        self, client: Client, claims: Mapping[str, Any], tokens: Mapping[str, Any], *, expects_groups: bool
    ) -> Claims:
        """Put together what the ID token says and, where that lacks something, what the userinfo endpoint says."""
        groups_claim = client.groups_claim
        lacks_groups = bool(groups_claim) and openid_tokens.groups_in(claims, groups_claim) is None
        endpoint, access_token = client.discovered.get("userinfo_endpoint"), tokens.get("access_token")
        asks = bool(endpoint) and isinstance(access_token, str)
        more: Mapping[str, Any] = {}
        if asks and (lacks_groups or "email" not in claims):
            more = self._userinfo(str(endpoint), str(access_token), claims["sub"])
            expects_groups = True
        said = {**more, **claims}
        groups = openid_tokens.groups_in(said, groups_claim) if groups_claim else ()
        if groups is None and expects_groups:
            groups = ()
        refresh_token, session = tokens.get("refresh_token"), claims.get("sid")
        return Claims(
            subject=claims["sub"],
            email=_text(said.get("email")),
            email_verified=_truth(said.get("email_verified")),
            name=_text(said.get("name")) or _text(said.get("preferred_username")),
            groups=groups,
            session=session if isinstance(session, str) and 0 < len(session) <= 255 else None,
            refresh_token=refresh_token if isinstance(refresh_token, str) else None,
        )

    def _userinfo(self, url: str, access_token: str, subject: str) -> Mapping[str, Any]:
        headers = {"Authorization": f"Bearer {_header_value(access_token)}"}
        status, answer = self._call("GET", url, headers=headers)
        if status in (401, 403):
            raise ProviderRefused(_("It does not let us read who signed in"), is_over=True)
        if status != 200:
            raise ProviderRefused(_("Its userinfo endpoint answered %(status)s", status=status), is_down=True)
        if answer.get("sub") != subject:
            raise ProviderRefused(_("Its userinfo endpoint answers for another person"))
        return answer

    def _tokens(self, client: Client, form: dict[str, str]) -> Mapping[str, Any]:
        headers = {}
        methods = _words_of(client.discovered, "token_endpoint_auth_methods_supported", "client_secret_basic")
        if client.client_secret and "client_secret_basic" in methods:
            # RFC 6749, 2.3.1: both parts are form-encoded first.
            pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form["client_id"] = client.client_id
            if client.client_secret:
                form["client_secret"] = client.client_secret
        status, answer = self._call("POST", client.discovered["token_endpoint"], headers=headers, form=form)
        if status == 200:
            return answer
        error = answer.get("error")
        if status == 400 and error is None and form["grant_type"] == "refresh_token":
            # Glewlwyd, of a person who was removed.
            raise ProviderRefused(_("Its token endpoint refused without a reason"), is_over=True)
        if not isinstance(error, str) or status >= 500 or status == 429:
            raise ProviderRefused(_("Its token endpoint answered %(status)s", status=status), is_down=True)
        raise ProviderRefused(
            str(_WORDS.get(error, _("Its token endpoint refused (%(status)s)", status=status))),
            is_over=error == "invalid_grant",
            # A secret that ran out says nothing about the person.
            is_down=error in ("invalid_client", "unauthorized_client", "temporarily_unavailable"),
        )

    def _checked(self, client: Client, token: str) -> Mapping[str, Any]:
        """Check the token's signature by a key of the provider and return its claims, which are not checked yet."""
        key_id = openid_tokens.key_id_of(token)
        keys = self._provider_keys(client.discovered["jwks_uri"], key_id)
        return openid_tokens.verified(token, key_id, keys)

    def _provider_keys(self, url: str, key_id: str | None) -> Sequence[Mapping[str, Any]]:
        """The provider's keys: those fetched last, or new ones if this id is not among them."""
        now = time.monotonic()
        with self._lock:
            fetched_at, keys = self._keys.get(url, (float("-inf"), ()))
            age = now - fetched_at
            is_known = key_id is None or any(key.get("kid") == key_id for key in keys)
            if age < KEYS_LIVE and (is_known or age < KEYS_AGAIN_AFTER):
                return keys
            if keys:
                # Other threads use the former keys meanwhile; a fetch that fails is not repeated at once.
                self._keys[url] = (now, keys)
        status, answer = self._call("GET", url)
        if status != 200 or not isinstance(answer.get("keys"), list):
            raise ProviderRefused(_("Its keys were answered with %(status)s", status=status), is_down=True)
        keys = [key for key in answer["keys"][:100] if isinstance(key, dict)]
        with self._lock:
            self._keys[url] = (now, keys)
        return keys

    def _check_address(self, url: Any, what: str) -> None:
        if not isinstance(url, str):
            raise ProviderRefused(_("%(what)s is missing", what=what))
        try:
            check_url(url, self._allow)
        except BadAddress as error:
            raise ProviderRefused(_("%(what)s %(reason)s", what=what, reason=error.reason)) from error
        if what == "The issuer" and urlsplit(url).query:
            raise ProviderRefused(_("The issuer must not have a query"))

    def _call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, Any]]:
        """Make one call and return its status and its JSON object; an empty one for an error that is none."""
        deadline = Deadline(self._seconds)
        content = urlencode(form).encode() if form is not None else None
        all_headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "User-Agent": "Bridgenote",
            **({"Content-Type": "application/x-www-form-urlencoded"} if form is not None else {}),
            **(headers or {}),
        }
        try:
            target = check_url(url, self._allow)
            request = httpx.Request(method, url, content=content, headers=all_headers)
            with self._guarded.exchange(target, request, deadline) as response:
                if net.coding(response):
                    raise ProviderRefused(
                        _("Its answer is compressed, which was not asked for"), is_down=True
                    )
                status, received = response.status_code, net.body(response, ANSWER_BYTES)
        except BadAddress as error:
            raise ProviderRefused(_("Its address %(reason)s", reason=error.reason), is_down=True) from error
        except (httpx.TimeoutException, TimeoutError) as error:
            raise ProviderRefused(
                _("It did not answer within %(seconds)s seconds", seconds=texts.short(self._seconds)),
                is_down=True,
            ) from error
        except (httpx.TransportError, httpx.InvalidURL, ValueError) as error:
            raise ProviderRefused(_("It cannot be reached"), is_down=True) from error
        if received is None:
            raise ProviderRefused(
                _("Its answer has more than %(size)s KB", size=ANSWER_BYTES // 1024), is_down=True
            )
        try:
            parsed = json.loads(received, parse_constant=_refuse)
            limits.storable_tree(parsed, "answer")
        except (ValueError, RecursionError, Invalid) as error:
            if status != 200:
                return status, {}
            raise ProviderRefused(_("Its answer is no JSON"), is_down=True) from error
        if not isinstance(parsed, dict):
            raise ProviderRefused(_("Its answer is no JSON object"), is_down=True)
        return status, parsed


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("not a JSON number")


def _words_of(document: Mapping[str, Any], name: str, default: str) -> Sequence[str]:
    """A list of the document; where it lacks the list, the default that the standard gives."""
    value = document.get(name)
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else [default]


def _header_value(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise ProviderRefused(_("Its access token cannot be sent"))
    return text


def _text(value: Any) -> str:
    return excerpt_of(value.encode("utf-8", "replace")).strip()[:500] if isinstance(value, str) else ""


def _truth(value: Any) -> bool | None:
    # Some providers send the words.
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None
