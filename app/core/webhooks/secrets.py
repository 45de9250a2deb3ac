"""The secrets of a webhook: sealed for the row that holds them, replaced with an overlap (docs/integration.md).

A secret appears in no response, no history entry and no error message.
"""

import hashlib
from datetime import datetime, timedelta

from app.core.models import Webhook
from app.core.sealing import SealBroken, Sealer

OVERLAP = timedelta(hours=24)
"""How long a replaced secret still signs."""


def live(webhook: Webhook, sealer: Sealer, now: datetime) -> list[str]:
    """The secrets that sign at ``now``, newest first. Raises SealBroken when one cannot be decrypted."""
    context = str(webhook.id)
    secrets = [sealer.open(webhook.secret, context)]
    former, until = webhook.previous_secret, webhook.previous_until
    if former is not None and until is not None and now < until:
        secrets.append(sealer.open(former, context))
    return secrets


def etag(webhook: Webhook) -> str:
    """Opaque version of the current secret; changes whenever it is set."""
    return hashlib.sha256(webhook.secret).hexdigest()[:16]


def replace(webhook: Webhook, sealer: Sealer, secret: str, now: datetime) -> bool:
    """Seal ``secret``; the previous one also signs until the overlap ends. False when it is the same secret."""
    context = str(webhook.id)
    try:
        if sealer.open(webhook.secret, context) == secret:
            return False
        webhook.previous_secret, webhook.previous_until = webhook.secret, now + OVERLAP
    except SealBroken:
        # Sealed with an encryption key that we no longer have: it cannot sign, so there is no overlap.
        webhook.previous_secret, webhook.previous_until = None, None
    webhook.secret = sealer.seal(secret, context)
    return True
