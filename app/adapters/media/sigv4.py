"""Signs requests to S3-compatible stores with AWS Signature Version 4, in the Authorization header.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html; its examples are our test vectors.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote, urlsplit

EMPTY = hashlib.sha256(b"").hexdigest()
"""The hash of an empty body."""


def signed(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body_sha256: str,
    *,
    key_id: str,
    secret: str,
    region: str,
    at: datetime,
) -> dict[str, str]:
    """Return ``headers`` with what the signature adds. ``url`` is percent-encoded; ``at`` is in UTC."""
    parts = urlsplit(url)
    stamp, day = at.strftime("%Y%m%dT%H%M%SZ"), at.strftime("%Y%m%d")
    sent = {
        **headers,
        "Host": parts.netloc,
        "x-amz-content-sha256": body_sha256,
        "x-amz-date": stamp,
    }
    named = {name.lower(): " ".join(value.split()) for name, value in sent.items()}
    names = ";".join(sorted(named))
    canonical = "\n".join(
        (
            method,
            parts.path or "/",
            _query(parts.query),
            *(f"{name}:{named[name]}" for name in sorted(named)),
            "",
            names,
            body_sha256,
        )
    )
    scope = f"{day}/{region}/s3/aws4_request"
    to_sign = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    authorization = (
        f"AWS4-HMAC-SHA256 Credential={key_id}/{scope},SignedHeaders={names},Signature={signature}"
    )
    return {**sent, "Authorization": authorization}


def _query(query: str) -> str:
    """The query in the order and form that is signed. Its values are percent-encoded already."""
    pairs = [part.partition("=") for part in query.split("&") if part]
    return "&".join(f"{name}={value}" for name, _, value in sorted(pairs))


def encoded(text: str) -> str:
    """A path percent-encoded as signatures need it; slashes stay."""
    return quote(text, safe="/-._~")
