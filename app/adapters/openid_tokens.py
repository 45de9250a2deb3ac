"""Checks the tokens that an OpenID Connect provider signs: ID tokens and logout tokens.

Each check raises ProviderRefused.

Sources: OpenID Connect Core 1.0, 3.1.3.7; Back-Channel Logout 1.0, 2.6; RFC 8725 (best practices for JWT).
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from app.core import clock, limits
from app.core.errors import Invalid
from app.core.people.openid import LoggedOut, ProviderRefused
from app.core.texts import gettext as _

SKEW = 60
"""Seconds by which the provider's clock may differ from ours."""
TOKEN_MOST = 64 * 1024
GROUPS_MOST = 500
GROUP_LENGTH = 255
SUBJECT_LENGTH = 255
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_AGE = 600
"""Seconds for which a logout token is taken at most: its id is kept for longer, so that it is used once."""
_KINDS: Mapping[str, tuple[type[RSAKey] | type[ECKey] | type[OKPKey], frozenset[str]]] = {
    "RSA": (RSAKey, frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})),
    "EC": (ECKey, frozenset({"ES256", "ES384", "ES512"})),
    "OKP": (OKPKey, frozenset({"Ed25519"})),
}
"""The algorithms by kind of key: only asymmetric ones, so that no public key can serve as a shared secret."""


def key_id_of(token: str) -> str | None:
    """The id of the key that signed the token, as the token itself says; None if it names none."""
    if len(token) > TOKEN_MOST:
        raise ProviderRefused(_("Its token is too long"))
    try:
        header = jws.extract_compact(token.encode()).headers()
    except (JoseError, ValueError) as error:
        raise ProviderRefused(_("Its token cannot be read")) from error
    key_id = header.get("kid")
    if "crit" in header or header.get("b64") is False:
        raise ProviderRefused(_("Its token needs extensions that we do not have"))
    return key_id if isinstance(key_id, str) else None


def verified(token: str, key_id: str | None, keys: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The claims of a token that one of these keys signed, with an algorithm of that key."""
    algorithm = _algorithm_of(token)
    fitting = [
        key
        for key in keys
        if (key_id is None or key.get("kid") == key_id)
        and algorithm in _KINDS.get(str(key.get("kty")), (None, frozenset()))[1]
        and key.get("alg", algorithm) == algorithm
        and key.get("use", "sig") == "sig"
    ]
    # A token without a key id may be signed by any of them, but not by any number of them.
    for key in fitting[:10]:
        kind, _algorithms = _KINDS[key["kty"]]
        try:
            token_claims = jwt.decode(token, kind.import_key(dict(key)), algorithms=[algorithm]).claims
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        return _storable(token_claims)
    raise ProviderRefused(_("Its token is not signed by a key of the provider"))


def _algorithm_of(token: str) -> str:
    algorithm = jws.extract_compact(token.encode()).headers().get("alg")
    is_safe = isinstance(algorithm, str) and any(algorithm in safe for _, safe in _KINDS.values())
    if not is_safe:
        raise ProviderRefused(_("Its token is not signed with an algorithm that is safe here"))
    return str(algorithm)


def _storable(claims: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        limits.storable_tree(claims, "claims")
    except Invalid as error:
        raise ProviderRefused(_("Its token has characters that cannot be stored")) from error
    return claims


def check_id_token(
    claims: Mapping[str, Any],
    issuer: str,
    client_id: str,
    *,
    nonce: str | None = None,
    max_age: int | None = None,
    access_token: object = None,
) -> None:
    """Check an ID token's claims. ``nonce`` None: it is of a refresh, which has none."""
    _check_common(claims, issuer, client_id)
    now = clock.now().timestamp()
    if _seconds(claims, "exp") + SKEW <= now:
        raise ProviderRefused(_("Its token has expired. Check the clocks of both servers"))
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_LENGTH or not subject.isprintable():
        raise ProviderRefused(_("Its token names no person"))
    if nonce is not None:
        said = claims.get("nonce")
        if not isinstance(said, str) or not hmac.compare_digest(said.encode(), nonce.encode()):
            raise ProviderRefused(_("Its token belongs to another sign-in"))
    if max_age is not None and _seconds(claims, "auth_time") + max_age + SKEW < now:
        raise ProviderRefused(_("It did not ask you to sign in again"))
    if isinstance(access_token, str) and "at_hash" in claims and not _fits(claims, access_token):
        raise ProviderRefused(_("Its access token does not belong to its ID token"))


def check_logout_token(claims: Mapping[str, Any], issuer: str, client_id: str) -> LoggedOut:
    """Check a logout token's claims; that it is used once is the caller's to check."""
    _check_common(claims, issuer, client_id)
    until = _seconds(claims, "iat") + LOGOUT_AGE
    if min(until, _seconds(claims, "exp", until)) + SKEW <= clock.now().timestamp():
        raise ProviderRefused(_("The logout token has expired"))
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
        raise ProviderRefused(_("The token is no logout token"))
    if "nonce" in claims:
        raise ProviderRefused(_("A logout token has no nonce"))
    token_id, subject, session = claims.get("jti"), claims.get("sub"), claims.get("sid")
    if not isinstance(token_id, str) or not 0 < len(token_id) <= 500:
        raise ProviderRefused(_("The logout token has no id"))
    if subject is None and session is None:
        raise ProviderRefused(_("The logout token names neither a person nor a session"))
    for value in (subject, session):
        if value is not None and (not isinstance(value, str) or not 0 < len(value) <= SUBJECT_LENGTH):
            raise ProviderRefused(_("The logout token names neither a person nor a session"))
    return LoggedOut(token_id, subject, session)


def groups_in(claims: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """The values of the claim of groups, or None without such a claim. ``a.b`` is also found as ``b`` within ``a``."""
    value: Any = claims.get(name)
    if value is None and "." in name:
        value = claims
        for step in name.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    texts = (text for text in values if isinstance(text, str) and 0 < len(text) <= GROUP_LENGTH)
    return tuple(sorted({text for text in texts if text.isprintable()}))[:GROUPS_MOST]


def _check_common(claims: Mapping[str, Any], issuer: str, client_id: str) -> None:
    if claims.get("iss") != issuer:
        raise ProviderRefused(_("Its token is of another issuer"))
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if client_id not in audiences:
        raise ProviderRefused(_("Its token is made for another service"))
    if claims.get("azp", client_id) != client_id or (len(audiences) > 1 and "azp" not in claims):
        raise ProviderRefused(_("Its token is made for another service"))
    now = clock.now().timestamp()
    if _seconds(claims, "iat") - SKEW > now or _seconds(claims, "nbf", now) - SKEW > now:
        raise ProviderRefused(_("Its token is not valid yet. Check the clocks of both servers"))


def _seconds(claims: Mapping[str, Any], name: str, default: float | None = None) -> float:
    value = claims.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        raise ProviderRefused(_("Its token has no %(name)s", name=name))
    return float(value)


def _fits(claims: Mapping[str, Any], access_token: str) -> bool:
    """Whether ``at_hash`` is of this access token; SHA-256 is that of the algorithms that end with 256."""
    said = str(claims["at_hash"])
    for digest in (hashlib.sha256, hashlib.sha384, hashlib.sha512):
        whole = digest(access_token.encode()).digest()
        half = base64.urlsafe_b64encode(whole[: len(whole) // 2]).rstrip(b"=").decode()
        if hmac.compare_digest(half.encode(), said.encode()):
            return True
    return False
