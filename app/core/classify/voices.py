"""Who says which part of a post: its author, a title, or others whom it quotes."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Voice(StrEnum):
    """Who says a part of a post."""

    OWN = "own"
    QUOTED = "quoted"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class Segment:
    """``text[start:end]`` of the text as readers see it, and who says it. Segments follow each other without gaps."""

    start: int
    end: int
    voice: Voice


_IN_QUOTATION_MARKS = re.compile(
    r"\"([^\"]{2,3000})\"|“([^“”]{2,3000})”|„([^„“”\"]{2,3000})[“”\"]|«([^«»]{2,3000})»|»([^«»]{2,3000})«"
    r"|(?<!\w)‘([^‘\n]{2,1000}?)’(?!\w)"
)
# At the end of what stands before the quotation mark: "he said to me: ".
_VERB_OF_SAYING = re.compile(
    r"\b(?i:sa(?:id|ys?|ying)|wr(?:ote|ites?|itten|iting)|post(?:ed|s|ing)?|t(?:old|ells?|exted)|sen[dt]s?|messaged?"
    r"|messages|repl(?:ied|ies)|answer(?:ed|s)?|comment(?:ed|s)?|call(?:ed|s)|shout(?:ed|s)?|yell(?:ed|s)?"
    r"|claim(?:ed|s)?|reads?|goes|was like|got|receiv(?:ed|e)|gets?|e-?mails?|emailed|quot(?:e[ds]?|ing)"
    r"|tweet(?:ed|s)?|dm(?:ed|s)?|ask(?:ed|s)?|wording|texts?|line|phrases?|words|sagte?|schr(?:ieb|eibt)|meinte?)"
    r"\b[^\n\"“”„«»]{0,60}$"
)


def segments_of(text: str, changes: list[tuple[int, Voice]], tail: int) -> tuple[Segment, ...]:
    """The segments of a text without markup.

    ``changes``: the places where another voice begins, in order, the first at 0. From ``tail`` on the text holds what
    readers see only with a click; no quotation begins there. In the author's own words, those in quotation marks after
    a verb of saying are quoted.
    """
    segments: list[Segment] = []
    for (start, voice), end in zip(changes, [*(at for at, _ in changes[1:]), len(text)], strict=True):
        if start == end:
            continue
        at = start
        if voice is Voice.OWN and start < tail:
            for quotation in _IN_QUOTATION_MARKS.finditer(text, start, end):
                first, last = quotation.span(quotation.lastindex or 0)
                if not _VERB_OF_SAYING.search(text[max(start, at, first - 81) : first - 1]):
                    continue
                segments += [Segment(at, first, voice)] if at < first else []
                segments.append(Segment(first, last, Voice.QUOTED))
                at = last
        segments += [Segment(at, end, voice)] if at < end else []
    return tuple(segments)
