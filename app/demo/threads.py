"""The demo's forum: threads of posts, each with its outcome in the story, as an integration submits them."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from app.core import clock

FATES = {
    "clean": "scores nothing worth a look",
    "failed": "is never scored",
    "escalated": "scores nothing, and a member sends it to staff",
    "open": "waits for raters",
    "claimed": "waits, and a moderator has it in hand",
    "split": "waits, and raters disagree",
    "checked": "waits, with a fact-check beside it",
    "proposed": "raters agree, and the platform has not acted yet",
    "applied": "raters agree, and the platform has acted",
    "rejected": "raters do not agree, and it stays",
    "forced": "a moderator acts",
    "dismissed": "a moderator lets it stay",
    "overturned": "applied, and a moderator takes it back",
    "taken back": "as before, and the platform has not restored it yet",
    "appealed": "applied, and its author asks for a second look",
    "auto": "certain enough to act at once; the platform has not acted yet",
    "auto applied": "certain enough to act at once, and the platform has acted",
    "auto restored": "as before, and raters take it back",
}
"""The possible outcomes of a post."""


@dataclass(frozen=True)
class MemberNote:
    """A note that a member writes about a post. ``author`` "" is the demo rater; ``camps`` is as in ``Post``."""

    author: str
    text: str
    camps: str = ""
    misleading: bool = True
    reasons: Sequence[str] = ("factual_error",)
    sources: Sequence[str] = ()


@dataclass(frozen=True)
class MemberReport:
    """A report that a member files ``after`` minutes. ``reporter`` "" is the demo rater."""

    reporter: str
    category: str | None = None
    text: str | None = None
    after: float = 5.0


@dataclass(frozen=True)
class Post:
    """One post.

    ``fate``: its outcome, one of ``FATES``.
    ``camps``: the raters' answers in order, one letter each: upper case from the first camp, lower case from the
    second; h, s or n for helpful, somewhat and not.
    ``reason``: the text of the moderator or of the author of the appeal, if there is one.
    """

    days_ago: float
    author: str
    text: str
    fate: str = "clean"
    camps: str = ""
    reason: str = ""
    notes: Sequence[MemberNote] = field(default=())
    reports: Sequence[MemberReport] = field(default=())


@dataclass(frozen=True)
class Thread:
    """Posts under one title in one channel, oldest first. Later posts reply to earlier ones."""

    channel: str
    title: str
    posts: Sequence[Post]


_TALK = Path(__file__).parent / "talk"
_FILES = ("water", "sailing", "council", "town", "market")
CONTEXT = 3
"""How many earlier posts of the thread are submitted with a post."""


@dataclass(frozen=True)
class TimedPost:
    """A post with its time, its channel, and the ``metadata`` that an integration submits with it."""

    at: datetime
    channel: str
    post: Post
    metadata: dict[str, Any]


@cache
def threads() -> Sequence[Thread]:
    """Return every thread of the forum, from the files in ``talk``."""
    files = [tomllib.loads((_TALK / f"{name}.toml").read_text(encoding="utf-8")) for name in _FILES]
    return tuple(
        Thread(thread["channel"], thread["title"], tuple(_post(**post) for post in thread["posts"]))
        for file in files
        for thread in file["threads"]
    )


def _post(
    notes: Sequence[dict[str, Any]] = (), reports: Sequence[dict[str, Any]] = (), **fields: Any
) -> Post:
    return Post(
        **fields,
        notes=tuple(MemberNote(**note) for note in notes),
        reports=tuple(MemberReport(**report) for report in reports),
    )


def timed_posts(until: datetime) -> list[TimedPost]:
    """Return every post, oldest first, timed so that the last one was written just before ``until``."""
    timed = [
        TimedPost(
            until - timedelta(days=post.days_ago),
            thread.channel,
            post,
            _metadata(thread, place, until),
        )
        for thread in threads()
        for place, post in enumerate(thread.posts)
    ]
    return sorted(timed, key=lambda post: post.at)


def _metadata(thread: Thread, place: int, until: datetime) -> dict[str, Any]:
    """Return the metadata with the thread's title and earlier posts, as docs/integrate/api.md describes it."""
    metadata: dict[str, Any] = {"title": thread.title}
    if place:
        metadata["thread"] = [
            {
                "author": post.author,
                "text": post.text,
                "timestamp": clock.iso(until - timedelta(days=post.days_ago)),
            }
            for post in thread.posts[max(0, place - CONTEXT) : place]
        ]
    return metadata
