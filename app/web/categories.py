"""Names of categories on pages, and which posts are hidden until the reader opens them."""

from collections.abc import Mapping

from app.core import texts
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds.routing import ESCALATED, OTHER, STRIKES, UNFINISHED, Place

HIDDEN = lazy_gettext("Content hidden")
"""Shown in lists instead of the text of a sensitive post."""
CATEGORY_NAMES = {
    "hate": lazy_gettext("Hate"),
    "misinformation": lazy_gettext("Misinformation"),
    "pii": lazy_gettext("Private details"),
    "self_harm": lazy_gettext("Self-harm"),
    "sexual": lazy_gettext("Sexual"),
    "spam": lazy_gettext("Spam"),
    "threat": lazy_gettext("Threat"),
    "toxicity": lazy_gettext("Toxicity"),
    UNFINISHED: lazy_gettext("Classifier could not finish"),
    ESCALATED: lazy_gettext("Escalated"),
    STRIKES: lazy_gettext("Strikes"),
    "": lazy_gettext("No category"),
}
CONTENT_NAMES = {"sexual": lazy_gettext("Sexual content"), "hate": lazy_gettext("Hateful content")}
COUNTED_NAMES = {
    "hate": lazy_gettext("hate", "after a number of posts"),
    "misinformation": lazy_gettext("misinformation", "after a number of posts"),
    "pii": lazy_gettext("private details", "after a number of posts"),
    "self_harm": lazy_gettext("self-harm", "after a number of posts"),
    "sexual": lazy_gettext("sexual", "after a number of posts"),
    "spam": lazy_gettext("spam", "after a number of posts"),
    "toxicity": lazy_gettext("toxicity", "after a number of posts"),
}
UNNAMED = {
    UNFINISHED: lazy_gettext("A classifier could not finish with this post, so people look at it"),
    ESCALATED: lazy_gettext("A member asked staff to look at this post"),
    STRIKES: lazy_gettext("The author’s strikes reached a step. This was their latest post that counted"),
    "": lazy_gettext("The platform took this action on its own"),
}
"""Why a post without a category is here."""


def category_name(name: str | None) -> str:
    """Return a category as a heading: "Self-harm", "Spam"."""
    return str(CATEGORY_NAMES.get(name or "") or (name or "").replace("_", " ").capitalize())


def reason_word(category: str) -> str:
    """Return a category as the reason of a report."""
    return _("Something else") if category == OTHER else category_name(category)


def in_sentence(name: str, count: int) -> str:
    """Return a category as it follows a number: "3 threats", "3 spam"."""
    if name == "threat":
        return ngettext("threat", "threats", count)
    return str(COUNTED_NAMES.get(name) or texts.in_sentence(category_name(name)))


def place_words(place: Place) -> str:
    """Return where a route leads: "Spam, Tier 2", "Let through"."""
    if place is None:
        return _("Let through")
    if place[0] == UNFINISHED:
        return category_name(UNFINISHED)
    return _("%(category)s, Tier %(tier)s", category=category_name(place[0]), tier=place[1])


def moved_rows(moved: Mapping[tuple[Place, Place], int]) -> list[tuple[str, str, int]]:
    """Return changes of routes with the number of posts, the most frequent first: before, after, posts."""
    rows = sorted(moved.items(), key=lambda pair: -pair[1])
    return [(place_words(before), place_words(after), count) for (before, after), count in rows]


def content_name(name: str | None) -> str:
    """Return a noun for a post of this category, to begin a sentence: "Sexual content", "Spam"."""
    return str(CONTENT_NAMES.get(name or "") or category_name(name))
