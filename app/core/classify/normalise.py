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
SPACED_MAX = 2_000
MISSPELT_MAX = 16
JOINED_MAX = 200
UNUSUAL_MAX = 800  # Different words of one post; more are left as written.


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
    composed = unicodedata.normalize("NFKC", cluster.translate(PUNCTUATION).translate(COSTUMES)).casefold()
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


# Single letters, the same one to three signs between each two of them: "k i l l", "k.i.l.l", "k🙂i🙂l🙂l".
_SPACED = re.compile(
    r"(?<![^\W_])(?:[^\W_]|[@$!])(?P<between>[^\w@$!]{1,3}|_{1,3}|!)(?:[^\W_]|[@$!])(?:(?P=between)(?:[^\W_]|[@$!]))+(?![^\W_])"
)
_SPACED_LEET = str.maketrans({sign: letters[0] for sign, letters in LEET.items()} | {ord("1"): "i"})


def _spaced_words(text: str, vocabulary: Vocabulary) -> Iterable[_Edit]:
    for run in _SPACED.finditer(text):
        step = 1 + len(run["between"])
        letters = text[run.start() : run.end() : step]
        if sum(map(str.isalpha, letters)) * 2 < len(letters) or len(letters) > SPACED_MAX:
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
                at += step
        yield run.start(), run.end(), characters


# A "!" belongs to a word only between or before letters; this form never tries a run of them twice.
_TOKEN = re.compile(
    r"(?P<address>(?:https?://|www\.)\S+)|(?P<hash>\#(?=[^\W\d_]))?(?P<token>!?[\w@$]+(?:!+[\w@$]+)*)"
)
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
_Characters = list[tuple[str, int, int]]


def _undisguised(token: str, vocabulary: Vocabulary) -> _Characters | None:
    """The token as a person reads it; None when it should stay as written."""
    if token in _KEPT or token in vocabulary:
        return None
    if len(token) == 1 and not token.isascii() and vocabulary.shipped is not None:
        bare = _unaccented(
            token
        )  # "á complete waste": a letter with an accent alone is a word in few languages.
        return [(bare, 0, 1)] if bare.isascii() and bare.isalpha() else None
    latin = token
    if _ODD.search(token):
        if len(token) <= TOKEN_MAX and vocabulary.longest:
            readings = (reading for disguise in _disguises(token) for reading in _held_down(disguise))
            tried = list(itertools.islice(readings, READINGS_MAX))
            for among in (vocabulary.words, vocabulary):  # What rules look for goes before other words.
                for characters in tried:
                    if _letters(characters) in among:
                        return characters
            # Those with a letter held down, once before twice: other signs are part of too many names.
            if vocabulary.shipped is not None and token.isalpha() and _HELD.search(token):
                word = vocabulary.with_letters_once(token)
                if word is not None:
                    return [(letter, 0, len(token)) for letter in word]
                for characters in reversed(tried):
                    if vocabulary.knows(_letters(characters)):
                        return characters
        latin = _mixed_scripts(token)
    if not vocabulary.is_usual(token):
        latin = latin if latin.isascii() else _unaccented(latin)
        meant = _meant(latin, vocabulary) if latin.isascii() and latin.isalpha() else None
        if meant is not None:
            return meant
    characters = next(iter(_held_down(_mixed_scripts(token))))
    return None if _letters(characters) == token else characters


def _meant(token: str, vocabulary: Vocabulary) -> _Characters | None:
    """What an unknown word of Latin letters stands for: one with letters doubled, a misspelt one, or several joined."""
    if vocabulary.knows(token):
        return [(letter, n, n + 1) for n, letter in enumerate(token)]
    if 2 <= len(token) <= TOKEN_MAX:
        word = vocabulary.with_letters_once(token)
        if word is None and 3 <= len(token) <= MISSPELT_MAX:
            word = vocabulary.misspelt(token)
        if word is not None:
            return [(letter, 0, len(token)) for letter in word]
    words = vocabulary.joined(token) if 6 <= len(token) <= JOINED_MAX else None
    return _parted(token, words) if words is not None else None


def _parted(token: str, words: Iterable[str]) -> _Characters:
    """The token with spaces between these words, which it consists of."""
    characters: _Characters = []
    at = 0
    for word in words:
        if at:
            characters.append((" ", at - 1, at))
        characters.extend((token[n], n, n + 1) for n in range(at, at + len(word)))
        at += len(word)
    return characters


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _humps(token: str, written: str, vocabulary: Vocabulary) -> _Characters | None:
    """The words of a token that is written as ``OneWordThatIsSeveral``; None if it is not."""
    words = _HUMP.split(written) if len(written) == len(token) and not written.islower() else []
    if len(words) < 2 or not all(vocabulary.knows(word.lower()) for word in words):
        return None
    return _parted(token, words)


def _tokens(reading: Reading, written: str, vocabulary: Vocabulary) -> Iterable[_Edit]:
    # A text often repeats the same words; this cache lives as long as the text is processed.
    cache: dict[str, _Characters | None] = {}
    tried = 0
    for match in _TOKEN.finditer(reading.text):
        if match["address"]:
            continue
        token = match["token"]
        if token not in cache:
            is_usual = token.isdigit() or not (_ODD.search(token) or not vocabulary.is_usual(token))
            tried += not is_usual
            is_usual = is_usual or tried > UNUSUAL_MAX
            cache[token] = None if is_usual else _undisguised(token, vocabulary)
            if not is_usual and not _HELD.search(token) and not vocabulary.is_usual(token):
                start, end = reading.original_span(*match.span("token"))
                cache[token] = _humps(token, written[start:end], vocabulary) or cache[token]
        characters = cache[token]
        if characters is None and match["hash"] and vocabulary.shipped is not None:
            characters = [(letter, n, n + 1) for n, letter in enumerate(token)]
        if characters is not None:
            at = match.start("token")
            yield (
                match.start(),
                match.end(),
                [(letter, first + at, last + at) for letter, first, last in characters],
            )


_LETTERS = re.compile(r"[^\W\d_]+")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHORT = _names("a i u am an as at be by do go he hi if im in is it me my no of oh ok on or so to up us we")
_PARTS = 4


def _torn(text: str, vocabulary: Vocabulary) -> Iterable[_Edit]:
    """Words that stand in two to four pieces: "ki ll", "st.up.id". A piece is no word, and all together are one."""
    words = [(match.start(), match.end(), match[0]) for match in _LETTERS.finditer(text)]
    known = {word: _is_word(word, vocabulary) for word in {word for _, _, word in words}}
    # Only there a word can be torn. From each of them back, a word may begin.
    odd = [place for place, (_, _, word) in enumerate(words) if not known[word]]
    free = 0
    for place in sorted({first for one in odd for first in range(max(0, one - _PARTS + 1), one + 1)}):
        if place < free:
            continue
        count = 1
        while count < _PARTS and place + count < len(words):
            if words[place + count][0] - words[place + count - 1][1] > 3:
                break
            count += 1
        for parts in range(count, 1, -1):
            pieces = words[place : place + parts]
            joined = "".join(word for _, _, word in pieces)
            if not 4 <= len(joined) <= TOKEN_MAX or not (
                joined in vocabulary
                or (parts == 2 and not any(known[word] for _, _, word in pieces) and vocabulary.knows(joined))
            ):
                continue
            # "k ill" is a word that rules look for; "b and" are two.
            has_word = any(known[word] and len(word) >= 3 for _, _, word in pieces)
            start, end = pieces[0][0], pieces[-1][1]
            if (
                all(known[word] for _, _, word in pieces)
                or (has_word and joined not in vocabulary.words)
                or _APOSTROPHE.search(text, max(0, start - 1), end + 1)
            ):
                continue
            yield (
                start,
                end,
                [(letter, at + n, at + n + 1) for at, _, word in pieces for n, letter in enumerate(word)],
            )
            free = place + parts
            break


_APOSTROPHE = re.compile(r"['\d]")


def _is_word(piece: str, vocabulary: Vocabulary) -> bool:
    return piece in _SHORT if len(piece) <= 2 else vocabulary.knows(piece)


# Matches in "you.are", "buy-now", "hacker, contact", but not at the end of a sentence or beside a digit.
_JOINT = re.compile(r"(?<=[^\W\d_])(?:, ?|\.{2,} ?|[._*/\-]+)(?=[^\W\d_])")


def _joints(text: str) -> Iterable[_Edit]:
    """Replace punctuation between two words of a sentence by a space."""
    for joint in _JOINT.finditer(text):
        yield joint.start(), joint.end(), [(" ", joint.start(), joint.end())]


_NO_WORDS = Vocabulary()


def plain_of(original: str) -> Reading:
    """The plain reading. Accepts any string: lone surrogates become U+FFFD, NUL is dropped."""
    return _plain(original)


def undisguised_of(plain: Reading, original: str, vocabulary: Vocabulary) -> Reading:
    """The plain reading of ``original`` with its words undisguised; the same object where none is disguised."""
    folded = plain
    if vocabulary.longest:
        folded = _edited(folded, _spaced_words(folded.text, vocabulary))
    if vocabulary.shipped is not None or _ODD.search(folded.text):
        folded = _edited(folded, _tokens(folded, original, vocabulary))
    if vocabulary.shipped is not None:
        folded = _edited(folded, _torn(folded.text, vocabulary))
    return plain if folded.text == plain.text else folded


def joints_open(reading: Reading) -> Reading:
    """The reading with spaces for punctuation within sentences; the same object where there is none."""
    return _edited(reading, _joints(reading.text))


def normalise(original: str, vocabulary: Vocabulary = _NO_WORDS) -> Normalised:
    """Both readings of a text."""
    plain = plain_of(original)
    folded = joints_open(undisguised_of(plain, original, vocabulary))
    return Normalised(original, plain, plain if folded.text == plain.text else folded)


def plain_text(original: str) -> str:
    """The plain reading only, for words that are compared with texts."""
    return _plain(original).text
