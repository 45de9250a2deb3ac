"""Server-issued ids: UUID version 7 (RFC 9562), time-ordered (docs/integrate/api.md)."""

import uuid

from uuid_utils.compat import uuid7

from app.core.errors import NotFound


def new_id() -> uuid.UUID:
    """A new UUID v7. The ids of one process sort in the order of creation."""
    return uuid7()


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
