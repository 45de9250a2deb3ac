"""Excerpts of posts: how much is shown at once, and which passages are marked."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.models import SampledPost
from app.core.raters.samples import Asked
from app.web.markup import EMPTY_LINES

EXCERPT = 700
"""How many characters of a post a card shows; the rest is on the item page."""
EXCERPT_LINES = 12
"""How many lines of a post a card shows: many empty lines must not push the question off the screen."""
LONG = 3_000
LONG_LINES = 60
"""A post with more characters or lines than this gets a scrolling frame, so that the question stays on the screen."""
LEAD_IN = 200
"""Characters shown before the first marked passage if the excerpt does not begin at the start of the post."""

_LINE_END = re.compile(rf"{EMPTY_LINES.pattern}|\n")
"""The end of a line; many empty lines after it are shown as one."""


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
    for number, line_end in enumerate(_LINE_END.finditer(text, at + 1, end), 1):
        if number == EXCERPT_LINES:
            return start + len(text[start : line_end.start()].rstrip("\n"))
    return end


def is_long(text: str, start: int, end: int) -> bool:
    """Whether this part of a post needs a scrolling frame."""
    lines = sum(1 for _ in _LINE_END.finditer(text, start, end))
    return end - start > LONG or lines > LONG_LINES
