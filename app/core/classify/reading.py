"""What a reader of the platform sees of a post: without its markup, and who says which part of it.

Posts come as their platform stores them: Markdown, BBCode, HTML, wiki text, the mentions of Discord and Slack, or a
mixture. ``see`` takes the markup away, decodes entities once, and keeps for every character the place in the source,
so that passages are marked in the post as it was sent. What readers cannot see without a click (the addresses of
links, hidden elements) stands after the text, so that it parts no words.

The text is in segments: the author's own words, titles, and quotations. The time of every step is linear in the length.
"""

import bisect
import functools
import re
from array import array
from dataclasses import dataclass, field
from itertools import pairwise

from app.core.classify.disguises import joints_as_spaces, undisguised_of
from app.core.classify.markup import Voice, without_markup
from app.core.classify.markup_patterns import ANY_MARKUP
from app.core.classify.normalise import Reading, plain_of
from app.core.classify.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Segment:
    """``text[start:end]`` of the text as readers see it, and who says it. Segments follow each other without gaps."""

    start: int
    end: int
    voice: Voice


@dataclass(frozen=True)
class Seen:
    """A post as it is seen.

    ``shown`` is the text in its own spelling, with its places in ``source``. From ``tail`` on it holds what readers
    see only with a click.
    """

    source: str
    shown: Reading
    segments: tuple[Segment, ...]
    tail: int
    _undisguised: dict[Vocabulary, Reading] = field(default_factory=dict, compare=False, repr=False)
    _folded: dict[Vocabulary, Reading] = field(default_factory=dict, compare=False, repr=False)

    @functools.cached_property
    def plain(self) -> Reading:
        """Encodings undone, in small letters (`normalise.plain_of`); its places are those of ``shown.text``."""
        return plain_of(self.shown.text)

    def undisguised(self, vocabulary: Vocabulary) -> Reading:
        """The plain reading with disguised words as they are meant; the same object where there is none."""
        known = self._undisguised.get(vocabulary)
        if known is None:
            known = self._undisguised[vocabulary] = undisguised_of(self.plain, self.shown.text, vocabulary)
        return known

    def folded(self, vocabulary: Vocabulary) -> Reading:
        """Undisguised, with spaces for the punctuation within sentences; the same object where nothing changes."""
        known = self._folded.get(vocabulary)
        if known is None:
            known = self._folded[vocabulary] = joints_as_spaces(self.undisguised(vocabulary))
        return known

    def source_span(self, reading: Reading, start: int, end: int) -> tuple[int, int]:
        """The span in the source of the non-empty ``reading.text[start:end]``; ``reading`` is one of this post's."""
        first, last = reading.original_span(start, end)
        start, end = self.shown.starts[first], self.shown.ends[last - 1]
        # What stands after the text has its places before it.
        return (start, end) if start < end else (start, self.shown.ends[first])

    @functools.cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """The spans of ``shown.text`` between ends of sentences and lines; what stands after the text is one more."""
        text = self.shown.text
        # A shorter one goes with the next: a word says little, and a long post must not have too many.
        shortest = 10 if len(text) < 5_000 else 60
        places = [0]
        for match in _SENTENCE_END.finditer(text, 0, self.tail):
            if match.end() - places[-1] >= shortest:
                places.append(match.end())
        places = sorted({*places, self.tail, len(text)})
        return tuple(pairwise(places))

    @functools.cached_property
    def offers(self) -> tuple[bool, ...]:
        """For each of ``sentences``, whether it tells others of a line that helps in a crisis."""
        return tuple(names_one(text) for text in self.slices(self.plain))

    @functools.cached_property
    def is_plea(self) -> bool:
        """Whether its author asks for help for themselves."""
        return asks_for_help(self.plain.text)

    def is_offered(self, reading: Reading, start: int, end: int) -> bool:
        """Whether ``reading.text[start:end]`` lies in a sentence that tells of a line that helps."""
        if not any(self.offers):
            return False
        first, last = reading.original_span(start, end)
        spans = (span for span, offers in zip(self.sentences, self.offers, strict=True) if offers)
        return any(begin <= first and last <= until for begin, until in spans)

    def slices(self, reading: Reading) -> list[str]:
        """The text of a reading of this post for each of ``sentences``."""
        found = []
        at = 0
        for _, end in self.sentences:
            until = bisect.bisect_left(reading.starts, end, at)
            found.append(reading.text[at:until])
            at = until
        return found

    @functools.cached_property
    def quotations(self) -> tuple[tuple[int, int], ...]:
        """The spans in the source that quote others, in order. None where a post says nothing else."""
        quoted = [part for part in self.segments if part.voice is Voice.QUOTED and part.start < self.tail]
        own = (part for part in self.segments if part.voice is not Voice.QUOTED)
        if not any(_WORD.search(self.shown.text, part.start, min(part.end, self.tail)) for part in own):
            return ()
        return tuple((self.shown.starts[part.start], self.shown.ends[part.end - 1]) for part in quoted)

    @functools.cached_property
    def own_words(self) -> str | None:
        """The source without its quotations; None where the post has none, or says nothing else."""
        if not self.quotations:
            return None
        kept = []
        at = 0
        for start, end in self.quotations:
            kept.append(self.source[at:start])
            at = max(at, end)
        return "\n".join([*kept, self.source[at:]])

    def is_quoted(self, start: int, end: int) -> bool:
        """Whether ``source[start:end]`` lies wholly in a quotation."""
        return any(first <= start and end <= last for first, last in self.quotations)


# Of a run of signs the last one ends the sentence, so that "..." and "?!" are one end.
_SENTENCE_END = re.compile(r"[.!?…][\"')\]»”’]*\s+|[。！？]+|\n+")
_WORD = re.compile(r"[^\W\d_]{2}")


@functools.lru_cache(maxsize=16)
def see(source: str) -> Seen:
    """Read a post. The classifiers of a post share what was read last."""
    if not ANY_MARKUP.search(source):
        changes = [(0, Voice.OWN)]
        return Seen(source, _unchanged(source), segments_of(source, changes, len(source)), len(source))
    unmarked = without_markup(source)
    segments = segments_of(unmarked.shown.text, unmarked.voice_changes, unmarked.tail)
    return Seen(source, unmarked.shown, segments, unmarked.tail)


def _unchanged(text: str) -> Reading:
    return Reading(text, array("I", range(len(text))), array("I", range(1, len(text) + 1)))


_NAMES = (
    r"samaritans|befrienders|telefonseelsorge|childline|kids help phone|trevor project|trans lifeline"
    r"|crisis text line|nummer gegen kummer|suicide prevention|lifeline"
    r"|(?:suicide|crisis|mental health)(?: (?:&|and) crisis)?(?: prevention)? (?:life|hot|help|text )?line"
    r"|findahelpline\.com|befrienders\.org|samaritans\.org|988lifeline\.org|sos amiti[eé]|tel[eé]fono de la esperanza"
)
_LONG = (
    r"1[ .-]?800[ .-]?273[ .-]?(?:8255|talk)|116[ -]?123|116[ -]?111|0800[ /-]?111[ -]?0[ -]?(?:111|222|550)"
    r"|0800[ -]?1111|13[ -]?11[ -]?14|1?[ .-]?866[ .-]?488[ .-]?7386|1?[ .-]?877[ .-]?565[ .-]?8860"
    r"|1[ .-]?800[ .-]?668[ .-]?6868|1[ .-]?800[ .-]?799[ .-]?7233|1[ .-]?800[ .-]?656[ .-]?4673"
    r"|0508[ -]?828[ -]?865|1800[ -]?55[ -]?1800|0800[ -]?068[ -]?4141|9152987821"
)
_SHORT = r"988|741[ -]?741|85258|686[ -]?868|1737|3114|143|142|024"
_FOR = (
    r"suicid\w*|crisis|hotline|helpline|hilfe|in need|end(?:ing)? (?:your|my|their|it|his|her)|not alone"
    r"|hurt(?:ing)? yourself|self.?harm|struggling|distress|someone to talk|talk to someone|call or text|reach out"
    r"|kill(?:ing)? (?:yourself|myself)|feel(?:ing)? (?:hopeless|suicidal)"
)
_LINE = re.compile(rf"(?<!\w)(?:{_NAMES})(?!\w)|(?<![\d+])(?:{_LONG})(?!\d)")
_SHORT_LINE = re.compile(rf"(?<![\d.,:/$€£-])(?:{_SHORT})(?![\d:/%€$]|[.,]\d)")
_PURPOSE = re.compile(rf"(?<!\w)(?:{_FOR})(?!\w)")
# What offers of help do not say; an advertisement does not become one by a number beside it.
_SELLS = re.compile(
    r"(?<!\w)(?:bitcoin|crypto|casino|whats ?app|telegram|viagra|followers|discount|bonus|earn|profits?|buy|invest\w*)"
    r"(?!\w)"
)
_MYSELF = re.compile(r"(?<!\w)(?:i|i'm|im|i've|my|me|myself|ich|mich|mir)(?!\w)")
_PLEA = re.compile(
    r"(?<!\w)(?:i (?:really |just )?(?:want|wanna|am going|'m going|need|plan|tried)(?: to)? "
    r"(?:die|be dead|kill myself|end (?:it all|it|my life|everything)|disappear)"
    r"|i(?:'m| am| feel)(?: so| really)? suicidal|(?:don't|do not|dont) want to (?:live|be alive|be here|exist|wake up)"
    r"|(?:can't|cannot|cant) (?:go on|do this any ?more|take (?:it|this) any ?more)|kill(?:ing)? myself"
    r"|take my own life|end(?:ing)? my (?:own )?life|(?:hurt|cut|harm)(?:ing)? myself)(?!\w)"
)
_LONGEST = 600


def names_one(sentence: str) -> bool:
    """Whether a sentence, in small letters, tells others of a line that helps in a crisis."""
    if len(sentence) > _LONGEST or _SELLS.search(sentence):
        return False
    if _LINE.search(sentence):
        return True
    return _SHORT_LINE.search(sentence) is not None and _PURPOSE.search(sentence) is not None


def is_about_oneself(sentence: str) -> bool:
    """Whether a sentence speaks of its author."""
    return _MYSELF.search(sentence) is not None


def asks_for_help(text: str) -> bool:
    """Whether a text in small letters says that its author wants to end or harm themselves."""
    return _PLEA.search(text) is not None and not _SELLS.search(text)


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
