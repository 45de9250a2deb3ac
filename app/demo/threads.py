"""The demo's threads as an integration submits them: post by post, each with the earlier posts of its thread."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from app.core import clock
from app.demo.posts import MemberNote, Post, Thread

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


def _post(notes: Sequence[dict[str, Any]] = (), **fields: Any) -> Post:
    return Post(**fields, notes=tuple(MemberNote(**note) for note in notes))


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
