"""Data classes for the demo's forum: threads of posts, each with its outcome in the story."""

from collections.abc import Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Thread:
    """Posts under one title in one channel, oldest first. Later posts reply to earlier ones."""

    channel: str
    title: str
    posts: Sequence[Post]
