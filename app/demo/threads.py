"""The demonstration's threads as an integration submits them: post by post, in time, each with what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from app.core import clock
from app.demo.posts import Post, Thread
from app.demo.talk_council import COUNCIL
from app.demo.talk_market import MARKET
from app.demo.talk_sailing import SAILING
from app.demo.talk_town import TOWN
from app.demo.talk_water import WATER

THREADS: Sequence[Thread] = (*WATER, *SAILING, *COUNCIL, *TOWN, *MARKET)
CONTEXT = 3
"""Earlier posts of a thread that are submitted along with one."""


@dataclass(frozen=True)
class Told:
    """A post with its moment, its channel, and the ``metadata`` an integration gives with it."""

    at: datetime
    channel: str
    post: Post
    metadata: dict[str, Any]


def told(until: datetime) -> list[Told]:
    """Every post, oldest first, as if the last of them was written just before ``until``."""
    found = [
        Told(
            until - timedelta(days=post.days_ago),
            thread.channel,
            post,
            _metadata(thread, place, until),
        )
        for thread in THREADS
        for place, post in enumerate(thread.posts)
    ]
    return sorted(found, key=lambda one: one.at)


def _metadata(thread: Thread, place: int, until: datetime) -> dict[str, Any]:
    """The thread's title and what was said before, as docs/integration.md describes it."""
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
