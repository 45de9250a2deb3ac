"""Facts about a post's author that an integration may send in ``metadata.author`` (docs/integrate/api.md)."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

COUNT_MAX = 2**31 - 1
TRUST_MAX = 100


@dataclass(frozen=True, slots=True)
class AuthorFacts:
    """What the platform says about an author. None: it says nothing, or nothing that can be read."""

    account_created_at: datetime | None = None
    posts_count: int | None = None
    trust_level: int | None = None


NO_FACTS = AuthorFacts()


def author_facts(metadata: Any) -> AuthorFacts:
    """The facts in a submission's metadata (``Request.extra``). A malformed value is no fact; this never raises."""
    author = metadata.get("author") if isinstance(metadata, dict) else None
    if not isinstance(author, dict):
        return NO_FACTS
    return AuthorFacts(
        account_created_at=_moment(author.get("account_created_at")),
        posts_count=_whole_number(author.get("posts_count"), COUNT_MAX),
        trust_level=_whole_number(author.get("trust_level"), TRUST_MAX),
    )


def _moment(value: object) -> datetime | None:
    """A date-time with its zone, in UTC."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _whole_number(value: object, most: int) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= most else None
