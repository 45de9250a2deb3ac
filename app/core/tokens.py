"""Secrets that are shown or mailed once and stored as a hash: session tokens, mailed links, link codes.

A plain SHA-256 is enough because none can be guessed: a token has 256 bits; a link code is rate-limited and expires
after ten minutes.
"""

import hashlib
import secrets


def new() -> str:
    """A new random token of 256 bits, safe in URLs and cookies."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """The stored form of a token: hex SHA-256 of its UTF-8. Accepts any string that a client may send."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
