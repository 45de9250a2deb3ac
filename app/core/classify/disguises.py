"""Undoes the disguises of words in a plain reading: spaced and torn words, disguised tokens, signs instead of spaces.

Disguises are ambiguous (``fo11ow`` or ``foiiow``? ``MP3`` or ``mpe``?), so a token becomes another word only if the
`Vocabulary` of rules and model has it; a Russian word, a product number or a name stays as written. The readings tried
for each token are capped, so that the time is linear. Source: UTS 39 (confusables).
"""

import itertools
import re
import unicodedata
from array import array
from collections.abc import Iterable

from app.core.classify.normalise import LEET, LOOKALIKES, Reading
from app.core.classify.vocabulary import Vocabulary

TOKEN_MAX = 40
"""Characters of a token that may be a single disguised word."""
READINGS_MAX = 32
"""Readings tried for one token."""
MISSPELT_MAX = 16
"""Letters of a token that may be a misspelt word."""
JOINED_MAX = 200
"""Letters of a token that may be several words written together."""

_NEVER_CHANGED = frozenset({"www"})

Characters = list[tuple[str, int, int]]
"""The letters of a new reading, each with the span of the old text that it comes from."""

# A letter three times or more: the key was held down.
HELD_LETTER = re.compile(r"([^\W\d_])\1{2,}")
# What plain words in English do not have: such a token may be disguised.
ODD_LETTER = re.compile(r"[0-9@$!]|[^\x00-\x7f]|([^\W\d_])\1\1")


def _unaccented(word: str) -> str:
    """The word without accents, with the same number of characters."""
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in word)


def _same_length_readings(token: str) -> Iterable[str]:
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


def _with_repeats_shortened(word: str) -> Iterable[Characters]:
    """The word with each repeated letter (three or more times) written twice or once; twice everywhere comes first."""
    runs = [(m.start(), m.end()) for m in HELD_LETTER.finditer(word)]
    for kept in itertools.product((2, 1), repeat=min(len(runs), 5)):
        characters: Characters = []
        at = 0
        for n, (start, end) in enumerate(runs):
            keep = kept[n] if n < len(kept) else 2
            characters.extend((word[i], i, i + 1) for i in range(at, start))
            characters.extend((word[start], start + i, start + i + 1) for i in range(keep - 1))
            characters.append((word[start], start + keep - 1, end))
            at = end
        characters.extend((word[i], i, i + 1) for i in range(at, len(word)))
        yield characters


def _text_of(characters: Characters) -> str:
    return "".join(character for character, _, _ in characters)


def _in_latin_if_mixed(token: str) -> str:
    """Replace lookalikes by Latin letters in a token that also has Latin letters: no language mixes the two."""
    if any(letter in "abcdefghijklmnopqrstuvwxyz" for letter in token):
        return token.translate(LOOKALIKES)
    return token


def meaning_of(token: str, vocabulary: Vocabulary) -> Characters | None:
    """The token as a person reads it, with spans within the token; None when it should stay as written."""
    if token in _NEVER_CHANGED or token in vocabulary:
        return None
    if len(token) == 1 and not token.isascii() and vocabulary.shipped is not None:
        # "á complete waste": a letter with an accent alone is a word in few languages.
        bare = _unaccented(token)
        return [(bare, 0, 1)] if bare.isascii() and bare.isalpha() else None
    latin = token
    if ODD_LETTER.search(token):
        if len(token) <= TOKEN_MAX and vocabulary.longest:
            readings = (
                shortened
                for reading in _same_length_readings(token)
                for shortened in _with_repeats_shortened(reading)
            )
            tried = list(itertools.islice(readings, READINGS_MAX))
            for among in (vocabulary.words, vocabulary):  # What rules look for goes before other words.
                for characters in tried:
                    if _text_of(characters) in among:
                        return characters
            # Those with a letter held down, once before twice: other signs are part of too many names.
            if vocabulary.shipped is not None and token.isalpha() and HELD_LETTER.search(token):
                word = vocabulary.with_letters_once(token)
                if word is not None:
                    return [(letter, 0, len(token)) for letter in word]
                for characters in reversed(tried):
                    if vocabulary.knows(_text_of(characters)):
                        return characters
        latin = _in_latin_if_mixed(token)
    if not vocabulary.is_usual(token):
        latin = latin if latin.isascii() else _unaccented(latin)
        meant = _meaning_of_unknown(latin, vocabulary) if latin.isascii() and latin.isalpha() else None
        if meant is not None:
            return meant
    characters = next(iter(_with_repeats_shortened(_in_latin_if_mixed(token))))
    return None if _text_of(characters) == token else characters


def _meaning_of_unknown(token: str, vocabulary: Vocabulary) -> Characters | None:
    """What a token of Latin letters stands for once its accents are gone; None where nothing fits.

    A known word is itself. Otherwise its letters are doubled, it is misspelt, or it is several words joined.
    """
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


def _parted(token: str, words: Iterable[str]) -> Characters:
    """The token with spaces between these words, which it consists of."""
    characters: Characters = []
    at = 0
    for word in words:
        if at:
            characters.append((" ", at - 1, at))
        characters.extend((token[n], n, n + 1) for n in range(at, at + len(word)))
        at += len(word)
    return characters


_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def camel_case_words(token: str, written: str, vocabulary: Vocabulary) -> Characters | None:
    """The words of a token that is ``written`` as ``OneWordThatIsSeveral``; None if it is not or one is unknown."""
    words = _CASE_CHANGE.split(written) if len(written) == len(token) and not written.islower() else []
    if len(words) < 2 or not all(vocabulary.knows(word.lower()) for word in words):
        return None
    return _parted(token, words)


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
        out.extend(character for character, _, _ in characters)
        starts.extend(reading.starts[first] for _, first, _ in characters)
        ends.extend(reading.ends[last - 1] for _, _, last in characters)
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
    # Of the pieces with one or two letters only the most common may be words themselves.
    known = {
        word: word in _SHORT_WORDS if len(word) <= 2 else vocabulary.knows(word)
        for word in {word for _, _, word in words}
    }
    # A torn word has one of these pieces, and begins with it or a few before it.
    unknown = [place for place, (_, _, word) in enumerate(words) if not known[word]]
    free = 0
    for place in sorted({at for last in unknown for at in range(max(0, last - PIECES_MAX + 1), last + 1)}):
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


# Matches in "you.are", "buy-now", "hacker, contact", but not at the end of a sentence or beside a digit.
_JOINT = re.compile(r"(?<=[^\W\d_])(?:, ?|\.{2,} ?|[._*/\-]+)(?=[^\W\d_])")


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
    joints = (joint.span() for joint in _JOINT.finditer(reading.text))
    return _apply(reading, ((start, end, [(" ", start, end)]) for start, end in joints))
