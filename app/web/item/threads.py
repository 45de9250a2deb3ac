"""The thread of a post, from the integration's ``metadata`` (docs/integrate/api.md, Thread context).

``metadata`` is a free object, so nothing in it is trusted: whatever does not have the form below is ignored.

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
"""How many messages are shown at most; earlier ones are left out."""
TEXT_MAX = 2_000
AUTHOR_MAX = 100
TITLE_MAX = 200
URL_MAX = 2_048
OPEN_UP_TO = 3
"""Up to this many messages are shown at once; more are folded behind a line with their number."""

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
    """The topic of a post: its title, its URL on the platform, and the messages before the post."""

    title: str = ""
    url: str | None = None
    messages: Sequence[Message] = field(default=())

    @property
    def is_short(self) -> bool:
        return len(self.messages) <= OPEN_UP_TO


NOTHING = ThreadContext()


def from_metadata(metadata: Any) -> ThreadContext:
    """Return the thread in a request's ``metadata``; invalid parts are left out."""
    if not isinstance(metadata, dict):
        return NOTHING
    thread = metadata.get("thread")
    messages = [_message(raw) for raw in thread[-MOST:]] if isinstance(thread, list) else []
    return ThreadContext(
        title=_text(metadata.get("title"), TITLE_MAX),
        url=_url(metadata.get("url")),
        messages=[message for message in messages if message is not None],
    )


def _message(raw: Any) -> Message | None:
    if not isinstance(raw, dict):
        return None
    text = _text(raw.get("text"), TEXT_MAX)
    if not text:
        return None
    return Message(
        author=_text(raw.get("author"), AUTHOR_MAX),
        text=text,
        at=_moment(raw.get("timestamp")),
        url=_url(raw.get("url")),
    )


def _text(raw: Any, most: int) -> str:
    if not isinstance(raw, str):
        return ""
    text = raw.strip()
    return text if len(text) <= most else text[:most].rstrip() + "…"


def _url(raw: Any) -> str | None:
    is_address = isinstance(raw, str) and len(raw) <= URL_MAX and _ADDRESS.fullmatch(raw)
    return str(raw) if is_address else None


def _moment(raw: Any) -> datetime | None:
    """Parse a time with its zone, in a year that can be shown in every time zone; None if it is invalid."""
    if not isinstance(raw, str):
        return None
    try:
        moment = datetime.fromisoformat(raw)
        return moment.astimezone(UTC) if moment.tzinfo and 1970 <= moment.year <= 2999 else None
    except (ValueError, OverflowError):
        return None
