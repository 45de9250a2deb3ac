"""Names of categories on pages, and which posts are hidden until the reader opens them."""

from collections.abc import Mapping

from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import ESCALATED, STRIKES, UNFINISHED, Place

HIDDEN = "Content hidden"
"""Shown in lists instead of the text of a sensitive post."""
CATEGORY_NAMES = {
    "pii": "Private details",
    "self_harm": "Self-harm",
    UNFINISHED: "Classifier could not finish",
    "": "No category",
}
CONTENT_NAMES = {"sexual": "Sexual content", "hate": "Hateful content"}
UNNAMED = {
    UNFINISHED: "A classifier could not finish with this post, so people look at it",
    ESCALATED: "A member asked staff to look at this post",
    STRIKES: "The author’s strikes reached a step. This was their latest post that counted",
    "": "The platform took this action on its own",
}
"""Why a post without a category is here."""


def category_name(name: str | None) -> str:
    """Return a category as a heading: "Self-harm", "Spam"."""
    return CATEGORY_NAMES.get(name or "", (name or "").replace("_", " ").capitalize())


def in_sentence(name: str, count: int) -> str:
    """Return a category as it follows a number: "3 threats", "3 spam"."""
    if name == "threat":
        return "threat" if count == 1 else "threats"
    return category_name(name).lower()


def place_words(place: Place) -> str:
    """Return where a route leads: "Spam, Tier 2", "Let through"."""
    if place is None:
        return "Let through"
    return (
        category_name(UNFINISHED) if place[0] == UNFINISHED else f"{category_name(place[0])}, Tier {place[1]}"
    )


def moved_rows(moved: Mapping[tuple[Place, Place], int]) -> list[tuple[str, str, int]]:
    """Return changes of routes with the number of posts, the most frequent first: before, after, posts."""
    rows = sorted(moved.items(), key=lambda pair: -pair[1])
    return [(place_words(before), place_words(after), count) for (before, after), count in rows]


def content_name(name: str | None) -> str:
    """Return a noun for a post of this category, to begin a sentence: "Sexual content", "Spam"."""
    return CONTENT_NAMES.get(name or "", category_name(name))


def is_veiled(category: str | None, *, warn: bool) -> bool:
    """Whether a post of this category is hidden until opened. ``warn``: the reader's setting for content warnings."""
    return warn and category in threshold_sets.SENSITIVE
