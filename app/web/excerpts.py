"""Excerpts of posts: how much is shown at once, and which passages are marked."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.models import SampledPost
from app.core.raters.samples import Asked

EXCERPT = 700
"""How many characters of a post a card shows; the rest is on the item page."""
EXCERPT_LINES = 12
"""How many lines of a post a card shows: many empty lines must not push the question off the screen."""
LONG = 3_000
LONG_LINES = 60
"""A post with more characters or lines than this gets a scrolling frame, so that the question stays on the screen."""
LEAD_IN = 200
"""Characters shown before the first marked passage if the excerpt does not begin at the start of the post."""


def spans(action: Asked) -> list[tuple[int, int]]:
    """Return the passages that classifiers matched: code-point offsets, end exclusive, in order."""
    if isinstance(action, SampledPost):
        return []
    evidence: Mapping[str, Any] = action.evidence or {}
    matches: Sequence[Any] = (evidence.get("details") or {}).get("matches") or ()
    offsets = [(match.get("start"), match.get("end")) for match in matches if isinstance(match, Mapping)]
    return sorted((a, b) for a, b in offsets if isinstance(a, int) and isinstance(b, int))


def window(text: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return start and end of an excerpt: from the start, or near the first marked passage if that is far down."""
    if len(text) <= EXCERPT:
        return 0, _line_end(text, 0, len(text))
    first = spans[0][0] if spans else 0
    start = 0 if first < EXCERPT - LEAD_IN else max(0, first - LEAD_IN)
    if start:
        start = text.find(" ", start, start + 40) + 1 or start
    end = min(len(text), start + EXCERPT)
    if end < len(text):
        end = max(text.rfind(" ", end - 40, end), start) if " " in text[end - 40 : end] else end
    return start, _line_end(text, start, end)


def _line_end(text: str, start: int, end: int) -> int:
    """Return the end of an excerpt from ``start``: at most ``EXCERPT_LINES`` lines, and not beyond ``end``."""
    # Empty lines at the beginning do not count, or the excerpt could have only empty lines.
    at = start + len(text[start:end]) - len(text[start:end].lstrip("\n"))
    for _ in range(EXCERPT_LINES):
        at = text.find("\n", at + 1, end)
        if at < 0:
            return end
    return start + len(text[start:at].rstrip("\n"))


def is_long(text: str, start: int, end: int) -> bool:
    """Whether this part of a post needs a scrolling frame."""
    return end - start > LONG or text.count("\n", start, end) > LONG_LINES
