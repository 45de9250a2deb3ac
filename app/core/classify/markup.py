"""Takes the markup off a post in one pass over its source: Markdown, BBCode, HTML, wiki text and chat mentions."""

import html
import re
from array import array
from dataclasses import dataclass
from enum import StrEnum

from app.core.classify.markup_patterns import (
    BB_BLOCKS,
    BB_QUOTING,
    BLOCKS,
    CLOSING_QUESTION,
    HEADINGS,
    HIDING_ATTRIBUTE,
    INLINE,
    LINE_START,
    LINK_TARGET,
    MARKUP,
    NEVER_SHOWN,
    QUOTING,
    TAG_NAME,
    VOID,
    paired_signs,
)
from app.core.classify.normalise import Reading


class Voice(StrEnum):
    """Who says a part of a post."""

    OWN = "own"
    QUOTED = "quoted"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class Unmarked:
    """A post without its markup.

    ``shown`` leads back to the source; from ``tail`` on it holds what readers see only with a click.
    ``voice_changes``: the places in ``shown.text`` where another voice begins, in order, the first at 0.
    """

    shown: Reading
    voice_changes: list[tuple[int, Voice]]
    tail: int


def without_markup(source: str) -> Unmarked:
    """Read a source in one pass. Accepts any string."""
    return _Scanner(source).scan()


class _Scanner:
    """One pass over a source. Methods that read a piece of markup return where to go on."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._out: list[str] = []
        self._starts, self._ends = array("I"), array("I")
        self._voice_changes: list[tuple[int, Voice]] = [(0, Voice.OWN)]
        # What readers see only with a click, each with its span in the source.
        self._tail: list[tuple[str, int, int]] = []
        self._targets: set[str] = set()
        self._pairs = list(paired_signs(source))
        self._next_pair = 0
        # At the end of a link's text: that place, and the end of the link.
        self._jump = (-1, 0)
        # How many quotations and codes are open, by the kind of markup.
        self._depths = {"html": 0, "bb": 0, "code": 0}
        self._line_voice = Voice.OWN
        self._in_title = self._rest_is_quoted = self._in_table_row = self._follows_blank_line = False
        # The signs that the open block of code ends with.
        self._fence = ""
        # The hidden element that is open, and how many of its name are nested.
        self._hidden: tuple[str, int] | None = None
        # Closing signs that do not come any more: a search for each of them again would not be linear.
        self._never_closed: set[str] = set()

    def scan(self) -> Unmarked:
        source = self._source
        at = self._read_line_start(0)
        while at < len(source):
            found = MARKUP.search(source, at)
            start = len(source) if found is None else found.start()
            place, after = self._jump
            if at <= place <= start:
                self._show_unemphasised(at, place)
                at, self._jump = after, (-1, 0)
                continue
            self._show_unemphasised(at, start)
            at = start if found is None else self._read_markup(found)
        self._hidden = None
        tail = len(self._starts)
        self._begin_voice(Voice.OWN)
        for text, start, end in self._tail:
            if text.strip():
                self._show_instead("\n" + text, start, end)
        return Unmarked(Reading("".join(self._out), self._starts, self._ends), self._voice_changes, tail)

    def _read_markup(self, found: "re.Match[str]") -> int:
        """Read what `MARKUP` found."""
        kind, (start, end) = found.lastgroup, found.span()
        if self._fence and kind != "line":
            self._show(start, end)
        elif kind == "line":
            self._in_title = self._in_table_row = False
            self._show_instead("\n", start, end)
            return self._read_line_start(end)
        elif kind == "comment":
            return self._hide_until("-->", end)
        elif kind == "tag":
            return self._read_html_tag(found[0], start, end)
        elif kind == "mention":
            inner = found[0][1:-1]
            shown = "@user" if inner[0] == "@" else f":{inner.split(':')[1]}:" if inner[0] in "a:" else " "
            self._show_instead(shown, start, end)
        elif kind == "auto":
            target, _, text = found[0][1:-1].partition("|")
            self._show_instead(text or target, start, end)
            if text:
                self._add_link_target(target, start, end)
        elif kind == "entity":
            self._show_instead(html.unescape(found[0]), start, end)
        elif kind == "bb":
            return self._read_bb_tag(found[0], start, end)
        elif found["link"] is not None:
            if found["to"]:
                self._add_link_target(found["to"].strip("<>"), start, end)
            self._jump = (found.end("text"), end)
            return found.start("text")
        elif kind == "escaped":
            self._show_instead(found["escaped"], start, end)
        return end

    def _read_line_start(self, at: int) -> int:
        """Read what the line at this place begins with; return where its text begins."""
        source = self._source
        if self._fence:
            closing = re.compile(rf"[ \t>]{{0,8}}{re.escape(self._fence)}+[ \t]*(?=\n|$)").match(source, at)
            if closing is not None:
                self._fence = ""
                self._update_voice()
                return closing.end()
            return at
        follows_quote, self._line_voice = self._line_voice is Voice.QUOTED, Voice.OWN
        indented = source.startswith(("    ", "\t"), at) and source[at : at + 8].strip() != ""
        if source.startswith(("\n", "\r"), at) or at >= len(source):
            self._follows_blank_line = True
            self._update_voice()
            return at
        found = LINE_START.match(source, at)
        is_code = indented and (self._follows_blank_line or at == 0)
        self._follows_blank_line = is_code = is_code and (
            found is None or not (found["quote"] or found["item"])
        )
        if is_code:
            self._line_voice = Voice.QUOTED
            self._update_voice()
            return at
        while found is not None:
            if found["fence"]:
                self._fence = found["fence"]
                at = found.end()
                break
            if found["mail"]:
                self._rest_is_quoted = True
                break
            if found["quote"]:
                self._line_voice = Voice.QUOTED
                # In Discord the rest of a post; in mail, a quotation in a quotation.
                if found["quote"].startswith(">>>") and not follows_quote:
                    self._rest_is_quoted = True
            self._in_title = self._in_title or found["title"] is not None
            self._in_table_row = found["row"] is not None
            at = found.end()
            found = LINE_START.match(source, at) if found["quote"] else None
        if self._rest_is_quoted and CLOSING_QUESTION.match(source, at):
            self._rest_is_quoted = False
        self._update_voice()
        return at

    def _voice(self) -> Voice:
        """Who speaks at this place of the source."""
        if (
            self._rest_is_quoted
            or self._fence
            or self._line_voice is Voice.QUOTED
            or any(self._depths.values())
        ):
            return Voice.QUOTED
        return Voice.TITLE if self._in_title else Voice.OWN

    def _update_voice(self) -> None:
        """Begin another voice if what was read changes who speaks."""
        self._begin_voice(self._voice())

    def _begin_voice(self, voice: Voice) -> None:
        if self._voice_changes[-1][1] is not voice:
            self._voice_changes.append((len(self._starts), voice))

    def _add_link_target(self, target: str, start: int, end: int) -> None:
        """Keep the address of a link, once."""
        target = html.unescape(target)
        if target and target not in self._targets and not target.startswith("#"):
            self._targets.add(target)
            self._tail.append((target, start, end))

    def _hide_until(self, closing: str, at: int) -> int:
        """Move what stands before the closing sign to the tail; return the place after it, or ``at`` without one."""
        found = -1 if closing in self._never_closed else self._source.find(closing, at)
        if found < 0:
            self._never_closed.add(closing)
            return at  # Never closed: platforms differ in what they show of it.
        if at < found:
            self._tail.append((self._source[at:found], at, found))
        return found + len(closing)

    def _read_html_tag(self, tag: str, start: int, end: int) -> int:
        closes = tag[1] == "/"
        name = TAG_NAME.match(tag, 1 + closes)[0].lower()  # type: ignore[index]
        if name not in BLOCKS and name not in INLINE:
            parts_word = (
                start > 0 and self._source[start - 1].isalnum() and self._source[end : end + 1].isalnum()
            )
            if "-" not in name and not parts_word:
                self._show(start, end)
            return end
        if self._hidden is not None:
            return self._read_hidden_tag(name, closes, tag, end)
        if name in NEVER_SHOWN and not closes:
            closing = f"</{name}"
            closes_at = (
                None
                if closing in self._never_closed
                else re.compile(closing, re.IGNORECASE).search(self._source, end)
            )
            if closes_at is None:
                self._never_closed.add(closing)
                return end
            return closes_at.start()
        if not closes and HIDING_ATTRIBUTE.search(tag) and name not in VOID and not tag.endswith("/>"):
            self._hidden = (name, 1)
            return end
        target = None if closes else LINK_TARGET.search(tag)
        if target is not None and name in ("a", "iframe", "embed", "video", "audio"):
            self._add_link_target(target[1] or target[2] or target[3], start, end)
        if name in BLOCKS:
            self._show_instead("\n", start, end)
        if name in QUOTING:
            self._depths["html"] = max(0, self._depths["html"] + (-1 if closes else 1))
        if name in HEADINGS:
            self._in_title = not closes
        self._update_voice()
        return end

    def _read_hidden_tag(self, name: str, closes: bool, tag: str, end: int) -> int:
        """Within a hidden element, look only for its end."""
        hidden, depth = self._hidden or ("", 0)
        if name == hidden and not tag.endswith("/>"):
            depth += -1 if closes else 1
        self._hidden = (hidden, depth) if depth else None
        return end

    def _read_bb_tag(self, tag: str, start: int, end: int) -> int:
        closes = tag[1] == "/"
        name, _, value = tag[1 + closes : -1].replace(" ", "=", 1).partition("=")
        name = name.lower()
        if name in ("url", "email") and value:
            self._add_link_target(value.strip("\"'"), start, end)
        if name in BB_BLOCKS:
            self._show_instead("\n", start, end)
        if name in BB_QUOTING:
            self._depths["bb"] = max(0, self._depths["bb"] + (-1 if closes else 1))
        self._update_voice()
        return end

    def _show_unemphasised(self, start: int, end: int) -> None:
        """Show this part of the source, without the signs of emphasis in it."""
        while self._next_pair < len(self._pairs):
            first, last, code = self._pairs[self._next_pair]
            if first >= end:
                break
            if first >= start:
                self._show(start, first)
                start = last
                if code:
                    self._depths["code"] = 1 if code > 0 else 0
                    self._update_voice()
            self._next_pair += 1
        self._show(start, end)

    def _show(self, start: int, end: int) -> None:
        """Show this part of the source as it is."""
        if start >= end:
            return
        text = self._source[start:end]
        if self._hidden is not None:
            self._tail.append((text, start, end))
            return
        self._out.append(text.replace("|", " ") if self._in_table_row else text)
        self._starts.extend(range(start, end))
        self._ends.extend(range(start + 1, end + 1))

    def _show_instead(self, text: str, start: int, end: int) -> None:
        """Show this text in place of ``source[start:end]``."""
        if self._hidden is not None:
            self._tail.append((text, start, end))
            return
        self._out.append(text)
        self._starts.extend([start] * len(text))
        self._ends.extend([end] * len(text))
