"""What the service issues: ids, and secret tokens for sessions, mailed links and link codes.

Ids are UUIDs of version 7 (RFC 9562), time-ordered (docs/integrate/api.md). Tokens are shown or mailed once and stored
as a hash. A plain SHA-256 is enough because none can be guessed: a token has 256 bits; a link code is rate-limited and
expires after ten minutes.
"""

import hashlib
import secrets
import uuid
from datetime import UTC, datetime

from uuid_utils.compat import uuid7

from app.core.errors import NotFound


def new_id() -> uuid.UUID:
    """A new UUID v7. The ids of one process sort in the order of creation."""
    return uuid7()


def first_id(moment: datetime) -> uuid.UUID:
    """The bound below which lie all ids that were made before this moment."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


def made_at(identity: uuid.UUID) -> datetime:
    """When an id was made, by the clock of the machine, to the millisecond.

    Raises:
        ValueError: it is not of version 7, so that it may lie beyond all years.
    """
    return datetime.fromtimestamp((identity.int >> 80) / 1000, UTC)


def parse_id(text: str) -> uuid.UUID | None:
    """Parse a UUID in its hyphenated form; None for any other text.

    Only the canonical 36 characters are accepted: ``uuid.UUID`` alone also takes braces, ``urn:`` and bare hex,
    which would give one object many names.
    """
    if len(text) != 36:
        return None
    try:
        parsed = uuid.UUID(text)
    except ValueError:
        return None
    return parsed if str(parsed) == text.lower() else None


def require_id(text: str, what: str) -> uuid.UUID:
    """Parse the id of an object that should exist; ``what`` is what it is called.

    Raises:
        NotFound: it is not a UUID, so no object has it.
    """
    parsed = parse_id(text)
    if parsed is None:
        raise NotFound(what)
    return parsed


def new_token() -> str:
    """A new random token of 256 bits, safe in URLs and cookies."""
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """The stored form of a token: hex SHA-256 of its UTF-8. Accepts any string that a client may send."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
