"""The secrets of a webhook: sealed for the row that holds them, replaced with an overlap (docs/integration.md).

A secret appears in no reply, no history entry and no refusal.
"""

import hashlib
from datetime import datetime, timedelta

from app.core.models import Endpoint
from app.core.sealing import SealBroken, Sealer

OVERLAP = timedelta(hours=24)
"""How long a replaced secret also signs."""


def live(endpoint: Endpoint, sealer: Sealer, now: datetime) -> list[str]:
    """The secrets that sign at ``now``, newest first. Raises SealBroken when one cannot be opened."""
    context = str(endpoint.id)
    found = [sealer.open(endpoint.secret, context)]
    former, until = endpoint.previous_secret, endpoint.previous_until
    if former is not None and until is not None and now < until:
        found.append(sealer.open(former, context))
    return found


def etag(endpoint: Endpoint) -> str:
    """Names the secret in force without telling anything of it: it is sealed anew whenever it is set."""
    return hashlib.sha256(endpoint.secret).hexdigest()[:16]


def replace(endpoint: Endpoint, sealer: Sealer, secret: str, now: datetime) -> bool:
    """Seal ``secret``; the one before it signs on until the overlap ends. False when it is the same one."""
    context = str(endpoint.id)
    try:
        if sealer.open(endpoint.secret, context) == secret:
            return False
        endpoint.previous_secret, endpoint.previous_until = endpoint.secret, now + OVERLAP
    except SealBroken:
        # Sealed with an encryption key that is gone: it cannot sign, so nothing overlaps.
        endpoint.previous_secret, endpoint.previous_until = None, None
    endpoint.secret = sealer.seal(secret, context)
    return True
