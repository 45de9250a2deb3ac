"""What a reader of the platform sees of a post: without its markup, and who says which part of it.

Posts come as their platform stores them: Markdown, BBCode, HTML, wiki text, the mentions of Discord and Slack, or a
mixture. ``see`` takes the markup away, decodes entities once, and keeps for every character the place in the source,
so that passages are marked in the post as it was sent. What readers cannot see without a click (the addresses of
links, hidden elements) stands after the text, so that it parts no words.

The text is in segments: the author's own words, titles, and quotations. The time of every step is linear in the length.
"""

import bisect
import functools
import html
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from app.core.classify import help_lines
from app.core.classify.normalise import Reading, joints_open, plain_of, undisguised_of
from app.core.classify.vocabulary import Vocabulary


class Voice(StrEnum):
    """Who says a part of a post."""

    OWN = "own"
    QUOTED = "quoted"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class Segment:
    """``Seen.shown.text[start:end]`` and who says it; segments follow each other without gaps."""

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
        """Encodings undone, in small letters (`normalise`); its places are those of ``shown.text``."""
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
            known = self._folded[vocabulary] = joints_open(self.undisguised(vocabulary))
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
    if not _MARKUP.search(source):
        shown = _unchanged(source)
        return Seen(source, shown, _voices(source, [(0, Voice.OWN)], len(source)), len(source))
    return _Scan(source).seen()


def _unchanged(text: str) -> Reading:
    return Reading(text, array("I", range(len(text))), array("I", range(1, len(text) + 1)))


# Where there is none of these, a post is what it looks like.
_MARKUP = re.compile(
    r"[<&\[\]*_~|`\\^]|''|!<"
    r"|(?m:^[ ]{0,3}(?:[>#+•‣◦-]|\d{1,2}[.)][ ]|={3})|^\t|^ {4}|^(?i:from|von):)"
    r"|(?i:forwarded message|original message|(?:wrote|schrieb)[^\n]{0,80}:[ ]*\n)"
)
_URL = r"(?:https?://|www\.)[^\s<>\"'|\[\]()`]+"
# A run of signs that may open or close emphasis, code or a spoiler; those within addresses and between single letters
# do not, nor across paragraphs.
_RUN = re.compile(
    rf"{_URL}|(?<![^\W_])[^\W_](?P<sign>[*_~|])[^\W_](?:(?P=sign)[^\W_])+(?![^\W_])"
    r"|<[^<>\n]{0,500}>|\\[*_~|`]|(?P<run>\*+|_+|~+|\|\|+|`+)|(?P<gap>\n[ \t]*\n)"
)
_LINE = re.compile(
    r"[ \t]{0,8}(?:"
    r"(?P<fence>`{3,}|~{3,})[^\n`]*(?=\n|$)"
    r"|(?P<rule>(?:[-*_=][ ]?){3,}(?=\n|$)|\|?[ ]?:?-{2,}[ :|-]*(?=\n|$))"
    r"|(?P<quote>(?:(?:>(?!!)|&gt;(?!!))[ \t]?){1,50})"
    r"|(?P<title>\#{1,6}[ \t]+)"
    r"|(?P<item>(?:[-*+•‣◦]|\d{1,2}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)"
    r"|(?P<row>\|(?!\|))"
    r"|(?P<mail>-{2,}[ ]*(?i:begin )?(?i:forwarded|original|weitergeleitete|ursprüngliche)"
    r"[ ](?i:message|nachricht)[ ]*-*"
    r"|(?i:begin forwarded message):"
    r"|(?i:on|am)[ ][^\n]{5,150}(?i:wrote|schrieb)[^\n]{0,80}:[ ]*(?=\n(?!\s*(?:>|&gt;)))"
    r"|(?i:from|von):[ ][^\n]{1,200}\n(?i:sent|date|to|subject|cc|reply-to|gesendet|datum|an|betreff):)"
    r")"
)
_BB = (
    r"\[/?(?i:b|i|u|s|strike|sub|sup|url|email|img|color|colour|size|font|face|style|left|right|center|justify|indent"
    r"|align|quote|code|pre|icode|spoiler|hide|list|ul|ol|li|table|tr|td|th|hr|br|h[1-6]|highlight|background|bg|glow"
    r"|shadow|noparse|nobr|small|big|tt|p|div|span|media|video|youtube|del|ins|em|strong|\*)"
    r"(?:[=\s][^\[\]\n]{0,500})?\](?!\()"
)
_MARK = re.compile(
    r"(?P<line>\n)|(?P<comment><!--)"
    r"|(?P<auto><(?:https?://|mailto:)[^\s<>|]{1,2000}(?:\|[^<>\n]{0,500})?>)"
    r"|(?P<tag></?[a-zA-Z][a-zA-Z0-9:-]{0,40}(?:[\s/][^<>]{0,2000})?>)"
    r"|(?P<mention><(?:@[!&]?\w{5,25}(?:\|[^<>\n|]{0,80})?|\#\w{5,25}(?:\|[^<>\n|]{0,80})?"
    r"|a?:\w{2,32}:\d{5,25}|t:-?\d{1,15}(?::[a-zA-Z])?|![a-z]{4,10})>)"
    r"|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
    r"|&(?:nbsp|shy)|&(?:amp|lt|gt|quot)(?![\w=;]))"
    rf"|(?P<bb>{_BB})"
    r"|(?P<link>!?\[(?P<text>[^\[\]\n]{0,500})\]"
    r"(?:\((?P<to>[^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?)(?:[ ]+[\"'(][^\"\n]{0,300}[\"')])?\)"
    r"|\[[^\[\]\n]{0,100}\]))"
    r"|(?P<wiki>\[\[(?:[^\[\]|\n]{0,200}\|)?|\]\])"
    r"|(?P<quotes>'{2,5})|(?P<clicked>>!|!<)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BLOCKS = _names(
    "address article aside blockquote body br center caption dd details div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol optgroup option p pre section summary table"
    " tbody td tfoot th thead title tr ul"
)
_INLINE = _names(
    "a abbr acronym audio b bdi bdo big button cite code data del dfn em embed font i iframe img input ins kbd label"
    " map mark marquee math meta link meter nobr noscript object output picture param progress q rb rp rt ruby s"
    " samp script select small source span strike strong style sub sup svg template textarea time track tt u var"
    " video wbr base blink"
)
_UNSEEN = frozenset({"script", "style", "template"})
_QUOTING = frozenset({"blockquote", "q", "pre", "code", "samp"})
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_HIDES = re.compile(
    r"(?i)\shidden(?=[\s=/>])|(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d]))"
)
_TARGET = re.compile(
    r"(?i)\s(?:href|src)\s*=\s*(?:\"([^\"<>]{1,2000})\"|'([^'<>]{1,2000})'|([^\s\"'<>]{1,2000}))"
)
_BB_BLOCKS = _names(
    "quote code pre spoiler hide list ul ol li * center justify indent table tr td th hr br h1 h2 h3 h4 h5 h6 p div"
)
_BB_QUOTING = frozenset({"quote", "code", "pre", "icode"})
_QUOTE_MARKS = re.compile(
    r"\"([^\"]{2,3000})\"|“([^“”]{2,3000})”|„([^„“”\"]{2,3000})[“”\"]|«([^«»]{2,3000})»|»([^«»]{2,3000})«"
    r"|(?<!\w)‘([^‘\n]{2,1000}?)’(?!\w)"
)
_SAYS = re.compile(
    r"\b(?i:sa(?:id|ys?|ying)|wr(?:ote|ites?|itten|iting)|post(?:ed|s|ing)?|t(?:old|ells?|exted)|sen[dt]s?|messaged?"
    r"|messages|repl(?:ied|ies)|answer(?:ed|s)?|comment(?:ed|s)?|call(?:ed|s)|shout(?:ed|s)?|yell(?:ed|s)?"
    r"|claim(?:ed|s)?|reads?|goes|was like|got|receiv(?:ed|e)|gets?|e-?mails?|emailed|quot(?:e[ds]?|ing)"
    r"|tweet(?:ed|s)?|dm(?:ed|s)?|ask(?:ed|s)?|wording|texts?|line|phrases?|words|sagte?|schr(?:ieb|eibt)|meinte?)"
    r"\b[^\n\"“”„«»]{0,60}$"
)


def _voices(text: str, marks: list[tuple[int, Voice]], tail: int) -> tuple[Segment, ...]:
    """The segments, from the places where another voice begins.

    Of the author's own, words in quotation marks after a verb of saying are quoted.
    """
    segments: list[Segment] = []
    for (start, voice), end in zip(marks, [*(at for at, _ in marks[1:]), len(text)], strict=True):
        if start == end:
            continue
        at = start
        if voice is Voice.OWN and start < tail:
            for marked in _QUOTE_MARKS.finditer(text, start, end):
                first, last = marked.span(marked.lastindex or 0)
                if not _SAYS.search(text[max(start, at, first - 81) : first - 1]):
                    continue
                segments += [Segment(at, first, voice)] if at < first else []
                segments.append(Segment(first, last, Voice.QUOTED))
                at = last
        segments += [Segment(at, end, voice)] if at < end else []
    return tuple(segments)


class _Scan:
    """One pass over a source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._out: list[str] = []
        self._starts, self._ends = array("I"), array("I")
        self._marks: list[tuple[int, Voice]] = [(0, Voice.OWN)]
        self._tail: list[tuple[str, int, int]] = []
        self._targets: set[str] = set()
        self._pairs = list(_pairs(source))
        self._next_pair = 0
        self._skip = (-1, 0)
        self._deep = {"html": 0, "bb": 0, "code": 0}
        self._line = Voice.OWN
        self._heading = self._rest = self._row = self._after_blank = False
        self._fence = ""
        self._hidden: tuple[str, int] | None = None
        self._nowhere: set[str] = set()

    def seen(self) -> Seen:
        source = self._source
        at = self._line_start(0)
        while at < len(source):
            found = _MARK.search(source, at)
            start = len(source) if found is None else found.start()
            place, after = self._skip
            if at <= place <= start:
                self._keep(at, place)
                at, self._skip = after, (-1, 0)
                continue
            self._keep(at, start)
            at = start if found is None else self._mark(found)
        self._hidden = None
        tail = len(self._starts)
        self._say(Voice.OWN)
        for text, start, end in self._tail:
            if text.strip():
                self._put("\n" + text, start, end)
        text = "".join(self._out)
        return Seen(source, Reading(text, self._starts, self._ends), _voices(text, self._marks, tail), tail)

    def _mark(self, found: "re.Match[str]") -> int:
        """Read one piece of markup; return where to go on."""
        kind, (start, end) = found.lastgroup, found.span()
        if self._fence and kind != "line":
            self._put(found[0], start, end, spread=True)
        elif kind == "line":
            self._heading = self._row = False
            self._put("\n", start, end)
            return self._line_start(end)
        elif kind == "comment":
            return self._after("-->", end, start)
        elif kind == "tag":
            return self._tag(found[0], start, end)
        elif kind == "mention":
            inner = found[0][1:-1]
            shown = "@user" if inner[0] == "@" else f":{inner.split(':')[1]}:" if inner[0] in "a:" else " "
            self._put(shown, start, end)
        elif kind == "auto":
            target, _, text = found[0][1:-1].partition("|")
            self._put(text or target, start, end)
            if text:
                self._leads(target, start, end)
        elif kind == "entity":
            self._put(html.unescape(found[0]), start, end)
        elif kind == "bb":
            return self._bb(found[0], start, end)
        elif found["link"] is not None:
            if found["to"]:
                self._leads(found["to"].strip("<>"), start, end)
            self._skip = (found.end("text"), end)
            return found.start("text")
        elif kind == "escaped":
            self._put(found["escaped"], start, end)
        return end

    def _line_start(self, at: int) -> int:
        source = self._source
        if self._fence:
            closing = re.compile(rf"[ \t>]{{0,8}}{re.escape(self._fence)}+[ \t]*(?=\n|$)").match(source, at)
            if closing is not None:
                self._fence = ""
                self._say(self._voice())
                return closing.end()
            return at
        follows_quote, self._line = self._line is Voice.QUOTED, Voice.OWN
        indented = source.startswith(("    ", "\t"), at) and source[at : at + 8].strip() != ""
        if source.startswith(("\n", "\r"), at) or at >= len(source):
            self._after_blank = True
            self._say(self._voice())
            return at
        found = _LINE.match(source, at)
        is_code = indented and (self._after_blank or at == 0)
        self._after_blank = is_code = is_code and (found is None or not (found["quote"] or found["item"]))
        if is_code:
            self._line = Voice.QUOTED
            self._say(self._voice())
            return at
        while found is not None:
            if found["fence"]:
                self._fence = found["fence"]
                at = found.end()
                break
            if found["mail"]:
                self._rest = True
                break
            if found["quote"]:
                self._line = Voice.QUOTED
                # In Discord the rest of a post; in mail, a quotation in a quotation.
                if found["quote"].startswith(">>>") and not follows_quote:
                    self._rest = True
            self._heading = self._heading or found["title"] is not None
            self._row = found["row"] is not None
            at = found.end()
            found = _LINE.match(source, at) if found["quote"] else None
        if self._rest and _CLOSING_QUESTION.match(source, at):
            self._rest = False
        self._say(self._voice())
        return at

    def _voice(self) -> Voice:
        if self._rest or self._fence or self._line is Voice.QUOTED or any(self._deep.values()):
            return Voice.QUOTED
        return Voice.TITLE if self._heading else Voice.OWN

    def _say(self, voice: Voice) -> None:
        if self._marks[-1][1] is not voice:
            self._marks.append((len(self._starts), voice))

    def _leads(self, target: str, start: int, end: int) -> None:
        """Keep the address of a link, once."""
        target = html.unescape(target)
        if target and target not in self._targets and not target.startswith("#"):
            self._targets.add(target)
            self._tail.append((target, start, end))

    def _after(self, closing: str, at: int, opened: int) -> int:
        """The place after the closing sign; the rest is unseen where there is none."""
        found = -1 if closing in self._nowhere else self._source.find(closing, at)
        if found < 0:
            self._nowhere.add(closing)
            return at  # Never closed: platforms differ in what they show of it.
        if at < found:
            self._tail.append((self._source[at:found], at, found))
        return found + len(closing)

    def _tag(self, tag: str, start: int, end: int) -> int:
        closes = tag[1] == "/"
        name = _TAG_NAME.match(tag, 1 + closes)[0].lower()  # type: ignore[index]
        if name not in _BLOCKS and name not in _INLINE:
            parts_word = (
                start > 0 and self._source[start - 1].isalnum() and self._source[end : end + 1].isalnum()
            )
            if "-" not in name and not parts_word:
                self._put(tag, start, end, spread=True)
            return end
        if self._hidden is not None:
            return self._in_hidden(name, closes, tag, end)
        if name in _UNSEEN and not closes:
            closing = f"</{name}"
            closes_at = (
                None
                if closing in self._nowhere
                else re.compile(closing, re.IGNORECASE).search(self._source, end)
            )
            if closes_at is None:
                self._nowhere.add(closing)
                return end
            return closes_at.start()
        if not closes and _HIDES.search(tag) and name not in _VOID and not tag.endswith("/>"):
            self._hidden = (name, 1)
            return end
        target = None if closes else _TARGET.search(tag)
        if target is not None and name in ("a", "iframe", "embed", "video", "audio"):
            self._leads(target[1] or target[2] or target[3], start, end)
        if name in _BLOCKS:
            self._put("\n", start, end)
        if name in _QUOTING:
            self._deep["html"] = max(0, self._deep["html"] + (-1 if closes else 1))
        if name in _HEADINGS:
            self._heading = not closes
        self._say(self._voice())
        return end

    def _in_hidden(self, name: str, closes: bool, tag: str, end: int) -> int:
        hidden, depth = self._hidden or ("", 0)
        if name == hidden and not tag.endswith("/>"):
            depth += -1 if closes else 1
        self._hidden = (hidden, depth) if depth else None
        return end

    def _bb(self, tag: str, start: int, end: int) -> int:
        closes = tag[1] == "/"
        name, _, value = tag[1 + closes : -1].replace(" ", "=", 1).partition("=")
        name = name.lower()
        if name in ("url", "email") and value:
            self._leads(value.strip("\"'"), start, end)
        if name in _BB_BLOCKS:
            self._put("\n", start, end)
        if name in _BB_QUOTING:
            self._deep["bb"] = max(0, self._deep["bb"] + (-1 if closes else 1))
        self._say(self._voice())
        return end

    def _keep(self, start: int, end: int) -> None:
        """Show this part of the source, without the signs of emphasis in it."""
        while self._next_pair < len(self._pairs):
            first, last, code = self._pairs[self._next_pair]
            if first >= end:
                break
            if first >= start:
                self._show(start, first)
                start = last
                if code:
                    self._deep["code"] = 1 if code > 0 else 0
                    self._say(self._voice())
            self._next_pair += 1
        self._show(start, end)

    def _show(self, start: int, end: int) -> None:
        if start >= end:
            return
        text = self._source[start:end]
        if self._hidden is not None:
            self._tail.append((text, start, end))
            return
        self._out.append(text.replace("|", " ") if self._row else text)
        self._starts.extend(range(start, end))
        self._ends.extend(range(start + 1, end + 1))

    def _put(self, text: str, start: int, end: int, *, spread: bool = False) -> None:
        """Show this text in place of ``source[start:end]``; ``spread``: it is that part."""
        if spread:
            self._show(start, end)
            return
        if self._hidden is not None:
            self._tail.append((text, start, end))
            return
        self._out.append(text)
        self._starts.extend([start] * len(text))
        self._ends.extend([end] * len(text))


_TAG_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]*")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# A last, short paragraph that asks something, below a forwarded mail: its sender's own.
_CLOSING_QUESTION = re.compile(r"(?<=\n\n)[^\n]{3,200}\?\s*$")


def _pairs(source: str) -> Iterator[tuple[int, int, int]]:
    """The signs of emphasis, code and spoilers that come in pairs, in order.

    Start, end, and 1 where code begins, -1 where it ends, else 0.
    """
    found: list[tuple[int, int, int]] = []
    opened: dict[str, tuple[int, int, bool]] = {}
    for match in _RUN.finditer(source):
        if match["gap"]:
            opened.clear()
        if not match["run"]:
            continue
        run, (start, end) = match["run"], match.span()
        before, after = source[start - 1 : start], source[end : end + 1]
        half = run[: len(run) // 2]
        if run not in opened and len(run) % 2 == 0 and half in opened and not before.isspace():
            found.append((start, end, 0))  # One pair ends and the next begins: **a****b**.
            continue
        if run in opened and not before.isspace():
            first, last, within = opened[run]
            if not within or (start - last <= 40 and not any(map(str.isspace, source[last:start]))):
                del opened[run]
                code = run[0] == "`"
                found += [(first, last, int(code)), (start, end, -int(code))]
                continue
        if (
            len(run) > 3
            or not after
            or after.isspace()
            or (run[0] == "_" and len(run) == 1 and before.isalnum())
        ):
            continue
        opened[run] = (start, end, before.isalnum() and run[0] in "*_~")
    return iter(sorted(found))
