"""Validation of a webhook's values: a URL that we send to, a secret that can sign, events that exist."""

import hashlib
import json
import re
from collections.abc import Sequence

from app.core import limits
from app.core.errors import Invalid, Problem
from app.core.models import Webhook
from app.core.outbound import AllowList, BadAddress, check_url
from app.core.vocabulary import EventName
from app.core.webhooks import payloads, signing

EVENTS = (*(event_name.value for event_name in EventName), payloads.PROPOSED)
"""The event names to which a webhook can subscribe."""


def etag(webhook: Webhook) -> str:
    """Opaque version of what an operator edits of a webhook, so that a form on a stale page is refused."""
    events = None if webhook.events is None else sorted(webhook.events)
    return hashlib.sha256(json.dumps([webhook.url, events]).encode()).hexdigest()[:16]


def require_allowed_url(url: str, allow: AllowList) -> None:
    """Raise Invalid for a URL to which we never send."""
    try:
        check_url(url, allow)
    except BadAddress as error:
        raise Invalid.field("url", error.reason, url) from error


def check_secret(secret: str) -> None:
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


def checked_events(names: Sequence[str] | None) -> list[str] | None:
    """The event names without duplicates; None means all events. Raises Invalid for unknown names."""
    if names is None:
        return None
    if not names:
        raise Invalid.field("events", "must name at least one event, or be null for all of them", [])
    problems = [
        Problem("enum", ("events", index), f"must be one of {', '.join(EVENTS)}", name)
        for index, name in enumerate(names)
        if name not in EVENTS
    ]
    if problems:
        raise Invalid(*problems)
    return list(dict.fromkeys(names))
