"""Undoes the disguises of words in a plain reading: spaced and torn words, disguised tokens, signs instead of spaces.

`disguised_tokens` says what a single token stands for. Words are compared with the `Vocabulary` of rules and model. The
time of every step is linear in the text.
"""

import re
from array import array
from collections.abc import Iterable

from app.core.classify.disguised_tokens import (
    HELD_LETTER,
    ODD_LETTER,
    TOKEN_MAX,
    Characters,
    camel_case_words,
    meaning_of,
)
from app.core.classify.lookalikes import LEET, LOOKALIKES
from app.core.classify.normalise import Reading
from app.core.classify.vocabulary import Vocabulary

SPACED_MAX = 2_000
"""Letters in one run of single letters; a longer run is left as written."""
UNUSUAL_MAX = 800
"""Different unusual words of one post; more are left as written."""
PIECES_MAX = 4
"""Pieces that a torn word may stand in."""

_Edit = tuple[int, int, Characters]
"""Replace ``text[start:end]`` by these characters, each with the span of the text that it comes from."""


def _apply(reading: Reading, edits: Iterable[_Edit]) -> Reading:
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
    """Words written with a space or another sign between each two letters."""
    for run in _SPACED.finditer(text):
        step = 1 + len(run["between"])
        letters = text[run.start() : run.end() : step]
        if sum(map(str.isalpha, letters)) * 2 < len(letters) or len(letters) > SPACED_MAX:
            continue
        words = vocabulary.split(letters.translate(LOOKALIKES).translate(_SPACED_LEET))
        if words is None:
            continue
        characters: Characters = []
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


def _disguised_tokens(reading: Reading, written: str, vocabulary: Vocabulary) -> Iterable[_Edit]:
    """Tokens that stand for other words, and hashtags without their sign; ``written`` is the reading's original."""
    # A text often repeats the same words; this cache lives as long as the text is processed.
    cache: dict[str, Characters | None] = {}
    tried = 0
    for match in _TOKEN.finditer(reading.text):
        if match["address"]:
            continue
        token = match["token"]
        if token not in cache:
            is_usual = token.isdigit() or (not ODD_LETTER.search(token) and vocabulary.is_usual(token))
            tried += not is_usual
            is_usual = is_usual or tried > UNUSUAL_MAX
            cache[token] = None if is_usual else meaning_of(token, vocabulary)
            if not is_usual and not HELD_LETTER.search(token) and not vocabulary.is_usual(token):
                start, end = reading.original_span(*match.span("token"))
                cache[token] = camel_case_words(token, written[start:end], vocabulary) or cache[token]
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
_SHORT_WORDS = frozenset(
    _LETTERS.findall(
        "a i u am an as at be by do go he hi if im in is it me my no of oh ok on or so to up us we"
    )
)
_APOSTROPHE_OR_DIGIT = re.compile(r"['\d]")


def _torn_words(text: str, vocabulary: Vocabulary) -> Iterable[_Edit]:
    """Words that stand in two to four pieces: "ki ll", "st.up.id". A piece is no word, and all together are one."""
    words = [(match.start(), match.end(), match[0]) for match in _LETTERS.finditer(text)]
    known = {word: _is_word(word, vocabulary) for word in {word for _, _, word in words}}
    # A torn word has one of these pieces, and begins with it or a few before it.
    unknown = [place for place, (_, _, word) in enumerate(words) if not known[word]]
    free = 0
    for place in sorted(
        {first for last in unknown for first in range(max(0, last - PIECES_MAX + 1), last + 1)}
    ):
        if place < free:
            continue
        count = 1
        while count < PIECES_MAX and place + count < len(words):
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
                or _APOSTROPHE_OR_DIGIT.search(text, max(0, start - 1), end + 1)
            ):
                continue
            yield (
                start,
                end,
                [(letter, at + n, at + n + 1) for at, _, word in pieces for n, letter in enumerate(word)],
            )
            free = place + parts
            break


def _is_word(piece: str, vocabulary: Vocabulary) -> bool:
    """Whether a piece of a torn word may be a word itself; of one or two letters only the most common are."""
    return piece in _SHORT_WORDS if len(piece) <= 2 else vocabulary.knows(piece)


# Matches in "you.are", "buy-now", "hacker, contact", but not at the end of a sentence or beside a digit.
_JOINT = re.compile(r"(?<=[^\W\d_])(?:, ?|\.{2,} ?|[._*/\-]+)(?=[^\W\d_])")


def _joint_edits(text: str) -> Iterable[_Edit]:
    """Replace punctuation between two words of a sentence by a space."""
    for joint in _JOINT.finditer(text):
        yield joint.start(), joint.end(), [(" ", joint.start(), joint.end())]


def undisguised_of(plain: Reading, original: str, vocabulary: Vocabulary) -> Reading:
    """The plain reading of ``original`` with its words undisguised; the same object where none is disguised."""
    folded = plain
    if vocabulary.longest:
        folded = _apply(folded, _spaced_words(folded.text, vocabulary))
    if vocabulary.shipped is not None or ODD_LETTER.search(folded.text):
        folded = _apply(folded, _disguised_tokens(folded, original, vocabulary))
    if vocabulary.shipped is not None:
        folded = _apply(folded, _torn_words(folded.text, vocabulary))
    return plain if folded.text == plain.text else folded


def joints_as_spaces(reading: Reading) -> Reading:
    """The reading with spaces for punctuation within sentences; the same object where there is none."""
    return _apply(reading, _joint_edits(reading.text))
