"""How pages name a category, and which posts they show only when asked."""

from app.core.policies import policies
from app.core.policies.routing import ESCALATED, UNFINISHED

HIDDEN = "Content hidden"
"""What lists show in place of a sensitive post."""
CATEGORY_NAMES = {
    "pii": "Private details",
    "self_harm": "Self-harm",
    UNFINISHED: "Classifier could not finish",
}
CONTENT_NAMES = {"sexual": "Sexual content", "hate": "Hateful content"}
UNNAMED = {
    UNFINISHED: "A classifier could not finish with this post, so people look at it",
    ESCALATED: "Somebody asked staff to look at this post",
}
"""Why people are asked about a post that nobody has named a category for."""


def category_name(name: str | None) -> str:
    """A category as a heading: "Self-harm", "Spam"."""
    return CATEGORY_NAMES.get(name or "", (name or "No category").replace("_", " ").capitalize())


def content_name(name: str | None) -> str:
    """What a post of this category would be, to begin a sentence: "Sexual content", "Spam"."""
    return CONTENT_NAMES.get(name or "", category_name(name))


def is_veiled(category: str | None, *, warn: bool) -> bool:
    """Whether a post of this category stays hidden until asked for; ``warn``: the reader wants that."""
    return warn and category in policies.SENSITIVE
