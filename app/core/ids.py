"""Server-issued ids: UUID version 7 (RFC 9562), time-ordered (docs/integration.md)."""

import uuid

from uuid_utils.compat import uuid7


def new_id() -> uuid.UUID:
    """A fresh UUID v7. Ids of one process sort in the order in which they were made."""
    return uuid7()


def parse_id(text: str) -> uuid.UUID | None:
    """The UUID written in ``text`` in its hyphenated form, or None when it is anything else.

    Only the canonical 36 characters are read: ``uuid.UUID`` alone also takes braces, ``urn:`` and bare hex,
    which would give one object many names.
    """
    if len(text) != 36:
        return None
    try:
        parsed = uuid.UUID(text)
    except ValueError:
        return None
    return parsed if str(parsed) == text.lower() else None
