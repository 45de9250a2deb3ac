"""Normalises a text to what a person reads, and keeps the original position of each character.

A text has two readings. The *plain* one undoes encodings: NFKC, casefold, zero-width characters and stacked marks
removed, white space collapsed, quotes and dashes unified. The *folded* one also undoes disguises: lookalike
letters, repeated letters, spaced-out words, digits for letters, punctuation in place of spaces. Disguises are
ambiguous (``fo11ow`` or ``foiiow``? ``MP3`` or ``mpe``?), so a word is changed only when the new reading is in the
`Vocabulary` of the rules; a Russian word, a product number or an address stays as written.

Every character of a reading keeps the span of the original it came from. The whole process is linear in the text:
marks are capped (canonical reordering of a long run of marks is not linear), and so are the readings tried per
word.

Sources: UAX 15 (NFKC; 12.1, stream-safe text), UTS 39 (confusables).
"""

import itertools
import re
import unicodedata
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from app.core.classify.lookalikes import COSTUMES, LEET, LOOKALIKES, PUNCTUATION
from app.core.classify.vocabulary import Vocabulary

MARKS_KEPT = 30  # UAX 15, 12.1: no real text stacks more.
TOKEN_MAX = 40
READINGS_MAX = 32


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


@dataclass(frozen=True, slots=True)
class Normalised:
    """Both readings of ``original``. They are the same object when no disguise was found."""

    original: str
    plain: Reading
    folded: Reading


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
    composed = unicodedata.normalize("NFKC", cluster.translate(PUNCTUATION)).casefold()
    composed = unicodedata.normalize("NFKC", composed).translate(PUNCTUATION).translate(COSTUMES)
    # The remaining marks compose with nothing: overlays and stacks, used to break words apart.
    return _GENERIC_MARK.sub("", composed)


def _plain(original: str) -> Reading:
    if original.isascii() and _PLAIN_ASCII.fullmatch(original):
        count = len(original)
        return Reading(original.lower(), array("I", range(count)), array("I", range(1, count + 1)))
    out: list[str] = []
    starts, ends = array("I"), array("I")
    spaced = False
    for piece in _PIECE.finditer(original):
        start, end = piece.span()
        if piece["ascii"] is not None:
            out.append(piece["ascii"].lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            spaced = False
            continue
        is_space = piece["space"] is not None
        folded = " " if is_space else _fold_cluster(piece["base"] + piece["marks"][:MARKS_KEPT])
        if folded == " ":
            if spaced:
                ends[-1] = end
                continue
            spaced = True
        elif folded:
            # Some characters stand for a space and a mark.
            folded = folded.lstrip(" ") if spaced else folded
            spaced = folded.endswith(" ")
        out.append(folded)
        starts.extend(itertools.repeat(start, len(folded)))
        ends.extend(itertools.repeat(end, len(folded)))
    return Reading("".join(out), starts, ends)


_Edit = tuple[int, int, list[tuple[str, int, int]]]
"""Replace ``text[start:end]`` by these characters, each with the span of the text that it comes from."""


def _edited(reading: Reading, edits: Iterable[_Edit]) -> Reading:
    """Apply edits to a reading; they must be in order and must not overlap."""
    out: list[str] = []
    starts, ends = array("I"), array("I")
    at = 0
    for start, end, characters in edits:
        out.append(reading.text[at:start])
        starts.extend(reading.starts[at:start])
        ends.extend(reading.ends[at:start])
        for character, first, last in characters:
            out.append(character)
            starts.append(reading.starts[first])
            ends.append(reading.ends[last - 1])
        at = end
    if not at:
        return reading
    out.append(reading.text[at:])
    starts.extend(reading.starts[at:])
    ends.extend(reading.ends[at:])
    return Reading("".join(out), starts, ends)


_SPACED = re.compile(r"(?<![^\W_])(?:[^\W_]|[@$!])(?:[ .\-_*](?:[^\W_]|[@$!])){2,}(?![^\W_])")
_SPACED_LEET = str.maketrans({sign: letters[0] for sign, letters in LEET.items()} | {ord("1"): "i"})


def _spaced_words(text: str, vocabulary: Vocabulary) -> Iterable[_Edit]:
    for run in _SPACED.finditer(text):
        letters = text[run.start() : run.end() : 2]
        if sum(map(str.isalpha, letters)) * 2 < len(letters):
            continue
        words = vocabulary.split(letters.translate(LOOKALIKES).translate(_SPACED_LEET))
        if words is None:
            continue
        characters: list[tuple[str, int, int]] = []
        at = run.start()
        for word in words:
            if characters:
                characters.append((" ", at - 1, at))
            for letter in word:
                characters.append((letter, at, at + 1))
                at += 2
        yield run.start(), run.end(), characters


# A "!" belongs to a word only between or before letters; this form never tries a run of them twice.
_TOKEN = re.compile(r"!?[\w@$]+(?:!+[\w@$]+)*")
_HELD = re.compile(r"([^\W\d_])\1{2,}")
_ODD = re.compile(r"[0-9@$!]|[^\x00-\x7f]|([^\W\d_])\1\1")


def _unaccented(word: str) -> str:
    """The word without accents, with the same number of characters."""
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in word)


def _disguises(token: str) -> Iterable[str]:
    """Possible meanings of the token, of the same length, the more likely first; at most a few dozen."""
    latin = token.translate(LOOKALIKES)
    if not latin.isascii():
        latin = _unaccented(latin)
    yield latin
    signs = [(n, LEET[sign]) for n, sign in enumerate(latin) if sign in LEET]
    if not signs or not any(map(str.isalpha, latin)):
        return
    for letters in itertools.product(*(choice for _, choice in signs)):
        reading = list(latin)
        for (n, _), letter in zip(signs, letters, strict=True):
            reading[n] = letter
        yield "".join(reading)


def _held_down(word: str) -> Iterable[list[tuple[str, int, int]]]:
    """The word with each repeated letter (three or more times) written twice or once; twice everywhere comes first."""
    runs = [(m.start(), m.end()) for m in _HELD.finditer(word)]
    for kept in itertools.product((2, 1), repeat=min(len(runs), 5)):
        characters: list[tuple[str, int, int]] = []
        at = 0
        for n, (start, end) in enumerate(runs):
            keep = kept[n] if n < len(kept) else 2
            characters.extend((word[i], i, i + 1) for i in range(at, start))
            characters.extend((word[start], start + i, start + i + 1) for i in range(keep - 1))
            characters.append((word[start], start + keep - 1, end))
            at = end
        characters.extend((word[i], i, i + 1) for i in range(at, len(word)))
        yield characters


def _letters(characters: list[tuple[str, int, int]]) -> str:
    return "".join(character for character, _, _ in characters)


def _mixed_scripts(token: str) -> str:
    """Replace lookalikes by Latin letters in a token that also has Latin letters: no language mixes the two."""
    if any(letter in "abcdefghijklmnopqrstuvwxyz" for letter in token):
        return token.translate(LOOKALIKES)
    return token


_KEPT = frozenset({"www"})


def _undisguised(token: str, vocabulary: Vocabulary) -> list[tuple[str, int, int]] | None:
    """The token as a person reads it; None when it should stay as written."""
    if token in _KEPT or token in vocabulary:
        return None
    if len(token) <= TOKEN_MAX and vocabulary.longest:
        readings = (reading for disguise in _disguises(token) for reading in _held_down(disguise))
        for characters in itertools.islice(readings, READINGS_MAX):
            if _letters(characters) in vocabulary:
                return characters
    characters = next(iter(_held_down(_mixed_scripts(token))))
    return None if _letters(characters) == token else characters


def _tokens(text: str, vocabulary: Vocabulary) -> Iterable[_Edit]:
    # A text often repeats the same words; this cache lives as long as the text is processed.
    cache: dict[str, list[tuple[str, int, int]] | None] = {}
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token.isdigit() or not _ODD.search(token):
            continue
        if token not in cache:
            cache[token] = _undisguised(token, vocabulary)
        characters = cache[token]
        if characters is not None:
            at = match.start()
            yield at, match.end(), [(letter, first + at, last + at) for letter, first, last in characters]


# Matches in "you.are", "buy-now", "hacker, contact", but not at the end of a sentence or beside a digit.
_JOINT = re.compile(r"(?<=[^\W\d_])(?:, ?|\.{2,} ?|[._*/\-]+)(?=[^\W\d_])")


def _joints(text: str) -> Iterable[_Edit]:
    """Replace punctuation between two words of a sentence by a space."""
    for joint in _JOINT.finditer(text):
        yield joint.start(), joint.end(), [(" ", joint.start(), joint.end())]


_NO_WORDS = Vocabulary()


def normalise(original: str, vocabulary: Vocabulary = _NO_WORDS) -> Normalised:
    """Both readings of a text. Accepts any string: lone surrogates become U+FFFD, NUL is dropped."""
    plain = _plain(original)
    folded = plain
    if vocabulary.longest:
        folded = _edited(folded, _spaced_words(folded.text, vocabulary))
    if _ODD.search(folded.text):
        folded = _edited(folded, _tokens(folded.text, vocabulary))
    folded = _edited(folded, _joints(folded.text))
    if folded.text == plain.text:
        folded = plain
    return Normalised(original, plain, folded)


def plain_text(original: str) -> str:
    """The plain reading only, for words that are compared with texts."""
    return _plain(original).text
