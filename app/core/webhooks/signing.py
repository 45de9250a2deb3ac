"""Signatures on deliveries, and the secrets that sign them, sealed for the row that holds them.

Three signatures go with each attempt, all HMAC-SHA256 and all computed again for each attempt:

====================================  =============================================  ====================
where                                 message                                        digest
====================================  =============================================  ====================
``_webhook_signature`` in the body    ``{timestamp}:{canonical payload}``            lowercase hex
``X-Webhook-Signature``               the raw body                                   ``sha256=`` and hex
``webhook-signature``                 ``{event id}.{timestamp}.{raw body}``          ``v1,`` and base64
====================================  =============================================  ====================

A secret appears in no response, no history entry and no error message. Sources: docs/integrate/api.md (Webhooks); the
Standard Webhooks specification.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets as randomness
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import rfc8785
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, limits
from app.core.errors import Invalid
from app.core.ids import new_id
from app.core.models import FormerSecret, Webhook
from app.core.sealing import SealBroken, Sealer
from app.core.texts import gettext as _

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


OVERLAP = timedelta(hours=24)
"""How long a replaced secret still signs."""
FORMER_MAX = 2
"""How many replaced secrets may sign at the same time: the previous one and the one before it."""


def check_secret(secret: str) -> None:
    """Raise Invalid for a secret that is too short, too long or blank, or has ``whsec_`` in a way no receiver reads."""
    # The error never contains the value: ``input`` is echoed to the caller and may be logged there.
    if not limits.SECRET_MIN <= len(secret) <= limits.SECRET_MAX:
        raise Invalid.field(
            "secret",
            _("must have %(least)s to %(most)s characters", least=limits.SECRET_MIN, most=limits.SECRET_MAX),
        )
    limits.storable(secret, "secret")
    if not secret.strip():
        raise Invalid.field("secret", _("must not be blank"))
    prefix = STANDARD_PREFIX
    if prefix not in secret.lower():
        return
    if re.search(rf"v1\w*\s*,\s*{prefix}", secret, re.IGNORECASE):
        raise Invalid.field(
            "secret",
            _("must begin with %(prefix)s; leave out “v1,”, which belongs to signatures", prefix=prefix),
        )
    if not secret.startswith(prefix) or secret != secret.rstrip():
        raise Invalid.field(
            "secret", _("must have nothing before %(prefix)s, and no space at its end", prefix=prefix)
        )
    key = standard_key(secret)
    if key == secret.encode():
        raise Invalid.field("secret", _("must be base64 after %(prefix)s", prefix=prefix))
    if len(key) < SECRET_BYTES_LEAST:
        raise Invalid.field(
            "secret",
            _(
                "must be base64 of at least %(secret_bytes_least)s bytes after %(prefix)s; these are %(count)s",
                secret_bytes_least=SECRET_BYTES_LEAST,
                prefix=prefix,
                count=len(key),
            ),
        )


def live_secrets(session: Session, webhook: Webhook, sealer: Sealer, now: datetime) -> list[str]:
    """The secrets that sign at ``now``, newest first, each once.

    Raises SealBroken when one cannot be decrypted.
    """
    context = str(webhook.id)
    secrets = [sealer.open(webhook.secret, context)]
    former = webhook.previous_secret
    if former is not None and former_secret_until(webhook, now):
        secrets.append(sealer.open(former, context))
        # The one before it ends earlier, so most deliveries need no query for it.
        secrets += [sealer.open(row.secret, str(row.id)) for row in session.scalars(_before(webhook, now))]
    return list(dict.fromkeys(secrets))


def former_secret_until(webhook: Webhook, now: datetime) -> datetime | None:
    """Until when the secret replaced last also signs; None if it does not at ``now``."""
    until = webhook.previous_until
    return until if until is not None and now < until else None


def secret_etag(webhook: Webhook) -> str:
    """Opaque version of the current secret; changes whenever it is set."""
    return hashlib.sha256(webhook.secret).hexdigest()[:16]


def replace_secret(session: Session, webhook: Webhook, sealer: Sealer, secret: str, now: datetime) -> bool:
    """Seal ``secret``; the replaced one also signs until its overlap ends. False when it is the same secret.

    Up to ``FORMER_MAX`` replaced secrets sign, each for its own 24 hours. One more ends the oldest.
    """
    context = str(webhook.id)
    try:
        if sealer.open(webhook.secret, context) == secret:
            return False
        _keep_previous(session, webhook, sealer, now)
        webhook.previous_secret, webhook.previous_until = webhook.secret, now + OVERLAP
    except SealBroken:
        # Sealed with an encryption key that we no longer have: they cannot sign, so there is no overlap.
        forget_former_secrets(session, webhook)
    webhook.secret = sealer.seal(secret, context)
    return True


def forget_former_secrets(session: Session, webhook: Webhook) -> None:
    """Delete all replaced secrets of a webhook."""
    webhook.previous_secret, webhook.previous_until = None, None
    bulk.change(session, sa.delete(FormerSecret).where(FormerSecret.webhook_id == webhook.id))


def _keep_previous(session: Session, webhook: Webhook, sealer: Sealer, now: datetime) -> None:
    """Keep the previous secret for the rest of its overlap, and delete those that no longer sign."""
    former, until = webhook.previous_secret, former_secret_until(webhook, now)
    if former is not None and until is not None:
        identity = new_id()
        # One that was sealed with an encryption key that we no longer have cannot sign.
        with suppress(SealBroken):
            secret = sealer.seal(sealer.open(former, str(webhook.id)), str(identity))
            session.add(FormerSecret(id=identity, webhook_id=webhook.id, secret=secret, until=until))
            session.flush()
    kept = [row.id for row in session.scalars(_before(webhook, now))]
    others = sa.delete(FormerSecret).where(
        FormerSecret.webhook_id == webhook.id, FormerSecret.id.not_in(kept)
    )
    bulk.change(session, others)


def _before(webhook: Webhook, now: datetime) -> sa.Select[FormerSecret]:
    """SELECT of the secrets before the previous one that sign at ``now``, newest first; with it ``FORMER_MAX``."""
    return (
        sa.select(FormerSecret)
        .where(FormerSecret.webhook_id == webhook.id, FormerSecret.until > now)
        .order_by(FormerSecret.until.desc(), FormerSecret.id.desc())
        .limit(FORMER_MAX - 1)
    )
