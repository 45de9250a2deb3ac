"""The secrets of a webhook: sealed for the row that holds them, replaced with an overlap (docs/integration.md).

A secret appears in no reply, no history entry and no refusal.
"""

import hashlib
from datetime import datetime, timedelta

from app.core.models import Webhook
from app.core.sealing import SealBroken, Sealer

OVERLAP = timedelta(hours=24)
"""How long a replaced secret also signs."""


def live(webhook: Webhook, sealer: Sealer, now: datetime) -> list[str]:
    """The secrets that sign at ``now``, newest first. Raises SealBroken when one cannot be opened."""
    context = str(webhook.id)
    found = [sealer.open(webhook.secret, context)]
    former, until = webhook.previous_secret, webhook.previous_until
    if former is not None and until is not None and now < until:
        found.append(sealer.open(former, context))
    return found


def etag(webhook: Webhook) -> str:
    """Names the secret in force without telling anything of it: it is sealed anew whenever it is set."""
    return hashlib.sha256(webhook.secret).hexdigest()[:16]


def replace(webhook: Webhook, sealer: Sealer, secret: str, now: datetime) -> bool:
    """Seal ``secret``; the one before it signs on until the overlap ends. False when it is the same one."""
    context = str(webhook.id)
    try:
        if sealer.open(webhook.secret, context) == secret:
            return False
        webhook.previous_secret, webhook.previous_until = webhook.secret, now + OVERLAP
    except SealBroken:
        # Sealed with an encryption key that is gone: it cannot sign, so nothing overlaps.
        webhook.previous_secret, webhook.previous_until = None, None
    webhook.secret = sealer.seal(secret, context)
    return True
