"""What was changed in a post while people judge it, for moderators."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from itertools import pairwise

from markupsafe import Markup
from sqlalchemy.orm import Session

from app.core.models import Action, Request
from app.core.requests import edits
from app.web.filters import highlight

COMPARED = 1_000
"""The most words of a text that are compared: more would take too long, and nobody reads that many one by one."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]+")


@dataclass(frozen=True)
class Change:
    """An edit: when it came, and its text with what was taken out and what was added to the one ``before``.

    ``marked`` is None where the texts are too long to compare; ``is_text``: it is not only attachments that changed.
    """

    at: datetime
    marked: Markup | None
    is_text: bool
    before: Markup
    before_at: datetime


def changes(session: Session, action: Action) -> list[Change]:
    """The edits of a post under review, newest first; none of one that was not edited."""
    texts = edits.of_review(session, action)
    return [_change(after, before) for after, before in pairwise(texts)]


def _change(after: Request, before: Request) -> Change:
    is_text = after.content != before.content
    marked = compared(before.content, after.content) if is_text else None
    return Change(after.requested_at, marked, is_text, highlight(before.content, ()), before.requested_at)


def compared(before: str, after: str) -> Markup | None:
    """The text ``after``, escaped, with the words that were added in ``ins`` and those taken out in ``del``.

    None if too much would have to be compared.
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    begin = _same(old, new)
    end = _same(old[begin:][::-1], new[begin:][::-1])
    old_part, new_part = old[begin : len(old) - end], new[begin : len(new) - end]
    if max(len(old_part), len(new_part)) > COMPARED:
        return None
    parts = [highlight("".join(new[:begin]), ())]
    for removed, added in _joined(old_part, new_part):
        if removed == added:
            parts.append(highlight(added, ()))
            continue
        parts += [Markup("<del>{}</del>").format(removed)] if removed else []
        parts += [Markup("<ins>{}</ins>").format(added)] if added else []
    parts.append(highlight("".join(new[len(new) - end :]), ()))
    return Markup("").join(parts)


def _joined(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of what was there and what is there now; a space between two changes is part of them."""
    pairs: list[tuple[str, str]] = []
    for name, first, last, start, stop in SequenceMatcher(None, old, new).get_opcodes():
        removed, added = "".join(old[first:last]), "".join(new[start:stop])
        is_change = name != "equal"
        if len(pairs) >= 2 and is_change and pairs[-1] == (" ", " ") and pairs[-2][0] != pairs[-2][1]:
            pairs.pop()
            earlier = pairs.pop()
            pairs.append((f"{earlier[0]} {removed}", f"{earlier[1]} {added}"))
            continue
        pairs.append((removed, added))
    return pairs


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words at the beginning are the same."""
    return next(
        (place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )
