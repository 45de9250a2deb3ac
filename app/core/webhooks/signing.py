"""Signatures on deliveries: the spec's body fields, the X- headers and the Standard Webhooks headers.

Three signatures go with each attempt, all HMAC-SHA256 and all computed again for each attempt:

====================================  =============================================  ====================
where                                 message                                        digest
====================================  =============================================  ====================
``_webhook_signature`` in the body    ``{timestamp}:{canonical payload}``            lowercase hex
``X-Webhook-Signature``               the raw body                                   ``sha256=`` and hex
``webhook-signature``                 ``{event id}.{timestamp}.{raw body}``          ``v1,`` and base64
====================================  =============================================  ====================

Sources: docs/integrate/api.md (Webhooks); the Standard Webhooks specification.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets as randomness
from collections.abc import Mapping, Sequence
from typing import Any

import rfc8785

TIMESTAMP_FIELD = "_webhook_timestamp"
SIGNATURE_FIELD = "_webhook_signature"
USER_AGENT = "Bridgenote-Webhooks/1"
STANDARD_PREFIX = "whsec_"
TOLERANCE_SECONDS = 300
SECRET_BYTES = 32
SECRET_BYTES_LEAST = 24
STAMPED = ("X-Webhook-Timestamp", "X-Webhook-Signature", "webhook-timestamp", "webhook-signature")
"""The headers that differ in each attempt."""

_HEX_DIGEST = re.compile(r"[0-9a-f]{64}")


class BadSignature(ValueError):
    """A delivery that a receiver must refuse. ``reason`` says why and is safe to log."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def new_secret() -> str:
    """A new random secret in the form of Standard Webhooks."""
    return STANDARD_PREFIX + base64.b64encode(randomness.token_bytes(SECRET_BYTES)).decode("ascii")


def canonical(payload: Mapping[str, Any]) -> bytes:
    """The payload as RFC 8785 JSON: keys sorted at every level, no spaces, raw UTF-8, ``1`` for ``1.0``.

    Raises ValueError for what JSON cannot represent: NaN, infinities, integers beyond 2**53 - 1, lone surrogates,
    keys that are not text, and types such as UUID that the caller should have converted.
    """
    return rfc8785.dumps(dict(payload))


def sign_body(payload: Mapping[str, Any], secret: str, timestamp: int) -> bytes:
    """The bytes to send: the canonical payload including its timestamp and signature.

    ``timestamp`` is the Unix time of this attempt in seconds. Earlier values of the two signature fields are
    replaced. Raises ValueError as ``canonical`` does.
    """
    unsigned = _without_signature(payload)
    signature = _body_signature(unsigned, secret, timestamp)
    return canonical({**unsigned, TIMESTAMP_FIELD: timestamp, SIGNATURE_FIELD: signature})


def headers_for(
    body: bytes, event_id: str, event_name: str, secrets: Sequence[str], timestamp: int
) -> dict[str, str]:
    """The headers of one attempt for exactly these bytes.

    ``secrets`` are the webhook's live ones, newest first: the newest signs the body and the X- header, and all of
    them are listed in ``webhook-signature``, so that a receiver can switch at any moment of a rotation. Raises
    ValueError when there is none.
    """
    if not secrets:
        raise ValueError("an endpoint needs at least one secret")
    newest = _hmac(secrets[0].encode(), body).hex()
    message = f"{event_id}.{timestamp}.".encode() + body
    return {
        **same_headers(event_id, event_name),
        "X-Webhook-Timestamp": str(timestamp),
        "X-Webhook-Signature": f"sha256={newest}",
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_standard_signature(secret, message) for secret in secrets),
    }


def same_headers(event_id: str, event_name: str) -> dict[str, str]:
    """The headers that are the same in every attempt; ``STAMPED`` names the others."""
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Webhook-Event": event_name,
        "webhook-id": event_id,
    }


def verify_body(body: bytes, secret: str, now: int, tolerance: int = TOLERANCE_SECONDS) -> dict[str, Any]:
    """Verify the body signature of a delivery. Return the payload, including its two signature fields.

    ``now`` is Unix time and ``tolerance`` the greatest difference allowed either way, both in seconds. Raises
    BadSignature for anything else; the digest is compared in constant time.
    """
    payload = _parsed(body)
    timestamp = payload.get(TIMESTAMP_FIELD)
    signature = payload.get(SIGNATURE_FIELD)
    if timestamp is None:
        raise BadSignature(f"{TIMESTAMP_FIELD} is missing")
    if signature is None:
        raise BadSignature(f"{SIGNATURE_FIELD} is missing")
    if type(timestamp) is not int:  # bool is an int to isinstance
        raise BadSignature(f"{TIMESTAMP_FIELD} is not an integer")
    if not isinstance(signature, str) or not _HEX_DIGEST.fullmatch(signature):
        raise BadSignature(f"{SIGNATURE_FIELD} is not 64 lowercase hex characters")
    try:
        expected = _body_signature(_without_signature(payload), secret, timestamp)
    except ValueError as error:
        raise BadSignature("the body has no canonical form") from error
    if not hmac.compare_digest(expected, signature):
        raise BadSignature("the signature does not match")
    if abs(now - timestamp) > tolerance:
        raise BadSignature(f"the timestamp is more than {tolerance} seconds from now")
    return payload


def standard_key(secret: str) -> bytes:
    """The HMAC key of a secret in the Standard Webhooks header.

    Text after ``whsec_`` is base64. A secret with that prefix whose rest is not base64 is used as it is:
    integrations choose their own secrets, and a malformed one must not make deliveries fail.
    """
    if secret.startswith(STANDARD_PREFIX):
        encoded = secret.removeprefix(STANDARD_PREFIX).rstrip("=")
        try:
            decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        except (binascii.Error, ValueError):
            decoded = b""
        if decoded:
            return decoded
    return secret.encode()


def _without_signature(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if name not in (TIMESTAMP_FIELD, SIGNATURE_FIELD)}


def _body_signature(unsigned: Mapping[str, Any], secret: str, timestamp: int) -> str:
    return _hmac(secret.encode(), f"{timestamp}:".encode() + canonical(unsigned)).hex()


def _standard_signature(secret: str, message: bytes) -> str:
    return "v1," + base64.b64encode(_hmac(standard_key(secret), message)).decode("ascii")


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        # Decode here, because json.loads would also guess UTF-16 and UTF-32.
        payload = json.loads(
            body.decode(), object_pairs_hook=_unrepeated, parse_constant=_refused, parse_int=_number
        )
    except (ValueError, RecursionError) as error:
        raise BadSignature("the body is not JSON") from error
    if not isinstance(payload, dict):
        raise BadSignature("the body is not a JSON object")
    return payload


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is repeated")
    return members


def _number(digits: str) -> int | float:
    # In RFC 8785 every number is a double, and a large one is written without a point or an exponent.
    number = float(digits)
    return int(number) if abs(number) < 2**53 else number


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
