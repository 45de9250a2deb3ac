"""What an integration says of a post's thread_context, for people to read (docs/integration.md, Thread context).

``metadata`` is a free object, so everything in it is doubted: what has not the shape below is as if it were not there.

    {"title": "Harbour walks", "url": "https://forum.example/t/12",
     "thread": [{"author": "ann", "text": "Who moved my boat?", "timestamp": "2026-03-01T10:00:00Z",
                 "url": "https://forum.example/t/12/1"}, …]}

``thread`` is oldest first. Links are shown, never fetched.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

MOST = 20
"""Messages shown; earlier ones are left out."""
TEXT_MAX = 2_000
AUTHOR_MAX = 100
TITLE_MAX = 200
URL_MAX = 2_048
OPEN_UP_TO = 3
"""So many messages stand open beside the post; more are behind a line that tells how many."""

_ADDRESS = re.compile(r"https?://[^\s/?#@\\<>\"]+([/?#][^\s<>\"]*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Message:
    """One earlier message; ``author``, ``at`` and ``url`` may be missing."""

    author: str
    text: str
    at: datetime | None
    url: str | None


@dataclass(frozen=True)
class ThreadContext:
    """Where a post stands: the topic's title, its address on the platform, what was said before it."""

    title: str = ""
    url: str | None = None
    messages: Sequence[Message] = field(default=())

    @property
    def is_short(self) -> bool:
        """Whether the messages are few enough to stand open."""
        return len(self.messages) <= OPEN_UP_TO


NOTHING = ThreadContext()


def from_metadata(metadata: Any) -> ThreadContext:
    """What of a request's ``metadata`` can be shown."""
    if not isinstance(metadata, dict):
        return NOTHING
    given = metadata.get("thread")
    told = [_message(one) for one in given[-MOST:]] if isinstance(given, list) else []
    return ThreadContext(
        title=_text(metadata.get("title"), TITLE_MAX),
        url=_url(metadata.get("url")),
        messages=[one for one in told if one is not None],
    )


def _message(given: Any) -> Message | None:
    if not isinstance(given, dict):
        return None
    text = _text(given.get("text"), TEXT_MAX)
    if not text:
        return None
    return Message(
        author=_text(given.get("author"), AUTHOR_MAX),
        text=text,
        at=_moment(given.get("timestamp")),
        url=_url(given.get("url")),
    )


def _text(given: Any, most: int) -> str:
    if not isinstance(given, str):
        return ""
    text = given.strip()
    return text if len(text) <= most else text[:most].rstrip() + "…"


def _url(given: Any) -> str | None:
    is_address = isinstance(given, str) and len(given) <= URL_MAX and _ADDRESS.fullmatch(given)
    return str(given) if is_address else None


def _moment(given: Any) -> datetime | None:
    """A moment with its zone, in years that every zone can show."""
    if not isinstance(given, str):
        return None
    try:
        moment = datetime.fromisoformat(given)
        return moment.astimezone(UTC) if moment.tzinfo and 1970 <= moment.year <= 2999 else None
    except (ValueError, OverflowError):
        return None
