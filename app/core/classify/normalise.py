"""Undoes the encodings of a text, and keeps the original position of each character.

The *plain* reading has NFKC, casefold, zero-width characters and stacked marks removed, white space collapsed, quotes
and dashes unified. What was disguised on purpose is undone after it (`disguises`).

Every character of a reading keeps the span of the original it came from. The process is linear in the text: marks are
capped, because canonical reordering of a long run of marks is not linear.

The tables of characters that resemble Latin letters were written from the Unicode charts.

Source: UAX 15 (NFKC; 12.1, stream-safe text), UTS 39 (confusables).
"""

import itertools
import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache

MARKS_KEPT = 30  # UAX 15, 12.1: no real text stacks more.


def _ranges(categories: frozenset[str], stop: int) -> str:
    """The body of a regex character class with every code point of these general categories."""
    points = [c for c in range(0x80, stop) if unicodedata.category(chr(c)) in categories]
    runs = []
    for _, group in itertools.groupby(enumerate(points), lambda pair: pair[1] - pair[0]):
        run = [point for _, point in group]
        runs.append(f"\\U{run[0]:08x}-\\U{run[-1]:08x}")
    return "".join(runs)


# Conjoining Hangul vowels and finals compose like marks although Unicode classifies them as letters.
_MARK = f"[{_ranges(frozenset({'Mn', 'Mc', 'Me'}), 0x20000)}\u1160-\u11ff\U000e0100-\U000e01ef]"
_GENERIC_MARK = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_PIECE = re.compile(
    rf"(?P<ascii>[!-~]+)(?!{_MARK})|(?P<space>\s+)|(?P<base>[^\s])(?P<marks>{_MARK}*)", re.DOTALL
)
_PLAIN_ASCII = re.compile(r"[!-~]*(?: [!-~]+)* ?")
# Characters that are invisible although Unicode classifies them as letters or symbols.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a text.

    Character ``i`` comes from ``original[starts[i]:ends[i]]``. Both arrays are non-decreasing.
    """

    text: str
    starts: "array[int]"
    ends: "array[int]"

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the non-empty ``text[start:end]`` in the original, in code points."""
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> str:
    """NFKC and casefold of one base character with its marks; "" for an invisible one."""
    base = cluster[0]
    kind = unicodedata.category(base)
    if kind == "Cs":
        return "\ufffd"
    if kind in ("Cc", "Cf") or base in _BLANK:
        cluster = cluster[1:]
        if not cluster:
            return ""
    composed = unicodedata.normalize("NFKC", cluster.translate(PUNCTUATION).translate(COSTUMES)).casefold()
    composed = unicodedata.normalize("NFKC", composed).translate(PUNCTUATION).translate(COSTUMES)
    # The remaining marks compose with nothing: overlays and stacks, used to break words apart.
    return _GENERIC_MARK.sub("", composed)


def plain_of(original: str) -> Reading:
    """The plain reading. Accepts any string: lone surrogates become U+FFFD, NUL is dropped."""
    if original.isascii() and _PLAIN_ASCII.fullmatch(original):
        count = len(original)
        return Reading(original.lower(), array("I", range(count)), array("I", range(1, count + 1)))
    out: list[str] = []
    starts, ends = array("I"), array("I")
    after_space = False
    for piece in _PIECE.finditer(original):
        start, end = piece.span()
        if piece["ascii"] is not None:
            out.append(piece["ascii"].lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            after_space = False
            continue
        is_space = piece["space"] is not None
        folded = " " if is_space else _fold_cluster(piece["base"] + piece["marks"][:MARKS_KEPT])
        if folded == " ":
            if after_space:
                ends[-1] = end
                continue
            after_space = True
        elif folded:
            # Some characters stand for a space and a mark.
            folded = folded.lstrip(" ") if after_space else folded
            after_space = folded.endswith(" ")
        out.append(folded)
        starts.extend(itertools.repeat(start, len(folded)))
        ends.extend(itertools.repeat(end, len(folded)))
    return Reading("".join(out), starts, ends)


def plain_text(original: str) -> str:
    """The plain reading only, for words that are compared with texts."""
    return plain_of(original).text


_PAIRS = (
    # Cyrillic, after casefolding; some resemble Latin in their capital form only.
    "аa вb еe ёe ѐe нh іi їi јj кk мm оo рp сc тt уy ўy хx ѕs ԁd ԛq ԝw һh ӏl ѵv ԍg ґr гr пn єe ԑe "
    # Greek.
    "αa άa βb εe έe ηn ήn ιi ίi ϊi κk μm νv οo όo ρp τt υu ύu χx γy ωw ώw ϲc ϳj "
    # Armenian and Cherokee shapes seen in the wild.
    "օo սu հh ոn ցg զq ɡg "
    # Latin letters that NFKC keeps apart.
    "ıi łl øo đd ħh ŧt ɑa ɩi ƅb ƙk ɓb ɗd ƒf ǥg ɨi ɵo ʋv"
)

LOOKALIKES: dict[int, str] = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
"""Maps a code point to the Latin letter it resembles, for ``str.translate``. Always one character for one."""

_SMALL_CAPITALS = "ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz"

# Small capitals, letters in filled circles or squares and those of flags are decorated Latin letters that NFKC does not
# change; letters in brackets it would change to three signs.
COSTUMES: dict[int, str] = {
    **{ord(pair[0]): pair[1] for pair in _SMALL_CAPITALS.split()},
    **{first + n: chr(ord("a") + n) for first in (0x1F150, 0x1F170, 0x249C, 0x1F1E6) for n in range(26)},
}

PUNCTUATION: dict[int, str] = {
    **dict.fromkeys(map(ord, "‘’‚‛′ʼ`´"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "․‧。｡"), "."),
}

LEET: dict[str, str] = {
    "0": "o",
    "1": "il",
    "3": "e",
    "4": "a",
    "5": "s",
    "7": "t",
    "8": "b",
    "9": "g",
    "@": "a",
    "$": "s",
    "!": "i",
}
"""Digits and signs, with the letters that they replace, the more likely first."""
