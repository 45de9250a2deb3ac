"""Parts of a post that are scored by themselves: a short attack in a long post is lost in one vector of the whole."""

from collections.abc import Sequence
from itertools import accumulate

SHORTEST = 3
"""Tokens; a shorter sentence is scored together with the next one. A single word says too little."""
LONGEST = 40
"""Tokens, about 200 characters: a longer sentence is scored in overlapping parts of this length."""
WHOLE = 400
"""Tokens, about 2,000 characters: a longer post is scored in parts of this length beside its windows."""
OVERLAP = 40

Span = tuple[int, int]
"""Places of tokens: from the first to the one after the last."""


def wholes(count: int) -> list[Span]:
    """The post itself, or the overlapping parts of a long one, for this number of tokens."""
    if count <= WHOLE + OVERLAP:
        return [(0, count)]
    return [(at, min(at + WHOLE, count)) for at in range(0, count - OVERLAP, WHOLE - OVERLAP)]


def windows(lengths: Sequence[int]) -> list[Span]:
    """The sentences of a post, those that follow each other up to `LONGEST` together, and the parts of long ones.

    ``lengths``: the number of tokens of each sentence. Empty for a post that is one such window as a whole.
    """
    ends = list(accumulate(length for length in lengths if length))
    if not ends or (len(ends) == 1 and ends[0] <= LONGEST):
        return []
    starts = [0, *ends[:-1]]
    spans: dict[Span, None] = {}
    last = 0
    for first, start in enumerate(starts):
        if ends[first] - start > LONGEST:
            for at in range(start, ends[first] - LONGEST // 2, LONGEST // 2):
                spans[at, min(at + LONGEST, ends[first])] = None
            last = first + 1
            continue
        own = first
        while ends[own] - start < SHORTEST and own + 1 < len(ends):
            own += 1
        spans[start, ends[own]] = None
        last = max(last, own)
        while last + 1 < len(ends) and ends[last + 1] - start <= LONGEST:
            last += 1
        if ends[last] - start <= LONGEST:
            spans[start, ends[last]] = None
    spans.pop((0, ends[-1]), None)
    return list(spans)
