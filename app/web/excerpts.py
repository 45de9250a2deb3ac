"""How much of a post is shown at once, and where its marked passages lie."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.models import Action

EXCERPT = 700
"""Characters of a post on a card; the rest is on the item page."""
EXCERPT_LINES = 12
"""Lines of a post on a card: a post of empty lines must not push the question off the screen."""
LONG = 3_000
LONG_LINES = 60
"""From so many characters or lines on, a post gets a frame that scrolls, so the question stays within reach."""
LEAD_IN = 200
"""Characters kept before the first marked passage when an excerpt cannot begin at the start."""


def spans(action: Action) -> list[tuple[int, int]]:
    """The passages that a classifier matched: code-point offsets, end exclusive, in order."""
    evidence: Mapping[str, Any] = action.evidence or {}
    matches: Sequence[Any] = (evidence.get("details") or {}).get("matches") or ()
    found = [(match.get("start"), match.get("end")) for match in matches if isinstance(match, Mapping)]
    return sorted((a, b) for a, b in found if isinstance(a, int) and isinstance(b, int))


def window(text: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Where an excerpt begins and ends: at the start, unless the first marked passage lies further down."""
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
    """``end``, or where the last line ends that an excerpt from ``start`` has room for."""
    # Empty lines at its very beginning do not count, or the excerpt would be nothing but them.
    at = start + len(text[start:end]) - len(text[start:end].lstrip("\n"))
    for _ in range(EXCERPT_LINES):
        at = text.find("\n", at + 1, end)
        if at < 0:
            return end
    return start + len(text[start:at].rstrip("\n"))


def is_long(text: str, start: int, end: int) -> bool:
    """Whether this much of a post needs a frame that scrolls."""
    return end - start > LONG or text.count("\n", start, end) > LONG_LINES
