"""The secrets of a webhook: sealed for the row that holds them, replaced with an overlap (docs/integrate/api.md).

A secret appears in no response, no history entry and no error message.
"""

import hashlib
import re
from contextlib import suppress
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.errors import Invalid
from app.core.ids import new_id
from app.core.models import FormerSecret, Webhook
from app.core.sealing import SealBroken, Sealer
from app.core.webhooks import signing

OVERLAP = timedelta(hours=24)
"""How long a replaced secret still signs."""
FORMER_MAX = 2
"""How many replaced secrets may sign at the same time: the previous one and the one before it."""


def check(secret: str) -> None:
    """Raise Invalid for a secret that is too short, too long or blank, or has ``whsec_`` in a way no receiver reads."""
    # The error never contains the value: ``input`` is echoed to the caller and may be logged there.
    if not limits.SECRET_MIN <= len(secret) <= limits.SECRET_MAX:
        raise Invalid.field("secret", f"must have {limits.SECRET_MIN} to {limits.SECRET_MAX} characters")
    limits.storable(secret, "secret")
    if not secret.strip():
        raise Invalid.field("secret", "must not be blank")
    prefix = signing.STANDARD_PREFIX
    if prefix not in secret.lower():
        return
    if re.search(rf"v1\w*\s*,\s*{prefix}", secret, re.IGNORECASE):
        raise Invalid.field(
            "secret", f"must begin with {prefix}; leave out “v1,”, which belongs to signatures"
        )
    if not secret.startswith(prefix) or secret != secret.rstrip():
        raise Invalid.field("secret", f"must have nothing before {prefix}, and no space at its end")
    key = signing.standard_key(secret)
    if key == secret.encode():
        raise Invalid.field("secret", f"must be base64 after {prefix}")
    if len(key) < signing.SECRET_BYTES_LEAST:
        raise Invalid.field(
            "secret",
            f"must be base64 of at least {signing.SECRET_BYTES_LEAST} bytes after {prefix}; these are {len(key)}",
        )


def live(session: Session, webhook: Webhook, sealer: Sealer, now: datetime) -> list[str]:
    """The secrets that sign at ``now``, newest first, each once.

    Raises SealBroken when one cannot be decrypted.
    """
    context = str(webhook.id)
    secrets = [sealer.open(webhook.secret, context)]
    former, until = webhook.previous_secret, webhook.previous_until
    if former is not None and until is not None and now < until:
        secrets.append(sealer.open(former, context))
        # The one before it ends earlier, so most deliveries need no query for it.
        secrets += [sealer.open(row.secret, str(row.id)) for row in session.scalars(_before(webhook, now))]
    return list(dict.fromkeys(secrets))


def etag(webhook: Webhook) -> str:
    """Opaque version of the current secret; changes whenever it is set."""
    return hashlib.sha256(webhook.secret).hexdigest()[:16]


def replace(session: Session, webhook: Webhook, sealer: Sealer, secret: str, now: datetime) -> bool:
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
        forget(session, webhook)
    webhook.secret = sealer.seal(secret, context)
    return True


def forget(session: Session, webhook: Webhook) -> None:
    """Delete all replaced secrets of a webhook."""
    webhook.previous_secret, webhook.previous_until = None, None
    session.execute(
        sa.delete(FormerSecret)
        .where(FormerSecret.webhook_id == webhook.id)
        .execution_options(synchronize_session=False)
    )


def _keep_previous(session: Session, webhook: Webhook, sealer: Sealer, now: datetime) -> None:
    """Keep the previous secret for the rest of its overlap, and delete those that no longer sign."""
    former, until = webhook.previous_secret, webhook.previous_until
    if former is not None and until is not None and now < until:
        identity = new_id()
        # One that was sealed with an encryption key that we no longer have cannot sign.
        with suppress(SealBroken):
            secret = sealer.seal(sealer.open(former, str(webhook.id)), str(identity))
            session.add(FormerSecret(id=identity, webhook_id=webhook.id, secret=secret, until=until))
            session.flush()
    kept = [row.id for row in session.scalars(_before(webhook, now))]
    session.execute(
        sa.delete(FormerSecret)
        .where(FormerSecret.webhook_id == webhook.id, FormerSecret.id.not_in(kept))
        .execution_options(synchronize_session=False)
    )


def _before(webhook: Webhook, now: datetime) -> sa.Select[FormerSecret]:
    """SELECT of the secrets before the previous one that sign at ``now``, newest first; with it ``FORMER_MAX``."""
    return (
        sa.select(FormerSecret)
        .where(FormerSecret.webhook_id == webhook.id, FormerSecret.until > now)
        .order_by(FormerSecret.until.desc(), FormerSecret.id.desc())
        .limit(FORMER_MAX - 1)
    )
