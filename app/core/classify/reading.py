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

from app.core.classify import help_lines
from app.core.classify.disguises import joints_as_spaces, undisguised_of
from app.core.classify.markup import without_markup
from app.core.classify.markup_patterns import ANY_MARKUP
from app.core.classify.normalise import Reading, plain_of
from app.core.classify.vocabulary import Vocabulary
from app.core.classify.voices import Segment, Voice, segments_of


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
        """For each of ``sentences``, whether it tells others of a line that helps in a crisis (`help_lines`)."""
        return tuple(help_lines.names_one(text) for text in self.slices(self.plain))

    @functools.cached_property
    def is_plea(self) -> bool:
        """Whether its author asks for help for themselves."""
        return help_lines.asks_for_help(self.plain.text)

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
