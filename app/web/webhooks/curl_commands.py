"""A delivery as a curl command: the bytes that are signed and the headers that stay the same, without any signature."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from app.core.models import Delivery
from app.core.webhooks import payloads, signing
from app.web import curl_command

PLACEHOLDER = "https://YOUR_URL"
YOUR_QUERY = "YOUR_QUERY"


def for_delivery(delivery: Delivery, payload: Mapping[str, Any]) -> str:
    """Return the command for this payload. A removed webhook's URL is a placeholder.

    The URL's query string may contain the receiver's token, so it is a placeholder too.
    """
    return curl_command.post(
        _url(delivery),
        signing.same_headers(str(delivery.event_id), payloads.name_of(payload)),
        signing.canonical(payload).decode(),
        option="--data-binary",
    )


def _url(delivery: Delivery) -> str:
    if delivery.webhook.deleted_at is not None:
        return PLACEHOLDER
    parts = urlsplit(delivery.webhook.url)
    return parts._replace(query=YOUR_QUERY if parts.query else "").geturl()
