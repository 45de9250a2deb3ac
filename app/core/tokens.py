"""Secrets that are shown or mailed once and kept as a hash: session tokens, mailed links, link codes.

A plain SHA-256 is enough where nobody can guess: a token has 256 bits, a link code a throttle and ten minutes.
"""

import hashlib
import secrets


def new() -> str:
    """A fresh token of 256 bits, safe in an address and in a cookie."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """What the database keeps of it: SHA-256 of its UTF-8, in hex. Whatever a stranger sends has one."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
